/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <string.h>

#include "random-tree.h"
#include "world-rules.h"
#include "world.h"

static Site *site_of(Machine *machine, NodeId node) {
        World *world = machine_userdata(machine);

        return &world->sites[node];
}

/* A number below n. */
static unsigned chance(Machine *machine, NodeId node, unsigned n) {
        Site *site = site_of(machine, node);

        return (node * 2654435761u ^ (++site->n_requests * 40503u)) / 7 % n;
}

static void G_GNUC_PRINTF(2, 3) note(Machine *machine, const char *format, ...) {
        World *world = machine_userdata(machine);
        va_list args;

        va_start(args, format);
        g_string_append_vprintf(world->effects, format, args);
        va_end(args);
}

/* Of those that a node may have, each has some: see on_guard(). */
static bool has_guard(NodeId node, Guard guard) {
        return (node + guard) % 4 == 0;
}

/* Its guards have let it through just now. */
static void check_guards(const World *world, NodeId leaf) {
        for (Guard guard = GUARD_FAIL_IF; guard <= GUARD_WHILE && world->tree->nodes[leaf].flags & NODE_GUARDED;
             guard++)
                g_assert_false(has_guard(leaf, guard) && world->sites[leaf].variable == (guard != GUARD_WHILE));
}

static Status on_leaf_start(Machine *machine, NodeId leaf) {
        World *world = machine_userdata(machine);

        note(machine, " start:%u", leaf);
        check_guards(world, leaf);
        if (world->tree->nodes[leaf].type == &quick_leaf_type)
                return STATUS_SUCCESS + chance(machine, leaf, 3);
        if (chance(machine, leaf, 40) == 0)
                return STATUS_ERROR;

        rules_check_start(world, leaf);
        world->sites[leaf].running = true;
        return STATUS_RUNNING;
}

static bool on_leaf_halt(Machine *machine, NodeId leaf) {
        Site *site = site_of(machine, leaf);

        g_assert_true(site->running);
        note(machine, " halt:%u", leaf);
        site->running = false;
        site->ending = chance(machine, leaf, 3) != 0;
        return !site->ending;
}

static Status on_condition_evaluate(Machine *machine, NodeId leaf) {
        Site *site = site_of(machine, leaf);

        if (!site->watched) {
                site->watched = true;
                site->unknown = chance(machine, leaf, 2);
                note(machine, " watch:%u", leaf);
        }

        return site->unknown ? STATUS_RUNNING : site->value;
}

static void on_condition_release(Machine *machine, NodeId leaf) {
        g_assert_true(site_of(machine, leaf)->watched);
        site_of(machine, leaf)->watched = false;
        note(machine, " release:%u", leaf);
}

static bool *timer_of(Machine *machine, NodeId node) {
        World *world = machine_userdata(machine);

        return node == NODE_NONE ? &world->interval : &world->sites[node].timer_armed;
}

static void on_timer_arm(Machine *machine, NodeId node, uint64_t usec) {
        g_assert_false(*timer_of(machine, node));
        *timer_of(machine, node) = true;
        note(machine, " arm:%d:%" G_GUINT64_FORMAT, (int) node, usec);
}

static void on_timer_disarm(Machine *machine, NodeId node) {
        g_assert_true(*timer_of(machine, node));
        *timer_of(machine, node) = false;
        note(machine, " disarm:%d", (int) node);
}

static void on_changed(Machine *machine, NodeId node, Status status, Reason reason) {
        rules_check_change(machine_userdata(machine), node, status);
}

static Verdict on_guard(Machine *machine, NodeId node, Guard guard) {
        Site *site = site_of(machine, node);

        if (!has_guard(node, guard))
                return guard == GUARD_WHILE ? VERDICT_YES : VERDICT_NO;

        site->guard_error = site->guard_error || (site->variable && node % 7 == 3);
        return site->guard_error ? VERDICT_ERROR : site->variable ? VERDICT_YES : VERDICT_NO;
}

static Verdict on_hook(Machine *machine, NodeId node, Hook hook) {
        note(machine, " hook:%u:%d", node, (int) hook);
        rules_check_hook(machine_userdata(machine), node, hook);
        return chance(machine, node, 40) == 0 ? VERDICT_ERROR : VERDICT_YES;
}

static bool on_lock(Machine *machine, NodeId node) {
        Site *site = site_of(machine, node);

        g_assert_false(site->waits_for_lock || site->holds_lock);
        note(machine, " lock:%u", node);
        site->holds_lock = chance(machine, node, 2);
        site->waits_for_lock = !site->holds_lock;
        return site->holds_lock;
}

static void on_unlock(Machine *machine, NodeId node) {
        Site *site = site_of(machine, node);

        g_assert_true(site->waits_for_lock || site->holds_lock);
        note(machine, " unlock:%u", node);
        site->waits_for_lock = site->holds_lock = false;
}

static void on_breakpoint(Machine *machine, NodeId node) {
        site_of(machine, node)->at_breakpoint = site_of(machine, node)->was_at_breakpoint = true;
        note(machine, " stop:%u", node);
}

static Verdict on_test(Machine *machine, NodeId node, const Script *condition) {
        if (site_of(machine, node)->variable && node % 7 == 4)
                return VERDICT_ERROR;

        return site_of(machine, node)->variable ? VERDICT_YES : VERDICT_NO;
}

