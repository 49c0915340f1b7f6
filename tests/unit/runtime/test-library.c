/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tests the search path: precedence, refused files, and trees that stay because their new file has errors. */

#include <glib/gstdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "definition/sources.h"
#include "fake-leaves.h"
#include "runtime/library.h"

#define TREE "{ \"btd\": 1, \"root\": { \"type\": \"FakeNow\" } }"
#define OTHER_TREE "{ \"btd\": 1, \"root\": { \"type\": \"FakeAction\" } }"
#define BROKEN_TREE "{ \"btd\": 1, \"root\": { \"type\": \"FakeActio\" } }"

typedef struct Shelf {
        char *directories[3]; /* "first", "second" */
        Library *library;
        GPtrArray *messages;
        GString *events; /* "+boot *boot -boot " */
} Shelf;

static void on_added(const LibraryEntry *entry, void *userdata) {
        g_string_append_printf(((Shelf *) userdata)->events, "+%s ", entry->name);
}

static void on_changed(const LibraryEntry *entry, void *userdata) {
        g_string_append_printf(((Shelf *) userdata)->events, "*%s ", entry->name);
}

static void on_removed(const LibraryEntry *entry, void *userdata) {
        g_string_append_printf(((Shelf *) userdata)->events, "-%s ", entry->name);
}

static const LibraryCallbacks callbacks = { .added = on_added, .changed = on_changed, .removed = on_removed };

static Shelf *shelf_new(bool secure) {
        Shelf *shelf = g_new0(Shelf, 1);

        shelf->directories[0] = g_dir_make_tmp("btd-test-XXXXXX", NULL);
        shelf->directories[1] = g_dir_make_tmp("btd-test-XXXXXX", NULL);
        shelf->library = library_new((const char *const *) shelf->directories, secure, fake_tables, &limits_default,
                                     &callbacks, shelf);
        shelf->messages = g_ptr_array_new_with_free_func(g_free);
        shelf->events = g_string_new(NULL);
        return shelf;
}

static void remove_directory(char *directory) {
        g_autoptr(GDir) dir = g_dir_open(directory, 0, NULL);
        const char *name;

        while (dir && (name = g_dir_read_name(dir))) {
                g_autofree char *path = g_build_filename(directory, name, NULL);

                g_remove(path);
        }

        g_remove(directory);
        g_free(directory);
}

static void shelf_free(Shelf *shelf) {
        library_free(shelf->library);
        remove_directory(shelf->directories[0]);
        remove_directory(shelf->directories[1]);
        g_ptr_array_unref(shelf->messages);
        g_string_free(shelf->events, TRUE);
        g_free(shelf);
        fake_reset();
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Shelf, shelf_free)

static char *path_of(const Shelf *shelf, unsigned directory, const char *file) {
        return g_build_filename(shelf->directories[directory], file, NULL);
}

static void put(const Shelf *shelf, unsigned directory, const char *file, const char *text) {
        g_autofree char *path = path_of(shelf, directory, file);

        g_assert_true(g_file_set_contents_full(path, text, -1, G_FILE_SET_CONTENTS_CONSISTENT, 0644, NULL));
}

static void take(const Shelf *shelf, unsigned directory, const char *file) {
        g_autofree char *path = path_of(shelf, directory, file);

        g_assert_cmpint(g_remove(path), ==, 0);
}

static void link_to(const Shelf *shelf, unsigned directory, const char *file, const char *target) {
        g_autofree char *path = path_of(shelf, directory, file);

        g_assert_cmpint(symlink(target, path), ==, 0);
}

/* Reloads, and looks at what was told. */
static void reload(Shelf *shelf, unsigned n_messages, const char *events) {
        g_autoptr(LibraryScan) look = library_scan_new(shelf->library);
        const GPtrArray *messages;

        g_ptr_array_set_size(shelf->messages, 0);
        g_string_truncate(shelf->events, 0);
        library_scan_run(look, NULL);
        library_take(shelf->library, look);
        messages = library_scan_messages(look);
        for (unsigned i = 0; i < messages->len; i++)
                g_ptr_array_add(shelf->messages, g_strdup(g_ptr_array_index(messages, i)));
        for (unsigned i = 0; i < shelf->messages->len; i++)
                g_test_message("%s", (const char *) g_ptr_array_index(shelf->messages, i));
        g_assert_cmpuint(shelf->messages->len, ==, n_messages);
        g_assert_cmpstr(shelf->events->str, ==, events);
}

