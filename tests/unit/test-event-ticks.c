/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Properties of the machine, on random trees with random inputs: a tick that visits only what has been marked gives
 * the same states, effects and results as one that visits everything; and what must hold after every step holds.
 */

#include "engine/machine.h"
#include "random-tree.h"

/* One machine and the world that it acts on. Outcomes follow from the node and how often it was started. */
typedef struct World {
        const Tree *tree;
        MachineHost host;
        Machine *machine;
        GString *effects;
        unsigned *starts;
        bool *values;   /* of conditions; elsewhere of the variables that a node looks at */
        bool *unknown;  /* the condition's first value has not come yet */
        bool *watching; /* the condition's value is kept */
        bool *running, *ending, *timer;
        bool interval;
        Status result;
} World;

static unsigned outcome(const World *world, NodeId node, unsigned n) {
        return (node * 2654435761u ^ (world->starts[node] * 40503u)) / 7 % n;
}

/* Is the leaf part of what a TryCatch below the node does when it fails or is halted? That waits for the others of the
 * TryCatch, and for nobody else. */
static bool is_catch(const Tree *tree, NodeId node, NodeId leaf) {
        for (NodeId id = leaf; tree->nodes[id].parent != node; id = tree->nodes[id].parent) {
                const Node *parent = &tree->nodes[tree->nodes[id].parent];

                if (g_str_equal(parent->type->name, "TryCatch") && tree->nodes[id].end == parent->end)
                        return true;
        }

        return false;
}

/* May the leaf start while the other one ends, the node being where their paths part? */
static bool may_start_beside(const Tree *tree, NodeId node, NodeId other, NodeId leaf) {
        const char *type = tree->nodes[node].type->name;

        if (g_str_equal(type, "WhileDoElse"))
                return MIN(other, leaf) < tree->nodes[node + 1].end;

        return is_catch(tree, node, leaf) || g_str_has_prefix(type, "Parallel") ||
               g_str_equal(type, "PipelineSequence");
}

static NodeId common_ancestor(const Tree *tree, NodeId a, NodeId b) {
        while (a > b || b >= tree->nodes[a].end)
                a = tree->nodes[a].parent;

        return a;
}

/* What a failed check is about, since the trees are made up. */
static void explain(const World *world) {
        g_autofree char *text = tree_to_string(world->tree, 0);

        g_test_message("%s:%s", text, world->effects->str);
}

static void check_nothing_ends_before(World *world, NodeId leaf) {
        for (NodeId other = 0; other < world->tree->n_nodes; other++)
                if (world->ending[other]) {
                        NodeId above = common_ancestor(world->tree, other, leaf);

                        g_assert_cmpuint(other, !=, leaf);
                        if (!may_start_beside(world->tree, above, other, leaf))
                                explain(world);
                        g_assert_true(may_start_beside(world->tree, above, other, leaf));
                }
}

static Status on_leaf_start(Machine *machine, NodeId leaf) {
        World *world = machine_userdata(machine);

        g_string_append_printf(world->effects, " start:%u", leaf);
        world->starts[leaf]++;
        if (world->tree->nodes[leaf].type == &quick_leaf_type)
                return STATUS_SUCCESS + outcome(world, leaf, 3);

        check_nothing_ends_before(world, leaf);
        world->running[leaf] = true;
        return STATUS_RUNNING;
}

static bool on_leaf_halt(Machine *machine, NodeId leaf) {
        World *world = machine_userdata(machine);

        g_assert_true(world->running[leaf]);
        g_string_append_printf(world->effects, " halt:%u", leaf);
        world->running[leaf] = false;
        world->ending[leaf] = outcome(world, leaf, 3) != 0;
        return !world->ending[leaf];
}

static Status on_condition_look(Machine *machine, NodeId leaf) {
        World *world = machine_userdata(machine);

        if (!world->watching[leaf]) {
                world->watching[leaf] = true;
                world->unknown[leaf] = outcome(world, leaf, 2);
                world->starts[leaf]++;
                g_string_append_printf(world->effects, " watch:%u", leaf);
        }

        if (world->unknown[leaf])
                return STATUS_RUNNING;

        return world->values[leaf] ? STATUS_SUCCESS : STATUS_FAILURE;
}

static void on_condition_release(Machine *machine, NodeId leaf) {
        World *world = machine_userdata(machine);

        g_assert_true(world->watching[leaf]);
        world->watching[leaf] = false;
        g_string_append_printf(world->effects, " release:%u", leaf);
}

