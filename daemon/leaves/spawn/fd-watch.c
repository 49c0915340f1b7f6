/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Watches file descriptors in one epoll, which exists while there is a watch. Events are fetched one at a time, so that
 * a callback cannot free a watch whose event was already fetched; epoll itself takes turns between them.
 */

#include <errno.h>
#include <stdbool.h>
#include <sys/epoll.h>

#include "leaves/spawn/fd-watch.h"

/* Events in one turn, so that processes that write much do not delay other sources. */
#define BATCH 32

typedef struct Epoll {
        GSource source; /* first: the source is the object */
        int fd;
        unsigned n_watches;
} Epoll;

struct FdWatch {
        int fd;
        FdReady ready;
        void *userdata;
};

static Epoll *the_epoll;

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

static int epoll_ensure(void) {
        g_autoptr(GMainContext) context = NULL;
        int fd;

        if (the_epoll)
                return 0;

        fd = epoll_create1(EPOLL_CLOEXEC);
        if (fd < 0)
                return -errno;

        context = g_main_context_ref_thread_default();
        the_epoll = (Epoll *) g_source_new(&epoll_funcs, sizeof(Epoll));
        the_epoll->fd = fd;
        g_source_set_name(&the_epoll->source, "fds");
        g_source_add_unix_fd(&the_epoll->source, fd, G_IO_IN);
        g_source_attach(&the_epoll->source, context);
        return 0;
}

static void epoll_drop_unused(void) {
        if (the_epoll->n_watches > 0)
                return;

        g_source_destroy(&the_epoll->source);
        g_source_unref(&the_epoll->source);
        the_epoll = NULL;
}

int fd_watch_new(int fd, FdReady ready, void *userdata, FdWatch **ret_watch) {
        g_autofree FdWatch *watch = g_new(FdWatch, 1);
        struct epoll_event event = { .events = EPOLLIN, .data.ptr = watch };
        int r;

        *watch = (FdWatch){ .fd = fd, .ready = ready, .userdata = userdata };

        r = epoll_ensure();
        if (r < 0)
                return r;

        if (epoll_ctl(the_epoll->fd, EPOLL_CTL_ADD, fd, &event) < 0) {
                r = -errno;
                epoll_drop_unused();
                return r;
        }

        the_epoll->n_watches++;
        *ret_watch = g_steal_pointer(&watch);
        return 0;
}

void fd_watch_free(FdWatch *watch) {
        if (!watch)
                return;

        /* Closing the descriptor is not enough while a child before its exec has it, too. */
        (void) epoll_ctl(the_epoll->fd, EPOLL_CTL_DEL, watch->fd, NULL);
        the_epoll->n_watches--;
        epoll_drop_unused();
        g_free(watch);
}
