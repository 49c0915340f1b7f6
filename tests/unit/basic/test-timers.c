/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Deadlines: their order, their cancelling in all places and from within callbacks, and many of them.
 */

#include <stdbool.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "basic/timers.h"

typedef struct Fixture {
        Timers *timers;
        GString *calls; /* the letters of the timers in the order in which they were called */
} Fixture;

/* One timer with a letter, and what its callback does besides writing it. */
typedef struct Subject {
        Fixture *fixture;
        char letter;
        Timer *timer;
        Timer **frees;
        struct Subject *makes;
} Subject;

#define HOURS (UINT64_C(3600) * G_USEC_PER_SEC)
#define SUSPENDED_SEC 7200

/* The machine has been suspended for so long; a timer of the kernel expires when it is resumed, if it is due. */
static time_t suspended;
static struct {
        int fd;
        struct itimerspec at;
} armed;

int clock_gettime(clockid_t id, struct timespec *ret_time) {
        int r = (int) syscall(SYS_clock_gettime, id, ret_time);

        ret_time->tv_sec += id == CLOCK_BOOTTIME ? suspended : 0;
        return r;
}

static int arm_in_kernel(void) {
        struct itimerspec at = armed.at;

        if (at.it_value.tv_sec > 0)
                at.it_value.tv_sec = MAX(at.it_value.tv_sec - suspended, 1);
        return (int) syscall(SYS_timerfd_settime, armed.fd, TFD_TIMER_ABSTIME, &at, NULL);
}

int timerfd_settime(int fd, int flags, const struct itimerspec *at, struct itimerspec *ret_before) {
        armed.fd = fd;
        armed.at = *at;
        return arm_in_kernel();
}

static void on_expired(void *userdata) {
        Subject *subject = userdata;

        g_string_append_c(subject->fixture->calls, subject->letter);
        if (subject->frees)
                g_clear_pointer(subject->frees, timer_free);
        if (subject->makes)
                subject->makes->timer = timer_new(subject->fixture->timers, 0, on_expired, subject->makes);
}

static void arm(Subject *subject, uint64_t usec) {
        subject->timer = timer_new(subject->fixture->timers, usec, on_expired, subject);
}

static void arm_at(Subject *subject, uint64_t deadline) {
        subject->timer = timer_new_at(subject->fixture->timers, deadline, on_expired, subject);
}

static void fixture_set_up(Fixture *fixture, gconstpointer data) {
        fixture->timers = timers_new(NULL);
        fixture->calls = g_string_new(NULL);
}

static void fixture_tear_down(Fixture *fixture, gconstpointer data) {
        timers_free(fixture->timers);
        g_string_free(fixture->calls, TRUE);
}

static void wait_for_calls(Fixture *fixture, const char *expected) {
        while (fixture->calls->len < strlen(expected))
                g_main_context_iteration(NULL, TRUE);
        while (g_main_context_iteration(NULL, FALSE))
                ;
        g_assert_cmpstr(fixture->calls->str, ==, expected);
}

static void test_order(Fixture *fixture, gconstpointer data) {
        Subject a = { fixture, 'a' }, b = { fixture, 'b' }, c = { fixture, 'c' };
        int64_t start = g_get_monotonic_time();

        arm(&a, 1000);
        arm_at(&c, timer_deadline(a.timer) + 19000);
        arm_at(&b, timer_deadline(a.timer) + 9000);
        g_assert_cmpuint(timer_deadline(a.timer), >=, (uint64_t) start + 1000);

        wait_for_calls(fixture, "abc");
        g_assert_cmpint(g_get_monotonic_time(), >=, start + 20000);

        /* An expired timer is still there, with its deadline. */
        g_assert_cmpuint(timer_deadline(a.timer), <, timer_deadline(b.timer));
        timer_free(a.timer);
        timer_free(b.timer);
        timer_free(c.timer);
}

static void test_cancel(Fixture *fixture, gconstpointer data) {
        Subject a = { fixture, 'a' }, b = { fixture, 'b' }, c = { fixture, 'c' };

        arm(&a, 1000);
        arm(&b, 2000);
        arm(&c, 3000);
        timer_free(a.timer);
        wait_for_calls(fixture, "bc");
        timer_free(b.timer);
        timer_free(c.timer);
        timer_free(NULL);
}

/* A callback frees its own timer, one that would be next, and makes one that is due at once. */
static void test_callbacks(Fixture *fixture, gconstpointer data) {
        Subject d = { fixture, 'd' }, c = { fixture, 'c' };
        Subject b = { fixture, 'b', .frees = &c.timer, .makes = &d };
        Subject a = { fixture, 'a', .frees = &a.timer };

        /* They are due by the next turn, all at once. */
        arm_at(&a, 1);
        arm_at(&b, 1);
        arm_at(&c, 2);
        wait_for_calls(fixture, "abd");
        g_assert_null(a.timer);
        g_assert_null(c.timer);
        timer_free(b.timer);
        timer_free(d.timer);
}

