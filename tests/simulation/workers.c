/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Replaces the daemon's workers, see basic/workers.h, without threads: work is done when it is started, and the daemon
 * learns it on its main loop.
 */

#include "basic/workers.h"

struct Workers {
        GSource source; /* first: the source is the object */
        GQueue done;    /* of Work */
};

struct Work {
        Workers *workers;
        const WorkKind *kind;
        void *data, *userdata;
};

static void work_free(void *data) {
        Work *work = data;

        work->kind->free(work->data);
        g_free(work);
}

static gboolean source_prepare(GSource *source, int *ret_timeout) {
        *ret_timeout = -1;
        return ((const Workers *) source)->done.length > 0;
}

static gboolean source_check(GSource *source) {
        return ((const Workers *) source)->done.length > 0;
}

static gboolean source_dispatch(GSource *source, GSourceFunc callback, void *userdata) {
        Work *work = g_queue_pop_head(&((Workers *) source)->done);

        /* It may have been dropped in the same turn. */
        if (!work)
                return G_SOURCE_CONTINUE;

        work->kind->done(work->data, work->userdata);
        work_free(work);
        return G_SOURCE_CONTINUE;
}

static GSourceFuncs source_funcs = {
        .prepare = source_prepare,
        .check = source_check,
        .dispatch = source_dispatch,
};

Workers *workers_new(GMainContext *context, unsigned max) {
        Workers *workers = (Workers *) g_source_new(&source_funcs, sizeof(Workers));

        g_queue_init(&workers->done);
        g_source_attach(&workers->source, context);
        return workers;
}

void workers_free(Workers *workers) {
        if (!workers)
                return;

        g_queue_clear_full(&workers->done, work_free);
        g_source_destroy(&workers->source);
        g_source_unref(&workers->source);
}

Work *workers_start(Workers *workers, const WorkKind *kind, void *data, void *userdata) {
        Work *work = g_new(Work, 1);

        *work = (Work){ .workers = workers, .kind = kind, .data = data, .userdata = userdata };
        kind->run(work, data);
        g_queue_push_tail(&workers->done, work);
        return work;
}

void work_drop(Work *work) {
        if (work && g_queue_remove(&work->workers->done, work))
                work_free(work);
}

void work_reads(Work *work, const char *path) {}

bool work_is_dropped(Work *work) {
        return false;
}

GArray *workers_waits(Workers *workers, uint64_t usec) {
        return g_array_new(FALSE, FALSE, sizeof(WorkWait));
}
