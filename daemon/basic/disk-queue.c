/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Runs the disk jobs on a thread. Two lists are guarded by one mutex: waiting jobs, the first of which the thread is
 * doing, and jobs that are done. The thread starts with the first job. If the disk hangs forever, the thread keeps its
 * reference to the lists.
 *
 * Neither side wakes the other while it holds the mutex: whoever is woken may run at once, in place of the other, and
 * would then wait for the mutex until the other gets a processor again.
 */

#include <errno.h>
#include <glib-unix.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "basic/disk-queue.h"
#include "basic/log.h"
#include "basic/span.h"

/* Shared with the thread. The mutex and the condition are those of pthreads, because race detectors do not know those
 * of GLib. */
typedef struct Share {
        pthread_mutex_t mutex;
        pthread_cond_t changed;
        unsigned n_owners;    /* references: the queue, the thread */
        GQueue waiting, done; /* of DiskJob */
        uint64_t since;       /* when the first job was begun; 0: it was not begun */
        bool closed;
        int wake; /* an eventfd that wakes the main loop when a job is done; not guarded */
} Share;

struct DiskQueue {
        GSource source; /* must be the first member: the source is the object */
        Share *share;
        bool running; /* the thread is running */
        Timers *timers;
        Timer *check; /* checks whether the first job is late; NULL: there are no jobs */
        bool late;
        void (*late_changed)(void *userdata);
        void *userdata;
};

static void job_free(void *data) {
        DiskJob *job = data;

        if (job->free)
                job->free(job->data);
        g_free(job->what);
        g_free(job);
}

/* Call with the mutex locked. */
static void share_drop(Share *share) {
        bool last = --share->n_owners == 0;

        pthread_mutex_unlock(&share->mutex);
        if (!last)
                return;

        g_queue_clear_full(&share->waiting, job_free);
        g_queue_clear_full(&share->done, job_free);
        pthread_mutex_destroy(&share->mutex);
        pthread_cond_destroy(&share->changed);
        close(share->wake);
        g_free(share);
}

/* Call with the mutex locked. Unlocks it during the job, and to tell that it is done. */
static void do_first(Share *share) {
        const DiskJob *job = g_queue_peek_head(&share->waiting);

        share->since = (uint64_t) g_get_monotonic_time();
        pthread_mutex_unlock(&share->mutex);
        job->work(job->data);
        pthread_mutex_lock(&share->mutex);
        share->since = 0;
        g_queue_push_tail(&share->done, g_queue_pop_head(&share->waiting));
        pthread_mutex_unlock(&share->mutex);
        pthread_cond_broadcast(&share->changed);
        (void) eventfd_write(share->wake, 1);
        pthread_mutex_lock(&share->mutex);
}

static void *work(void *userdata) {
        Share *share = userdata;

        pthread_mutex_lock(&share->mutex);
        while (!share->closed) {
                if (share->waiting.length == 0) {
                        pthread_cond_wait(&share->changed, &share->mutex);
                        continue;
                }

                do_first(share);
        }
        share_drop(share);
        return NULL;
}

static void tell(DiskQueue *queue, const char *late) {
        queue->late = late;
        if (late)
                log_warning("%s; only work that needs this disk waits", late);
        else
                log_notice("the disk answers again");
        if (queue->late_changed)
                queue->late_changed(queue->userdata);
}

static void check(void *userdata) {
        DiskQueue *queue = userdata;
        g_autofree char *late = disk_queue_late(queue);
        uint64_t since = 0; /* when the first job was begun; 0: there is none */

        pthread_mutex_lock(&queue->share->mutex);
        if (queue->share->waiting.length > 0)
                since = queue->share->since > 0 ? queue->share->since : (uint64_t) g_get_monotonic_time();
        pthread_mutex_unlock(&queue->share->mutex);

        g_clear_pointer(&queue->check, timer_free);
        if (late && !queue->late)
                tell(queue, late);
        else if (!late && since > 0) /* no timer without a job: an idle btd must not wake up */
                queue->check = timer_new_at(queue->timers, since + DISK_QUEUE_LATE_USEC, check, queue);
}

static void deliver(DiskQueue *queue) {
        bool any = false;

        for (;;) {
                DiskJob *job;

                pthread_mutex_lock(&queue->share->mutex);
                job = g_queue_pop_head(&queue->share->done);
                pthread_mutex_unlock(&queue->share->mutex);
                if (!job)
                        break;

                any = true;
                job->done(job->data);
                job_free(job);
        }

        if (any && queue->late)
                tell(queue, NULL);
        check(queue);
}

