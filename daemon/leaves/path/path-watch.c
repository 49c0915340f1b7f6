/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Watches files and paths over one inotify, whose source exists while there is a watch. Events only mark watches. When
 * a batch of events has been read, the callbacks of the marked watches are called, so that a callback can free any
 * watch.
 *
 * A path is looked up on a thread, because its file system can hang. It is followed step by step, like the kernel does.
 * Before each step, a watch is set for the directory entry that the step depends on. So each later change is reported,
 * and the path is looked up again from the beginning.
 *
 * The main loop ignores the events of a watch until the lookup that added it has ended. It can also remove a watch that
 * a thread has just added again. So a lookup that has found other watches than the one before is repeated.
 *
 * A lookup does not cross an automount point where nothing is mounted: the file system would be mounted again after
 * each time that it was unmounted, because a mount table that changes makes new lookups. The last known state stays
 * until something else mounts it.
 *
 * A file that the kernel generates, or that is on another machine, cannot be watched. If such a path does not exist,
 * its state is unknown, since inotify would not report its creation.
 */

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdalign.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "basic/audience.h"
#include "basic/foreach.h"
#include "basic/workers.h"
#include "leaves/path/path-watch.h"

/* The watched object is that of the path as it is now; a symbolic link is not followed. */
#define SELF_MASK (IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF | IN_DONT_FOLLOW | IN_MASK_ADD)
/* Watches a directory: each entry that is created, removed or moved. inotify refuses a path that is no directory. */
#define ENTRY_MASK (SELF_MASK | IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_ONLYDIR)
#define FILE_MASK (SELF_MASK | IN_MODIFY)

/* Bytes of events in one turn, so that a busy directory does not delay other sources. */
#define BATCH (16 * 1024u)

/* Means every entry of an object; no entry has this name. */
#define ANY ""

/* Paths whose file systems can hang at once, before other paths wait, too. */
#define LOOKUPS_MAX 256

/* How often a lookup is repeated without an event. Some file systems have new inodes at each lookup: then the watches
 * are never the same, and report nothing. */
#define REPEATS_MAX 8u

/* A path that leaves follow. */
typedef struct Path Path;

typedef struct InotifySource {
        GSource source; /* first: the source is the object */
        PathWatches *watches;
        int mounts;
        void *mounts_tag;
} InotifySource;

struct PathWatches {
        GMainContext *context;
        int fd;                /* of the inotify, or -1. Closing one takes some milliseconds, because the kernel waits
                                * for all processors (see synchronize_srcu() there), so it is kept for the next watch */
        InotifySource *source; /* NULL: there are no watches */
        GHashTable *objects;   /* by watch descriptor */
        unsigned n_watches;
        GQueue marked;     /* whose callbacks are due */
        GHashTable *paths; /* Path by key */
        Workers *workers;
        unsigned n_lookups; /* threads that may use the inotify */
};

/* A directory or a file that inotify watches; several paths can lead to it. */
typedef struct Object {
        PathWatches *watches;
        int wd;              /* -1: the kernel has removed it */
        GHashTable *entries; /* name of an entry -> GQueue of watches */
} Object;

struct FileWatch {
        Object *object;
        char *entry;
        GList link;   /* in the queue of the entry */
        GList marked; /* in the queue of marked ones, while it has data */
        FileChanged changed;
        void *userdata;
};

static void mark(PathWatches *watches, GQueue *queue) {
        for (GList *i = queue->head; i; i = i->next) {
                FileWatch *watch = i->data;

                if (watch->marked.data)
                        continue;
                watch->marked.data = watch;
                g_queue_push_tail_link(&watches->marked, &watch->marked);
        }
}

static void mark_entry(const Object *object, const char *entry) {
        GQueue *queue = g_hash_table_lookup(object->entries, entry);

        if (queue)
                mark(object->watches, queue);
}

static void mark_object(const Object *object) {
        void *queue;

        TABLE_FOREACH(queue, object->entries)
                mark(object->watches, queue);
}

static void mark_all(const PathWatches *watches) {
        void *object;

        TABLE_FOREACH(object, watches->objects)
                mark_object(object);
}

