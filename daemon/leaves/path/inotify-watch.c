/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Owns the inotify and its source, which exist while there is a watch. A place is a directory or a file that inotify
 * watches; several paths can lead to it. Events only mark watches. When a batch of events has been read, the callbacks
 * of the marked watches are called, so that a callback can free any watch.
 */

#include <errno.h>
#include <fcntl.h>
#include <stdalign.h>
#include <stdbool.h>
#include <sys/inotify.h>

#include "leaves/path/inotify-watch.h"

#define SELF_MASK (IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF)
#define ENTRY_MASK (SELF_MASK | IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_ONLYDIR)
#define OBJECT_MASK (SELF_MASK | IN_MODIFY)

/* Bytes of events in one turn, so that a busy directory does not delay other sources. */
#define BATCH (16 * 1024u)

/* Means every entry of a place; no entry has this name. */
#define ANY ""

typedef struct Inotify {
        GSource source; /* first: the source is the object */
        int fd, mounts;
        void *mounts_tag;
        GHashTable *places; /* by watch descriptor */
        unsigned n_watches;
        GQueue marked; /* whose callbacks are due */
} Inotify;

typedef struct Place {
        int wd;            /* -1: the watched object is gone */
        GHashTable *names; /* name of an entry -> GQueue of watches */
} Place;

struct InotifyWatch {
        Place *place;
        char *name;
        GList link;   /* in the queue of the name */
        GList marked; /* in the inotify's, while it has data */
        InotifyCallback callback;
        void *userdata;
};

static Inotify *the_inotify;

/* An inotify without watches, or -1. Closing one takes some milliseconds, because the kernel waits for all
 * processors (see synchronize_srcu() there), so it is kept for the next watch. */
static int spare_fd = -1;

static void mark(GQueue *watches) {
        for (GList *i = watches->head; i; i = i->next) {
                InotifyWatch *watch = i->data;

                if (watch->marked.data)
                        continue;
                watch->marked.data = watch;
                g_queue_push_tail_link(&the_inotify->marked, &watch->marked);
        }
}

static void mark_name(const Place *place, const char *name) {
        GQueue *watches = g_hash_table_lookup(place->names, name);

        if (watches)
                mark(watches);
}

static void mark_place(const Place *place) {
        GHashTableIter iterator;
        void *watches;

        g_hash_table_iter_init(&iterator, place->names);
        while (g_hash_table_iter_next(&iterator, NULL, &watches))
                mark(watches);
}

static void mark_all(void) {
        GHashTableIter iterator;
        void *place;

        g_hash_table_iter_init(&iterator, the_inotify->places);
        while (g_hash_table_iter_next(&iterator, NULL, &place))
                mark_place(place);
}

static void handle(const struct inotify_event *event) {
        Place *place = g_hash_table_lookup(the_inotify->places, GINT_TO_POINTER(event->wd));

        if (event->mask & IN_Q_OVERFLOW) {
                mark_all();
        } else if (place && event->len > 0) {
                mark_name(place, event->name);
                mark_name(place, ANY);
        } else if (place) {
                mark_place(place);
        }

        /* The kernel has given up the watch: its watches keep the place until they were called. */
        if (place && event->mask & IN_IGNORED) {
                g_hash_table_remove(the_inotify->places, GINT_TO_POINTER(event->wd));
                place->wd = -1;
        }
}

static void read_events(void) {
        alignas(struct inotify_event) char buffer[BATCH];
        ssize_t length = read(the_inotify->fd, buffer, sizeof(buffer));
        const struct inotify_event *event;

        for (const char *at = buffer; at < buffer + MAX(length, 0); at += sizeof(*event) + event->len) {
                event = (const struct inotify_event *) (const void *) at;
                handle(event);
        }
}

static gboolean inotify_dispatch(GSource *source, GSourceFunc callback, void *userdata) {
        Inotify *inotify = (Inotify *) source;

        if (inotify->mounts_tag && g_source_query_unix_fd(source, inotify->mounts_tag) & (G_IO_PRI | G_IO_ERR))
                mark_all();
        read_events();

        while (inotify->marked.head) {
                GList *link = g_queue_pop_head_link(&inotify->marked);
                const InotifyWatch *watch = g_steal_pointer(&link->data);

                watch->callback(watch->userdata);
        }

        return G_SOURCE_CONTINUE;
}

static void inotify_finalize(GSource *source) {
        Inotify *inotify = (Inotify *) source;

        g_hash_table_unref(inotify->places);
        if (inotify->mounts >= 0)
                close(inotify->mounts);
        if (inotify->n_watches == 0 && spare_fd < 0)
                spare_fd = inotify->fd;
        else
                close(inotify->fd);
}

