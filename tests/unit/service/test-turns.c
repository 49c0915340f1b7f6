/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tests the order of turns, turns in pieces, and the rest after long ones. */

#include "service/turns.h"

/* More than the time limit in one turn of the main loop, and less than a long turn. */
#define PIECE_USEC 2000
#define PIECES 5u

#define SOMEBODY 70000u

/* A turn of several pieces; what it has done is in the log. */
typedef struct Work {
        Turn turn; /* must be the first member */
        char name;
        unsigned pieces; /* that are left */
} Work;

static GString *done; /* the names, in the order of the pieces */
static GArray *times; /* of int64_t: when each piece began and ended */
static bool allowed;

static void note_time(void) {
        int64_t now = g_get_monotonic_time();

        g_array_append_val(times, now);
}

static void keep_busy(int64_t usec) {
        int64_t end = g_get_monotonic_time() + usec;

        while (g_get_monotonic_time() < end)
                ;
}

static bool on_short_turn(Turn *turn, int64_t until) {
        g_string_append_c(done, ((Work *) turn)->name);
        return true;
}

static bool on_long_turn(Turn *turn, int64_t until) {
        Work *work = (Work *) turn;

        note_time();
        keep_busy(PIECE_USEC);
        note_time();
        g_string_append_c(done, work->name);
        return --work->pieces == 0;
}

static bool may(uint32_t uid, void *userdata) {
        return allowed;
}

static void run_until(size_t n) {
        while (done->len < n)
                g_main_context_iteration(NULL, true);
}

static void begin(void) {
        done = g_string_new(NULL);
        times = g_array_new(false, false, sizeof(int64_t));
}

static void end(void) {
        g_string_free(done, true);
        g_array_unref(times);
}

/* A caller with many turns does not delay the others. */
static void test_order(void) {
        Work works[] = { { .name = 'a' }, { .name = 'b' }, { .name = 'c' }, { .name = 'x' }, { .name = 'y' } };
        g_autoptr(Turns) turns = NULL;

        begin();
        turns = turns_new(NULL, on_short_turn, NULL, true, NULL);
        for (size_t i = 0; i < G_N_ELEMENTS(works); i++)
                turns_add(turns, &works[i].turn, SOMEBODY, i < 3 ? "first" : "second");
        turn_drop(&works[1].turn);
        g_assert_false(g_main_context_iteration(NULL, false));
        turns_open(turns);
        run_until(4);
        g_assert_cmpstr(done->str, ==, "axyc");
        end();
}

/* Nor does a user with many connections; and root comes first. */
static void test_users(void) {
        static const struct {
                uint32_t uid;
                const char *caller;
        } of[] = { { 70000, "a" }, { 70000, "b" }, { 70000, "c" }, { 70000, "a" },
                   { 70001, "d" }, { 70001, "d" }, { 0, "e" } };
        Work works[G_N_ELEMENTS(of)] = {};
        g_autoptr(Turns) turns = NULL;

        begin();
        turns = turns_new(NULL, on_short_turn, NULL, true, NULL);
        for (size_t i = 0; i < G_N_ELEMENTS(of); i++) {
                works[i].name = (char) ('1' + i);
                turns_add(turns, &works[i].turn, of[i].uid, of[i].caller);
        }
        turns_open(turns);
        run_until(G_N_ELEMENTS(of));
        g_assert_cmpstr(done->str, ==, "7152634");
        end();
}

static void test_may(void) {
        Work work = { .name = 'a' };
        g_autoptr(Turns) turns = NULL;

        begin();
        turns = turns_new(NULL, on_short_turn, may, true, NULL);
        turns_open(turns);
        turns_add(turns, &work.turn, SOMEBODY, "first");
        allowed = false;
        g_assert_false(g_main_context_iteration(NULL, false));
        allowed = true;
        g_assert_true(g_main_context_iteration(NULL, false));
        g_assert_cmpstr(done->str, ==, "a");
        end();
}

/* The pieces of a turn come one after the other. From the third on, which makes the turn a long one, there is a rest
 * after each that is as long as the piece. */
static void test_rest(void) {
        Work work = { .name = 'a', .pieces = PIECES }, other = { .name = 'b', .pieces = 1 };
        g_autoptr(Turns) turns = NULL;

        begin();
        turns = turns_new(NULL, on_long_turn, NULL, true, NULL);
        turns_open(turns);
        turns_add(turns, &work.turn, SOMEBODY, "first");
        turns_add(turns, &other.turn, SOMEBODY, "second");
        run_until(PIECES + 1);
        g_assert_cmpstr(done->str, ==, "aaaaab");

        for (unsigned i = 3; i <= PIECES; i++) {
                const int64_t *piece = &g_array_index(times, int64_t, 2 * (i - 1));

                g_assert_cmpint(piece[2] - piece[1], >=, PIECE_USEC);
        }
        end();
}

/* A queue that does not rest does a piece in each turn of the main loop. */
static void test_no_rest(void) {
        Work work = { .name = 'a', .pieces = PIECES };
        g_autoptr(Turns) turns = NULL;

        begin();
        turns = turns_new(NULL, on_long_turn, NULL, false, NULL);
        turns_open(turns);
        turns_add(turns, &work.turn, SOMEBODY, "first");
        for (unsigned i = 0; i < PIECES; i++)
                g_assert_true(g_main_context_iteration(NULL, false));
        g_assert_cmpstr(done->str, ==, "aaaaa");
        end();
}

int main(int argc, char *argv[]) {
        g_test_init(&argc, &argv, NULL);

        g_test_add_func("/turns/order", test_order);
        g_test_add_func("/turns/users", test_users);
        g_test_add_func("/turns/may", test_may);
        g_test_add_func("/turns/rest", test_rest);
        g_test_add_func("/turns/no-rest", test_no_rest);

        return g_test_run();
}