/* The message about a file or directory ("" for the directory itself). */
static void assert_message(const Shelf *shelf, unsigned i, unsigned directory, const char *file, const char *text) {
        g_autofree char *path = g_canonicalize_filename(file, shelf->directories[directory]);
        g_autofree char *expected = g_strconcat(*file ? path : shelf->directories[directory], text, NULL);

        g_assert_cmpstr(g_ptr_array_index(shelf->messages, i), ==, expected);
}

static const char *root_type(const Shelf *shelf, const char *name) {
        return definition_tree(library_get(shelf->library, name)->definition)->nodes[0].type->name;
}

static void test_first_wins(void) {
        g_autoptr(Shelf) shelf = shelf_new(false);
        g_autoptr(GPtrArray) entries = NULL;

        put(shelf, 0, "boot.json", TREE);
        put(shelf, 1, "boot.json", OTHER_TREE);
        put(shelf, 1, "idle.json", OTHER_TREE);
        put(shelf, 1, "README.md", "hello");
        put(shelf, 1, ".hidden.json", "nothing");
        reload(shelf, 0, "+boot +idle ");
        g_assert_cmpstr(root_type(shelf, "boot"), ==, "FakeNow");
        entries = library_list(shelf->library);
        g_assert_cmpuint(entries->len, ==, 2);
        g_assert_cmpstr(library_nearest(shelf->library, "boto"), ==, "boot");

        take(shelf, 0, "boot.json");
        reload(shelf, 0, "*boot ");
        g_assert_cmpstr(root_type(shelf, "boot"), ==, "FakeAction");
        take(shelf, 1, "boot.json");
        reload(shelf, 0, "-boot ");
        g_assert_null(library_get(shelf->library, "boot"));
        reload(shelf, 0, "");
}

static void test_masked(void) {
        g_autoptr(Shelf) shelf = shelf_new(false);
        g_autoptr(GPtrArray) entries = NULL;

        put(shelf, 1, "boot.json", TREE);
        reload(shelf, 0, "+boot ");
        link_to(shelf, 0, "boot.json", "/dev/null");
        reload(shelf, 0, "-boot ");
        g_assert_true(library_get(shelf->library, "boot")->masked);
        entries = library_list(shelf->library);
        g_assert_cmpuint(entries->len, ==, 0);
        take(shelf, 0, "boot.json");
        reload(shelf, 0, "+boot ");
        g_assert_false(library_get(shelf->library, "boot")->masked);
}

static void test_broken_keeps_the_old(void) {
        g_autoptr(Shelf) shelf = shelf_new(false);
        const LibraryEntry *entry;

        put(shelf, 0, "boot.json", TREE);
        put(shelf, 0, "idle.json", BROKEN_TREE);
        reload(shelf, 1, "+boot +idle ");
        assert_message(shelf, 0, 0, "idle.json",
                       ":1:31: error: unknown type 'FakeActio'; did you mean 'FakeAction'? (in FakeActio)");
        g_assert_null(library_get(shelf->library, "idle")->definition);

        put(shelf, 0, "boot.json", BROKEN_TREE);
        put(shelf, 0, "idle.json", TREE);
        reload(shelf, 1, "*boot *idle ");
        entry = library_get(shelf->library, "boot");
        g_assert_cmpuint(diagnostics_count_errors(entry->diagnostics), ==, 1);
        g_assert_cmpstr(root_type(shelf, "boot"), ==, "FakeNow");

        put(shelf, 0, "boot.json", TREE);
        reload(shelf, 0, "*boot ");
        g_assert_cmpuint(diagnostics_count_errors(library_get(shelf->library, "boot")->diagnostics), ==, 0);
}

