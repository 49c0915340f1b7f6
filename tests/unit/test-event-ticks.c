/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Properties of the machine, on random trees with random inputs: a tick that visits only what has been marked gives
 * the same states, effects and results as one that visits everything; and what must hold after every step holds.
 */

#include "random-tree.h"
#include "world-rules.h"

#define STEPS 100u

/* To the same tree and with the same inputs. */
typedef struct Pair {
        World *event, *full;
        GRand *random;
        bool controlled; /* somebody takes a hand now and then */
} Pair;

static void check_same(const World *event, const World *full, unsigned step) {
        if (g_strcmp0(event->effects->str, full->effects->str) != 0 || event->result != full->result) {
                g_autofree char *text = tree_to_string(event->tree, 0);

                g_test_message("step %u of %s", step, text);
                g_test_message("event:%s -> %s", event->effects->str, status_to_string(event->result));
                g_test_message("full: %s -> %s", full->effects->str, status_to_string(full->result));
        }

        g_assert_cmpstr(event->effects->str, ==, full->effects->str);
        g_assert_cmpint(event->result, ==, full->result);
        for (NodeId node = 0; node < event->tree->n_nodes; node++) {
                g_assert_cmpint(machine_node_status(event->machine, node), ==,
                                machine_node_status(full->machine, node));
                g_assert_cmpint(machine_node_ending(event->machine, node), ==,
                                machine_node_ending(full->machine, node));
        }
}

static void halt(Pair *pair) {
        machine_halt(pair->event->machine);
        machine_halt(pair->full->machine);
}

static NodeId any_node(Pair *pair) {
        return g_rand_int_range(pair->random, 0, pair->event->tree->n_nodes);
}

static Status any_outcome(Pair *pair) {
        return STATUS_SUCCESS + g_rand_int_range(pair->random, 0, 3);
}

static void give_input(Pair *pair) {
        NodeId node = any_node(pair);
        Status status = g_rand_int_range(pair->random, 0, 80) == 0 ? STATUS_ERROR : any_outcome(pair);

        world_input(pair->event, node, status);
        world_input(pair->full, node, status);
}

/* Live conditions are looked at at any time in a full tick, so that breakpoints there would say nothing; nor are they
 * ever skipped. */
static void take_a_hand(Pair *pair) {
        NodeId node = any_node(pair);
        Status status = any_outcome(pair);
        bool live = pair->event->tree->nodes[node].flags & NODE_LIVE;

        if (g_rand_boolean(pair->random)) {
                if (live && status == STATUS_SKIPPED)
                        status = STATUS_SUCCESS;

                world_force(pair->event, node, status);
                world_force(pair->full, node, status);
        } else if (!live) {
                world_toggle_breakpoint(pair->event, node);
                world_toggle_breakpoint(pair->full, node);
        }
}

/* Whether a tick is due is the event machine's to say. */
static void tick(Pair *pair, unsigned step) {
        pair->event->now = pair->full->now = step + 1;
        if (machine_wants_tick(pair->event->machine)) {
                pair->event->result = machine_tick(pair->event->machine);
                pair->full->result = machine_tick_full(pair->full->machine);
        }

        check_same(pair->event, pair->full, step);
        rules_check(pair->event);
        rules_check(pair->full);
        if (pair->event->result == STATUS_ERROR) {
                halt(pair);
                pair->event->result = pair->full->result = STATUS_RUNNING;
        }
}

static void live(Pair *pair) {
        machine_start(pair->event->machine);
        machine_start(pair->full->machine);

        for (unsigned step = 0; step < STEPS && pair->event->result == STATUS_RUNNING; step++) {
                g_string_truncate(pair->event->effects, 0);
                g_string_truncate(pair->full->effects, 0);

                if (g_rand_int_range(pair->random, 0, 60) == 0)
                        halt(pair);
                if (pair->controlled && g_rand_int_range(pair->random, 0, 10) == 0)
                        take_a_hand(pair);
                for (int n = g_rand_int_range(pair->random, 0, 3); n > 0; n--)
                        give_input(pair);

                tick(pair, step);
        }
}

/* Everything that something waits for happens: what does not end then cannot. */
static void end(Pair *pair) {
        if (pair->event->result == STATUS_RUNNING)
                halt(pair);

        for (unsigned step = STEPS; step < 2 * STEPS && pair->event->result == STATUS_RUNNING; step++) {
                g_string_truncate(pair->event->effects, 0);
                g_string_truncate(pair->full->effects, 0);
                for (NodeId node = 0; node < pair->event->tree->n_nodes; node++) {
                        world_input(pair->event, node, STATUS_SUCCESS);
                        world_input(pair->full, node, STATUS_SUCCESS);
                }

                tick(pair, step);
        }
}

static void test_event_equals_full(void) {
        unsigned n_ended = 0;

        for (unsigned seed = 0; seed < 100000; seed++) {
                g_autoptr(GRand) random = g_rand_new_with_seed(seed);
                g_autoptr(RandomTree) random_tree = random_tree_new(random, 1 + seed % 5);
                g_autoptr(World) event = world_new(random_tree->tree, seed % 3 == 0);
                g_autoptr(World) full = world_new(random_tree->tree, true);
                Pair pair = { .event = event, .full = full, .random = random, .controlled = seed % 4 == 0 };

                g_test_message("seed %u", seed);
                live(&pair);
                end(&pair);
                n_ended += event->result != STATUS_RUNNING;
        }

        g_test_message("%u have ended", n_ended);
        g_assert_cmpuint(n_ended, >, 95000);
}

int main(int argc, char *argv[]) {
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/machine/event-equals-full", test_event_equals_full);
        return g_test_run();
}