/* As many cases as the node has children but the default. */
static uint32_t on_match(Machine *machine, NodeId node, const char *variable, const Script *of,
                         const char *const *cases) {
        if (site_of(machine, node)->variable && node % 7 == 5)
                return UINT32_MAX;

        return site_of(machine, node)->variable ? 0 : machine_tree(machine)->nodes[node].n_children - 1;
}

static Verdict on_has_changed(Machine *machine, NodeId node, const Script *of) {
        Site *site = site_of(machine, node);

        if (site->has_read && site->last_read == site->variable)
                return VERDICT_NO;

        site->has_read = true;
        site->last_read = site->variable;
        return chance(machine, node, 40) == 0 ? VERDICT_ERROR : VERDICT_YES;
}

/* No parameter of a condition is wrong: that would not change without an event. */
static bool on_cause_matches(Machine *machine, NodeId child, const char *const *patterns) {
        return strcmp(patterns[0], "parameter") != 0 && chance(machine, child, 2);
}

static bool on_next_element(Machine *machine, NodeId node, const char *list, const char *variable, uint32_t index) {
        return index < node % 4;
}

static uint32_t on_elements(Machine *machine, NodeId node) {
        unsigned n = chance(machine, node, 7);

        note(machine, " list:%u", node);
        return n == 6 ? UINT32_MAX : n;
}

static void on_assign_element(Machine *machine, NodeId for_each, NodeId child, uint32_t index) {
        g_assert_cmpint(machine_node_status(machine, child), ==, STATUS_IDLE);
        note(machine, " give:%u:%u", child, index);
}

static bool on_enter(Machine *machine, NodeId node) {
        note(machine, " enter:%u", node);
        return chance(machine, node, 10) != 0;
}

static bool on_leave(Machine *machine, NodeId node, Status status) {
        note(machine, " leave:%u:%d", node, (int) status);
        return chance(machine, node, 10) != 0;
}

static MachineHost make_host(bool observing) {
        return (MachineHost){
                .leaf_start = on_leaf_start,
                .leaf_halt = on_leaf_halt,
                .condition_evaluate = on_condition_evaluate,
                .condition_release = on_condition_release,
                .timer_arm = on_timer_arm,
                .timer_disarm = on_timer_disarm,
                .changed = observing ? on_changed : NULL,
                .guard = on_guard,
                .hook = on_hook,
                .lock = on_lock,
                .unlock = on_unlock,
                .breakpoint = on_breakpoint,
                .test = on_test,
                .match = on_match,
                .has_changed = on_has_changed,
                .cause_matches = on_cause_matches,
                .next_element = on_next_element,
                .elements = on_elements,
                .assign_element = on_assign_element,
                .enter = on_enter,
                .leave = on_leave,
        };
}

World *world_new(const Tree *tree, bool observing) {
        World *world = g_new0(World, 1);

        world->tree = tree;
        world->host = make_host(observing);
        world->machine = machine_new(tree, &world->host, world, 7);
        world->effects = g_string_new(NULL);
        world->sites = g_new0(Site, tree->n_nodes);
        world->observing = observing;
        world->result = STATUS_RUNNING;
        for (NodeId node = 0; node < tree->n_nodes; node++)
                world->sites[node].value = STATUS_FAILURE;

        return world;
}

void world_free(World *world) {
        if (!world)
                return;

        machine_free(world->machine);
        g_string_free(world->effects, true);
        g_free(world->sites);
        g_free(world);
}

/* A new value of a condition is an input where something looks at it; the first one may be the one it had. */
static void change_value(World *world, NodeId leaf, Status status) {
        Site *site = &world->sites[leaf];

        site->value = status == STATUS_ERROR          ? STATUS_ERROR
                      : site->value == STATUS_SUCCESS ? STATUS_FAILURE
                                                      : STATUS_SUCCESS;
        if (!site->watched)
                return;

        site->unknown = false;
        machine_condition_changed(world->machine, leaf);
}

/* A clean-up that is cut off by its limit may not have begun. */
static void expire(World *world, NodeId node) {
        world->sites[node].timer_armed = false;
        world->sites[node].timed_out = true;
        machine_timer_expired(world->machine, node);
}

void world_input(World *world, NodeId node, Status status) {
        Site *site = &world->sites[node];

        site->variable = !site->variable;
        if (site->waits_for_lock) {
                site->waits_for_lock = false;
                site->holds_lock = true;
                machine_lock_granted(world->machine, node);
        } else if (machine_pass_breakpoint(world->machine, node))
                site->at_breakpoint = false;
        else if (world->tree->nodes[node].type->class == NODE_CONDITION)
                change_value(world, node, status);
        else if (site->running || site->ending) {
                site->running = site->ending = false;
                machine_leaf_ended(world->machine, node, status);
        } else if (site->timer_armed)
                expire(world, node);
        else if (world->interval) {
                world->interval = false;
                machine_timer_expired(world->machine, NODE_NONE);
        } else
                machine_variable_changed(world->machine);
}

void world_force(World *world, NodeId node, Status status) {
        world->sites[node].forced = true;
        machine_force(world->machine, node, status);
}

void world_toggle_breakpoint(World *world, NodeId node) {
        Site *site = &world->sites[node];

        site->has_breakpoint = !site->has_breakpoint;
        machine_set_breakpoint(world->machine, node, site->has_breakpoint);
}

bool world_is_anything_left(const World *world, NodeId node) {
        const Site *site = &world->sites[node];

        return site->running || site->ending || site->timer_armed || site->watched || site->waits_for_lock ||
               site->holds_lock;
}