static void test_unchanged_stays(void) {
        g_autoptr(Shelf) shelf = shelf_new(false);
        const Definition *before;

        put(shelf, 0, "boot.json", TREE);
        reload(shelf, 0, "+boot ");
        before = library_get(shelf->library, "boot")->definition;
        reload(shelf, 0, "");
        g_assert_true(library_get(shelf->library, "boot")->definition == before);
}

static void test_names(void) {
        g_autoptr(Shelf) shelf = shelf_new(false);
        g_autofree char *longest = g_strnfill(100, 'a'), *longer = g_strnfill(101, 'a');

        g_assert_true(tree_name_valid("Boot_2-x"));
        g_assert_true(tree_name_valid(longest));
        g_assert_false(tree_name_valid(longer));
        g_assert_false(tree_name_valid(""));
        g_assert_false(tree_name_valid("a.b"));
        g_assert_false(tree_name_valid("a b"));
        g_assert_false(tree_name_valid("\xc3\xa4"));

        put(shelf, 0, "my tree.json", TREE);
        put(shelf, 0, "ok.json", TREE);
        reload(shelf, 1, "+ok ");
        assert_message(shelf, 0, 0, "my tree.json",
                       ": error: not loaded, because the name of a tree consists of letters, digits, '_' and '-', 100 "
                       "at most");
}

static void test_what_is_no_file(void) {
        g_autoptr(Shelf) shelf = shelf_new(false);
        g_autofree char *directory = path_of(shelf, 0, "dir.json"), *fifo = path_of(shelf, 0, "fifo.json");

        g_assert_cmpint(g_mkdir(directory, 0755), ==, 0);
        g_assert_cmpint(mkfifo(fifo, 0644), ==, 0);
        link_to(shelf, 0, "gone.json", "/nonexistent");
        put(shelf, 0, "ok.json", TREE);
        reload(shelf, 3, "+dir +fifo +gone +ok ");
        assert_message(shelf, 0, 0, "dir.json", ": error: is a directory, not a regular file");
        assert_message(shelf, 1, 0, "fifo.json", ": error: is not a regular file");
        assert_message(shelf, 2, 0, "gone.json", ": error: cannot be opened: No such file or directory");
        g_assert_cmpint(g_rmdir(directory), ==, 0);
}

static void test_refused_files(void) {
        g_autoptr(Shelf) shelf = shelf_new(true);
        g_autofree char *path = path_of(shelf, 0, "boot.json"), *fix = NULL;

        put(shelf, 0, "boot.json", TREE);
        reload(shelf, 0, "+boot ");
        put(shelf, 0, "boot.json", OTHER_TREE);
        g_assert_cmpint(g_chmod(path, 0664), ==, 0);
        reload(shelf, 1, "*boot ");
        fix = g_strdup_printf(
                ": error: is refused, because it can be written by others than root (mode 0664); a tree can do "
                "anything as root, so find out first who put it there and what it does; if you trust it, run: "
                "chmod go-w '%s'",
                path);
        assert_message(shelf, 0, 0, "boot.json", fix);
        g_assert_cmpstr(root_type(shelf, "boot"), ==, "FakeNow");

        /* It is the file that counts, not the link to it. */
        g_assert_cmpint(g_chmod(path, 0644), ==, 0);
        reload(shelf, 0, "*boot ");
        g_assert_cmpint(g_chmod(path, 0646), ==, 0);
        link_to(shelf, 1, "link.json", path);
        reload(shelf, 2, "*boot +link ");
}

static void test_refused_directory(void) {
        g_autoptr(Shelf) shelf = shelf_new(true);
        g_autofree char *fix = NULL;

        put(shelf, 0, "boot.json", TREE);
        reload(shelf, 0, "+boot ");
        put(shelf, 0, "new.json", TREE);
        g_assert_cmpint(g_chmod(shelf->directories[0], 0777), ==, 0);
        reload(shelf, 1, "");
        fix = g_strdup_printf(
                ": error: is refused, because it can be written by others than root (mode 0777); a tree can do "
                "anything as root, so find out first who put it there and what it does; if you trust it, run: "
                "chmod go-w '%s'",
                shelf->directories[0]);
        assert_message(shelf, 0, 0, "", fix);
        g_assert_nonnull(library_get(shelf->library, "boot")->definition);
        g_assert_null(library_get(shelf->library, "new"));
}