static void on_expired_free_timers(void *userdata) {
        Fixture *fixture = userdata;

        g_clear_pointer(&fixture->timers, timers_free);
        g_string_append_c(fixture->calls, 'x');
}

/* The timers are freed while they expire; those that are left can still be freed. */
static void test_free_all(Fixture *fixture, gconstpointer data) {
        Subject a = { fixture, 'a' };
        Timer *timer = timer_new_at(fixture->timers, 1, on_expired_free_timers, fixture);

        arm_at(&a, 1);
        wait_for_calls(fixture, "x");
        timer_free(timer);
        timer_free(a.timer);
}

static void arm_on(Subject *subject, TimerClock clock, uint64_t usec) {
        subject->timer = timer_new_on(subject->fixture->timers, clock,
                                      timers_now(subject->fixture->timers, clock) + usec, on_expired, subject);
}

/* Each by its own clock, and those that are cancelled by none. */
static void test_clocks(Fixture *fixture, gconstpointer data) {
        Subject a = { fixture, 'a' }, b = { fixture, 'b' }, c = { fixture, 'c' }, d = { fixture, 'd' };
        uint64_t start = timers_now(fixture->timers, TIMER_BOOTTIME);

        arm_on(&b, TIMER_BOOTTIME, 20000);
        arm_on(&d, TIMER_BOOTTIME, 40000);
        arm_on(&c, TIMER_MONOTONIC, 30000);
        arm_on(&a, TIMER_BOOTTIME, 1);
        g_clear_pointer(&d.timer, timer_free);
        while (fixture->calls->len < 3)
                g_main_context_iteration(NULL, TRUE);
        g_assert_cmpuint(timers_now(fixture->timers, TIMER_BOOTTIME) - start, >=, 30000);
        /* No event is left, and no timer has expired twice. */
        g_assert_false(g_main_context_iteration(NULL, FALSE));
        g_assert_cmpuint(fixture->calls->len, ==, 3);
        /* If the machine stands still until all are due, only timers of one clock have an order. */
        g_assert_nonnull(strchr(fixture->calls->str, 'c'));
        g_assert_cmpint(strchr(fixture->calls->str, 'a') - strchr(fixture->calls->str, 'b'), <, 0);
        timer_free(a.timer);
        timer_free(b.timer);
        timer_free(c.timer);
}

/* What waits for hours is told at once. */
static int suspend_in_poll(GPollFD *fds, unsigned n_fds, int timeout) {
        int r;

        g_assert_cmpint(timeout, >, 3000000);
        suspended = SUSPENDED_SEC;
        (void) arm_in_kernel();
        r = g_poll(fds, n_fds, 60 * 1000);
        g_assert_cmpint(r, >, 0);
        return r;
}

static void test_suspend(Fixture *fixture, gconstpointer data) {
        Subject a = { fixture, 'a' }, b = { fixture, 'b' }, c = { fixture, 'c' };
        GPollFunc poll_func = g_main_context_get_poll_func(NULL);
        uint64_t before = timers_suspended(fixture->timers);

        arm_on(&a, TIMER_BOOTTIME, HOURS);
        arm_on(&b, TIMER_MONOTONIC, HOURS);
        arm_on(&c, TIMER_BOOTTIME, 3 * HOURS);
        g_main_context_set_poll_func(NULL, suspend_in_poll);
        g_main_context_iteration(NULL, TRUE);
        g_main_context_set_poll_func(NULL, poll_func);
        g_assert_cmpstr(fixture->calls->str, ==, "a");
        g_assert_cmpuint(timers_suspended(fixture->timers) - before, >=, 2 * HOURS - 1000);
        g_assert_false(g_main_context_iteration(NULL, FALSE));
        timer_free(a.timer);
        timer_free(b.timer);
        timer_free(c.timer);
        suspended = 0;
}

/* After a pause, timers of both clocks expire in the order of their deadlines. */
static void test_late(Fixture *fixture, gconstpointer data) {
        Subject all[] = { { fixture, 'd' }, { fixture, 'b' }, { fixture, 'c' }, { fixture, 'a' } };
        static const TimerClock clocks[] = { TIMER_MONOTONIC, TIMER_BOOTTIME };

        for (unsigned i = 0; i < G_N_ELEMENTS(all); i++) {
                TimerClock clock = clocks[i % 2];
                uint64_t ago = (uint64_t) ('e' - all[i].letter) * G_USEC_PER_SEC;

                all[i].timer = timer_new_on(fixture->timers, clock, timers_now(fixture->timers, clock) - ago,
                                            on_expired, &all[i]);
        }

        wait_for_calls(fixture, "abcd");
        for (unsigned i = 0; i < G_N_ELEMENTS(all); i++)
                timer_free(all[i].timer);
}

