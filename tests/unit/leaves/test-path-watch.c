/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tests the watch under PathExists: sharing, clean-up, lost events, and mounts. */

#include <sched.h>
#include <string.h>
#include <sys/mount.h>

#include "leaves/path/path-watch.h"
#include "path-scene.h"

/* How many inotifies this process has, and what they watch. */
static unsigned count_watches(unsigned *ret_inotifies) {
        g_autoptr(GDir) dir = g_dir_open("/proc/self/fdinfo", 0, NULL);
        unsigned n = 0;
        const char *name;

        *ret_inotifies = 0;
        while ((name = g_dir_read_name(dir))) {
                g_autofree char *info = g_build_filename("/proc/self/fdinfo", name, NULL), *text = NULL;
                g_autofree char *fd = g_build_filename("/proc/self/fd", name, NULL), *what = NULL;

                what = g_file_read_link(fd, NULL);
                if (g_strcmp0(what, "anon_inode:inotify") != 0 || !g_file_get_contents(info, &text, NULL, NULL))
                        continue;
                ++*ret_inotifies;
                for (const char *line = text; (line = strstr(line, "inotify wd:")); line++)
                        n++;
        }

        return n;
}

/* A lookup that nobody waits for any more can still have watches. Returns how many inotifies there are. */
static unsigned wait_for_watches(unsigned n) {
        unsigned n_inotifies;

        while (count_watches(&n_inotifies) != n)
                g_main_context_iteration(NULL, true);
        return n_inotifies;
}

static void test_shared(PathScene *scene, const void *data) {
        g_autoptr(GPtrArray) leaves = g_ptr_array_new_with_free_func((GDestroyNotify) test_leaf_free);
        unsigned before, n_inotifies;
        g_autoptr(TestLeaf) first = path_scene_start(scene, "here", "any");

        before = count_watches(&n_inotifies);
        g_assert_cmpuint(n_inotifies, ==, 1);
        for (unsigned i = 0; i < 1000; i++)
                g_ptr_array_add(leaves, path_scene_start(scene, "here", "any"));
        for (unsigned i = 0; i < 10; i++) {
                g_autofree char *name = g_strdup_printf("%u", i);

                g_ptr_array_add(leaves, path_scene_start(scene, name, "any"));
        }
        g_assert_cmpuint(count_watches(&n_inotifies), ==, before);
        g_assert_cmpuint(n_inotifies, ==, 1);

        path_scene_make_file(scene, "here", "");
        for (unsigned i = 0; i < 1000; i++)
                path_scene_wait_status(g_ptr_array_index(leaves, i), STATUS_SUCCESS);
        for (unsigned i = 1000; i < leaves->len; i++)
                g_assert_cmpuint(((TestLeaf *) g_ptr_array_index(leaves, i))->n_reports, ==, 0);

        g_ptr_array_set_size(leaves, 0);
        (void) wait_for_watches(before);
        g_clear_pointer(&first, test_leaf_free);
        /* The inotify itself is kept for the next. */
        g_assert_cmpuint(wait_for_watches(0), ==, 1);
}

/* Its own directory is not watched any longer, nor is what is behind a link that was changed. */
static void test_nothing_is_left_behind(PathScene *scene, const void *data) {
        g_autoptr(TestLeaf) leaf = NULL;
        unsigned before, n_inotifies;

        path_scene_make_directory(scene, "one");
        path_scene_make_link(scene, "now", "one");
        leaf = path_scene_start(scene, "now/file", "any");
        before = count_watches(&n_inotifies);

        for (unsigned i = 0; i < 10; i++) {
                g_autofree char *directory = g_strdup_printf("%u", i);
                g_autofree char *cause =
                        g_strdup_printf("%%/now/file does not exist: there is no %%/%s/file", directory);

                path_scene_make_directory(scene, directory);
                path_scene_make_link(scene, "new", directory);
                path_scene_move(scene, "new", "now");
                path_scene_wait_failure(scene, leaf, cause);
        }
        (void) wait_for_watches(before);
}

static unsigned queue_limit(void) {
        g_autofree char *text = NULL;

        g_assert_true(g_file_get_contents("/proc/sys/fs/inotify/max_queued_events", &text, NULL, NULL));
        return (unsigned) g_ascii_strtoull(text, NULL, 10);
}

/* Events that are equal to the one before are not queued. */
static void test_overflow(PathScene *scene, const void *data) {
        g_autoptr(TestLeaf) leaf = path_scene_start(scene, "here", "file"),
                            other = path_scene_start(scene, "away/here", "file");
        unsigned limit = queue_limit();

        if (limit > 200000) {
                g_test_skip("the queue of inotify is too long");
                return;
        }

        path_scene_make_file(scene, "a", "");
        for (unsigned i = 0; i < limit; i++)
                path_scene_move(scene, i % 2 ? "b" : "a", i % 2 ? "a" : "b");
        path_scene_make_file(scene, "here", "");
        path_scene_make_directory(scene, "away");
        path_scene_make_file(scene, "away/here", "");
        path_scene_wait_status(leaf, STATUS_SUCCESS);
        path_scene_wait_status(other, STATUS_SUCCESS);
}