static gboolean inotify_dispatch(GSource *base, GSourceFunc callback, void *userdata) {
        const InotifySource *source = (const InotifySource *) base;
        PathWatches *watches = source->watches;
        alignas(struct inotify_event) char buffer[BATCH];
        const struct inotify_event *event;
        ssize_t length;

        if (source->mounts_tag && g_source_query_unix_fd(base, source->mounts_tag) & (G_IO_PRI | G_IO_ERR))
                mark_all(watches);

        length = read(watches->fd, buffer, sizeof(buffer));
        for (const char *at = buffer; at < buffer + MAX(length, 0); at += sizeof(*event) + event->len) {
                Object *object;

                event = (const struct inotify_event *) (const void *) at;
                object = g_hash_table_lookup(watches->objects, GINT_TO_POINTER(event->wd));
                if (event->mask & IN_Q_OVERFLOW) {
                        mark_all(watches);
                } else if (object && event->len > 0) {
                        mark_entry(object, event->name);
                        mark_entry(object, ANY);
                } else if (object) {
                        mark_object(object);
                }

                /* The kernel has given up the watch: its watches keep the object until they were called. */
                if (object && event->mask & IN_IGNORED) {
                        g_hash_table_remove(watches->objects, GINT_TO_POINTER(event->wd));
                        object->wd = -1;
                }
        }

        while (watches->marked.head) {
                GList *link = g_queue_pop_head_link(&watches->marked);
                const FileWatch *watch = g_steal_pointer(&link->data);

                watch->changed(watch->userdata);
        }

        return G_SOURCE_CONTINUE;
}

static void inotify_finalize(GSource *base) {
        const InotifySource *source = (const InotifySource *) base;

        if (source->mounts >= 0)
                close(source->mounts);
}

static GSourceFuncs inotify_funcs = {
        .dispatch = inotify_dispatch,
        .finalize = inotify_finalize,
};

/* The inotify, or a negative errno. */
static int open_inotify(PathWatches *watches) {
        if (watches->fd < 0)
                watches->fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);

        return watches->fd < 0 ? -errno : watches->fd;
}

static void add_source(PathWatches *watches) {
        InotifySource *source;
        GSource *base;

        if (watches->source)
                return;

        base = g_source_new(&inotify_funcs, sizeof(InotifySource));
        source = (InotifySource *) base;
        source->watches = watches;
        g_source_set_name(base, "inotify");
        g_source_add_unix_fd(base, watches->fd, G_IO_IN);

        /* Without /proc, a mount alone is not noticed; the next event of inotify makes a new lookup. */
        source->mounts = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);
        if (source->mounts >= 0)
                source->mounts_tag = g_source_add_unix_fd(base, source->mounts, G_IO_PRI | G_IO_ERR);

        g_source_attach(base, watches->context);
        watches->source = source;
}

/* Takes the watch that was added to the inotify. entry: also NULL, which means any. A path that leads to the same
 * object has the same watch descriptor. */
static FileWatch *watch_new(PathWatches *watches, int wd, const char *entry, FileChanged changed, void *userdata) {
        Object *object = g_hash_table_lookup(watches->objects, GINT_TO_POINTER(wd));
        FileWatch *watch = g_new(FileWatch, 1);
        GQueue *queue;

        if (!object) {
                object = g_new(Object, 1);
                *object = (Object){
                        .watches = watches,
                        .wd = wd,
                        .entries =
                                g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify) g_queue_free),
                };
                g_hash_table_insert(watches->objects, GINT_TO_POINTER(wd), object);
        }
        *watch = (FileWatch){
                .object = object,
                .entry = g_strdup(entry ?: ANY),
                .link.data = watch,
                .changed = changed,
                .userdata = userdata,
        };
        queue = g_hash_table_lookup(object->entries, watch->entry);
        if (!queue) {
                queue = g_queue_new();
                g_hash_table_insert(object->entries, g_strdup(watch->entry), queue);
        }

        add_source(watches);
        g_queue_push_tail_link(queue, &watch->link);
        watches->n_watches++;
        return watch;
}

int file_watch_new(PathWatches *watches, const char *path, FileChanged changed, void *userdata, FileWatch **ret_watch) {
        int fd = open_inotify(watches), wd;

        if (fd < 0)
                return fd;

        wd = inotify_add_watch(fd, path, FILE_MASK);
        if (wd < 0)
                return -errno;

        *ret_watch = watch_new(watches, wd, NULL, changed, userdata);
        return 0;
}

