/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tests the order in which the ticker lets runs tick, its budget per turn, and what it holds back. */

#include "run/run.h"

typedef struct Ticked Ticked;

struct Ticked {
        TickerEntry entry;
        Ticker *ticker;
        unsigned count;
        unsigned again; /* queues itself so many times more */
        int64_t takes;  /* microseconds */
        Ticked *removes;
};

static void on_tick(void *userdata) {
        Ticked *ticked = userdata;
        int64_t until = g_get_monotonic_time() + ticked->takes;

        ticked->count++;
        if (ticked->again > 0) {
                ticked->again--;
                ticker_queue(ticked->ticker, &ticked->entry);
        }
        if (ticked->removes)
                ticker_remove(ticked->ticker, &ticked->removes->entry);
        while (g_get_monotonic_time() < until)
                ;
}

static void queue_all(Ticker *ticker, Ticked *ticked, size_t n) {
        for (size_t i = 0; i < n; i++) {
                ticked[i].ticker = ticker;
                ticked[i].entry = (TickerEntry){ .tick = on_tick, .userdata = &ticked[i] };
                ticker_queue(ticker, &ticked[i].entry);
        }
}

static unsigned total(const Ticked *ticked, size_t n) {
        unsigned count = 0;

        for (size_t i = 0; i < n; i++)
                count += ticked[i].count;

        return count;
}

static void test_once(void) {
        g_autoptr(GMainContext) context = g_main_context_new();
        g_autoptr(Ticker) ticker = ticker_new(context);
        Ticked ticked[2] = { 0 };

        g_assert_false(g_main_context_pending(context));
        queue_all(ticker, ticked, 2);
        ticker_queue(ticker, &ticked[0].entry);
        while (g_main_context_iteration(context, FALSE))
                ;
        g_assert_cmpuint(ticked[0].count, ==, 1);
        g_assert_cmpuint(ticked[1].count, ==, 1);
        g_assert_false(g_main_context_pending(context));
}

/* Who asks again and again gets one turn each time, and others are not kept waiting. */
static void test_one_turn_each(void) {
        g_autoptr(GMainContext) context = g_main_context_new();
        g_autoptr(Ticker) ticker = ticker_new(context);
        Ticked ticked[2] = { { .again = 100 } };
        unsigned before;

        queue_all(ticker, ticked, 2);
        while (ticked[1].count == 0) /* more than once if the machine stands still longer than the budget of time */
                g_main_context_iteration(context, FALSE);
        g_assert_cmpuint(ticked[1].count, ==, 1);
        g_assert_cmpuint(ticked[0].count, <=, 2);
        before = ticked[0].count;
        g_main_context_iteration(context, FALSE);
        g_assert_cmpuint(ticked[0].count, ==, before + 1);
}

static void test_budget_of_ticks(void) {
        g_autoptr(GMainContext) context = g_main_context_new();
        g_autoptr(Ticker) ticker = ticker_new(context);
        Ticked ticked[200] = { 0 };

        queue_all(ticker, ticked, G_N_ELEMENTS(ticked));
        g_main_context_iteration(context, FALSE);
        g_assert_cmpuint(total(ticked, G_N_ELEMENTS(ticked)), <=, 64);
        while (g_main_context_iteration(context, FALSE))
                ;
        g_assert_cmpuint(total(ticked, G_N_ELEMENTS(ticked)), ==, 200);
}

static void test_budget_of_time(void) {
        g_autoptr(GMainContext) context = g_main_context_new();
        g_autoptr(Ticker) ticker = ticker_new(context);
        Ticked ticked[3] = { { .takes = 3000 } };

        queue_all(ticker, ticked, 3);
        g_main_context_iteration(context, FALSE);
        g_assert_cmpuint(total(ticked, 3), ==, 1);
}

static void test_remove(void) {
        g_autoptr(GMainContext) context = g_main_context_new();
        g_autoptr(Ticker) ticker = ticker_new(context);
        Ticked ticked[3] = { 0 };

        ticked[0].removes = &ticked[1];
        queue_all(ticker, ticked, 3);
        ticker_remove(ticker, &ticked[2].entry);
        ticker_remove(ticker, &ticked[2].entry);
        while (g_main_context_iteration(context, FALSE))
                ;
        g_assert_cmpuint(ticked[0].count, ==, 1);
        g_assert_cmpuint(ticked[1].count, ==, 0);
        g_assert_cmpuint(ticked[2].count, ==, 0);
        ticker_free(NULL);
}

static void run_all(GMainContext *context) {
        while (g_main_context_iteration(context, FALSE))
                ;
}

static void test_hold(void) {
        g_autoptr(GMainContext) context = g_main_context_new();
        g_autoptr(Ticker) ticker = ticker_new(context);
        Ticked ticked[2] = { 0 };

        ticker_hold(ticker, true);
        g_assert_true(ticker_is_held(ticker));
        queue_all(ticker, ticked, 2);
        run_all(context);
        g_assert_false(ticker_tick(ticker));
        ticker_remove(ticker, &ticked[1].entry);
        g_assert_cmpuint(total(ticked, 2), ==, 0);

        ticker_hold(ticker, false);
        run_all(context);
        g_assert_cmpuint(ticked[0].count, ==, 1);
        g_assert_cmpuint(ticked[1].count, ==, 0);
}

static void on_doubted(void *userdata) {
        ++*(unsigned *) userdata;
}

