/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Watches file descriptors in one epoll, which exists while there is a watch. Events are fetched one at a time, so that
 * a callback cannot free a watch whose event was already fetched; epoll itself takes turns between them.
 */

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <sys/epoll.h>

#include "leaves/spawn/fd-watch.h"

/* Events in one turn, so that processes that write much do not delay other sources. */
#define BATCH 32

typedef struct Epoll {
        GSource source; /* first: the source is the object */
        int fd;
} Epoll;

struct FdWatches {
        GMainContext *context;
        Epoll *epoll; /* NULL: there are no watches */
        unsigned n_watches;
};

struct FdWatch {
        FdWatches *watches;
        int fd;
        FdReady ready;
        void *userdata;
};

static gboolean epoll_dispatch(GSource *source, GSourceFunc callback, void *userdata) {
        const Epoll *epoll = (const Epoll *) source;
        struct epoll_event event;

        for (unsigned n = 0; n < BATCH && !g_source_is_destroyed(source); n++) {
                const FdWatch *watch;

                if (epoll_wait(epoll->fd, &event, 1, 0) <= 0)
                        break;

                watch = event.data.ptr;
                watch->ready(watch->userdata);
        }

        return G_SOURCE_CONTINUE;
}

static void epoll_finalize(GSource *source) {
        close(((Epoll *) source)->fd);
}

static GSourceFuncs epoll_funcs = {
        .dispatch = epoll_dispatch,
        .finalize = epoll_finalize,
};

static void drop_unused_epoll(FdWatches *watches) {
        if (watches->n_watches > 0 || !watches->epoll)
                return;

        g_source_destroy(&watches->epoll->source);
        g_source_unref(&watches->epoll->source);
        watches->epoll = NULL;
}

FdWatches *fd_watches_new(GMainContext *context) {
        FdWatches *watches = g_new0(FdWatches, 1);

        watches->context = context;
        return watches;
}

void fd_watches_free(FdWatches *watches) {
        if (!watches)
                return;

        assert(watches->n_watches == 0);
        g_free(watches);
}

int fd_watch_new(FdWatches *watches, int fd, FdReady ready, void *userdata, FdWatch **ret_watch) {
        g_autofree FdWatch *watch = g_new(FdWatch, 1);
        struct epoll_event event = { .events = EPOLLIN, .data.ptr = watch };
        *watch = (FdWatch){ .watches = watches, .fd = fd, .ready = ready, .userdata = userdata };

        if (!watches->epoll) {
                int poll = epoll_create1(EPOLL_CLOEXEC);

                if (poll < 0)
                        return -errno;

                watches->epoll = (Epoll *) g_source_new(&epoll_funcs, sizeof(Epoll));
                watches->epoll->fd = poll;
                g_source_set_name(&watches->epoll->source, "fds");
                g_source_add_unix_fd(&watches->epoll->source, poll, G_IO_IN);
                g_source_attach(&watches->epoll->source, watches->context);
        }

        if (epoll_ctl(watches->epoll->fd, EPOLL_CTL_ADD, fd, &event) < 0) {
                int r = -errno;

                drop_unused_epoll(watches);
                return r;
        }

        watches->n_watches++;
        *ret_watch = g_steal_pointer(&watch);
        return 0;
}

void fd_watch_free(FdWatch *watch) {
        FdWatches *watches;

        if (!watch)
                return;

        /* Closing the descriptor is not enough while a child before its exec has it, too. */
        watches = watch->watches;
        (void) epoll_ctl(watches->epoll->fd, EPOLL_CTL_DEL, watch->fd, NULL);
        watches->n_watches--;
        drop_unused_epoll(watches);
        g_free(watch);
}
