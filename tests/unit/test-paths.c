/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* PathExists, and the watching of paths beneath it, with real files. */

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <sched.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "assert-cause.h"
#include "basic/cleanup.h"
#include "leaf-stage.h"
#include "leaves/path-watch.h"
#include "leaves/registry.h"

#define NOBODY 65534

static const NodeType *const types[] = { &path_exists_type, NULL };

typedef struct Scene {
        LeafStage *stage;
        char *top;
} Scene;

static void scene_open(Scene *scene, const void *data) {
        scene->stage = leaf_stage_new(NULL);
        scene->top = g_dir_make_tmp("btd-paths-XXXXXX", NULL);
        g_assert_nonnull(scene->top);
        g_assert_cmpint(chmod(scene->top, 0755), ==, 0);
}

static void scene_close(Scene *scene, const void *data) {
        const char *const argv[] = { "rm", "-rf", scene->top, NULL };

        g_assert_true(
                g_spawn_sync(NULL, (char **) argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL, NULL, NULL, NULL));
        leaf_stage_free(scene->stage);
        g_free(scene->top);
}

/* The path of a name below the top; valid until the test program has ended. */
static const char *at(const Scene *scene, const char *name) {
        g_autofree char *path = g_build_filename(scene->top, name, NULL);

        return g_intern_string(path);
}

static void make_directory(const Scene *scene, const char *name) {
        g_assert_cmpint(mkdir(at(scene, name), 0755), ==, 0);
}

