/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tests that jobs run in order on their own thread, and that the main loop never waits for them. */

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "basic/disk-queue.h"

#define N_JOBS 500u

typedef struct Fixture {
        GMainContext *context;
        Timers *timers;
        DiskQueue *queue;
        unsigned n_worked; /* the thread's */
        unsigned n_done, n_late_changes;
        int gate[2]; /* what a hanging disk waits for */
} Fixture;

typedef struct Step {
        Fixture *fixture;
        unsigned number;
        bool hangs, begun, worked_in_order;
} Step;

static bool no_threads;

/* In place of the C library's: the limit of tasks may be reached. */
int pthread_create(pthread_t *ret_thread, const pthread_attr_t *attributes, void *(*main)(void *), void *userdata) {
        typedef int (*Create)(pthread_t *, const pthread_attr_t *, void *(*) (void *), void *);

        return no_threads ? EAGAIN
                          : ((Create) dlsym(RTLD_NEXT, "pthread_create"))(ret_thread, attributes, main, userdata);
}

static void on_late_changed(void *userdata) {
        ((Fixture *) userdata)->n_late_changes++;
}

static void set_up(Fixture *fixture, gconstpointer data) {
        fixture->context = g_main_context_new();
        fixture->timers = timers_new(fixture->context);
        fixture->queue = disk_queue_new(fixture->context, fixture->timers, on_late_changed, fixture);
        g_assert_cmpint(pipe(fixture->gate), ==, 0);
}

static void tear_down(Fixture *fixture, gconstpointer data) {
        disk_queue_free(fixture->queue);
        timers_free(fixture->timers);
        g_main_context_unref(fixture->context);
        close(fixture->gate[0]);
        close(fixture->gate[1]);
}

static void work(void *data) {
        Step *step = data;
        char byte;

        __atomic_store_n(&step->begun, true, __ATOMIC_RELEASE);
        if (step->hangs)
                g_assert_cmpint(read(step->fixture->gate[0], &byte, 1), ==, 1);
        __atomic_store_n(&step->worked_in_order, step->fixture->n_worked++ == step->number, __ATOMIC_RELEASE);
}

static void done(void *data) {
        Step *step = data;

        g_assert_true(step->worked_in_order);
        g_assert_cmpuint(step->number, ==, step->fixture->n_done++);
}

static void add(Fixture *fixture, unsigned number, bool hangs) {
        Step *step = g_new(Step, 1);

        *step = (Step){ .fixture = fixture, .number = number, .hangs = hangs };
        disk_queue_add(fixture->queue, &(DiskJob){
                                               .what = g_strdup_printf("job %u", number),
                                               .work = work,
                                               .done = done,
                                               .free = g_free,
                                               .data = step,
                                       });
}

static void let_go(const Fixture *fixture) {
        g_assert_cmpint(write(fixture->gate[1], "x", 1), ==, 1);
}

static void test_order(Fixture *fixture, gconstpointer data) {
        for (unsigned i = 0; i < N_JOBS; i++)
                add(fixture, i, false);
        while (fixture->n_done < N_JOBS)
                g_main_context_iteration(fixture->context, TRUE);
        g_assert_cmpuint(fixture->n_late_changes, ==, 0);
}

/* Nothing is delivered but from the main loop. */
static void test_hang(Fixture *fixture, gconstpointer data) {
        g_autofree char *late = NULL;

        add(fixture, 0, true);
        add(fixture, 1, false);
        g_assert_null(disk_queue_late(fixture->queue));
        g_assert_false(disk_queue_finish(fixture->queue, 1000));

        while (fixture->n_late_changes == 0)
                g_main_context_iteration(fixture->context, TRUE);
        late = disk_queue_late(fixture->queue);
        g_assert_true(g_str_has_prefix(late, "the disk has not answered for 1"));
        g_assert_true(g_str_has_suffix(late, "s: job 0"));
        g_assert_cmpuint(fixture->n_done, ==, 0);

        let_go(fixture);
        while (fixture->n_done < 2)
                g_main_context_iteration(fixture->context, TRUE);
        g_assert_cmpuint(fixture->n_late_changes, ==, 2);
        g_assert_null(disk_queue_late(fixture->queue));
}

static void test_finish(Fixture *fixture, gconstpointer data) {
        g_assert_true(disk_queue_finish(fixture->queue, 0));
        for (unsigned i = 0; i < N_JOBS; i++)
                add(fixture, i, i == 0);
        let_go(fixture);
        g_assert_true(disk_queue_finish(fixture->queue, G_USEC_PER_SEC * UINT64_C(60)));
        g_assert_cmpuint(fixture->n_done, ==, N_JOBS);
}

/* What the thread is at is its own then; nobody waits for it. */
static void test_free_while_it_hangs(Fixture *fixture, gconstpointer data) {
        static Step step;

        step = (Step){ .fixture = fixture, .hangs = true };
        disk_queue_add(fixture->queue,
                       &(DiskJob){ .what = g_strdup("job"), .work = work, .done = done, .data = &step });
        g_assert_false(disk_queue_finish(fixture->queue, 1000));
        while (!__atomic_load_n(&step.begun, __ATOMIC_ACQUIRE))
                g_thread_yield();
        g_clear_pointer(&fixture->queue, disk_queue_free);
        let_go(fixture);
        while (!__atomic_load_n(&step.worked_in_order, __ATOMIC_ACQUIRE))
                g_thread_yield();
}

static void test_free_idle(Fixture *fixture, gconstpointer data) {
        disk_queue_free(NULL);
        add(fixture, 0, false);
        g_assert_true(disk_queue_finish(fixture->queue, G_USEC_PER_SEC * UINT64_C(60)));
}

/* The main loop does it, in order, until there can be one. */
static void test_no_thread(Fixture *fixture, gconstpointer data) {
        no_threads = true;
        for (unsigned i = 0; i < 3; i++) {
                add(fixture, i, false);
                g_assert_cmpuint(fixture->n_worked, ==, i + 1);
                g_assert_cmpuint(fixture->n_done, ==, 0);
        }
        while (g_main_context_iteration(fixture->context, FALSE))
                ;
        g_assert_cmpuint(fixture->n_done, ==, 3);

        no_threads = false;
        add(fixture, 3, true);
        g_assert_false(disk_queue_finish(fixture->queue, 1000));
        let_go(fixture);
        g_assert_true(disk_queue_finish(fixture->queue, G_USEC_PER_SEC * UINT64_C(60)));
        g_assert_cmpuint(fixture->n_done, ==, 4);
}

static void add_test(const char *name, void (*test)(Fixture *fixture, gconstpointer data)) {
        g_test_add(name, Fixture, NULL, set_up, test, tear_down);
}

int main(int argc, char *argv[]) {
        g_test_init(&argc, &argv, NULL);
        add_test("/disk-queue/order", test_order);
        add_test("/disk-queue/hang", test_hang);
        add_test("/disk-queue/finish", test_finish);
        add_test("/disk-queue/free-while-it-hangs", test_free_while_it_hangs);
        add_test("/disk-queue/no-thread", test_no_thread);
        add_test("/disk-queue/free-idle", test_free_idle);
        return g_test_run();
}