static bool *timer_of(World *world, NodeId node) {
        return node == NODE_NONE ? &world->interval : &world->timer[node];
}

static void on_timer_arm(Machine *machine, NodeId node, uint64_t usec) {
        World *world = machine_userdata(machine);

        g_assert_false(*timer_of(world, node));
        *timer_of(world, node) = true;
        g_string_append_printf(world->effects, " arm:%d:%" G_GUINT64_FORMAT, (int) node, usec);
}

static void on_timer_disarm(Machine *machine, NodeId node) {
        World *world = machine_userdata(machine);

        g_assert_true(*timer_of(world, node));
        *timer_of(world, node) = false;
        g_string_append_printf(world->effects, " disarm:%d", (int) node);
}

static Verdict on_guard(Machine *machine, NodeId node, Guard guard) {
        const World *world = machine_userdata(machine);

        return (node + guard) % 4 == 0 ? world->values[node] : guard == GUARD_WHILE;
}

static Verdict on_test(Machine *machine, NodeId node, const char *variable) {
        const World *world = machine_userdata(machine);

        return world->values[node];
}

/* As many cases as the node has children but the default. */
static uint32_t on_match(Machine *machine, NodeId node, const char *variable, const char *const *cases) {
        const World *world = machine_userdata(machine);

        return world->values[node] ? 0 : world->tree->nodes[node].n_children - 1;
}

static bool on_next_element(Machine *machine, NodeId node, const char *list, const char *variable, uint32_t index) {
        return index < node % 4;
}

static Verdict on_has_changed(Machine *machine, NodeId node, const Script *of) {
        return VERDICT_YES;
}

static bool on_cause_matches(Machine *machine, NodeId child, const char *const *patterns) {
        return true;
}

static uint32_t on_elements(Machine *machine, NodeId node) {
        return node % 4;
}

static void on_hand_out(Machine *machine, NodeId for_each, NodeId child, uint32_t index) {}

static bool on_enter(Machine *machine, NodeId node) {
        return true;
}

static bool on_leave(Machine *machine, NodeId node, Status status) {
        return true;
}

static void on_changed(Machine *machine, NodeId node, Status status, Reason reason) {}

/* A tick takes short cuts where nobody wants to be told of every change. */
static MachineHost make_host(bool observing) {
        return (MachineHost){
                .guard = on_guard,
                .test = on_test,
                .match = on_match,
                .next_element = on_next_element,
                .has_changed = on_has_changed,
                .cause_matches = on_cause_matches,
                .elements = on_elements,
                .hand_out = on_hand_out,
                .enter = on_enter,
                .leave = on_leave,
                .leaf_start = on_leaf_start,
                .leaf_halt = on_leaf_halt,
                .condition_look = on_condition_look,
                .condition_release = on_condition_release,
                .timer_arm = on_timer_arm,
                .timer_disarm = on_timer_disarm,
                .changed = observing ? on_changed : NULL,
        };
}

static World *world_new(const Tree *tree, bool observing) {
        World *world = g_new0(World, 1);

        world->tree = tree;
        world->host = make_host(observing);
        world->machine = machine_new(tree, &world->host, world, 7);
        world->effects = g_string_new(NULL);
        world->starts = g_new0(unsigned, tree->n_nodes);
        world->values = g_new0(bool, tree->n_nodes);
        world->unknown = g_new0(bool, tree->n_nodes);
        world->watching = g_new0(bool, tree->n_nodes);
        world->running = g_new0(bool, tree->n_nodes);
        world->ending = g_new0(bool, tree->n_nodes);
        world->timer = g_new0(bool, tree->n_nodes);
        world->result = STATUS_RUNNING;
        return world;
}