/* In a mount namespace of its own, which the process has until it ends: so this is the last test. */
static void test_mount(PathScene *scene, const void *data) {
        g_autoptr(TestLeaf) full = NULL, file = NULL, beneath = NULL;

        if (unshare(CLONE_NEWNS) < 0 || mount("none", "/", "none", MS_REC | MS_PRIVATE, NULL) < 0) {
                g_test_skip("there is no right to mount");
                return;
        }

        path_scene_make_directory(scene, "mnt");
        path_scene_make_file(scene, "mnt/beneath", "");
        beneath = path_scene_start(scene, "mnt/beneath", "file");
        full = path_scene_start(scene, "mnt", "not-empty");
        file = path_scene_start(scene, "mnt/file", "file");
        g_assert_cmpint(beneath->status, ==, STATUS_SUCCESS);

        g_assert_cmpint(mount("tmpfs", path_scene_at(scene, "mnt"), "tmpfs", 0, NULL), ==, 0);
        path_scene_wait_failure(scene, beneath, "%/mnt/beneath does not exist");
        path_scene_wait_failure(scene, full, "%/mnt is empty");
        path_scene_make_file(scene, "mnt/file", "");
        path_scene_wait_status(file, STATUS_SUCCESS);
        path_scene_wait_status(full, STATUS_SUCCESS);

        g_assert_cmpint(umount2(path_scene_at(scene, "mnt"), MNT_DETACH), ==, 0);
        path_scene_wait_failure(scene, file, "%/mnt/file does not exist");
        path_scene_wait_status(beneath, STATUS_SUCCESS);
}

/* A watch that frees another one, and itself, when it is told. */
typedef struct Pair {
        PathWatch *watch;
        struct Pair *other;
        unsigned *n_told;
} Pair;

static void on_pair(void *userdata) {
        Pair *pair = userdata;

        ++*pair->n_told;
        g_clear_pointer(&pair->other->watch, path_watch_free);
        g_clear_pointer(&pair->watch, path_watch_free);
}

static void test_freed_while_told(PathScene *scene, const void *data) {
        g_autoptr(PathWatches) watches = path_watches_new(NULL);
        unsigned n_told = 0;
        Pair a = { .n_told = &n_told }, b = { .n_told = &n_told };

        for (unsigned i = 0; i < 2; i++) {
                a.other = &b;
                b.other = &a;
                a.watch = path_watch_new(watches, path_scene_at(scene, "a"), false, on_pair, &a);
                b.watch = path_watch_new(watches, path_scene_at(scene, i == 0 ? "a" : "b"), true, on_pair, &b);
                path_scene_make_file(scene, "a", "");
                path_scene_make_file(scene, "b", "");
                while (n_told <= i)
                        g_main_context_iteration(NULL, true);
                (void) wait_for_watches(0);
                g_assert_cmpuint(n_told, ==, i + 1);
                path_scene_drop(scene, "a");
                path_scene_drop(scene, "b");
        }
}

static void on_told(void *userdata) {
        ++*(unsigned *) userdata;
}

/* They have an inotify each, and the one stays when the other goes. */
static void test_owners(PathScene *scene, const void *data) {
        g_autoptr(PathWatches) watches = path_watches_new(NULL), others = path_watches_new(NULL);
        g_autoptr(PathWatch) watch = NULL, other = NULL;
        unsigned n_told = 0, n_others = 0, n_inotifies;

        watch = path_watch_new(watches, path_scene_at(scene, "a"), false, on_told, &n_told);
        other = path_watch_new(others, path_scene_at(scene, "a"), false, on_told, &n_others);
        while (n_told == 0 || n_others == 0)
                g_main_context_iteration(NULL, true);
        count_watches(&n_inotifies);
        g_assert_cmpuint(n_inotifies, ==, 2);
        n_told = n_others = 0;

        g_clear_pointer(&other, path_watch_free);
        g_clear_pointer(&others, path_watches_free);
        count_watches(&n_inotifies);
        g_assert_cmpuint(n_inotifies, ==, 1);

        path_scene_make_file(scene, "a", "");
        while (n_told == 0)
                g_main_context_iteration(NULL, true);
        g_assert_cmpuint(n_told, ==, 1);
        g_assert_cmpuint(n_others, ==, 0);
}

#define add(name, function)                                                                                            \
        g_test_add("/path-watch/" name, PathScene, NULL, path_scene_open, function, path_scene_close)

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);

        add("shared", test_shared);
        add("nothing-is-left-behind", test_nothing_is_left_behind);
        add("overflow", test_overflow);
        add("freed-while-told", test_freed_while_told);
        add("owners", test_owners);
        add("mount", test_mount);

        return g_test_run();
}