void file_watch_free(FileWatch *watch) {
        PathWatches *watches;
        Object *object;
        GQueue *queue;

        if (!watch)
                return;

        object = watch->object;
        watches = object->watches;
        if (watch->marked.data)
                g_queue_unlink(&watches->marked, &watch->marked);
        queue = g_hash_table_lookup(object->entries, watch->entry);
        g_queue_unlink(queue, &watch->link);
        if (queue->length == 0)
                g_hash_table_remove(object->entries, watch->entry);

        if (g_hash_table_size(object->entries) == 0) {
                if (object->wd >= 0) {
                        (void) inotify_rm_watch(watches->fd, object->wd);
                        g_hash_table_remove(watches->objects, GINT_TO_POINTER(object->wd));
                }
                g_hash_table_unref(object->entries);
                g_free(object);
        }
        if (--watches->n_watches == 0) {
                GSource *source = &g_steal_pointer(&watches->source)->source;

                g_source_destroy(source);
                g_source_unref(source);
        }
        g_free(watch->entry);
        g_free(watch);
}

/* The kernel's limit. */
#define LINKS_MAX 40u

typedef struct View {
        PathState state;
        char *detail;
} View;

/* A watch that a lookup has added. */
typedef struct Step {
        int wd;
        char *entry; /* NULL: any */
} Step;

/* See path_resolution(7). A thread has it for itself. */
typedef struct Lookup {
        PathWatches *watches; /* only for the main loop */
        int inotify;          /* negative errno: there is none */
        char *text;
        bool contents;
        GString *at;   /* the directory that it has reached, as a path without symbolic links; "" is the root */
        GString *rest; /* the way that is left */
        unsigned n_links;
        GArray *steps; /* of Step */
        View view;     /* where it has ended */
        bool stopped;  /* at an automount point */
} Lookup;

/* Each of these functions returns false, because there is no further step. */
static bool lookup_end(Lookup *lookup, PathState state) {
        lookup->view.state = state;
        return false;
}

static bool lookup_end_unknown(Lookup *lookup, const char *here, const char *what, int error) {
        const char *reason = error == ENOSPC ? "no inotify watches are left, see inotify(7)" : g_strerror(error);

        lookup->view.detail = g_strdup_printf("%s cannot be %s: %s", *here ? here : "/", what, reason);
        return lookup_end(lookup, PATH_UNKNOWN);
}

static bool is_gone(int error) {
        return error == ENOENT || error == ENOTDIR;
}

/* The path could not be read. */
static bool lookup_end_at_error(Lookup *lookup, const char *here, int error) {
        if (!is_gone(error))
                return lookup_end_unknown(lookup, here, "examined", error);

        if (!g_str_equal(here, lookup->text))
                lookup->view.detail = g_strdup_printf("there is no %s", here);
        return lookup_end(lookup, PATH_MISSING);
}

static bool lookup_end_at_automount(Lookup *lookup) {
        lookup->stopped = true;
        lookup->view.detail = g_strdup_printf("nothing is mounted at the automount point %s", lookup->at->str);
        return lookup_end(lookup, PATH_UNKNOWN);
}

/* The fourth field is what is mounted, and the fifth where. */
char *mounted_at(const char *path) {
        g_autofree char *text = NULL, *what = NULL;
        g_auto(GStrv) lines = NULL;

        if (!g_file_get_contents("/proc/self/mountinfo", &text, NULL, NULL))
                return NULL;

        lines = g_strsplit(text, "\n", -1);
        for (char **line = lines; *line; line++) {
                g_auto(GStrv) fields = g_strsplit(*line, " ", 6);
                g_autofree char *point = g_strv_length(fields) == 6 ? g_strcompress(fields[4]) : NULL;

                if (g_strcmp0(point, path) != 0)
                        continue;
                g_free(what);
                what = g_strdup(fields[3]);
        }

        return g_steal_pointer(&what);
}

