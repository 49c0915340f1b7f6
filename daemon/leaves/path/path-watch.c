/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Follows a path step by step, like the kernel. Before each step, an inotify watch is set for the directory entry that
 * the step depends on. So each later change is reported, and the path is followed again from the beginning.
 *
 * A file that the kernel generates, or that is on another machine, cannot be watched. If such a path does not exist,
 * its state is unknown, since inotify would not report its creation.
 */

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "basic/audience.h"
#include "leaves/path/inotify-watch.h"
#include "leaves/path/path-watch.h"

/* The kernel's limit. */
#define LINKS_MAX 40u

typedef struct View {
        PathState state;
        char *detail;
} View;

typedef struct Path {
        char *key;
        const char *text;
        bool contents;
        View view;
        GPtrArray *watches;
        Audience audience;
} Path;

struct PathWatch {
        Path *path;
        Follower follower;
};

typedef struct Walk {
        Path *path;
        GString *at;   /* how far it has come: a directory, by a path without symbolic links; "" is the root */
        GString *rest; /* the way that is left */
        unsigned n_links;
        View view; /* where it has ended */
} Walk;

static GHashTable *paths; /* by key */

static void on_inotify(void *userdata);

/* Each of these returns false: there is no further step. */
static bool walk_end(Walk *walk, PathState state) {
        walk->view.state = state;
        return false;
}

static bool walk_end_missing(Walk *walk, const char *here) {
        if (!g_str_equal(here, walk->path->text))
                walk->view.detail = g_strdup_printf("there is no %s", here);
        return walk_end(walk, PATH_MISSING);
}

static bool walk_end_unknown(Walk *walk, const char *here, const char *what, int error) {
        const char *reason = error == ENOSPC ? "no inotify watches are left, see inotify(7)" : g_strerror(error);

        walk->view.detail = g_strdup_printf("%s cannot be %s: %s", *here ? here : "/", what, reason);
        return walk_end(walk, PATH_UNKNOWN);
}

static bool is_gone(int error) {
        return error == ENOENT || error == ENOTDIR;
}

/* The path could not be read. */
static bool walk_end_at_error(Walk *walk, const char *here, int error) {
        return is_gone(error) ? walk_end_missing(walk, here) : walk_end_unknown(walk, here, "looked at", error);
}

static int watch_entry(Walk *walk, const char *name) {
        InotifyWatch *inotify;
        int r = inotify_watch_new_entry(walk->at->len > 0 ? walk->at->str : "/", name, on_inotify, walk->path,
                                        &inotify);

        if (r >= 0)
                g_ptr_array_add(walk->path->watches, inotify);
        return r;
}