/* It is ticked while the others are held, whether it was queued before, in doubt or afterwards. */
static void test_urgent(void) {
        g_autoptr(GMainContext) context = g_main_context_new();
        g_autoptr(Ticker) ticker = ticker_new(context);
        Ticked ticked[4] = { 0 };
        unsigned n_doubts = 0;

        ticker_set_doubted(ticker, on_doubted, &n_doubts);
        queue_all(ticker, ticked, 4);
        ticker_queue_in_doubt(ticker, &ticked[2].entry);
        ticked[0].entry.urgent = true;
        ticker_hold(ticker, true);
        run_all(context);
        g_assert_cmpuint(ticked[0].count, ==, 1);
        g_assert_cmpuint(total(ticked, 4), ==, 1);

        for (size_t i = 1; i <= 2; i++) {
                ticked[i].entry.urgent = true;
                ticker_queue(ticker, &ticked[i].entry);
        }
        run_all(context);
        g_assert_cmpuint(total(ticked, 4), ==, 3);
        g_assert_cmpuint(ticked[3].count, ==, 0);

        ticker_queue(ticker, &ticked[0].entry);
        ticker_hold(ticker, false);
        run_all(context);
        g_assert_cmpuint(ticked[0].count, ==, 2);
        g_assert_cmpuint(total(ticked, 4), ==, 5);
}

/* An entry in doubt waits, also if it was queued before; the others do not. */
static void test_doubt(void) {
        g_autoptr(GMainContext) context = g_main_context_new();
        g_autoptr(Ticker) ticker = ticker_new(context);
        Ticked ticked[3] = { 0 };
        unsigned n_doubts = 0;

        ticker_set_doubted(ticker, on_doubted, &n_doubts);
        queue_all(ticker, ticked, 3);
        ticker_queue_in_doubt(ticker, &ticked[0].entry);
        ticker_queue_in_doubt(ticker, &ticked[1].entry);
        ticker_queue(ticker, &ticked[1].entry);
        g_assert_cmpuint(n_doubts, ==, 2);
        run_all(context);
        g_assert_cmpuint(total(ticked, 3), ==, 1);
        g_assert_cmpuint(ticked[2].count, ==, 1);

        ticker_remove(ticker, &ticked[1].entry);
        ticker_ask(ticker);
        g_assert_false(ticker_resolve(ticker));
        run_all(context);
        g_assert_cmpuint(ticked[0].count, ==, 1);
        g_assert_cmpuint(ticked[1].count, ==, 0);
}

/* An answer resolves only what was in doubt before the question. */
static void test_doubt_after_the_question(void) {
        g_autoptr(GMainContext) context = g_main_context_new();
        g_autoptr(Ticker) ticker = ticker_new(context);
        Ticked ticked[3] = { 0 };
        unsigned n_doubts = 0;

        ticker_set_doubted(ticker, on_doubted, &n_doubts);
        queue_all(ticker, ticked, 3);
        for (unsigned i = 0; i < 2; i++)
                ticker_queue_in_doubt(ticker, &ticked[i].entry);
        ticker_ask(ticker);
        for (unsigned i = 1; i < 3; i++)
                ticker_queue_in_doubt(ticker, &ticked[i].entry);
        g_assert_true(ticker_resolve(ticker));
        run_all(context);
        g_assert_cmpuint(ticked[0].count, ==, 1);
        g_assert_cmpuint(total(ticked, 3), ==, 1);

        ticker_ask(ticker);
        g_assert_false(ticker_resolve(ticker));
        run_all(context);
        g_assert_cmpuint(total(ticked, 3), ==, 3);
}

/* An entry waits for two answers, but not for ever. */
static void test_doubts_without_end(void) {
        g_autoptr(GMainContext) context = g_main_context_new();
        g_autoptr(Ticker) ticker = ticker_new(context);
        Ticked ticked[1] = { 0 };
        unsigned n_doubts = 0;

        ticker_set_doubted(ticker, on_doubted, &n_doubts);
        queue_all(ticker, ticked, 1);
        for (unsigned i = 0; i < 6; i++) {
                ticker_queue_in_doubt(ticker, &ticked[0].entry);
                ticker_ask(ticker);
                ticker_queue_in_doubt(ticker, &ticked[0].entry);
                (void) ticker_resolve(ticker);
                run_all(context);
        }
        g_assert_cmpuint(ticked[0].count, ==, 3);
}

/* Nobody would resolve it. */
static void test_no_doubt(void) {
        g_autoptr(GMainContext) context = g_main_context_new();
        g_autoptr(Ticker) ticker = ticker_new(context);
        Ticked ticked[1] = { 0 };

        queue_all(ticker, ticked, 1);
        ticker_queue_in_doubt(ticker, &ticked[0].entry);
        run_all(context);
        g_assert_cmpuint(ticked[0].count, ==, 1);
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/ticker/once", test_once);
        g_test_add_func("/ticker/one-turn-each", test_one_turn_each);
        g_test_add_func("/ticker/budget-of-ticks", test_budget_of_ticks);
        g_test_add_func("/ticker/budget-of-time", test_budget_of_time);
        g_test_add_func("/ticker/remove", test_remove);
        g_test_add_func("/ticker/hold", test_hold);
        g_test_add_func("/ticker/urgent", test_urgent);
        g_test_add_func("/ticker/doubt", test_doubt);
        g_test_add_func("/ticker/doubt-after-the-question", test_doubt_after_the_question);
        g_test_add_func("/ticker/doubts-without-end", test_doubts_without_end);
        g_test_add_func("/ticker/no-doubt", test_no_doubt);
        return g_test_run();
}