/* Neither the file nor the directory that the link to it is in; but who can write this can put others there. */
static void test_refused_way(void) {
        g_autoptr(Shelf) shelf = shelf_new(true);
        g_autofree char *target = path_of(shelf, 1, "camera.json"), *fix = NULL;

        put(shelf, 1, "camera.json", TREE);
        link_to(shelf, 0, "linked.json", target);
        reload(shelf, 0, "+camera +linked ");

        g_assert_cmpint(g_chmod(shelf->directories[1], 0777), ==, 0);
        reload(shelf, 2, "*linked ");
        fix = g_strdup_printf(
                ": error: is refused, because '%s', on its path, can be written by others than root (mode "
                "0777); a tree can do anything as root, so find out first who put it there and what it "
                "does; if you trust it, run: chmod go-w '%s'",
                shelf->directories[1], shelf->directories[1]);
        assert_message(shelf, 1, 0, "linked.json", fix);
}

#define CHECK_FIRST                                                                                                    \
        "a tree can do anything as root, so find out first who put it there and what it does; if you trust it, run: "

/* The directory of drop-ins, a drop-in, and what a link in their place leads to: others could change the tree by each.
 */
static void test_refused_dropins(void) {
        g_autoptr(Shelf) shelf = shelf_new(true);
        g_autofree char *own = path_of(shelf, 0, "boot.json.d"), *dropin = path_of(shelf, 0, "boot.json.d/a.json"),
                        *elsewhere = path_of(shelf, 1, "elsewhere.txt"), *directory = NULL, *file = NULL, *owner = NULL;

        put(shelf, 0, "boot.json", TREE);
        g_assert_cmpint(g_mkdir(own, 0755), ==, 0);
        put(shelf, 0, "boot.json.d/a.json", "{\"description\": \"ours\"}");
        reload(shelf, 0, "+boot ");

        directory = g_strdup_printf(": error: drop-ins: '%s' is refused, because it can be written by others than "
                                    "root (mode 0777); " CHECK_FIRST "chmod go-w '%s'",
                                    own, own);
        g_assert_cmpint(chmod(own, 0777), ==, 0);
        reload(shelf, 1, "*boot ");
        assert_message(shelf, 0, 0, "boot.json", directory);
        g_assert_cmpstr(definition_header(library_get(shelf->library, "boot")->definition)->description, ==, "ours");

        /* Others could add a file that masks. */
        g_assert_cmpint(chmod(own, 01777), ==, 0);
        reload(shelf, 1, "*boot ");
        g_assert_cmpint(chmod(own, 0755), ==, 0);
        reload(shelf, 0, "*boot ");

        file = g_strdup_printf(": error: the drop-in '%s' is refused, because it can be written by others than root "
                               "(mode 0666); " CHECK_FIRST "chmod go-w '%s'",
                               dropin, dropin);
        g_assert_cmpint(chmod(dropin, 0666), ==, 0);
        reload(shelf, 1, "*boot ");
        assert_message(shelf, 0, 0, "boot.json", file);
        if (geteuid() == 0) {
                owner = g_strdup_printf(
                        ": error: the drop-in '%s' is refused, because it belongs to UID 1, not to root; " CHECK_FIRST
                        "chown root '%s'",
                        dropin, dropin);
                g_assert_cmpint(chmod(dropin, 0644), ==, 0);
                g_assert_cmpint(chown(dropin, 1, 0), ==, 0);
                reload(shelf, 1, "*boot ");
                assert_message(shelf, 0, 0, "boot.json", owner);
        }

        take(shelf, 0, "boot.json.d/a.json");
        put(shelf, 1, "elsewhere.txt", "{}");
        link_to(shelf, 0, "boot.json.d/a.json", elsewhere);
        reload(shelf, 0, "*boot ");
        g_assert_cmpint(chmod(shelf->directories[1], 0777), ==, 0);
        reload(shelf, 2, "*boot ");
        g_assert_nonnull(strstr(shelf->messages->pdata[1], ", on its path, can be written by others than root"));
        take(shelf, 0, "boot.json.d/a.json");
        g_assert_cmpint(g_rmdir(own), ==, 0);
}