/* Would the kernel mount something for a look at the entry of the directory that the lookup has reached, or at all
 * entries (NULL)? Neither lstat(2) nor open(2) with O_PATH do that for the directory itself, but statfs(2) and
 * inotify_add_watch(2) with IN_ONLYDIR do. Below an automount point for many mounts, one may be mounted already. */
static bool lookup_would_mount(const Lookup *lookup, const char *name) {
        g_autofree char *entry = g_strdup_printf("%s/%s", lookup->at->str, name ?: ""), *mounted = NULL;
        int fd = open(lookup->at->len > 0 ? lookup->at->str : "/", O_PATH | O_NOFOLLOW | O_CLOEXEC);
        struct statfs status;
        bool automount = fd >= 0 && fstatfs(fd, &status) >= 0 && status.f_type == AUTOFS_SUPER_MAGIC;

        if (fd >= 0)
                close(fd);
        if (automount && name)
                mounted = mounted_at(entry);
        return automount && !mounted;
}

static int lookup_watch(Lookup *lookup, const char *path, unsigned mask, const char *entry) {
        Step *step;
        int wd;

        if (lookup->inotify < 0)
                return lookup->inotify;

        wd = inotify_add_watch(lookup->inotify, path, mask);
        if (wd < 0)
                return -errno;

        g_array_set_size(lookup->steps, lookup->steps->len + 1);
        step = &g_array_index(lookup->steps, Step, lookup->steps->len - 1);
        step->wd = wd;
        step->entry = g_strdup(entry);
        return 0;
}

static int watch_entry(Lookup *lookup, const char *name) {
        return lookup_watch(lookup, lookup->at->len > 0 ? lookup->at->str : "/", ENTRY_MASK, name);
}

/* 1: there are entries besides "." and ".."; 0: there are none. */
static int directory_has_entries(const char *path) {
        DIR *directory = opendir(path);
        const struct dirent *entry;
        int r = 0;

        if (!directory)
                return -errno;

        while (r == 0 && (entry = readdir(directory)))
                r = strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
        closedir(directory);
        return r;
}

static bool lookup_end_at_file(Lookup *lookup, const char *here) {
        struct stat status;
        int r;

        if (!lookup->contents)
                return lookup_end(lookup, PATH_FILE);

        r = lookup_watch(lookup, here, FILE_MASK, NULL);
        if (r < 0 && !is_gone(-r))
                return lookup_end_unknown(lookup, here, "watched", -r);

        if (lstat(here, &status) < 0)
                return lookup_end_at_error(lookup, here, errno);
        return lookup_end(lookup, status.st_size > 0 ? PATH_FILE : PATH_EMPTY_FILE);
}

static bool lookup_enter(Lookup *lookup, const char *name) {
        g_autofree char *here = g_strdup_printf("%s/%s", lookup->at->str, name);
        struct stat status;
        int r;

        if (lookup_would_mount(lookup, name))
                return lookup_end_at_automount(lookup);

        r = watch_entry(lookup, name);
        if (r < 0 && !is_gone(-r) && (r != -EACCES || lookup_watch(lookup, here, FILE_MASK, NULL) < 0))
                return lookup_end_unknown(lookup, lookup->at->str, "watched", -r);

        if (lstat(here, &status) < 0)
                return lookup_end_at_error(lookup, here, errno);
        if (S_ISLNK(status.st_mode)) {
                char target[PATH_MAX];
                ssize_t length;

                if (++lookup->n_links > LINKS_MAX)
                        return lookup_end_unknown(lookup, here, "examined", ELOOP);

                length = readlink(here, target, sizeof(target) - 1);
                if (length < 0)
                        return lookup_end_at_error(lookup, here, errno);

                target[length] = 0;
                if (*target == '/')
                        g_string_truncate(lookup->at, 0);
                g_string_prepend(lookup->rest, target);
                return true;
        }
        if (S_ISDIR(status.st_mode)) {
                g_string_assign(lookup->at, here);
                return true;
        }

        if (lookup->rest->len > 0) {
                lookup->view.detail = g_strdup_printf("%s is not a directory", here);
                return lookup_end(lookup, PATH_MISSING);
        }
        return S_ISREG(status.st_mode) ? lookup_end_at_file(lookup, here) : lookup_end(lookup, PATH_OTHER);
}

