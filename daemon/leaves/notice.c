/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * The inotify and its source are there while there is any notice. A place is what inotify watches, a directory or a
 * file; it may be known by several paths. Events only mark notices; when a batch of events has been read, those that
 * are marked are told, so that a callback can free what it likes.
 */

#include <errno.h>
#include <fcntl.h>
#include <stdalign.h>
#include <stdbool.h>
#include <sys/inotify.h>

#include "leaves/notice.h"

#define SELF_MASK (IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF)
#define ENTRY_MASK (SELF_MASK | IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_ONLYDIR)
#define OBJECT_MASK (SELF_MASK | IN_MODIFY)

/* Bytes of events in one turn, so that a directory where much happens leaves room for others. */
#define BATCH (16 * 1024u)

/* Stands for every entry of a place: no entry has this name. */
#define ANY ""

typedef struct Inotify {
        GSource source; /* first: the source is the object */
        int fd, mounts;
        void *mounts_tag;
        GHashTable *places; /* by watch descriptor */
        unsigned n_notices;
        GQueue marked; /* those that are to be told */
} Inotify;

typedef struct Place {
        int wd;            /* -1: what was there is gone */
        GHashTable *names; /* of the entries that are looked at: to GQueues of notices */
} Place;

struct Notice {
        Place *place;
        char *name;
        GList link;   /* in the queue of the name */
        GList marked; /* in the inotify's, while it has data */
        NoticeTold told;
        void *userdata;
};

static Inotify *the_inotify;

/* An inotify without watches, or -1. Closing one takes some milliseconds, for it waits until no processor of the
 * machine can look at it any more (see synchronize_srcu() in the kernel): so it is kept for those who come next. */
static int spare_fd = -1;

static void mark(GQueue *notices) {
        for (GList *i = notices->head; i; i = i->next) {
                Notice *notice = i->data;

                if (notice->marked.data)
                        continue;
                notice->marked.data = notice;
                g_queue_push_tail_link(&the_inotify->marked, &notice->marked);
        }
}

static void mark_name(const Place *place, const char *name) {
        GQueue *notices = g_hash_table_lookup(place->names, name);

        if (notices)
                mark(notices);
}

static void mark_place(const Place *place) {
        GHashTableIter iterator;
        void *notices;

        g_hash_table_iter_init(&iterator, place->names);
        while (g_hash_table_iter_next(&iterator, NULL, &notices))
                mark(notices);
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

        /* The kernel has given up the watch: its notices keep the place until they have been told. */
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
                const Notice *notice = g_steal_pointer(&link->data);

                notice->told(notice->userdata);
        }

        return G_SOURCE_CONTINUE;
}

static void inotify_finalize(GSource *source) {
        Inotify *inotify = (Inotify *) source;

        g_hash_table_unref(inotify->places);
        if (inotify->mounts >= 0)
                close(inotify->mounts);
        if (inotify->n_notices == 0 && spare_fd < 0)
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

        if (the_inotify->n_notices > 0)
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

static void place_add(Place *place, Notice *notice) {
        GQueue *notices = g_hash_table_lookup(place->names, notice->name);

        if (!notices) {
                notices = g_queue_new();
                g_hash_table_insert(place->names, g_strdup(notice->name), notices);
        }

        notice->place = place;
        notice->link.data = notice;
        g_queue_push_tail_link(notices, &notice->link);
}

static void place_remove(Place *place, Notice *notice) {
        GQueue *notices = g_hash_table_lookup(place->names, notice->name);

        g_queue_unlink(notices, &notice->link);
        if (notices->length == 0)
                g_hash_table_remove(place->names, notice->name);
        place_drop_unused(place);
}

static int notice_new(const char *path, unsigned mask, const char *name, NoticeTold told, void *userdata,
                      Notice **ret_notice) {
        Notice *notice;
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

        notice = g_new0(Notice, 1);
        notice->name = g_strdup(name);
        notice->told = told;
        notice->userdata = userdata;
        place_add(place_get(wd), notice);
        the_inotify->n_notices++;
        *ret_notice = notice;
        return 0;
}

int notice_new_entry(const char *directory, const char *name, NoticeTold told, void *userdata, Notice **ret_notice) {
        return notice_new(directory, ENTRY_MASK, name ?: ANY, told, userdata, ret_notice);
}

int notice_new_object(const char *path, NoticeTold told, void *userdata, Notice **ret_notice) {
        return notice_new(path, OBJECT_MASK, ANY, told, userdata, ret_notice);
}

void notice_free(Notice *notice) {
        if (!notice)
                return;

        if (notice->marked.data)
                g_queue_unlink(&the_inotify->marked, &notice->marked);
        place_remove(notice->place, notice);
        the_inotify->n_notices--;
        inotify_drop_unused();
        g_free(notice->name);
        g_free(notice);
}
