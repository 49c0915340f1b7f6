/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tests work on other threads. The threads wait at gates that the tests open. */

#include <pthread.h>

#include "basic/workers.h"

typedef struct Gate {
        pthread_mutex_t mutex;
        pthread_cond_t cond;
        unsigned n_arrived;
        bool open;
} Gate;

static Gate gate = { .mutex = PTHREAD_MUTEX_INITIALIZER, .cond = PTHREAD_COND_INITIALIZER };

static void gate_pass(void) {
        pthread_mutex_lock(&gate.mutex);
        gate.n_arrived++;
        pthread_cond_broadcast(&gate.cond);
        while (!gate.open)
                pthread_cond_wait(&gate.cond, &gate.mutex);
        pthread_mutex_unlock(&gate.mutex);
}

static void gate_await(unsigned n) {
        pthread_mutex_lock(&gate.mutex);
        while (gate.n_arrived < n)
                pthread_cond_wait(&gate.cond, &gate.mutex);
        pthread_mutex_unlock(&gate.mutex);
}

static void gate_open(void) {
        pthread_mutex_lock(&gate.mutex);
        gate.open = true;
        pthread_cond_broadcast(&gate.cond);
        pthread_mutex_unlock(&gate.mutex);
}

static void gate_close(void) {
        gate.open = false;
        gate.n_arrived = 0;
}

typedef struct Task {
        GThread *thread; /* that has run it */
        bool dropped;    /* as it saw it */
        unsigned *n_freed;
} Task;

static Task *task_new(unsigned *n_freed) {
        Task *task = g_new0(Task, 1);

        task->n_freed = n_freed;
        return task;
}

static void run(Work *work, void *data) {
        Task *task = data;

        task->thread = g_thread_self();
        work_reads(work, "/the/file");
        gate_pass();
        work_reads(work, NULL);
        task->dropped = work_is_dropped(work);
}

static void done(void *data, void *userdata) {
        const Task *task = data;
        unsigned *n_done = userdata;

        g_assert_true(task->thread != g_thread_self());
        g_assert_false(task->dropped);
        (*n_done)++;
}

static void task_free(void *data) {
        (*((Task *) data)->n_freed)++;
        g_free(data);
}

static const WorkKind kind = { .what = "a test", .run = run, .done = done, .free = task_free };

static void test_beside_the_loop(void) {
        g_autoptr(GMainContext) context = g_main_context_new();
        g_autoptr(Workers) workers = workers_new(context, 2);
        unsigned n_done = 0, n_freed = 0;

        gate_close();
        for (unsigned i = 0; i < 5; i++)
                workers_start(workers, &kind, task_new(&n_freed), &n_done);
        gate_await(2);
        while (g_main_context_iteration(context, FALSE))
                ;
        g_assert_cmpuint(n_done, ==, 0);
        g_assert_cmpuint(gate.n_arrived, ==, 2);
        gate_open();
        while (n_done < 5)
                g_main_context_iteration(context, TRUE);
        g_assert_cmpuint(n_freed, ==, 5);
}

static void test_waits(void) {
        g_autoptr(GMainContext) context = g_main_context_new();
        g_autoptr(Workers) workers = workers_new(context, 2);
        g_autoptr(GArray) waits = NULL, later = NULL, none = NULL;
        unsigned n_done = 0, n_freed = 0;
        uint64_t before = (uint64_t) g_get_monotonic_time();

        gate_close();
        workers_start(workers, &kind, task_new(&n_freed), &n_done);
        gate_await(1);
        waits = workers_waits(workers, 0);
        g_assert_cmpuint(waits->len, ==, 1);
        g_assert_cmpstr(g_array_index(waits, WorkWait, 0).what, ==, "a test");
        g_assert_cmpstr(g_array_index(waits, WorkWait, 0).path, ==, "/the/file");
        g_assert_cmpuint(g_array_index(waits, WorkWait, 0).since, >=, before);
        later = workers_waits(workers, UINT64_C(3600) * G_USEC_PER_SEC);
        g_assert_cmpuint(later->len, ==, 0);
        gate_open();
        while (n_done < 1)
                g_main_context_iteration(context, TRUE);
        none = workers_waits(workers, 0);
        g_assert_cmpuint(none->len, ==, 0);
}

/* Whether it has begun or still waits, its data is freed, and nobody is told. */
static void test_dropped(void) {
        g_autoptr(GMainContext) context = g_main_context_new();
        g_autoptr(Workers) workers = workers_new(context, 1);
        unsigned n_done = 0, n_freed = 0;
        Work *first, *second;

        gate_close();
        first = workers_start(workers, &kind, task_new(&n_freed), &n_done);
        second = workers_start(workers, &kind, task_new(&n_freed), &n_done);
        workers_start(workers, &kind, task_new(&n_freed), &n_done);
        gate_await(1);
        work_drop(first);
        work_drop(second);
        work_drop(NULL);
        g_assert_cmpuint(n_freed, ==, 1);
        gate_open();
        while (n_done < 1)
                g_main_context_iteration(context, TRUE);
        g_assert_cmpuint(n_freed, ==, 3);
        g_assert_cmpuint(n_done, ==, 1);
}

/* A thread that ends soon is waited for. */
static void test_freed(void) {
        g_autoptr(GMainContext) context = g_main_context_new();
        unsigned n_done = 0, n_freed = 0;
        Workers *workers = workers_new(context, 1);

        gate_close();
        for (unsigned i = 0; i < 2; i++)
                workers_start(workers, &kind, task_new(&n_freed), &n_done);
        gate_await(1);
        gate_open();
        workers_free(workers);
        workers_free(NULL);
        g_assert_cmpuint(n_freed, ==, 2);
        g_assert_cmpuint(n_done, ==, 0);
}

static bool ran_on; /* guarded by the gate's mutex */

static void run_on(Work *work, void *data) {
        gate_pass();
        g_assert_true(work_is_dropped(work));
        pthread_mutex_lock(&gate.mutex);
        ran_on = true;
        pthread_cond_broadcast(&gate.cond);
        pthread_mutex_unlock(&gate.mutex);
}

static void never(void *data) {
        g_assert_not_reached();
}

/* One that hangs is not, and does no harm when it goes on. */
static void test_hanging(void) {
        static const WorkKind hanging = { .what = "a test", .run = run_on, .free = never };
        g_autoptr(GMainContext) context = g_main_context_new();
        Workers *workers = workers_new(context, 1);

        gate_close();
        workers_start(workers, &hanging, NULL, NULL);
        gate_await(1);
        workers_free(workers);
        gate_open();
        pthread_mutex_lock(&gate.mutex);
        while (!ran_on)
                pthread_cond_wait(&gate.cond, &gate.mutex);
        pthread_mutex_unlock(&gate.mutex);
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/workers/beside-the-loop", test_beside_the_loop);
        g_test_add_func("/workers/waits", test_waits);
        g_test_add_func("/workers/dropped", test_dropped);
        g_test_add_func("/workers/freed", test_freed);
        g_test_add_func("/workers/hanging", test_hanging);
        return g_test_run();
}