/* Where the directory cannot be read for a while, its trees stay. */
static void test_unreadable_directory(void) {
        g_autoptr(Shelf) shelf = shelf_new(false);
        g_autofree char *aside = g_strconcat(shelf->directories[0], "-aside", NULL);

        put(shelf, 0, "boot.json", TREE);
        put(shelf, 1, "idle.json", TREE);
        reload(shelf, 0, "+boot +idle ");

        g_assert_cmpint(g_rename(shelf->directories[0], aside), ==, 0);
        g_assert_true(g_file_set_contents(shelf->directories[0], "", 0, NULL));
        reload(shelf, 1, "");
        assert_message(shelf, 0, 0, "", ": error: Not a directory");
        g_assert_nonnull(library_get(shelf->library, "boot"));

        g_assert_cmpint(g_remove(shelf->directories[0]), ==, 0);
        reload(shelf, 0, "-boot ");
        g_assert_cmpint(g_rename(aside, shelf->directories[0]), ==, 0);
        reload(shelf, 0, "+boot ");
}

/* A new tree of a directory that can be read, and then another directory that cannot. */
static void test_unreadable_second(void) {
        g_autoptr(Shelf) shelf = shelf_new(false);

        put(shelf, 0, "boot.json", TREE);
        g_assert_cmpint(g_rmdir(shelf->directories[1]), ==, 0);
        g_assert_true(g_file_set_contents(shelf->directories[1], "", 0, NULL));
        reload(shelf, 1, "+boot ");
        assert_message(shelf, 0, 1, "", ": error: Not a directory");
}

#define USES(tree) "{ \"btd\": 1, \"root\": { \"type\": \"SubTree\", \"tree\": \"" tree "\" } }"
#define INCLUDES                                                                                                       \
        "{ \"btd\": 1, \"include\": [\"common.json\"], \"root\": { \"type\": \"SubTree\", \"tree\": \"step\" } }"
#define COMMON(type) "{ \"btd\": 1, \"trees\": { \"step\": { \"root\": { \"type\": \"" type "\" } } } }"

/* The type of the tree that the root uses. */
static const char *used_type(const Shelf *shelf, const char *name) {
        return definition_tree(library_get(shelf->library, name)->definition)->nodes[1].type->name;
}

/* What one file says counts for all that use it, in one go. */
static void test_shared_file(void) {
        g_autoptr(Shelf) shelf = shelf_new(false);
        g_autoptr(Definition) kept = NULL;

        put(shelf, 1, "common.json", COMMON("FakeNow"));
        put(shelf, 0, "a.json", INCLUDES);
        put(shelf, 0, "b.json", USES("a"));
        put(shelf, 0, "c.json", TREE);
        reload(shelf, 0, "+a +b +c ");
        g_assert_null(library_get(shelf->library, "common"));
        kept = definition_ref(library_get(shelf->library, "a")->definition);
        reload(shelf, 0, "");

        put(shelf, 1, "common.json", COMMON("FakeAction"));
        reload(shelf, 0, "*a *b ");
        g_assert_cmpstr(used_type(shelf, "a"), ==, "FakeAction");
        g_assert_cmpstr(definition_tree(library_get(shelf->library, "b")->definition)->nodes[2].type->name, ==,
                        "FakeAction");
        /* What runs keeps what it has. */
        g_assert_cmpstr(definition_tree(kept)->nodes[1].type->name, ==, "FakeNow");

        /* Told once, though three look at it. */
        put(shelf, 1, "common.json", COMMON("FakeActio"));
        reload(shelf, 2, "*a *b ");
        assert_message(shelf, 0, 1, "common.json",
                       ":1:52: error: unknown type 'FakeActio'; did you mean 'FakeAction'? (in step: FakeActio)");
        g_assert_cmpstr(used_type(shelf, "a"), ==, "FakeAction");
        put(shelf, 1, "common.json", COMMON("FakeNow"));
        reload(shelf, 0, "*a *b ");
        g_assert_cmpstr(used_type(shelf, "a"), ==, "FakeNow");
}

