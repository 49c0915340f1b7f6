/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Implements tree-watch.h with inotify. Only directories are watched: files are replaced more often than written. */

#include <errno.h>
#include <glib.h>
#include <stdalign.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "basic/foreach.h"
#include "definition/sources.h"
#include "runtime/tree-watch.h"

#define MASK                                                                                                           \
        (IN_CLOSE_WRITE | IN_ATTRIB | IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE_SELF |           \
         IN_MOVE_SELF | IN_ONLYDIR)

/* Bytes of events that are read at once. */
#define BATCH (16 * 1024u)

struct TreeWatch {
        int fd;
        GMutex lock;
        GHashTable *places;  /* watch descriptor -> Place; under the lock */
        GHashTable *listed;  /* paths of watched directories of the search path; under the lock */
        GHashTable *changed; /* paths of files and directories; of the main loop */
        bool overflow;       /* more has changed than the kernel could store */
};

/* A watched directory. */
typedef struct Place {
        GHashTable *entries;  /* name -> GPtrArray of the paths that lead to it */
        GPtrArray *listed_as; /* the paths of the search path that lead to it */
} Place;

static void place_free(void *data) {
        Place *place = data;

        g_hash_table_unref(place->entries);
        g_ptr_array_unref(place->listed_as);
        g_free(place);
}

TreeWatch *tree_watch_new(void) {
        int fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
        TreeWatch *watch;

        if (fd < 0)
                return NULL;

        watch = g_new0(TreeWatch, 1);
        watch->fd = fd;
        g_mutex_init(&watch->lock);
        watch->places = g_hash_table_new_full(NULL, NULL, NULL, place_free);
        watch->listed = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        watch->changed = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        return watch;
}

void tree_watch_free(TreeWatch *watch) {
        if (!watch)
                return;

        close(watch->fd);
        g_mutex_clear(&watch->lock);
        g_hash_table_unref(watch->places);
        g_hash_table_unref(watch->listed);
        g_hash_table_unref(watch->changed);
        g_free(watch);
}

/* name NULL: the directory is listed. False: the directory cannot be watched, for example because there is none. */
static bool add(TreeWatch *watch, const char *directory, const char *name, const char *path) {
        int wd = inotify_add_watch(watch->fd, directory, MASK);
        g_autoptr(GMutexLocker) locker = NULL;
        GPtrArray *paths;
        Place *place;

        if (wd < 0)
                return false;

        locker = g_mutex_locker_new(&watch->lock);
        place = g_hash_table_lookup(watch->places, GINT_TO_POINTER(wd));
        if (!place) {
                place = g_new(Place, 1);
                place->entries =
                        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify) g_ptr_array_unref);
                place->listed_as = g_ptr_array_new_with_free_func(g_free);
                g_hash_table_insert(watch->places, GINT_TO_POINTER(wd), place);
        }

        paths = name ? g_hash_table_lookup(place->entries, name) : place->listed_as;
        if (!paths) {
                paths = g_ptr_array_new_with_free_func(g_free);
                g_hash_table_insert(place->entries, g_strdup(name), paths);
        }
        if (!g_ptr_array_find_with_equal_func(paths, path, g_str_equal, NULL))
                g_ptr_array_add(paths, g_strdup(path));
        return true;
}

/* Watches the entry of a directory. If the directory does not exist, watches that it appears. */
static void add_entry(TreeWatch *watch, const char *entry, const char *path) {
        g_autofree char *at = g_strdup(entry);

        while (!g_str_equal(at, "/")) {
                g_autofree char *directory = g_path_get_dirname(at), *name = g_path_get_basename(at);

                if (add(watch, directory, name, path) || (errno != ENOENT && errno != ENOTDIR))
                        return;
                g_free(at);
                at = g_steal_pointer(&directory);
        }
}

