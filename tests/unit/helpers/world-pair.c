/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "world-pair.h"
#include "random-tree.h"
#include "world-rules.h"

#define STEPS 100u

void world_pair_init(WorldPair *pair, const Tree *tree, bool observing, bool controlled, Dice *dice) {
        *pair = (WorldPair){
                .event = world_new(tree, observing),
                .full = world_new(tree, true),
                .dice = dice,
                .controlled = controlled,
        };
}

void world_pair_clear(WorldPair *pair) {
        g_clear_pointer(&pair->event, world_free);
        g_clear_pointer(&pair->full, world_free);
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
        for (NodeId node = 0; node < event->tree->n_nodes; node++) {
                g_assert_cmpint(machine_node_status(event->machine, node), ==,
                                machine_node_status(full->machine, node));
                g_assert_cmpint(machine_node_ending(event->machine, node), ==,
                                machine_node_ending(full->machine, node));
        }
}

static void halt(WorldPair *pair) {
        machine_halt(pair->event->machine);
        machine_halt(pair->full->machine);
}

static NodeId any_node(WorldPair *pair) {
        return dice_roll(pair->dice, pair->event->tree->n_nodes);
}

static Status any_outcome(WorldPair *pair) {
        return STATUS_SUCCESS + dice_roll(pair->dice, 3);
}

static void give_input(WorldPair *pair) {
        NodeId node = any_node(pair);
        Status status = dice_roll(pair->dice, 80) == 0 ? STATUS_ERROR : any_outcome(pair);

        world_input(pair->event, node, status);
        world_input(pair->full, node, status);
}

/* Live conditions are looked at at any time in a full tick, so that breakpoints there would say nothing; nor are they
 * ever skipped. */
static void take_a_hand(WorldPair *pair) {
        NodeId node = any_node(pair);
        Status status = any_outcome(pair);
        bool live = pair->event->tree->nodes[node].flags & NODE_LIVE;

        if (dice_roll(pair->dice, 2)) {
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
static void tick(WorldPair *pair, unsigned step) {
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

void world_pair_live(WorldPair *pair) {
        machine_start(pair->event->machine);
        machine_start(pair->full->machine);

        for (unsigned step = 0; step < STEPS && pair->event->result == STATUS_RUNNING && !dice_is_used_up(pair->dice);
             step++) {
                g_string_truncate(pair->event->effects, 0);
                g_string_truncate(pair->full->effects, 0);

                if (dice_roll(pair->dice, 60) == 0)
                        halt(pair);
                if (pair->controlled && dice_roll(pair->dice, 10) == 0)
                        take_a_hand(pair);
                for (int n = dice_roll(pair->dice, 3); n > 0; n--)
                        give_input(pair);

                tick(pair, step);
        }
}

bool world_pair_end(WorldPair *pair) {
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

        return pair->event->result != STATUS_RUNNING;
}