#define INPUT(name) "{ \"btd\": 1, \"inputs\": { \"" name "\": \"any\" }, \"root\": { \"type\": \"FakeNow\" } }"
#define GIVES(name)                                                                                                    \
        "{ \"btd\": 1, \"root\": { \"type\": \"SubTree\", \"tree\": \"used\", \"inputs\": { \"" name "\": 1 } } }"

/* All that use a file that has changed get the new one, or none does. */
static void test_all_or_none(void) {
        g_autoptr(Shelf) shelf = shelf_new(false);
        const Definition *used, *user, *alone;

        put(shelf, 0, "alone.json", TREE);
        put(shelf, 0, "used.json", INPUT("x"));
        put(shelf, 0, "user.json", GIVES("x"));
        reload(shelf, 0, "+alone +used +user ");
        used = library_get(shelf->library, "used")->definition;
        user = library_get(shelf->library, "user")->definition;
        alone = library_get(shelf->library, "alone")->definition;

        put(shelf, 0, "alone.json", OTHER_TREE);
        put(shelf, 0, "used.json", INPUT("y"));
        reload(shelf, 3, "*alone *used *user ");
        assert_message(
                shelf, 0, 0, "used.json",
                ": error: not replaced, because the tree 'user', which uses a changed file, too, cannot be loaded");
        assert_message(shelf, 1, 0, "user.json",
                       ":1:68: error: inputs: 'y' is missing; the tree 'used' needs it (in SubTree)");
        assert_message(shelf, 2, 0, "user.json", ":1:70: error: inputs: the tree 'used' has no input 'x' (in SubTree)");
        g_assert_true(library_get(shelf->library, "used")->definition == used);
        g_assert_true(library_get(shelf->library, "user")->definition == user);
        g_assert_true(library_get(shelf->library, "alone")->definition != alone);

        put(shelf, 0, "user.json", GIVES("y"));
        reload(shelf, 0, "*used *user ");
        g_assert_true(library_get(shelf->library, "used")->definition != used);
        g_assert_true(library_get(shelf->library, "user")->definition != user);
}

/* What has never loaded holds nobody. */
static void test_new_one_holds_nobody(void) {
        g_autoptr(Shelf) shelf = shelf_new(false);

        put(shelf, 0, "used.json", INPUT("x"));
        put(shelf, 0, "user.json", GIVES("z"));
        reload(shelf, 2, "+used +user ");
        put(shelf, 0, "used.json", INPUT("z"));
        reload(shelf, 0, "*used *user ");

        /* A tree that goes takes nobody with it. */
        take(shelf, 0, "used.json");
        reload(shelf, 1, "*user -used ");
        assert_message(shelf, 0, 0, "user.json",
                       ":1:50: error: tree: there is no tree 'used'; did you mean 'user'? (in SubTree)");
        g_assert_nonnull(library_get(shelf->library, "user")->definition);
}

/* A root that goes is a tree that goes. */
static void test_root_comes_and_goes(void) {
        g_autoptr(Shelf) shelf = shelf_new(false);

        put(shelf, 0, "common.json", COMMON("FakeNow"));
        reload(shelf, 0, "");
        put(shelf, 0, "common.json", TREE);
        reload(shelf, 0, "+common ");
        put(shelf, 0, "common.json", COMMON("FakeNow"));
        reload(shelf, 0, "-common ");
        g_assert_null(library_get(shelf->library, "common"));
        put(shelf, 0, "common.json", COMMON("FakeNo"));
        reload(shelf, 1, "");
}