/* Takes the next component from the rest. */
static bool lookup_step(Lookup *lookup) {
        const char *begin = lookup->rest->str + strspn(lookup->rest->str, "/"), *slash = strrchr(lookup->at->str, '/');
        size_t length = strcspn(begin, "/");
        g_autofree char *name = g_strndup(begin, length);

        g_string_erase(lookup->rest, 0, begin + length - lookup->rest->str);
        if (length == 0) {
                int r;

                if (!lookup->contents)
                        return lookup_end(lookup, PATH_DIRECTORY);
                if (lookup_would_mount(lookup, NULL))
                        return lookup_end_at_automount(lookup);

                r = watch_entry(lookup, NULL);
                if (r < 0 && !is_gone(-r))
                        return lookup_end_unknown(lookup, lookup->at->str, "watched", -r);

                r = directory_has_entries(lookup->at->len > 0 ? lookup->at->str : "/");
                if (r < 0)
                        return lookup_end_at_error(lookup, lookup->at->str, -r);
                return lookup_end(lookup, r > 0 ? PATH_DIRECTORY : PATH_EMPTY_DIRECTORY);
        }

        if (strcmp(name, "..") == 0)
                g_string_truncate(lookup->at, slash ? (size_t) (slash - lookup->at->str) : 0);
        else if (strcmp(name, ".") != 0)
                return lookup_enter(lookup, name);
        return true;
}

static void lookup_run(Work *work, void *data) {
        Lookup *lookup = data;

        while (lookup_step(lookup))
                ;
}

static void step_clear(void *data) {
        g_free(((Step *) data)->entry);
}

static void lookup_free(void *data) {
        Lookup *lookup = data;

        lookup->watches->n_lookups--;
        g_free(lookup->text);
        g_string_free(lookup->at, TRUE);
        g_string_free(lookup->rest, TRUE);
        g_array_unref(lookup->steps);
        g_free(lookup->view.detail);
        g_free(lookup);
}

/* Has at most one lookup at a time. A path that has no followers any more stays until its lookup has ended, so that a
 * file system that hangs keeps one thread for each path, however often a leaf is started. */
struct Path {
        PathWatches *watches;
        char *key;
        const char *text;
        bool contents;
        bool running;             /* there is a lookup */
        bool outdated;            /* that lookup may miss a change, or a follower came later */
        unsigned n_begun, n_done; /* lookups */
        unsigned n_repeats;       /* since the last event */
        View view;
        bool changed;     /* the view, with the last lookup */
        GPtrArray *steps; /* of FileWatch, on the way to it */
        Audience audience;
};

struct PathWatch {
        Path *path;
        Follower follower;
        unsigned n_before; /* lookups that began before the watch: they may not see the latest changes */
        bool known;
        void (*changed)(void *userdata);
        void *userdata;
};

static GPtrArray *steps_new(void) {
        return g_ptr_array_new_with_free_func((GDestroyNotify) file_watch_free);
}

static void path_free(void *data) {
        Path *path = data;

        g_ptr_array_unref(path->steps);
        g_free(path->view.detail);
        g_free(path->key);
        g_free(path);
}

static void path_drop_unused(Path *path) {
        if (audience_is_unused(&path->audience) && !path->running)
                g_hash_table_remove(path->watches->paths, path->key);
}

static void on_looked_up(void *data, void *userdata);

static const WorkKind lookup_kind = {
        .what = "PathExists",
        .run = lookup_run,
        .done = on_looked_up,
        .free = lookup_free,
};

static void path_look_up(Path *path) {
        PathWatches *watches = path->watches;
        Lookup *lookup;

        path->outdated = path->running;
        if (path->running)
                return;

        path->running = true;
        path->n_begun++;
        watches->n_lookups++;
        lookup = g_new(Lookup, 1);
        *lookup = (Lookup){
                .watches = watches,
                .inotify = open_inotify(watches),
                .text = g_strdup(path->text),
                .contents = path->contents,
                .at = g_string_new(NULL),
                .rest = g_string_new(path->text),
                .steps = g_array_new(FALSE, FALSE, sizeof(Step)),
        };
        g_array_set_clear_func(lookup->steps, step_clear);
        (void) workers_start(watches->workers, &lookup_kind, lookup, path);
}

