/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tests that a system btd accepts only files that nobody but root can have written. */

#include <glib/gstdio.h>
#include <unistd.h>

#include "basic/trust.h"

/* A directory with a file, a link to it, and another by a link to the directory:
 *
 *     outer/inner/tree.json
 *     outer/link.json -> inner/../inner/tree.json
 *     outer/way -> ABSOLUTE/inner
 */
typedef struct Yard {
        char *outer, *inner, *tree, *link, *way, *behind;
} Yard;

static void make_link(const char *target, const char *path) {
        g_assert_cmpint(symlink(target, path), ==, 0);
}

static Yard *yard_new(void) {
        Yard *yard = g_new0(Yard, 1);

        yard->outer = g_dir_make_tmp("btd-test-XXXXXX", NULL);
        yard->inner = g_build_filename(yard->outer, "inner", NULL);
        yard->tree = g_build_filename(yard->inner, "tree.json", NULL);
        yard->link = g_build_filename(yard->outer, "link.json", NULL);
        yard->way = g_build_filename(yard->outer, "way", NULL);
        yard->behind = g_build_filename(yard->way, "tree.json", NULL);

        g_assert_cmpint(g_mkdir(yard->inner, 0755), ==, 0);
        g_assert_true(g_file_set_contents_full(yard->tree, "{}", -1, G_FILE_SET_CONTENTS_NONE, 0644, NULL));
        make_link("inner/.././inner//tree.json", yard->link);
        make_link(yard->inner, yard->way);
        return yard;
}

static void yard_free(Yard *yard) {
        char *const paths[] = { yard->behind, yard->link, yard->way, yard->inner, yard->outer };

        for (size_t i = 0; i < G_N_ELEMENTS(paths); i++) {
                g_remove(paths[i]);
                g_free(paths[i]);
        }
        g_free(yard->tree);
        g_free(yard);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Yard, yard_free)

/* NULL: it is trusted. */
static void assert_refused(const char *path, const char *expected) {
        g_autofree char *refusal = NULL;
        struct stat st;

        g_assert_cmpint(stat(path, &st), ==, 0);
        refusal = trust_refusal_on_way(path, &st);
        g_assert_cmpstr(refusal, ==, expected);
}

static void test_trusted(void) {
        g_autoptr(Yard) yard = yard_new();

        assert_refused(yard->tree, NULL);
        assert_refused(yard->link, NULL);
        assert_refused(yard->behind, NULL);
        assert_refused(yard->way, NULL);
        assert_refused("/", NULL);
}

static void test_directory(void) {
        g_autoptr(Yard) yard = yard_new();
        g_autofree char *way =
                g_strdup_printf("is refused, because '%s', on its path, can be written by others than root "
                                "(mode 0770); a tree can do anything as root, so find out first who put "
                                "it there and what it does; if you trust it, run: chmod go-w '%s'",
                                yard->outer, yard->outer);

        g_assert_cmpint(g_chmod(yard->outer, 0770), ==, 0);
        assert_refused(yard->tree, way);
        assert_refused(yard->link, way);

        /* Nobody can replace there what is not his. */
        g_assert_cmpint(g_chmod(yard->outer, 01777), ==, 0);
        assert_refused(yard->tree, NULL);
        assert_refused(yard->behind, NULL);
}

static void test_target(void) {
        g_autoptr(Yard) yard = yard_new();
        g_autofree char
                *way = g_strdup_printf("is refused, because '%s', on its path, can be written by others than root "
                                       "(mode 0777); a tree can do anything as root, so find out first who put it "
                                       "there and what it does; if you trust it, run: chmod go-w '%s'",
                                       yard->inner, yard->inner),
                *file = g_strdup_printf(
                        "is refused, because it can be written by others than root (mode 0666); a tree can do anything "
                        "as root, "
                        "so find out first who put it there and what it does; if you trust it, run: chmod go-w '%s'",
                        yard->link);

        g_assert_cmpint(g_chmod(yard->inner, 0777), ==, 0);
        assert_refused(yard->link, way);
        assert_refused(yard->behind, way);

        g_assert_cmpint(g_chmod(yard->inner, 0755), ==, 0);
        g_assert_cmpint(g_chmod(yard->tree, 0666), ==, 0);
        assert_refused(yard->link, file);
}

/* Who owns a link can make it lead elsewhere. */
static void test_owner(void) {
        g_autoptr(Yard) yard = yard_new();
        g_autofree char *link = g_strdup_printf(
                                "is refused, because '%s', on its path, belongs to another user, not to root; "
                                "a tree can do anything as root, so find out first who put it there "
                                "and what it does; if you trust it, run: chown -h root '%s'",
                                yard->way, yard->way),
                        *directory = g_strdup_printf(
                                "is refused, because '%s', on its path, belongs to another user, not to "
                                "root; a tree can do anything as root, so find out first who put "
                                "it there and what it does; if you trust it, run: chown root '%s'",
                                yard->inner, yard->inner),
                        *file = g_strdup_printf(
                                "is refused, because it belongs to another user, not to root; a tree can do anything "
                                "as root, so "
                                "find out first who put it there and what it does; if you trust it, run: chown root "
                                "'%s'",
                                yard->tree);

        if (geteuid() != 0) {
                g_test_skip("only root can give files away");
                return;
        }

        g_assert_cmpint(lchown(yard->way, 65534, 65534), ==, 0);
        assert_refused(yard->behind, link);
        assert_refused(yard->link, NULL);
        g_assert_cmpint(chown(yard->inner, 65534, 65534), ==, 0);
        assert_refused(yard->link, directory);
        g_assert_cmpint(chown(yard->tree, 65534, 65534), ==, 0);
        assert_refused(yard->tree, file);
}

/* It was another file that has been opened. */
static void test_changed(void) {
        g_autoptr(Yard) yard = yard_new();
        g_autofree char *refusal = NULL, *round = NULL;
        struct stat st;

        g_assert_cmpint(stat(yard->inner, &st), ==, 0);
        refusal = trust_refusal_on_way(yard->link, &st);
        g_assert_cmpstr(refusal, ==, "is refused, because it has changed while it was checked; reload");

        g_clear_pointer(&refusal, g_free);
        g_assert_cmpint(g_remove(yard->link), ==, 0);
        make_link("link.json", yard->link);
        refusal = trust_refusal_on_way(yard->link, &st);
        round = g_strdup_printf(
                "is refused, because '%s', on its path, cannot be examined: Too many levels of symbolic "
                "links",
                yard->link);
        g_assert_cmpstr(refusal, ==, round);
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/trust/trusted", test_trusted);
        g_test_add_func("/trust/directory", test_directory);
        g_test_add_func("/trust/target", test_target);
        g_test_add_func("/trust/owner", test_owner);
        g_test_add_func("/trust/changed", test_changed);
        return g_test_run();
}