/* Files that are included have to be as trustworthy as those that include them, wherever they are. */
static void test_refused_include(void) {
        g_autoptr(Shelf) shelf = shelf_new(true);
        g_autofree char *path = path_of(shelf, 1, "common.json"), *message = NULL;

        put(shelf, 1, "common.json", COMMON("FakeNow"));
        put(shelf, 0, "a.json", INCLUDES);
        g_assert_cmpint(g_chmod(path, 0666), ==, 0);
        reload(shelf, 2, "+a +common ");
        message = g_strdup_printf(
                ":1:25: error: include: '%s' is refused, because it can be written by others than root (mode "
                "0666); a tree can do anything as root, so find out first who put it there and what "
                "it does; if you trust it, run: chmod go-w '%s'",
                path, path);
        assert_message(shelf, 0, 0, "a.json", message);
}

static void test_masked_include(void) {
        g_autoptr(Shelf) shelf = shelf_new(false);

        put(shelf, 1, "common.json", COMMON("FakeNow"));
        put(shelf, 1, "used.json", TREE);
        put(shelf, 1, "user.json", USES("used"));
        link_to(shelf, 0, "used.json", "/dev/null");
        reload(shelf, 1, "+user ");
        assert_message(shelf, 0, 1, "user.json",
                       ":1:50: error: tree: the tree 'used' is masked by a link to /dev/null (in SubTree)");
}

static void test_search_path(void) {
        g_auto(GStrv) system = search_path_new(false), user = search_path_new(true);

        g_assert_cmpstr(system[0], ==, SYSCONFDIR "/btd/trees");
        g_assert_cmpstr(system[1], ==, "/run/btd/trees");
        g_assert_cmpstr(system[3], ==, "/usr/lib/btd/trees");
        g_assert_true(g_str_has_suffix(user[0], "/btd/trees"));
        g_assert_cmpstr(user[1], ==, SYSCONFDIR "/btd/user-trees");
}

/* What many trees were is freed in pieces. */
static void test_freed_in_pieces(void) {
        static const unsigned n = 120;
        g_autoptr(Shelf) shelf = shelf_new(false);
        g_autoptr(GString) events = g_string_new(NULL);
        LibraryScan *look;

        for (unsigned i = 0; i < n; i++) {
                g_autofree char *file = g_strdup_printf("t%03u.json", i);

                put(shelf, 0, file, TREE);
                g_string_append_printf(events, "+t%03u ", i);
        }
        reload(shelf, 0, events->str);

        look = library_scan_new(shelf->library);
        library_scan_run(look, NULL);
        library_take(shelf->library, look);
        g_assert_false(library_scan_free_some(look));
        g_assert_false(library_scan_free_some(look));
        g_assert_true(library_scan_free_some(look));

        /* Of one that was not run nothing is known. */
        g_assert_true(library_scan_free_some(library_scan_new(shelf->library)));
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/library/first-wins", test_first_wins);
        g_test_add_func("/library/masked", test_masked);
        g_test_add_func("/library/broken-keeps-the-old", test_broken_keeps_the_old);
        g_test_add_func("/library/unchanged-stays", test_unchanged_stays);
        g_test_add_func("/library/names", test_names);
        g_test_add_func("/library/what-is-no-file", test_what_is_no_file);
        g_test_add_func("/library/refused-files", test_refused_files);
        g_test_add_func("/library/refused-directory", test_refused_directory);
        g_test_add_func("/library/refused-way", test_refused_way);
        g_test_add_func("/library/refused-dropins", test_refused_dropins);
        g_test_add_func("/library/unreadable-directory", test_unreadable_directory);
        g_test_add_func("/library/unreadable-second", test_unreadable_second);
        g_test_add_func("/library/shared-file", test_shared_file);
        g_test_add_func("/library/all-or-none", test_all_or_none);
        g_test_add_func("/library/new-one-holds-nobody", test_new_one_holds_nobody);
        g_test_add_func("/library/root-comes-and-goes", test_root_comes_and_goes);
        g_test_add_func("/library/refused-include", test_refused_include);
        g_test_add_func("/library/masked-include", test_masked_include);
        g_test_add_func("/library/search-path", test_search_path);
        g_test_add_func("/library/freed-in-pieces", test_freed_in_pieces);

        return g_test_run();
}
