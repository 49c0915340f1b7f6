/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * A machine allocates nothing once it is made: neither inputs nor ticks do, on random trees of all types with random
 * inputs. Allocations are counted by standing before the C library's allocator.
 */

#include <stdlib.h>

#include "engine/machine.h"
#include "random-tree.h"
#include "rounds.h"
#include "sanitized.h"

static unsigned n_allocations;

#if !SANITIZED
/* The C library's own names for them. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *block, size_t size);

__attribute__((visibility("default"))) void *malloc(size_t size) {
        n_allocations++;
        return __libc_malloc(size);
}

__attribute__((visibility("default"))) void *calloc(size_t n, size_t size) {
        n_allocations++;
        return __libc_calloc(n, size);
}

__attribute__((visibility("default"))) void *realloc(void *block, size_t size) {
        n_allocations++;
        return __libc_realloc(block, size);
}
#endif

/* What a node waits for, as far as the world outside is concerned. */
typedef enum Wait {
        WAIT_LEAF = 1 << 0,
        WAIT_CONDITION = 1 << 1,
        WAIT_TIMER = 1 << 2,
        WAIT_LOCK = 1 << 3,
} Wait;

typedef struct World {
        Dice *dice;
        uint8_t *waits; /* of Wait, a node; and one more, for the machine's own timer */
        uint32_t n_nodes;
        unsigned n_ticks;
} World;

static uint8_t *waits_of(Machine *machine, NodeId node) {
        const World *world = machine_userdata(machine);

        return &world->waits[node == NODE_NONE ? world->n_nodes : node];
}

static bool chance(Machine *machine) {
        const World *world = machine_userdata(machine);

        return dice_roll(world->dice, 2);
}

static Status any_outcome(const World *world) {
        return STATUS_SUCCESS + dice_roll(world->dice, 3);
}

static Status on_leaf_start(Machine *machine, NodeId leaf) {
        if (machine_tree(machine)->nodes[leaf].type == &quick_leaf_type)
                return any_outcome(machine_userdata(machine));

        *waits_of(machine, leaf) |= WAIT_LEAF;
        return STATUS_RUNNING;
}

static bool on_leaf_halt(Machine *machine, NodeId leaf) {
        if (chance(machine))
                return false;

        *waits_of(machine, leaf) &= ~WAIT_LEAF;
        return true;
}

static Status on_condition_evaluate(Machine *machine, NodeId leaf) {
        *waits_of(machine, leaf) |= WAIT_CONDITION;
        return STATUS_RUNNING + dice_roll(((World *) machine_userdata(machine))->dice, 3);
}

static void on_condition_release(Machine *machine, NodeId leaf) {
        *waits_of(machine, leaf) &= ~WAIT_CONDITION;
}

static void on_timer_arm(Machine *machine, NodeId node, uint64_t usec) {
        *waits_of(machine, node) |= WAIT_TIMER;
}

static void on_timer_disarm(Machine *machine, NodeId node) {
        *waits_of(machine, node) &= ~WAIT_TIMER;
}

static Verdict on_guard(Machine *machine, NodeId node, Guard guard) {
        return chance(machine);
}

static Verdict on_test(Machine *machine, NodeId node, const Script *condition) {
        return chance(machine);
}

static uint32_t on_match(Machine *machine, NodeId node, const char *variable, const Script *of,
                         const char *const *cases) {
        return chance(machine) ? 0 : machine_tree(machine)->nodes[node].n_children - 1;
}

static bool on_next_element(Machine *machine, NodeId node, const char *list, const char *variable, uint32_t index) {
        return index < node % 4;
}

static Verdict on_hook(Machine *machine, NodeId node, Hook hook) {
        return VERDICT_YES;
}

static bool on_lock(Machine *machine, NodeId node) {
        if (chance(machine))
                return true;

        *waits_of(machine, node) |= WAIT_LOCK;
        return false;
}