static void on_changed(void *userdata) {
        Path *path = userdata;

        path->n_repeats = 0;
        path_look_up(path);
}

/* The previous watches are kept until the new ones exist, so that unchanged ones are not removed and added again. True:
 * they are the same. */
static bool path_take_steps(Path *path, const GArray *steps) {
        GPtrArray *before = path->steps;
        bool same = before->len == steps->len;

        path->steps = steps_new();
        for (guint i = 0; i < steps->len; i++) {
                const Step *step = &g_array_index(steps, Step, i);
                const FileWatch *old = same ? before->pdata[i] : NULL;

                same = old && old->object->wd == step->wd && g_str_equal(old->entry, step->entry ?: ANY);
                g_ptr_array_add(path->steps, watch_new(path->watches, step->wd, step->entry, on_changed, path));
        }
        g_ptr_array_unref(before);
        return same;
}

static void on_looked_up(void *data, void *userdata) {
        Lookup *lookup = data;
        Path *path = userdata;
        const View *view = &lookup->view;
        bool same = path_take_steps(path, lookup->steps);
        /* An unmounted file system is taken to be as it was. */
        bool taken = !lookup->stopped || path->view.state == PATH_PENDING || path->view.state == PATH_UNKNOWN;

        path->changed = taken && (path->view.state != view->state || g_strcmp0(path->view.detail, view->detail) != 0);
        if (taken) {
                g_free(path->view.detail);
                path->view.state = view->state;
                path->view.detail = g_steal_pointer(&lookup->view.detail);
        }
        path->running = false;
        path->n_done = path->n_begun;
        if (path->outdated || (!same && path->n_repeats++ < REPEATS_MAX))
                path_look_up(path);

        audience_tell(&path->audience);
        path_drop_unused(path);
}

static void on_path(void *userdata) {
        PathWatch *watch = userdata;
        const Path *path = watch->path;

        if (path->n_done <= watch->n_before || (watch->known && !path->changed))
                return;

        watch->known = true;
        watch->changed(watch->userdata);
}

PathWatch *path_watch_new(PathWatches *watches, const char *text, bool contents, void (*changed)(void *userdata),
                          void *userdata) {
        g_autofree char *key = g_strconcat(contents ? "+" : "-", text, NULL);
        Path *path = g_hash_table_lookup(watches->paths, key);
        PathWatch *watch = g_new(PathWatch, 1);

        if (!path) {
                path = g_new0(Path, 1);
                path->watches = watches;
                path->key = g_steal_pointer(&key);
                path->text = path->key + 1;
                path->contents = contents;
                path->steps = steps_new();
                g_hash_table_insert(watches->paths, path->key, path);
        }
        *watch = (PathWatch){
                .path = path,
                .follower = { .changed = on_path, .userdata = watch },
                .n_before = path->n_begun,
                .changed = changed,
                .userdata = userdata,
        };
        audience_join(&path->audience, &watch->follower);
        path_look_up(path);
        return watch;
}

void path_watch_free(PathWatch *watch) {
        if (!watch)
                return;

        audience_leave(&watch->path->audience, &watch->follower);
        path_drop_unused(watch->path);
        g_free(watch);
}

PathState path_watch_state(const PathWatch *watch) {
        return watch->known ? watch->path->view.state : PATH_PENDING;
}

const char *path_watch_detail(const PathWatch *watch) {
        return watch->known ? watch->path->view.detail : NULL;
}

PathWatches *path_watches_new(GMainContext *context) {
        PathWatches *watches = g_new(PathWatches, 1);

        *watches = (PathWatches){
                .context = context,
                .fd = -1,
                .objects = g_hash_table_new(NULL, NULL),
                .paths = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, path_free),
                .workers = workers_new(context, LOOKUPS_MAX),
        };
        return watches;
}

void path_watches_free(PathWatches *watches) {
        if (!watches)
                return;

        workers_free(watches->workers);
        g_hash_table_unref(watches->paths);
        assert(watches->n_watches == 0);
        /* A thread that hangs may still use it. */
        if (watches->fd >= 0 && watches->n_lookups == 0)
                close(watches->fd);
        g_hash_table_unref(watches->objects);
        g_free(watches);
}