static void make_file(const Scene *scene, const char *name, const char *text) {
        int fd = open(at(scene, name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

        g_assert_cmpint(fd, >=, 0);
        g_assert_cmpint(write(fd, text, strlen(text)), ==, strlen(text));
        close(fd);
}

static void make_link(const Scene *scene, const char *name, const char *target) {
        g_assert_cmpint(symlink(target, at(scene, name)), ==, 0);
}

static void drop(const Scene *scene, const char *name) {
        g_assert_cmpint(remove(at(scene, name)), ==, 0);
}

static void move(const Scene *scene, const char *from, const char *to) {
        g_assert_cmpint(rename(at(scene, from), at(scene, to)), ==, 0);
}

static Actor *look(const Scene *scene, const char *name, const char *kind) {
        g_autofree char *node = g_strdup_printf("{ \"type\": \"PathExists\", \"path\": \"%s\", \"kind\": \"%s\" }",
                                                at(scene, name), kind);

        return leaf_stage_start(scene->stage, types, node);
}

static void wait_status(Actor *actor, Status status) {
        while (actor->status != status)
                actor_wait_reports(actor, actor->n_reports + 1);
}

/* Until it fails for this reason, in which % stands for the top. */
static void wait_failure(const Scene *scene, Actor *actor, const char *cause) {
        g_auto(GStrv) parts = g_strsplit(cause, "%", -1);
        g_autofree char *expected = g_strjoinv(scene->top, parts);

        while (actor->status != STATUS_FAILURE || g_strcmp0(actor->cause, expected) != 0)
                actor_wait_reports(actor, actor->n_reports + 1);
}

/* Those that are known without waiting. */
static void assert_failure(const Scene *scene, const char *name, const char *kind, const char *cause) {
        g_autoptr(Actor) actor = look(scene, name, kind);

        g_assert_cmpint(actor->status, ==, STATUS_FAILURE);
        wait_failure(scene, actor, cause);
        g_assert_cmpuint(actor->n_reports, ==, 0);
}

static void assert_success(const Scene *scene, const char *name, const char *kind) {
        g_autoptr(Actor) actor = look(scene, name, kind);

        g_assert_cmpint(actor->status, ==, STATUS_SUCCESS);
}

static void test_kinds(Scene *scene, const void *data) {
        make_file(scene, "empty", "");
        make_file(scene, "full", "x");
        make_directory(scene, "void");
        make_directory(scene, "house");
        make_file(scene, "house/chair", "");
        g_assert_cmpint(mkfifo(at(scene, "pipe"), 0600), ==, 0);

        assert_success(scene, "empty", "any");
        assert_success(scene, "empty", "file");
        assert_failure(scene, "empty", "directory", "%/empty is a file, not a directory");
        assert_failure(scene, "empty", "not-empty", "%/empty is empty");
        assert_success(scene, "full", "not-empty");

        assert_success(scene, "void", "any");
        assert_success(scene, "void", "directory");
        assert_success(scene, "void/", "directory");
        assert_failure(scene, "void", "file", "%/void is a directory, not a file");
        assert_failure(scene, "void", "not-empty", "%/void is empty");
        assert_success(scene, "house", "not-empty");

        assert_success(scene, "pipe", "any");
        assert_failure(scene, "pipe", "file", "%/pipe is neither a file nor a directory");
        assert_failure(scene, "pipe", "not-empty", "%/pipe is neither a file nor a directory");

        assert_failure(scene, "none", "any", "%/none does not exist");
        assert_failure(scene, "none/of/these", "any", "%/none/of/these does not exist: there is no %/none");
        assert_failure(scene, "full/x", "any", "%/full/x does not exist: %/full is not a directory");
        assert_failure(scene, "full/", "any", "%/full/ does not exist: %/full is not a directory");
        assert_success(scene, "void/../house/./chair", "file");
}

static void test_facts(Scene *scene, const void *data) {
        g_autoptr(Actor) actor = look(scene, "none", "file");
        g_autofree char *facts =
                g_strdup_printf("{\"path\":\"%s\",\"seen\":\"missing\",\"wanted\":\"file\"}", at(scene, "none"));

        assert_cause(actor->reason, "condition", facts);
}

static void test_comes_and_goes(Scene *scene, const void *data) {
        g_autoptr(Actor) actor = look(scene, "here", "file");

        make_file(scene, "here", "");
        wait_status(actor, STATUS_SUCCESS);
        drop(scene, "here");
        wait_failure(scene, actor, "%/here does not exist");
        make_directory(scene, "here");
        wait_failure(scene, actor, "%/here is a directory, not a file");

        make_file(scene, "there", "");
        drop(scene, "here");
        move(scene, "there", "here");
        wait_status(actor, STATUS_SUCCESS);
        move(scene, "here", "there");
        wait_failure(scene, actor, "%/here does not exist");
}

static void test_parents_come_and_go(Scene *scene, const void *data) {
        g_autoptr(Actor) actor = look(scene, "a/b/c", "any");

        make_directory(scene, "a");
        wait_failure(scene, actor, "%/a/b/c does not exist: there is no %/a/b");
        make_directory(scene, "a/b");
        wait_failure(scene, actor, "%/a/b/c does not exist");
        make_file(scene, "a/b/c", "");
        wait_status(actor, STATUS_SUCCESS);

        move(scene, "a", "z");
        wait_failure(scene, actor, "%/a/b/c does not exist: there is no %/a");
        /* This is nobody's business any more. */
        drop(scene, "z/b/c");
        make_file(scene, "z/b/c", "");
        move(scene, "z", "a");
        wait_status(actor, STATUS_SUCCESS);

        drop(scene, "a/b/c");
        drop(scene, "a/b");
        drop(scene, "a");
        wait_failure(scene, actor, "%/a/b/c does not exist: there is no %/a");

        /* All at once: when the first is noticed, the others are there already. */
        make_directory(scene, "a");
        make_directory(scene, "a/b");
        make_file(scene, "a/b/c", "");
        wait_status(actor, STATUS_SUCCESS);
}

static void test_links(Scene *scene, const void *data) {
        g_autoptr(Actor) actor = NULL;

        make_directory(scene, "one");
        make_directory(scene, "two");
        make_file(scene, "two/file", "");
        make_link(scene, "now", "one");
        make_link(scene, "absolute", at(scene, "now/file"));
        make_link(scene, "one/up", "../absolute");

        actor = look(scene, "now/up", "file");
        wait_failure(scene, actor, "%/now/up does not exist: there is no %/one/file");
        make_file(scene, "one/file", "");
        wait_status(actor, STATUS_SUCCESS);

        make_link(scene, "new", "two");
        move(scene, "new", "now");
        wait_failure(scene, actor, "%/now/up does not exist: there is no %/two/up");
        make_link(scene, "two/up", "file");
        wait_status(actor, STATUS_SUCCESS);
}

static void test_link_loop(Scene *scene, const void *data) {
        g_autoptr(Actor) actor = NULL;

        make_link(scene, "here", "there");
        make_link(scene, "there", "here");
        actor = look(scene, "here", "any");
        wait_failure(scene, actor,
                     "it is not known what there is at %/here: %/here cannot be looked at: Too many levels of "
                     "symbolic links");
        drop(scene, "there");
        wait_failure(scene, actor, "%/here does not exist: there is no %/there");
}

static void test_directory_fills(Scene *scene, const void *data) {
        g_autoptr(Actor) actor = look(scene, "queue", "not-empty");

        make_directory(scene, "queue");
        wait_failure(scene, actor, "%/queue is empty");
        make_file(scene, "queue/1", "");
        wait_status(actor, STATUS_SUCCESS);
        make_directory(scene, "queue/2");
        drop(scene, "queue/1");
        drop(scene, "queue/2");
        wait_failure(scene, actor, "%/queue is empty");
}

static void test_file_fills(Scene *scene, const void *data) {
        g_autoptr(Actor) actor = NULL;

        make_file(scene, "log", "");
        actor = look(scene, "log", "not-empty");
        make_file(scene, "log", "x");
        wait_status(actor, STATUS_SUCCESS);
        make_file(scene, "log", "");
        wait_failure(scene, actor, "%/log is empty");
        make_file(scene, "new", "x");
        move(scene, "new", "log");
        wait_status(actor, STATUS_SUCCESS);
}

static void test_root(Scene *scene, const void *data) {
        g_autoptr(Actor)
                root = leaf_stage_start(scene->stage, types,
                                        "{ \"type\": \"PathExists\", \"path\": \"/\", \"kind\": \"not-empty\" }"),
                above = leaf_stage_start(scene->stage, types,
                                         "{ \"type\": \"PathExists\", \"path\": \"/../..\", \"kind\": \"directory\" }");

        g_assert_cmpint(root->status, ==, STATUS_SUCCESS);
        g_assert_cmpint(above->status, ==, STATUS_SUCCESS);
}

/* Root may read everything, so another user has to look. */
static bool become_nobody(void) {
        return geteuid() != 0 || seteuid(NOBODY) == 0;
}

static void become_root(void) {
        if (getuid() == 0)
                g_assert_cmpint(seteuid(0), ==, 0);
}

static void set_mode(const Scene *scene, const char *name, mode_t mode) {
        become_root();
        g_assert_cmpint(chmod(at(scene, name), mode), ==, 0);
        g_assert_true(become_nobody());
}

static void test_permissions(Scene *scene, const void *data) {
        g_autoptr(Actor) actor = NULL;

        make_directory(scene, "safe");
        make_file(scene, "safe/gold", "");
        set_mode(scene, "safe", 0);

        actor = look(scene, "safe/gold", "file");
        wait_failure(scene, actor,
                     "it is not known what there is at %/safe/gold: %/safe cannot be watched: Permission denied");
        set_mode(scene, "safe", 0755);
        wait_status(actor, STATUS_SUCCESS);
        set_mode(scene, "safe", 0);
        wait_status(actor, STATUS_FAILURE);
        become_root();
}

static void test_unknown(Scene *scene, const void *data) {
        const char *const values[] = { "failure", "success", "running" };
        const Status statuses[] = { STATUS_FAILURE, STATUS_SUCCESS, STATUS_RUNNING };
        Actor *actors[G_N_ELEMENTS(values)];
        g_autofree char *text = NULL, *expected = NULL;

        make_directory(scene, "safe");
        make_file(scene, "safe/gold", "");
        set_mode(scene, "safe", 0);
        for (size_t i = 0; i < G_N_ELEMENTS(values); i++) {
                g_autofree char *node =
                        g_strdup_printf("{ \"type\": \"PathExists\", \"path\": \"%s\", \"unknown\": \"%s\" }",
                                        at(scene, "safe/gold"), values[i]);

                actors[i] = leaf_stage_start(scene->stage, types, node);
                g_assert_cmpint(actors[i]->status, ==, statuses[i]);
        }

        text = actor_describe(actors[2]);
        expected = g_strdup_printf("a look: %s cannot be watched: Permission denied", at(scene, "safe"));
        g_assert_cmpstr(text, ==, expected);

        set_mode(scene, "safe", 0755);
        for (size_t i = 0; i < G_N_ELEMENTS(values); i++)
                wait_status(actors[i], STATUS_SUCCESS);
        set_mode(scene, "safe", 0);
        for (size_t i = 0; i < G_N_ELEMENTS(values); i++) {
                wait_status(actors[i], statuses[i]);
                actor_free(actors[i]);
        }
        become_root();
}

/* What is in a directory that may not be read can be seen to go, but not to come. */
static void test_hidden_directory(Scene *scene, const void *data) {
        g_autoptr(Actor) gold = NULL, silver = NULL;

        make_directory(scene, "safe");
        make_directory(scene, "safe/box");
        make_file(scene, "safe/box/gold", "");
        set_mode(scene, "safe", 0111);

        gold = look(scene, "safe/box/gold", "file");
        g_assert_cmpint(gold->status, ==, STATUS_SUCCESS);
        silver = look(scene, "safe/silver", "file");
        wait_failure(scene, silver,
                     "it is not known what there is at %/safe/silver: %/safe cannot be watched: Permission denied");

        become_root();
        move(scene, "safe/box", "box");
        g_assert_true(become_nobody());
        wait_failure(scene, gold,
                     "it is not known what there is at %/safe/box/gold: %/safe cannot be watched: Permission denied");
        set_mode(scene, "safe", 0755);
        wait_failure(scene, gold, "%/safe/box/gold does not exist: there is no %/safe/box");
        wait_failure(scene, silver, "%/safe/silver does not exist");
        become_root();
}

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

static void test_shared(Scene *scene, const void *data) {
        g_autoptr(GPtrArray) actors = g_ptr_array_new_with_free_func((GDestroyNotify) actor_free);
        unsigned before, n_inotifies;
        g_autoptr(Actor) first = look(scene, "here", "any");

        before = count_watches(&n_inotifies);
        g_assert_cmpuint(n_inotifies, ==, 1);
        for (unsigned i = 0; i < 1000; i++)
                g_ptr_array_add(actors, look(scene, "here", "any"));
        for (unsigned i = 0; i < 10; i++) {
                g_autofree char *name = g_strdup_printf("%u", i);

                g_ptr_array_add(actors, look(scene, name, "any"));
        }
        g_assert_cmpuint(count_watches(&n_inotifies), ==, before);
        g_assert_cmpuint(n_inotifies, ==, 1);

        make_file(scene, "here", "");
        for (unsigned i = 0; i < 1000; i++)
                wait_status(g_ptr_array_index(actors, i), STATUS_SUCCESS);
        for (unsigned i = 1000; i < actors->len; i++)
                g_assert_cmpuint(((Actor *) g_ptr_array_index(actors, i))->n_reports, ==, 0);

        g_ptr_array_set_size(actors, 0);
        g_assert_cmpuint(count_watches(&n_inotifies), ==, before);
        g_clear_pointer(&first, actor_free);
        g_assert_cmpuint(count_watches(&n_inotifies), ==, 0);
        g_assert_cmpuint(n_inotifies, ==, 0);
}

/* Its own directory is not watched any longer, nor is what is behind a link that was changed. */
static void test_nothing_is_left_behind(Scene *scene, const void *data) {
        g_autoptr(Actor) actor = NULL;
        unsigned before, n_inotifies;

        make_directory(scene, "one");
        make_link(scene, "now", "one");
        actor = look(scene, "now/file", "any");
        before = count_watches(&n_inotifies);

        for (unsigned i = 0; i < 10; i++) {
                g_autofree char *directory = g_strdup_printf("%u", i);
                g_autofree char *cause =
                        g_strdup_printf("%%/now/file does not exist: there is no %%/%s/file", directory);

                make_directory(scene, directory);
                make_link(scene, "new", directory);
                move(scene, "new", "now");
                wait_failure(scene, actor, cause);
        }
        g_assert_cmpuint(count_watches(&n_inotifies), ==, before);
}

static unsigned queue_limit(void) {
        g_autofree char *text = NULL;

        g_assert_true(g_file_get_contents("/proc/sys/fs/inotify/max_queued_events", &text, NULL, NULL));
        return (unsigned) g_ascii_strtoull(text, NULL, 10);
}

/* Events that are equal to the one before are not queued. */
static void test_overflow(Scene *scene, const void *data) {
        g_autoptr(Actor) actor = look(scene, "here", "file"), other = look(scene, "away/here", "file");
        unsigned limit = queue_limit();

        if (limit > 200000) {
                g_test_skip("the queue of inotify is too long");
                return;
        }

        make_file(scene, "a", "");
        for (unsigned i = 0; i < limit; i++)
                move(scene, i % 2 ? "b" : "a", i % 2 ? "a" : "b");
        make_file(scene, "here", "");
        make_directory(scene, "away");
        make_file(scene, "away/here", "");
        wait_status(actor, STATUS_SUCCESS);
        wait_status(other, STATUS_SUCCESS);
}

/* In a mount namespace of its own, which the process has until it ends: so this is the last test. */
static void test_mount(Scene *scene, const void *data) {
        g_autoptr(Actor) full = NULL, file = NULL, beneath = NULL;

        if (unshare(CLONE_NEWNS) < 0 || mount("none", "/", "none", MS_REC | MS_PRIVATE, NULL) < 0) {
                g_test_skip("there is no right to mount");
                return;
        }

        make_directory(scene, "mnt");
        make_file(scene, "mnt/beneath", "");
        beneath = look(scene, "mnt/beneath", "file");
        full = look(scene, "mnt", "not-empty");
        file = look(scene, "mnt/file", "file");
        g_assert_cmpint(beneath->status, ==, STATUS_SUCCESS);

        g_assert_cmpint(mount("tmpfs", at(scene, "mnt"), "tmpfs", 0, NULL), ==, 0);
        wait_failure(scene, beneath, "%/mnt/beneath does not exist");
        wait_failure(scene, full, "%/mnt is empty");
        make_file(scene, "mnt/file", "");
        wait_status(file, STATUS_SUCCESS);
        wait_status(full, STATUS_SUCCESS);

        g_assert_cmpint(umount2(at(scene, "mnt"), MNT_DETACH), ==, 0);
        wait_failure(scene, file, "%/mnt/file does not exist");
        wait_status(beneath, STATUS_SUCCESS);
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

static void test_freed_while_told(Scene *scene, const void *data) {
        unsigned n_told = 0, n_inotifies;
        Pair a = { .n_told = &n_told }, b = { .n_told = &n_told };

        for (unsigned i = 0; i < 2; i++) {
                a.other = &b;
                b.other = &a;
                a.watch = path_watch_new(at(scene, "a"), false, on_pair, &a);
                b.watch = path_watch_new(at(scene, i == 0 ? "a" : "b"), true, on_pair, &b);
                make_file(scene, "a", "");
                make_file(scene, "b", "");
                while (n_told <= i)
                        g_main_context_iteration(NULL, true);
                g_assert_cmpuint(n_told, ==, i + 1);
                g_assert_cmpuint(count_watches(&n_inotifies), ==, 0);
                drop(scene, "a");
                drop(scene, "b");
        }
}

static void assert_refused(const char *rest, const char *text) {
        g_autofree char *node = g_strdup_printf("{ \"type\": \"PathExists\", %s }", rest);
        g_autofree char *error = leaf_stage_check(types, node);

        g_assert_cmpstr(error, ==, text);
}

static void test_bad_parameters(Scene *scene, const void *data) {
        g_autoptr(Actor) actor = NULL;

        assert_refused("\"path\": \"tmp/x\"", "path: \"tmp/x\" must begin with \"/\"");
        assert_refused("\"path\": \"\"", "path: \"\" must begin with \"/\"");
        assert_refused("\"path\": \"/x\", \"kind\": \"dir\"",
                       "kind: \"dir\" is none of \"any\", \"file\", \"directory\", \"not-empty\"");
        assert_refused("\"path\": \"/x\", \"unknown\": true",
                       "unknown: expected one of \"failure\", \"success\", \"running\", not true");
        assert_refused("\"path\": \"/sys/class/net\"",
                       "path: the kernel does not tell when \"/sys/class/net\" comes or goes, so only the first look "
                       "counts; a Command can look again and again");
        assert_refused("\"path\": \"/system\"", NULL);
        assert_refused("\"path\": \"{path}\"", NULL);

        leaf_stage_set_variable(scene->stage, "path", "tmp/x");
        actor = leaf_stage_start(scene->stage, types, "{ \"type\": \"PathExists\", \"path\": \"{path}\" }");
        g_assert_cmpint(actor->status, ==, STATUS_FAILURE);
        g_assert_cmpstr(actor->cause, ==, "path: \"tmp/x\" must begin with \"/\"");
        assert_cause(actor->reason, "parameter", "null");
}

#define add(name, function) g_test_add("/paths/" name, Scene, NULL, scene_open, function, scene_close)

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);

        add("kinds", test_kinds);
        add("facts", test_facts);
        add("comes-and-goes", test_comes_and_goes);
        add("parents-come-and-go", test_parents_come_and_go);
        add("links", test_links);
        add("link-loop", test_link_loop);
        add("directory-fills", test_directory_fills);
        add("file-fills", test_file_fills);
        add("root", test_root);
        add("permissions", test_permissions);
        add("unknown", test_unknown);
        add("hidden-directory", test_hidden_directory);
        add("shared", test_shared);
        add("nothing-is-left-behind", test_nothing_is_left_behind);
        add("overflow", test_overflow);
        add("freed-while-told", test_freed_while_told);
        add("bad-parameters", test_bad_parameters);
        add("mount", test_mount);

        return g_test_run();
}