static void world_free(World *world) {
        machine_free(world->machine);
        g_string_free(world->effects, true);
        g_free(world->starts);
        g_free(world->values);
        g_free(world->unknown);
        g_free(world->watching);
        g_free(world->running);
        g_free(world->ending);
        g_free(world->timer);
        g_free(world);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC(World, world_free)

/* A new value of a condition is an input where something looks at it; the first one may be the one it had. */
static void world_flip(World *world, NodeId leaf) {
        world->values[leaf] = !world->values[leaf];
        if (!world->watching[leaf])
                return;

        world->unknown[leaf] = false;
        machine_condition_changed(world->machine, leaf);
}

/* Something happens at the node, if anything can. A variable that changes is no input of its own: it changes with
 * something else. */
static void world_input(World *world, NodeId node, Status status) {
        if (world->tree->nodes[node].n_children > 0)
                world->values[node] = !world->values[node];

        if (world->tree->nodes[node].type->class == NODE_CONDITION)
                world_flip(world, node);
        else if (world->running[node] || world->ending[node]) {
                world->running[node] = world->ending[node] = false;
                machine_leaf_ended(world->machine, node, status);
        } else if (world->timer[node]) {
                world->timer[node] = false;
                machine_timer_expired(world->machine, node);
        } else if (world->interval) {
                world->interval = false;
                machine_timer_expired(world->machine, NODE_NONE);
        }
}

static bool is_anything_left(const World *world, NodeId node) {
        return world->running[node] || world->ending[node] || world->timer[node] || world->watching[node];
}

static bool world_waits(const World *world) {
        if (world->interval || machine_wants_tick(world->machine))
                return true;

        for (NodeId node = 0; node < world->tree->n_nodes; node++)
                if (is_anything_left(world, node))
                        return true;

        return false;
}

static void check_invariants(const World *world) {
        if (world->result == STATUS_RUNNING)
                g_assert_true(world_waits(world));

        for (NodeId node = 0; node < world->tree->n_nodes; node++) {
                if (world->ending[node])
                        g_assert_true(machine_node_ending(world->machine, node));
                if (world->running[node])
                        g_assert_cmpint(machine_node_status(world->machine, node), ==, STATUS_RUNNING);

                /* When it is over, nothing is left behind. */
                if (world->result != STATUS_RUNNING && world->result != STATUS_ERROR) {
                        if (is_anything_left(world, node))
                                explain(world);
                        g_assert_false(is_anything_left(world, node));
                }
        }
}

static void check_same(const World *event, const World *full, unsigned step) {
        if (g_strcmp0(event->effects->str, full->effects->str) != 0 || event->result != full->result) {
                g_autofree char *text = tree_to_string(event->tree, 0);

                g_test_message("step %u of %s", step, text);
                g_test_message("event:%s -> %s", event->effects->str, status_to_string(event->result));
                g_test_message("full: %s -> %s", full->effects->str, status_to_string(full->result));
        }

        g_assert_cmpstr(event->effects->str, ==, full->effects->str);
        g_assert_cmpint(event->result, ==, full->result);
        for (NodeId node = 0; node < event->tree->n_nodes; node++)
                g_assert_cmpint(machine_node_status(event->machine, node), ==,
                                machine_node_status(full->machine, node));
}

/* The same inputs to both; whether a tick is due is the event machine's to say. */
static void live(World *event, World *full, GRand *random, unsigned steps) {
        machine_start(event->machine);
        machine_start(full->machine);

        for (unsigned step = 0; step < steps && event->result == STATUS_RUNNING; step++) {
                g_string_truncate(event->effects, 0);
                g_string_truncate(full->effects, 0);

                if (g_rand_int_range(random, 0, 60) == 0) {
                        machine_halt(event->machine);
                        machine_halt(full->machine);
                }

                for (int n = g_rand_int_range(random, 0, 3); n > 0; n--) {
                        NodeId node = g_rand_int_range(random, 0, event->tree->n_nodes);
                        Status status = STATUS_SUCCESS + g_rand_int_range(random, 0, 3);

                        world_input(event, node, status);
                        world_input(full, node, status);
                }

                if (machine_wants_tick(event->machine)) {
                        event->result = machine_tick(event->machine);
                        full->result = machine_tick_full(full->machine);
                }

                check_same(event, full, step);
                check_invariants(event);
        }
}

static void test_event_equals_full(void) {
        for (unsigned seed = 0; seed < 100000; seed++) {
                g_autoptr(GRand) random = g_rand_new_with_seed(seed);
                g_autoptr(RandomTree) random_tree = random_tree_new(random, 1 + seed % 4);
                g_autoptr(World) event = world_new(random_tree->tree, seed % 3 == 0);
                g_autoptr(World) full = world_new(random_tree->tree, true);

                g_test_message("seed %u", seed);
                live(event, full, random, 80);
        }
}

int main(int argc, char *argv[]) {
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/machine/event-equals-full", test_event_equals_full);
        return g_test_run();
}