static void on_unlock(Machine *machine, NodeId node) {
        *waits_of(machine, node) &= ~WAIT_LOCK;
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

static void on_assign_element(Machine *machine, NodeId for_each, NodeId child, uint32_t index) {}

static bool on_enter(Machine *machine, NodeId node) {
        return true;
}

static bool on_leave(Machine *machine, NodeId node, Status status) {
        return true;
}

static const MachineHost host = {
        .leaf_start = on_leaf_start,
        .leaf_halt = on_leaf_halt,
        .condition_evaluate = on_condition_evaluate,
        .condition_release = on_condition_release,
        .timer_arm = on_timer_arm,
        .timer_disarm = on_timer_disarm,
        .guard = on_guard,
        .hook = on_hook,
        .lock = on_lock,
        .unlock = on_unlock,
        .test = on_test,
        .match = on_match,
        .next_element = on_next_element,
        .has_changed = on_has_changed,
        .cause_matches = on_cause_matches,
        .elements = on_elements,
        .assign_element = on_assign_element,
        .enter = on_enter,
        .leave = on_leave,
};

/* What the node waits for happens. */
static void input(Machine *machine, World *world, NodeId node) {
        uint8_t *waits = &world->waits[node];

        if (*waits & WAIT_LOCK) {
                *waits &= ~WAIT_LOCK;
                machine_lock_granted(machine, node);
        } else if (*waits & WAIT_LEAF) {
                *waits &= ~WAIT_LEAF;
                machine_leaf_ended(machine, node, any_outcome(world));
        } else if (*waits & WAIT_CONDITION)
                machine_condition_changed(machine, node);
        else if (*waits & WAIT_TIMER) {
                *waits &= ~WAIT_TIMER;
                machine_timer_expired(machine, node == world->n_nodes ? NODE_NONE : node);
        }
}

/* Run after run: one that ends is followed by the next. */
static void live(Machine *machine, World *world) {
        machine_start(machine);
        for (unsigned step = 0; step < 100; step++) {
                Status status;

                for (NodeId node = 0; node <= world->n_nodes; node++)
                        if (dice_roll(world->dice, 4) == 0)
                                input(machine, world, node);

                if (step % 20 == 19)
                        machine_halt(machine);
                if (!machine_wants_tick(machine))
                        continue;

                status = step % 8 == 7 ? machine_tick_full(machine) : machine_tick(machine);
                world->n_ticks++;
                if (status == STATUS_ERROR)
                        machine_halt(machine);
                else if (status != STATUS_RUNNING)
                        machine_start(machine);
        }
}

static unsigned allocations_of(uint32_t seed, unsigned *ret_ticks) {
        g_autoptr(Dice) dice = dice_new(seed);
        g_autoptr(RandomTree) random_tree = random_tree_new(dice, 1 + seed % 4);
        World world = { .dice = dice, .n_nodes = random_tree->tree->n_nodes };
        g_autoptr(Machine) machine = machine_new(random_tree->tree, &host, &world, seed);
        unsigned before;

        world.waits = g_new0(uint8_t, world.n_nodes + 1);
        before = n_allocations;
        live(machine, &world);
        *ret_ticks += world.n_ticks;
        g_free(world.waits);
        return n_allocations - before;
}

static void test_ticks_allocate_nothing(void) {
        unsigned n_ticks = 0;

        if (SANITIZED) {
                g_test_skip("a sanitizer's allocator is in the place");
                return;
        }

        for (uint32_t seed = 0; seed < rounds(20000); seed++) {
                unsigned n = allocations_of(seed, &n_ticks);

                if (n > 0)
                        g_test_message("seed %u", seed);
                g_assert_cmpuint(n, ==, 0);
        }

        g_test_message("%u ticks", n_ticks);
        g_assert_cmpuint(n_ticks, >, 1000000);
}

/* Does the counting count? */
static void test_others_do(void) {
        unsigned before = n_allocations;

        if (SANITIZED) {
                g_test_skip("a sanitizer's allocator is in the place");
                return;
        }

        g_free(g_malloc(100));
        g_free(g_malloc0(100));
        g_free(g_realloc(NULL, 100));
        g_assert_cmpuint(n_allocations - before, ==, 3);
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);

        g_test_add_func("/allocations/of-ticks", test_ticks_allocate_nothing);
        g_test_add_func("/allocations/of-others", test_others_do);

        return g_test_run();
}
