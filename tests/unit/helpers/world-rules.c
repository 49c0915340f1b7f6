/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <stdlib.h>

#include "random-tree.h"
#include "world-rules.h"

/* What a failed check is about, since the trees are made up. */
static void check(const World *world, bool holds, const char *what, NodeId node) {
        g_autofree char *text = NULL;

        if (holds)
                return;

        text = tree_to_string(world->tree, 0);
        g_test_message("%s:%s -> %s", text, world->effects->str, status_to_string(world->result));
        g_printerr("%s: node %u\n", what, node);
        abort(); /* a fuzzer keeps the input of one that ends so */
}

static bool type_is(const Tree *tree, NodeId node, const char *name) {
        return g_str_equal(tree->nodes[node].type->name, name);
}

/* Is the leaf part of what a TryCatch below the node does when it fails or is halted? That waits for the others of the
 * TryCatch, and for nobody else. */
static bool is_catch(const Tree *tree, NodeId node, NodeId leaf) {
        for (NodeId id = leaf; tree->nodes[id].parent != node; id = tree->nodes[id].parent) {
                NodeId parent = tree->nodes[id].parent;

                if (type_is(tree, parent, "TryCatch") && tree->nodes[id].end == tree->nodes[parent].end)
                        return true;
        }

        return false;
}

/* May the leaf start while the other one ends, the node being where their paths part? */
static bool may_start_beside(const Tree *tree, NodeId node, NodeId other, NodeId leaf) {
        if (type_is(tree, node, "WhileDoElse"))
                return MIN(other, leaf) < tree->nodes[node + 1].end;

        return is_catch(tree, node, leaf) || g_str_has_prefix(tree->nodes[node].type->name, "Parallel") ||
               type_is(tree, node, "PipelineSequence") || type_is(tree, node, "ForEach");
}

static NodeId common_ancestor(const Tree *tree, NodeId a, NodeId b) {
        while (a > b || b >= tree->nodes[a].end)
                a = tree->nodes[a].parent;

        return a;
}

/* Or does it go on, below a node that was halted? */
static bool is_ending(const World *world, NodeId leaf, NodeId above) {
        if (world->sites[leaf].ending)
                return true;

        for (NodeId id = leaf; world->sites[leaf].running && id != above; id = world->tree->nodes[id].parent)
                if (machine_node_ending(world->machine, id))
                        return true;

        return false;
}

void rules_check_start(World *world, NodeId leaf) {
        for (NodeId other = 0; other < world->tree->n_nodes; other++) {
                NodeId above = common_ancestor(world->tree, MIN(other, leaf), MAX(other, leaf));

                if (other == leaf)
                        check(world, !world->sites[leaf].ending && !world->sites[leaf].running, "started twice", leaf);
                else if (is_ending(world, other, above))
                        check(world, may_start_beside(world->tree, above, other, leaf), "started too early", leaf);
        }
}

void rules_check_hook(World *world, NodeId node, Hook hook) {
        Site *site = &world->sites[node];

        check(world, site->on_always_due == (hook == HOOK_ALWAYS), "code in the wrong order", node);
        site->on_always_due = hook != HOOK_ALWAYS;
        site->n_hooks[hook]++;
}

/* The hooks of a halted leaf come later than the machine tells, those of other nodes before. */
static void check_hooks(World *world, NodeId node, Status status) {
        Site *site = &world->sites[node];
        bool leaf = world->tree->nodes[node].flags & NODE_LEAF;
        unsigned expected[HOOK_MAX_] = {
                [HOOK_SUCCESS] = status == STATUS_SUCCESS,
                [HOOK_FAILURE] = status == STATUS_FAILURE,
        };

        if (status == STATUS_RUNNING || !(world->tree->nodes[node].flags & NODE_HOOKED))
                return;

        site->n_halts += status == STATUS_HALTED;
        check(world, site->n_hooks[HOOK_SUCCESS] == expected[HOOK_SUCCESS], "on_success", node);
        check(world, site->n_hooks[HOOK_FAILURE] == expected[HOOK_FAILURE], "on_failure", node);
        check(world, site->n_hooks[HOOK_HALTED] <= site->n_halts, "on_halted", node);
        site->n_hooks[HOOK_SUCCESS] = site->n_hooks[HOOK_FAILURE] = 0;
        if (!leaf)
                site->n_hooks[HOOK_HALTED] = site->n_halts = 0;
}

/* An outcome that follows a halt, as with a guard, is of the same activation. */
static bool begins(const World *world, NodeId node, Status status) {
        const Site *site = &world->sites[node];

        return status != STATUS_HALTED && !site->active && (status == STATUS_RUNNING || !site->halted);
}

/* A clean-up that was cut off, or whose guard has gone wrong, may not have begun. */
static bool is_cleanup_due(const World *world, NodeId finally) {
        NodeId clean_up = world->tree->nodes[finally + 1].end;

        return world->sites[finally].cleanup_due && !world->sites[finally].timed_out &&
               !world->sites[clean_up].guard_error;
}