/* Only btd ignores hidden files; other tools write them first, and rename them. */
static bool is_tree_file(const char *name) {
        return *name != '.' && (g_str_has_suffix(name, TREE_SUFFIX) || g_str_has_suffix(name, DROPINS_SUFFIX));
}

void tree_watch_add_file(TreeWatch *watch, const char *path) {
        g_autofree char *own = g_canonicalize_filename(path, NULL), *directory = g_path_get_dirname(own),
                        *name = g_path_get_basename(own), *real = NULL;
        bool listed;

        if (!watch)
                return;

        g_mutex_lock(&watch->lock);
        listed = is_tree_file(name) && g_hash_table_contains(watch->listed, directory);
        g_mutex_unlock(&watch->lock);
        if (!listed)
                add_entry(watch, own, own);
        if (g_file_test(own, G_FILE_TEST_IS_SYMLINK) && (real = realpath(own, NULL)))
                add_entry(watch, real, own);
}

void tree_watch_add_directory(TreeWatch *watch, const char *path) {
        bool there;

        if (!watch)
                return;

        there = add(watch, path, NULL, path);
        g_mutex_lock(&watch->lock);
        if (there)
                g_hash_table_add(watch->listed, g_strdup(path));
        else
                g_hash_table_remove(watch->listed, path);
        g_mutex_unlock(&watch->lock);
        if (!there)
                add_entry(watch, path, path);
}

void tree_watch_add_dropins(TreeWatch *watch, const char *path) {
        if (watch)
                add(watch, path, NULL, path);
}

static void mark_all(TreeWatch *watch, const GPtrArray *paths) {
        for (guint i = 0; i < paths->len; i++)
                g_hash_table_add(watch->changed, g_strdup(paths->pdata[i]));
}

static void read_events(TreeWatch *watch) {
        alignas(struct inotify_event) char buffer[BATCH];
        g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new(&watch->lock);
        ssize_t length;

        while ((length = read(watch->fd, buffer, sizeof(buffer))) > 0)
                for (const char *at = buffer; at < buffer + length;) {
                        const struct inotify_event *event = (const struct inotify_event *) (const void *) at;
                        const Place *place = g_hash_table_lookup(watch->places, GINT_TO_POINTER(event->wd));

                        /* The directory itself was made newer, or has been removed. Other attributes of it do not
                         * matter. */
                        watch->overflow |= event->mask & IN_Q_OVERFLOW;
                        if (place && event->len > 0) {
                                const GPtrArray *paths = g_hash_table_lookup(place->entries, event->name);

                                if (paths)
                                        mark_all(watch, paths);
                                for (guint i = 0; is_tree_file(event->name) && i < place->listed_as->len; i++) {
                                        const char *listed = place->listed_as->pdata[i];

                                        /* A drop-in changes its tree, whatever it is called. */
                                        g_hash_table_add(watch->changed,
                                                         g_str_has_suffix(listed, DROPINS_SUFFIX)
                                                                 ? g_strdup(listed)
                                                                 : g_build_filename(listed, event->name, NULL));
                                }
                        } else if (place && event->mask & (IN_DELETE_SELF | IN_MOVE_SELF | IN_UNMOUNT)) {
                                void *paths;

                                TABLE_FOREACH(paths, place->entries)
                                        mark_all(watch, paths);
                                mark_all(watch, place->listed_as);
                        }

                        if (event->mask & IN_IGNORED)
                                g_hash_table_remove(watch->places, GINT_TO_POINTER(event->wd));
                        at += sizeof(*event) + event->len;
                }
}

void tree_watch_begin(TreeWatch *watch) {
        if (!watch)
                return;

        read_events(watch);
        watch->overflow = false;
        g_hash_table_remove_all(watch->changed);
}

bool tree_watch_has_changed(TreeWatch *watch, const char *path) {
        if (!watch)
                return false;

        read_events(watch);
        return watch->overflow ||
               (path ? g_hash_table_contains(watch->changed, path) : g_hash_table_size(watch->changed) > 0);
}