static void test_never(Fixture *fixture, gconstpointer data) {
        Subject a = { fixture, 'a' }, b = { fixture, 'b' };

        arm(&a, UINT64_MAX);
        g_assert_cmpuint(timer_deadline(a.timer), ==, UINT64_MAX);
        arm(&b, 1000);
        wait_for_calls(fixture, "b");
        timer_free(a.timer);
        timer_free(b.timer);
}

static void on_expired_count(void *userdata) {
        ++*(unsigned *) userdata;
}

/* Ten thousand, most of them cancelled in random order: the rest comes. */
static void test_many(Fixture *fixture, gconstpointer data) {
        g_autofree Timer **timers = g_new0(Timer *, 10000);
        unsigned n_left = 10000, n_expired = 0;

        for (unsigned i = 0; i < 10000; i++)
                timers[i] = timer_new(fixture->timers, (uint64_t) g_test_rand_int_range(0, 50000), on_expired_count,
                                      &n_expired);
        for (unsigned i = 0; i < 20000; i++) {
                unsigned victim = (unsigned) g_test_rand_int_range(0, 10000);

                if (timers[victim]) {
                        g_clear_pointer(&timers[victim], timer_free);
                        n_left--;
                }
        }

        while (n_expired < n_left)
                g_main_context_iteration(NULL, TRUE);
        while (g_main_context_iteration(NULL, FALSE))
                ;
        g_assert_cmpuint(n_expired, ==, n_left);
        for (unsigned i = 0; i < 10000; i++)
                timer_free(timers[i]);
}

typedef struct Due {
        GString *due;
        char name;
        Timers *timers;
        Timer *another;
} Due;

static void on_due(void *userdata) {
        const Due *due = userdata;

        g_string_append_c(due->due, due->name);
}

static void on_due_again(void *userdata) {
        Due *due = userdata;

        on_due(due);
        due->another = timer_new(due->timers, 0, on_due, due);
}

/* Time only moves in jumps, and both clocks are the same. */
static void test_simulated(void) {
        g_autoptr(Timers) timers = timers_new_simulated();
        g_autoptr(GString) due = g_string_new(NULL);
        Due a = { due, 'a' }, b = { due, 'b' }, c = { due, 'c' }, d = { due, 'd' }, e = { due, 'e', timers };
        g_autoptr(Timer) first G_GNUC_UNUSED = timer_new(timers, 20, on_due, &a);
        g_autoptr(Timer) second G_GNUC_UNUSED = timer_new_on(timers, TIMER_BOOTTIME, 10, on_due, &b);
        g_autoptr(Timer) dropped = timer_new(timers, 10, on_due, &c);
        g_autoptr(Timer) third G_GNUC_UNUSED = timer_new(timers, 20, on_due, &d);
        g_autoptr(Timer) fourth G_GNUC_UNUSED = timer_new(timers, 10, on_due_again, &e);

        g_assert_cmpuint(timers_now(timers, TIMER_MONOTONIC), ==, 0);
        g_assert_cmpuint(timers_suspended(timers), ==, 0);
        g_clear_pointer(&dropped, timer_free);

        g_assert_cmpuint(timers_next(timers), ==, 10);
        timers_jump(timers, 10);
        g_assert_cmpstr(due->str, ==, "be");
        g_assert_cmpuint(timers_next(timers), ==, 10);
        timers_jump(timers, 10);
        g_assert_cmpstr(due->str, ==, "bee");
        timers_jump(timers, 15);
        g_assert_cmpuint(timers_now(timers, TIMER_BOOTTIME), ==, 15);
        timers_jump(timers, 20);
        g_assert_cmpstr(due->str, ==, "beead");
        g_assert_cmpuint(timers_next(timers), ==, UINT64_MAX);
        timer_free(e.another);
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);

        g_test_add("/timers/order", Fixture, NULL, fixture_set_up, test_order, fixture_tear_down);
        g_test_add("/timers/cancel", Fixture, NULL, fixture_set_up, test_cancel, fixture_tear_down);
        g_test_add("/timers/callbacks", Fixture, NULL, fixture_set_up, test_callbacks, fixture_tear_down);
        g_test_add("/timers/free-all", Fixture, NULL, fixture_set_up, test_free_all, fixture_tear_down);
        g_test_add("/timers/clocks", Fixture, NULL, fixture_set_up, test_clocks, fixture_tear_down);
        g_test_add("/timers/suspend", Fixture, NULL, fixture_set_up, test_suspend, fixture_tear_down);
        g_test_add("/timers/late", Fixture, NULL, fixture_set_up, test_late, fixture_tear_down);
        g_test_add("/timers/never", Fixture, NULL, fixture_set_up, test_never, fixture_tear_down);
        g_test_add("/timers/many", Fixture, NULL, fixture_set_up, test_many, fixture_tear_down);
        g_test_add_func("/timers/simulated", test_simulated);

        return g_test_run();
}
