/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Starts the threads and collects their results. A thread owns nothing but its Work, which it puts into the list of
 * ended work; the main loop takes it from there. The list outlives the workers: a thread that ends later finds the
 * list closed. (The mutex is that of pthreads, because ThreadSanitizer does not know GLib's.)
 *
 * A thread wakes the main loop without holding a mutex, ours or GLib's: the main loop may run at once, in its place,
 * and would then wait for the mutex until the thread gets a processor again.
 */

#include <errno.h>
#include <glib-unix.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "basic/workers.h"

/* How long workers_free() waits. Parsing ends within this time, or soon after it was dropped. */
#define PATIENCE_USEC (2 * G_USEC_PER_SEC)

/* Results in one turn, so that many of them do not delay other sources. */
#define TURN_MAX 32u

typedef struct Ended {
        pthread_mutex_t mutex;
        pthread_cond_t cond;
        GQueue works;       /* of Work */
        unsigned n_running; /* running threads, each of which uses this */
        bool closed;
        int wake; /* an eventfd that wakes the main loop when there is ended work; not guarded */
} Ended;

struct Workers {
        GSource source; /* must be the first member; GLib keeps it alive until the last dispatch has returned */
        Ended *ended;
        GQueue begun, waiting; /* of Work */
        unsigned max;
};

struct Work {
        Workers *workers;
        Ended *ended;
        GList link;
        const WorkKind *kind;
        void *data, *userdata;
        bool begun; /* a thread runs it */

        /* The following members are guarded by the mutex. */
        bool dropped;
        char *path; /* the file that it reads; NULL: none */
        uint64_t since;
};

/* The work must not be in a queue. */
static void work_free(Work *work) {
        work->kind->free(work->data);
        g_free(work->path);
        g_free(work);
}

static void ended_free(Ended *ended) {
        pthread_mutex_destroy(&ended->mutex);
        pthread_cond_destroy(&ended->cond);
        close(ended->wake);
        g_free(ended);
}

static void *thread_main(void *userdata) {
        Work *work = userdata;
        Ended *ended = work->ended;
        bool open, is_last;

        work->kind->run(work, work->data);

        pthread_mutex_lock(&ended->mutex);
        open = !ended->closed;
        if (open)
                g_queue_push_tail(&ended->works, work);
        pthread_mutex_unlock(&ended->mutex);
        if (open) {
                (void) eventfd_write(ended->wake, 1);
        } else {
                g_free(work->path);
                g_free(work);
        }

        pthread_mutex_lock(&ended->mutex);
        is_last = --ended->n_running == 0 && ended->closed;
        pthread_cond_signal(&ended->cond);
        pthread_mutex_unlock(&ended->mutex);
        if (is_last)
                ended_free(ended);
        return NULL;
}

/* If no thread can be created (for example at the limit of tasks), the main loop does the work. */
static void begin_next(Workers *workers) {
        while (workers->waiting.length > 0 && workers->begun.length < workers->max) {
                Work *work = g_queue_pop_head_link(&workers->waiting)->data;
                GThread *thread;

                work->begun = true;
                g_queue_push_tail_link(&workers->begun, &work->link);
                pthread_mutex_lock(&workers->ended->mutex);
                workers->ended->n_running++;
                pthread_mutex_unlock(&workers->ended->mutex);
                thread = g_thread_try_new("btd-work", thread_main, work, NULL);
                if (thread)
                        g_thread_unref(thread);
                else
                        thread_main(work);
        }
}

static Work *take_ended(Ended *ended) {
        Work *work;

        pthread_mutex_lock(&ended->mutex);
        work = g_queue_pop_head(&ended->works);
        pthread_mutex_unlock(&ended->mutex);
        return work;
}

static gboolean source_dispatch(GSource *source, GSourceFunc callback, void *userdata) {
        Workers *workers = (Workers *) source;
        unsigned n = 0;
        eventfd_t count;
        Work *work;

        (void) eventfd_read(workers->ended->wake, &count);
        while (!g_source_is_destroyed(source) && n++ < TURN_MAX && (work = take_ended(workers->ended))) {
                g_queue_unlink(&workers->begun, &work->link);
                if (!work->dropped)
                        work->kind->done(work->data, work->userdata);
                work_free(work);
                if (!g_source_is_destroyed(source))
                        begin_next(workers);
        }
        if (!g_source_is_destroyed(source) && n > TURN_MAX)
                (void) eventfd_write(workers->ended->wake, 1);

        return G_SOURCE_CONTINUE;
}

static GSourceFuncs source_funcs = {
        .dispatch = source_dispatch,
};

Workers *workers_new(GMainContext *context, unsigned max) {
        Workers *workers = (Workers *) g_source_new(&source_funcs, sizeof(Workers));
        pthread_condattr_t attributes;

        workers->ended = g_new0(Ended, 1);
        pthread_mutex_init(&workers->ended->mutex, NULL);
        pthread_condattr_init(&attributes);
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
        pthread_cond_init(&workers->ended->cond, &attributes);
        pthread_condattr_destroy(&attributes);
        workers->ended->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        if (workers->ended->wake < 0)
                g_error("cannot create an eventfd: %s", g_strerror(errno)); /* as GLib if it has none for its loop */
        g_queue_init(&workers->begun);
        g_queue_init(&workers->waiting);
        workers->max = max;
        g_source_set_name(&workers->source, "workers");
        g_source_add_unix_fd(&workers->source, workers->ended->wake, G_IO_IN);
        g_source_attach(&workers->source, context);
        return workers;
}

/* Closes the list: no work is added any more, and the work in it waits to be freed. False: threads are still running;
 * the last one frees the list. */
static bool close_list(Workers *workers) {
        gint64 end = g_get_monotonic_time() + PATIENCE_USEC;
        struct timespec until = { .tv_sec = end / G_USEC_PER_SEC, .tv_nsec = end % G_USEC_PER_SEC * 1000 };
        Ended *ended = workers->ended;
        Work *work;
        bool all;

        pthread_mutex_lock(&ended->mutex);
        for (const GList *link = workers->begun.head; link; link = link->next)
                ((Work *) link->data)->dropped = true;
        while (ended->n_running > 0 && pthread_cond_timedwait(&ended->cond, &ended->mutex, &until) == 0)
                ;
        ended->closed = true;
        all = ended->n_running == 0;
        while ((work = g_queue_pop_head(&ended->works))) {
                g_queue_unlink(&workers->begun, &work->link);
                g_queue_push_tail_link(&workers->waiting, &work->link);
        }
        pthread_mutex_unlock(&ended->mutex);
        return all;
}

void workers_free(Workers *workers) {
        Ended *ended;

        if (!workers)
                return;

        g_source_destroy(&workers->source);
        ended = workers->ended;
        if (close_list(workers))
                ended_free(ended);
        while (workers->waiting.length > 0)
                work_free(g_queue_pop_head_link(&workers->waiting)->data);
        g_source_unref(&workers->source);
}

Work *workers_start(Workers *workers, const WorkKind *kind, void *data, void *userdata) {
        Work *work = g_new0(Work, 1);

        work->workers = workers;
        work->ended = workers->ended;
        work->kind = kind;
        work->data = data;
        work->userdata = userdata;
        work->link.data = work;
        g_queue_push_tail_link(&workers->waiting, &work->link);
        begin_next(workers);
        return work;
}

void work_drop(Work *work) {
        Workers *workers;
        bool has_ended;

        if (!work)
                return;

        workers = work->workers;
        if (!work->begun) {
                g_queue_unlink(&workers->waiting, &work->link);
                work_free(work);
                return;
        }

        pthread_mutex_lock(&work->ended->mutex);
        work->dropped = true;
        has_ended = g_queue_remove(&work->ended->works, work);
        pthread_mutex_unlock(&work->ended->mutex);
        if (!has_ended)
                return;

        g_queue_unlink(&workers->begun, &work->link);
        work_free(work);
        begin_next(workers);
}

void work_reads(Work *work, const char *path) {
        g_autofree char *copy = g_strdup(path), *before = NULL;

        pthread_mutex_lock(&work->ended->mutex);
        before = work->path;
        work->path = g_steal_pointer(&copy);
        work->since = (uint64_t) g_get_monotonic_time();
        pthread_mutex_unlock(&work->ended->mutex);
}

bool work_is_dropped(Work *work) {
        bool dropped;

        pthread_mutex_lock(&work->ended->mutex);
        dropped = work->dropped;
        pthread_mutex_unlock(&work->ended->mutex);
        return dropped;
}

static void wait_clear(void *data) {
        g_free(((WorkWait *) data)->path);
}

GArray *workers_waits(Workers *workers, uint64_t usec) {
        GArray *waits = g_array_new(FALSE, FALSE, sizeof(WorkWait));
        uint64_t now = (uint64_t) g_get_monotonic_time();

        g_array_set_clear_func(waits, wait_clear);
        pthread_mutex_lock(&workers->ended->mutex);
        for (const GList *link = workers->begun.head; link; link = link->next) {
                const Work *work = link->data;

                if (!work->path || work->since + usec > now)
                        continue;

                g_array_set_size(waits, waits->len + 1);
                g_array_index(waits, WorkWait, waits->len - 1) =
                        (WorkWait){ .what = work->kind->what, .path = g_strdup(work->path), .since = work->since };
        }
        pthread_mutex_unlock(&workers->ended->mutex);
        return waits;
}