static gboolean source_dispatch(GSource *source, GSourceFunc callback, void *userdata) {
        DiskQueue *queue = (DiskQueue *) source;
        eventfd_t n;

        (void) eventfd_read(queue->share->wake, &n);
        deliver(queue);
        return G_SOURCE_CONTINUE;
}

static GSourceFuncs source_funcs = {
        .dispatch = source_dispatch,
};

DiskQueue *disk_queue_new(GMainContext *context, Timers *timers, void (*late_changed)(void *userdata), void *userdata) {
        DiskQueue *queue = (DiskQueue *) g_source_new(&source_funcs, sizeof(DiskQueue));
        Share *share = g_new0(Share, 1);
        pthread_condattr_t attributes;

        pthread_condattr_init(&attributes);
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
        pthread_mutex_init(&share->mutex, NULL);
        pthread_cond_init(&share->changed, &attributes);
        pthread_condattr_destroy(&attributes);
        share->n_owners = 1;
        share->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        if (share->wake < 0)
                g_error("cannot create an eventfd: %s", g_strerror(errno)); /* as GLib if it has none for its loop */

        queue->share = share;
        queue->running = queue->late = false;
        queue->timers = timers;
        queue->check = NULL;
        queue->late_changed = late_changed;
        queue->userdata = userdata;
        g_source_set_name(&queue->source, "disk-queue");
        g_source_add_unix_fd(&queue->source, share->wake, G_IO_IN);
        g_source_attach(&queue->source, context);
        return queue;
}

void disk_queue_free(DiskQueue *queue) {
        if (!queue)
                return;

        timer_free(queue->check);
        pthread_mutex_lock(&queue->share->mutex);
        queue->share->closed = true;
        pthread_cond_broadcast(&queue->share->changed);
        share_drop(queue->share);
        g_source_destroy(&queue->source);
        g_source_unref(&queue->source);
}

/* The thread is detached: it must not delay the exit of btd. If none can be created (for example at the limit of
 * tasks), do the job here. Then the main loop waits for the disk. */
void disk_queue_add(DiskQueue *queue, const DiskJob *job) {
        Share *share = queue->share;
        pthread_t thread;

        pthread_mutex_lock(&share->mutex);
        g_queue_push_tail(&share->waiting, g_memdup2(job, sizeof(DiskJob)));
        if (!queue->running && pthread_create(&thread, NULL, work, share) == 0) {
                pthread_detach(thread);
                queue->running = true;
                share->n_owners++;
        }
        if (!queue->running)
                do_first(share);
        pthread_mutex_unlock(&share->mutex);
        pthread_cond_broadcast(&share->changed);

        if (!queue->check)
                queue->check = timer_new(queue->timers, DISK_QUEUE_LATE_USEC, check, queue);
}

/* A done() callback may add a job, so check again after each. */
bool disk_queue_finish(DiskQueue *queue, uint64_t usec) {
        uint64_t end = (uint64_t) g_get_monotonic_time() + usec;
        struct timespec until = { .tv_sec = (time_t) (end / G_USEC_PER_SEC),
                                  .tv_nsec = (long) (end % G_USEC_PER_SEC) * 1000 };
        Share *share = queue->share;
        int r = 0;

        while (r == 0) {
                bool idle;

                pthread_mutex_lock(&share->mutex);
                while (r == 0 && share->waiting.length > 0 && share->done.length == 0)
                        r = pthread_cond_timedwait(&share->changed, &share->mutex, &until);
                idle = share->waiting.length == 0 && share->done.length == 0;
                pthread_mutex_unlock(&share->mutex);
                if (idle)
                        return true;

                deliver(queue);
        }

        return false;
}

char *disk_queue_late(const DiskQueue *queue) {
        Share *share = queue->share;
        uint64_t now = (uint64_t) g_get_monotonic_time();
        const DiskJob *job;
        char *text = NULL;

        pthread_mutex_lock(&share->mutex);
        job = g_queue_peek_head(&share->waiting);
        if (job && share->since > 0 && now >= share->since + DISK_QUEUE_LATE_USEC) {
                g_autofree char *span = span_format_rounded(now - share->since);

                text = g_strdup_printf("the disk has not answered for %s: %s", span, job->what);
        }
        pthread_mutex_unlock(&share->mutex);
        return text;
}