static GSourceFuncs inotify_funcs = {
        .dispatch = inotify_dispatch,
        .finalize = inotify_finalize,
};

static int inotify_ensure(void) {
        g_autoptr(GMainContext) context = NULL;
        GSource *source;
        int fd;

        if (the_inotify)
                return 0;

        fd = spare_fd >= 0 ? spare_fd : inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
        if (fd < 0)
                return -errno;

        spare_fd = -1;
        context = g_main_context_ref_thread_default();
        source = g_source_new(&inotify_funcs, sizeof(Inotify));
        the_inotify = (Inotify *) source;
        the_inotify->fd = fd;
        the_inotify->places = g_hash_table_new(NULL, NULL);
        g_source_set_name(source, "inotify");
        g_source_add_unix_fd(source, fd, G_IO_IN);

        /* Where there is no /proc, mounts are not seen until something else happens. */
        the_inotify->mounts = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);
        if (the_inotify->mounts >= 0)
                the_inotify->mounts_tag = g_source_add_unix_fd(source, the_inotify->mounts, G_IO_PRI | G_IO_ERR);

        g_source_attach(source, context);
        return 0;
}

static void inotify_drop_unused(void) {
        GSource *source = &the_inotify->source;

        if (the_inotify->n_watches > 0)
                return;

        g_source_destroy(source);
        the_inotify = NULL;
        g_source_unref(source);
}

/* A path that leads to the same thing has the same watch descriptor. */
static Place *place_get(int wd) {
        Place *place = g_hash_table_lookup(the_inotify->places, GINT_TO_POINTER(wd));

        if (place)
                return place;

        place = g_new(Place, 1);
        place->wd = wd;
        place->names = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify) g_queue_free);
        g_hash_table_insert(the_inotify->places, GINT_TO_POINTER(wd), place);
        return place;
}

static void place_drop_unused(Place *place) {
        if (g_hash_table_size(place->names) > 0)
                return;

        if (place->wd >= 0) {
                (void) inotify_rm_watch(the_inotify->fd, place->wd);
                g_hash_table_remove(the_inotify->places, GINT_TO_POINTER(place->wd));
        }
        g_hash_table_unref(place->names);
        g_free(place);
}

static void place_add(Place *place, InotifyWatch *watch) {
        GQueue *watches = g_hash_table_lookup(place->names, watch->name);

        if (!watches) {
                watches = g_queue_new();
                g_hash_table_insert(place->names, g_strdup(watch->name), watches);
        }

        watch->place = place;
        watch->link.data = watch;
        g_queue_push_tail_link(watches, &watch->link);
}

static void place_remove(Place *place, InotifyWatch *watch) {
        GQueue *watches = g_hash_table_lookup(place->names, watch->name);

        g_queue_unlink(watches, &watch->link);
        if (watches->length == 0)
                g_hash_table_remove(place->names, watch->name);
        place_drop_unused(place);
}

static int inotify_watch_new(const char *path, unsigned mask, const char *name, InotifyCallback callback,
                             void *userdata, InotifyWatch **ret_watch) {
        InotifyWatch *watch;
        int r, wd;

        r = inotify_ensure();
        if (r < 0)
                return r;

        wd = inotify_add_watch(the_inotify->fd, path, mask | IN_DONT_FOLLOW | IN_MASK_ADD);
        if (wd < 0) {
                r = -errno;
                inotify_drop_unused();
                return r;
        }

        watch = g_new0(InotifyWatch, 1);
        watch->name = g_strdup(name);
        watch->callback = callback;
        watch->userdata = userdata;
        place_add(place_get(wd), watch);
        the_inotify->n_watches++;
        *ret_watch = watch;
        return 0;
}

int inotify_watch_new_entry(const char *directory, const char *name, InotifyCallback callback, void *userdata,
                            InotifyWatch **ret_watch) {
        return inotify_watch_new(directory, ENTRY_MASK, name ?: ANY, callback, userdata, ret_watch);
}

int inotify_watch_new_object(const char *path, InotifyCallback callback, void *userdata, InotifyWatch **ret_watch) {
        return inotify_watch_new(path, OBJECT_MASK, ANY, callback, userdata, ret_watch);
}

void inotify_watch_free(InotifyWatch *watch) {
        if (!watch)
                return;

        if (watch->marked.data)
                g_queue_unlink(&the_inotify->marked, &watch->marked);
        place_remove(watch->place, watch);
        the_inotify->n_watches--;
        inotify_drop_unused();
        g_free(watch->name);
        g_free(watch);
}