static int watch_object(Walk *walk, const char *here) {
        InotifyWatch *inotify;
        int r = inotify_watch_new_object(here, on_inotify, walk->path, &inotify);

        if (r >= 0)
                g_ptr_array_add(walk->path->watches, inotify);
        return r;
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

static bool walk_end_at_directory(Walk *walk) {
        int r;

        if (!walk->path->contents)
                return walk_end(walk, PATH_DIRECTORY);

        r = watch_entry(walk, NULL);
        if (r < 0 && !is_gone(-r))
                return walk_end_unknown(walk, walk->at->str, "watched", -r);

        r = directory_has_entries(walk->at->len > 0 ? walk->at->str : "/");
        if (r < 0)
                return walk_end_at_error(walk, walk->at->str, -r);
        return walk_end(walk, r > 0 ? PATH_DIRECTORY : PATH_EMPTY_DIRECTORY);
}

static bool walk_end_at_file(Walk *walk, const char *here) {
        struct stat status;
        int r;

        if (!walk->path->contents)
                return walk_end(walk, PATH_FILE);

        r = watch_object(walk, here);
        if (r < 0 && !is_gone(-r))
                return walk_end_unknown(walk, here, "watched", -r);

        if (lstat(here, &status) < 0)
                return walk_end_at_error(walk, here, errno);
        return walk_end(walk, status.st_size > 0 ? PATH_FILE : PATH_EMPTY_FILE);
}

static bool walk_follow_link(Walk *walk, const char *here) {
        char target[PATH_MAX];
        ssize_t length;

        if (++walk->n_links > LINKS_MAX)
                return walk_end_unknown(walk, here, "looked at", ELOOP);

        length = readlink(here, target, sizeof(target) - 1);
        if (length < 0)
                return walk_end_at_error(walk, here, errno);

        target[length] = 0;
        if (*target == '/')
                g_string_truncate(walk->at, 0);
        g_string_prepend(walk->rest, target);
        return true;
}

static bool walk_enter(Walk *walk, const char *name) {
        g_autofree char *here = g_strdup_printf("%s/%s", walk->at->str, name);
        struct stat status;
        int r;

        r = watch_entry(walk, name);
        if (r < 0 && !is_gone(-r) && (r != -EACCES || watch_object(walk, here) < 0))
                return walk_end_unknown(walk, walk->at->str, "watched", -r);

        if (lstat(here, &status) < 0)
                return walk_end_at_error(walk, here, errno);
        if (S_ISLNK(status.st_mode))
                return walk_follow_link(walk, here);
        if (S_ISDIR(status.st_mode)) {
                g_string_assign(walk->at, here);
                return true;
        }

        if (walk->rest->len > 0) {
                walk->view.detail = g_strdup_printf("%s is not a directory", here);
                return walk_end(walk, PATH_MISSING);
        }
        return S_ISREG(status.st_mode) ? walk_end_at_file(walk, here) : walk_end(walk, PATH_OTHER);
}

/* The next component, taken from the rest; NULL: there is none. */
static char *walk_take(Walk *walk) {
        const char *begin = walk->rest->str + strspn(walk->rest->str, "/");
        size_t length = strcspn(begin, "/");
        char *name = length > 0 ? g_strndup(begin, length) : NULL;

        g_string_erase(walk->rest, 0, begin + length - walk->rest->str);
        return name;
}

static void walk_up(Walk *walk) {
        const char *slash = strrchr(walk->at->str, '/');

        g_string_truncate(walk->at, slash ? (size_t) (slash - walk->at->str) : 0);
}

static bool walk_step(Walk *walk) {
        g_autofree char *name = walk_take(walk);

        if (!name)
                return walk_end_at_directory(walk);

        if (strcmp(name, "..") == 0)
                walk_up(walk);
        else if (strcmp(name, ".") != 0)
                return walk_enter(walk, name);
        return true;
}

static GPtrArray *notices_new(void) {
        return g_ptr_array_new_with_free_func((GDestroyNotify) inotify_watch_free);
}

/* The previous watches are kept until the new ones exist, so that unchanged ones are not removed and added again. */
static bool path_look(Path *path) {
        GPtrArray *before = path->watches;
        g_autoptr(GString) at = g_string_new(NULL), rest = g_string_new(path->text);
        g_autofree char *detail = g_steal_pointer(&path->view.detail);
        Walk walk = { .path = path, .at = at, .rest = rest };
        PathState state = path->view.state;

        path->watches = notices_new();
        while (walk_step(&walk))
                ;
        g_ptr_array_unref(before);

        path->view = walk.view;
        return path->view.state != state || g_strcmp0(path->view.detail, detail) != 0;
}

static void path_drop_unused(Path *path) {
        if (!audience_is_unused(&path->audience))
                return;

        g_hash_table_remove(paths, path->key);
        if (g_hash_table_size(paths) == 0)
                g_clear_pointer(&paths, g_hash_table_unref);

        g_ptr_array_unref(path->watches);
        g_free(path->view.detail);
        g_free(path->key);
        g_free(path);
}

static void on_inotify(void *userdata) {
        Path *path = userdata;

        if (!path_look(path))
                return;

        audience_tell(&path->audience);
        path_drop_unused(path);
}

static Path *path_get(const char *text, bool contents) {
        g_autofree char *key = g_strconcat(contents ? "+" : "-", text, NULL);
        Path *path;

        if (!paths)
                paths = g_hash_table_new(g_str_hash, g_str_equal);

        path = g_hash_table_lookup(paths, key);
        if (path)
                return path;

        path = g_new0(Path, 1);
        path->key = g_steal_pointer(&key);
        path->text = path->key + 1;
        path->contents = contents;
        path->watches = notices_new();
        (void) path_look(path);
        g_hash_table_insert(paths, path->key, path);
        return path;
}

PathWatch *path_watch_new(const char *path, bool contents, void (*changed)(void *userdata), void *userdata) {
        PathWatch *watch = g_new0(PathWatch, 1);

        watch->path = path_get(path, contents);
        watch->follower.changed = changed;
        watch->follower.userdata = userdata;
        audience_join(&watch->path->audience, &watch->follower);
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
        return watch->path->view.state;
}

const char *path_watch_detail(const PathWatch *watch) {
        return watch->path->view.detail;
}
