/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Replaces the daemon's disk queue, without a thread: the dice decide how long each job takes in simulated time,
 * sometimes very long. When a daemon is killed, its last jobs are lost; the dice choose the first of them.
 */

#include "basic/disk-queue.h"

#include "disk.h"
#include "event-queue.h"
#include "kernel.h"
#include "trace.h"

#define USUAL_USEC 2000u
#define HANGING_USEC 3000000u

struct DiskQueue {
        GSource source;       /* first: the source is the object */
        GQueue waiting, done; /* of DiskJob; the first that waits is running */
        uint64_t life;
};

static struct {
        Dice dice;
        unsigned slow;
        uint64_t life; /* of the present queue; others belong to killed daemons */
        DiskQueue *queue;
} disk;

void disk_simulate(Dice dice, unsigned slow) {
        disk.dice = dice;
        disk.slow = slow;
}

static void job_free(void *data) {
        DiskJob *job = data;

        if (job->free)
                job->free(job->data);
        g_free(job->what);
        g_free(job);
}

static void work(DiskQueue *queue) {
        DiskJob *job = g_queue_pop_head(&queue->waiting);

        trace("the disk: %s", job->what);
        job->work(job->data);
        g_queue_push_tail(&queue->done, job);
}

static void plan(const DiskQueue *queue);

static void on_answered(void *userdata) {
        DiskQueue *queue = disk.queue;

        if (!queue || queue->life != *(const uint64_t *) userdata || queue->waiting.length == 0) {
                g_free(userdata);
                return;
        }

        g_free(userdata);
        kernel_enter();
        work(queue);
        kernel_leave();
        g_main_context_wakeup(g_source_get_context(&queue->source));
        plan(queue);
}

static void plan(const DiskQueue *queue) {
        uint64_t usec = 0;

        if (queue->waiting.length == 0)
                return;
        if (disk.slow > 0)
                usec = dice_below(&disk.dice, dice_chance(&disk.dice, disk.slow) ? HANGING_USEC : USUAL_USEC);
        event_queue_add(usec, on_answered, g_memdup2(&queue->life, sizeof(queue->life)), g_free);
}

static gboolean source_prepare(GSource *source, int *ret_timeout) {
        *ret_timeout = -1;
        return ((const DiskQueue *) source)->done.length > 0;
}

static gboolean source_check(GSource *source) {
        return ((const DiskQueue *) source)->done.length > 0;
}

static void deliver(DiskQueue *queue) {
        while (queue->done.length > 0) {
                DiskJob *job = g_queue_pop_head(&queue->done);

                job->done(job->data);
                job_free(job);
        }
}

static gboolean source_dispatch(GSource *source, GSourceFunc callback, void *userdata) {
        deliver((DiskQueue *) source);
        return G_SOURCE_CONTINUE;
}

static GSourceFuncs source_funcs = {
        .prepare = source_prepare,
        .check = source_check,
        .dispatch = source_dispatch,
};

DiskQueue *disk_queue_new(GMainContext *context, Timers *timers, void (*late_changed)(void *userdata), void *userdata) {
        DiskQueue *queue = (DiskQueue *) g_source_new(&source_funcs, sizeof(DiskQueue));

        g_queue_init(&queue->waiting);
        g_queue_init(&queue->done);
        queue->life = ++disk.life;
        g_source_attach(&queue->source, context);
        disk.queue = queue;
        return queue;
}

void disk_queue_free(DiskQueue *queue) {
        if (!queue)
                return;

        g_queue_clear_full(&queue->waiting, job_free);
        g_queue_clear_full(&queue->done, job_free);
        disk.queue = NULL;
        g_source_destroy(&queue->source);
        g_source_unref(&queue->source);
}

void disk_queue_add(DiskQueue *queue, const DiskJob *job) {
        g_queue_push_tail(&queue->waiting, g_memdup2(job, sizeof(DiskJob)));
        if (queue->waiting.length == 1)
                plan(queue);
}

/* A disk may hang for longer than the daemon waits. The jobs of a killed daemon have no effect. */
bool disk_queue_finish(DiskQueue *queue, uint64_t usec) {
        for (;;) {
                deliver(queue);
                if (queue->waiting.length == 0)
                        return true;
                if (!kernel_was_killed() && disk.slow > 0 && dice_chance(&disk.dice, disk.slow)) {
                        trace("-- nobody waits for the disk any longer");
                        return false;
                }
                work(queue);
        }
}

char *disk_queue_late(const DiskQueue *queue) {
        return g_strdup("the disk has not answered");
}