/* Of a Finally: what comes of its body, and of its clean-up. */
static void check_body(World *world, NodeId finally, NodeId body, Status status) {
        /* One that is skipped as soon as it begins needs none. */
        if (status == STATUS_SKIPPED && world->sites[body].begin_tick == world->now)
                world->sites[finally].cleanup_due = false;
        if (!begins(world, body, status) || status == STATUS_SKIPPED)
                return;

        check(world, !is_cleanup_due(world, finally), "a body without its clean-up", finally);
        world->sites[finally].timed_out = false;
        world->sites[finally].cleanup_due = true;
        world->sites[body].begin_tick = world->now;
        world->sites[world->tree->nodes[body].end].halted = false;
}

/* Of a body that waits before it begins, or whose guard goes wrong, the machine may not have told; and of a clean-up
 * that has gone on after its guard it tells twice. */
static void check_clean_up(World *world, NodeId finally, NodeId clean_up, Status status) {
        const Site *body = &world->sites[finally + 1];
        bool told = !(world->tree->nodes[finally + 1].flags & NODE_ATTRIBUTED) && !body->was_at_breakpoint &&
                    !body->guard_error && !(world->tree->nodes[clean_up].flags & NODE_UNINTERRUPTIBLE);

        if (!begins(world, clean_up, status))
                return;

        check(world, world->sites[finally].cleanup_due || !told, "a clean-up without its body", finally);
        world->sites[finally].cleanup_due = false;
        world->sites[finally + 1].halted = false;
}

void rules_check_change(World *world, NodeId node, Status status) {
        NodeId parent = world->tree->nodes[node].parent;
        Site *site = &world->sites[node];

        check_hooks(world, node, status);
        site->skipped = status == STATUS_SKIPPED;
        if (parent != NODE_NONE && type_is(world->tree, parent, "Finally")) {
                if (node == parent + 1)
                        check_body(world, parent, node, status);
                else
                        check_clean_up(world, parent, node, status);
        }

        site->halted = status != STATUS_RUNNING && (site->halted || (status == STATUS_HALTED && site->active));
        site->active = status == STATUS_RUNNING;
        if (status != STATUS_RUNNING)
                site->at_breakpoint = false;
}

/* What has skipped the child of a Parallel may have been a variable; who is told nothing believes that. */
static bool has_skipped_child(const World *world, NodeId node) {
        for (NodeId child = node + 1;
             child < world->tree->nodes[node].end && g_str_has_prefix(world->tree->nodes[node].type->name, "Parallel");
             child = world->tree->nodes[child].end)
                if (world->tree->nodes[child].flags & NODE_MAY_SKIP &&
                    (!world->observing || world->sites[child].skipped) &&
                    machine_node_status(world->machine, child) == STATUS_IDLE)
                        return true;

        return false;
}

static bool waits_for_variable(const World *world, NodeId node) {
        bool runs = machine_node_status(world->machine, node) == STATUS_RUNNING ||
                    machine_node_ending(world->machine, node);

        return runs && (((type_is(world->tree, node, "OnChange") || type_is(world->tree, node, "Precondition")) &&
                         machine_node_status(world->machine, node + 1) == STATUS_IDLE) ||
                        has_skipped_child(world, node));
}

/* What somebody has said of a condition is changed by somebody only. */
static bool stands(const World *world, NodeId node) {
        return world->sites[node].forced && world->tree->nodes[node].flags & NODE_LIVE;
}

static bool world_waits(const World *world) {
        if (world->interval || machine_wants_tick(world->machine))
                return true;

        for (NodeId node = 0; node < world->tree->n_nodes; node++) {
                const Site *site = &world->sites[node];

                if (world_is_anything_left(world, node) || site->at_breakpoint || stands(world, node) ||
                    waits_for_variable(world, node))
                        return true;
        }

        return false;
}

void rules_check(World *world) {
        bool over = world->result != STATUS_RUNNING && world->result != STATUS_ERROR;

        if (world->result == STATUS_RUNNING)
                check(world, world_waits(world), "waits for nothing", 0);

        for (NodeId node = 0; node < world->tree->n_nodes; node++) {
                bool ending = machine_node_ending(world->machine, node);

                check(world, !world->sites[node].ending || ending, "ends alone", node);
                check(world,
                      !world->sites[node].running || ending ||
                              machine_node_status(world->machine, node) == STATUS_RUNNING,
                      "runs alone", node);
                if (over) {
                        check(world, !world_is_anything_left(world, node), "left behind", node);
                        if (world->observing && type_is(world->tree, node, "Finally"))
                                check(world, !is_cleanup_due(world, node), "no clean-up", node);
                        check(world, machine_node_status(world->machine, node) == STATUS_IDLE, "left RUNNING", node);
                }
        }
}
