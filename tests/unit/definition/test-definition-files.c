/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tests trees that consist of several files: the search, the includes, and the errors in each file. */

#include <string.h>

#include "tree-files.h"

#define LEAF "{'btd':1,'root':{'type':'Do','name':'leaf'}}"
#define USE(tree) "{'btd':1,'root':{'type':'SubTree','tree':'" tree "'}}"

static Definition *load_good(const char *const *texts, const char *path) {
        g_autoptr(TreeFiles) files = tree_files_new(texts);
        Definition *definition = NULL;
        g_autofree char *messages = tree_files_load(files, path, &definition);

        g_assert_cmpstr(messages, ==, "");
        return definition;
}

static void assert_messages(const char *const *texts, const char *path, const char *expected) {
        g_autoptr(TreeFiles) files = tree_files_new(texts);
        g_autofree char *messages = tree_files_load(files, path, NULL);

        g_assert_cmpstr(messages, ==, expected);
}

/* "a.json b.json" */
static void assert_files(const Definition *definition, const char *expected) {
        g_autoptr(GString) files = g_string_new(NULL);

        for (size_t i = 0; i < definition_n_files(definition); i++) {
                g_string_append_printf(files, "%s%s", i > 0 ? " " : "", definition_file(definition, i));
                g_assert_cmpuint(strlen(definition_file_hash(definition, i)), ==, 64);
        }

        g_assert_cmpstr(files->str, ==, expected);
}

static void test_search_path(void) {
        g_autoptr(Definition) definition =
                load_good((const char *[]){ "boot.json", USE("camera"), "path/camera.json", USE("lens"),
                                            "path/lens.json", LEAF, "path/other.json", "no tree at all", NULL },
                          "boot.json");
        g_autofree char *path = tree_node_path(definition_tree(definition), 2);

        g_assert_cmpuint(definition_tree(definition)->n_nodes, ==, 3);
        g_assert_cmpstr(path, ==, "camera/lens/leaf");
        assert_files(definition, "boot.json path/camera.json path/lens.json");
        g_assert_cmpuint(definition_n_scopes(definition), ==, 3);
}

static void assert_files_json(Definition *definition, bool ready, const char *expected) {
        g_autoptr(SummedText) json = NULL, taken = NULL;

        g_assert_true(definition_files_are_ready(definition) == ready);
        json = definition_take_files(definition);
        g_assert_cmpstr(json->text, ==, expected);
        definition_give_files(definition, summed_text_new(g_strdup("made before")));
        g_assert_true(definition_files_are_ready(definition));
        taken = definition_take_files(definition);
        g_assert_cmpstr(taken->text, ==, "made before");
        g_assert_true(definition_files_are_ready(definition) == ready);
}

/* Large files are not ready before somebody has made that; whichever of them is large. */
static void test_json(void) {
        g_autofree char *spaces = g_strnfill(64 << 10, ' ');
        g_autofree char *large = g_strconcat(LEAF, spaces, NULL);
        g_autoptr(Definition) small =
                load_good((const char *[]){ "boot.json", USE("camera"), "path/camera.json", LEAF, NULL }, "boot.json");
        g_autoptr(Definition) uses_large =
                load_good((const char *[]){ "boot.json", USE("camera"), "path/camera.json", large, NULL }, "boot.json");
        g_autoptr(Definition) is_large = load_good((const char *[]){ "boot.json", large, NULL }, "boot.json");
        g_autofree char *expected = NULL, *of_large = NULL;

#define USE_JSON                                                                                                       \
        "{\"path\":\"boot.json\",\"text\":\"{\\\"btd\\\":1,\\\"root\\\":{\\\"type\\\":\\\"SubTree\\\",\\\"tree\\\":"   \
        "\\\"camera\\\"}}\","                                                                                          \
        "\"found\":[]}"
#define LEAF_JSON "{\\\"btd\\\":1,\\\"root\\\":{\\\"type\\\":\\\"Do\\\",\\\"name\\\":\\\"leaf\\\"}}"
        assert_files_json(small, true,
                          "[" USE_JSON ",{\"path\":\"path/camera.json\",\"text\":\"" LEAF_JSON
                          "\",\"found\":[\"camera.json\"]}]");
        expected = g_strconcat("[" USE_JSON ",{\"path\":\"path/camera.json\",\"text\":\"" LEAF_JSON, spaces,
                               "\",\"found\":[\"camera.json\"]}]", NULL);
        assert_files_json(uses_large, false, expected);
        of_large = g_strconcat("[{\"path\":\"boot.json\",\"text\":\"" LEAF_JSON, spaces, "\",\"found\":[]}]", NULL);
        assert_files_json(is_large, false, of_large);
}

/* The file's own trees come first; what another file has for itself is not for this one. */
static void test_own_trees_first(void) {
        g_autoptr(Definition) definition = load_good(
                (const char *[]){ "boot.json",
                                  "{'btd':1,'trees':{'camera':{'root':{'type':'Do','name':'mine'}}},'root':{'type':"
                                  "'Sequence','children':[{'type':'SubTree','tree':'camera'},"
                                  "{'type':'SubTree','tree':'other'}]}}",
                                  "path/camera.json", LEAF, "path/other.json",
                                  "{'btd':1,'trees':{'inner':{'root':{'type':'SubTree','tree':'camera'}}},"
                                  "'root':{'type':'SubTree','tree':'inner'}}",
                                  NULL },
                "boot.json");

        g_assert_cmpstr(tree_node_name(definition_tree(definition), 2), ==, "mine");
        g_assert_cmpstr(tree_node_name(definition_tree(definition), 6), ==, "leaf");
}

/* Beside the file, by a path from there, or on the search path, with the suffix or without. */
static void test_include(void) {
        static const char *const texts[] = {
                "dir/boot.json",
                "{'btd':1,'include':['sub/a.json','/abs/b.json','c','d.json'],'root':{'type':"
                "'Sequence','children':[{'type':'SubTree','tree':'a'},{'type':'SubTree',"
                "'tree':'b'},{'type':'SubTree','tree':'c'},{'type':'SubTree','tree':'d'},"
                "{'type':'SubTree','tree':'a2'}]}}",
                "dir/sub/a.json",
                "{'btd':1,'include':['a2.json'],'trees':{'a':{'root':{'type':'Do'}}},"
                "'root':{'type':'Do'}}",
                "/abs/b.json",
                "{'btd':1,'trees':{'b':{'root':{'type':'SubTree','tree':'a'}}}}",
                "path/c.json",
                "{'btd':1,'trees':{'c':{'root':{'type':'Do'}}}}",
                "path/d.json",
                "{'btd':1,'include':['c.json'],'trees':{'d':{'root':{'type':'Do'}}}}",
                "path/a2.json",
                "{'btd':1,'trees':{'a2':{'root':{'type':'Do'}}}}",
                NULL
        };
        g_autoptr(Definition) definition = load_good(texts, "dir/boot.json");

        g_assert_cmpuint(definition_tree(definition)->n_nodes, ==, 12);
        assert_files(definition, "dir/boot.json dir/sub/a.json path/a2.json /abs/b.json path/c.json path/d.json");
}

static void test_only_trees(void) {
        g_autoptr(Definition) definition = load_good(
                (const char *[]){
                        "t", "{'btd':1,'trees':{'a':{'inputs':{'x':'any'},'root':{'type':'Do','text':'{x}{@y}'}}}}",
                        NULL },
                "t");

        g_assert_null(definition_tree(definition));
        assert_files(definition, "t");
}

/* What a tree is made of is known by all of its files; of one file it is that of the text. */
static void test_hash(void) {
        const char *texts[] = { "boot.json", USE("camera"), "path/camera.json", LEAF, NULL };
        g_autoptr(Definition) alone = load_good((const char *[]){ "boot.json", LEAF, NULL }, "boot.json");
        g_autoptr(Definition) first = load_good(texts, "boot.json"), again = load_good(texts, "boot.json");
        g_autoptr(Definition) other = NULL;

        texts[3] = "{'btd':1,'root':{'type':'Do','name':'other'}}";
        other = load_good(texts, "boot.json");

        g_assert_cmpstr(definition_hash(alone), ==, definition_file_hash(alone, 0));
        g_assert_cmpstr(definition_hash(first), ==, definition_hash(again));
        g_assert_cmpstr(definition_hash(first), !=, definition_hash(other));
        g_assert_cmpstr(definition_file_hash(first, 0), ==, definition_file_hash(other, 0));
        g_assert_cmpstr(definition_file_hash(first, 1), !=, definition_file_hash(other, 1));
        g_assert_cmpstr(definition_file_hash(first, 1), ==, definition_hash(alone));
}

static void test_bad_includes(void) {
        assert_messages((const char *[]){ "t", "{'btd':1,'include':'a.json','root':{'type':'Do'}}", NULL }, "t",
                        "t:1:20: error: include: expected an array of file names, not \"a.json\"");
        assert_messages(
                (const char *[]){ "t", "{'btd':1,'include':[1,'a.json','b/c.json','d'],'root':{'type':'Do'}}", NULL },
                "t",
                "t:1:21: error: include[0]: expected the name of a file, not 1\n"
                "t:1:23: error: include: there is no file 'a.json', neither beside this one nor on the search path\n"
                "t:1:32: error: include: 'b/c.json' cannot be opened: No such file or directory\n"
                "t:1:43: error: include: there is no file 'd', neither beside this one nor on the search path");
        assert_messages(
                (const char *[]){ "a.json", "{'btd':1,'include':['b'],'root':{'type':'Do'}}", "path/b.json",
                                  "{'btd':1,'include':['c'],'trees':{}}", "path/c.json",
                                  "{'btd':1,'include':['b'],'trees':{}}", NULL },
                "a.json",
                "path/c.json:1:21: error: include: files cannot include each other in a circle: b.json includes "
                "c.json includes b.json");
        assert_messages(
                (const char *[]){ "path/a.json", "{'btd':1,'include':['a'],'root':{'type':'Do'}}", NULL },
                "path/a.json",
                "path/a.json:1:21: error: include: files cannot include each other in a circle: a.json includes "
                "a.json");
        assert_messages((const char *[]){ "a.json", "{'btd':1,'include':['b'],'trees':{'x':{'root':{'type':'Do'}}}}",
                                          "path/b.json", "{'btd':1,'include':['c'],'trees':{}}", "path/c.json",
                                          "{'btd':1,'trees':{'x':{'root':{'type':'Do'}}}}", NULL },
                        "a.json",
                        "path/c.json:1:19: error: trees: there is a tree 'x' in 'a.json', too; rename one (a.json "
                        "includes b.json includes c.json)");
}

/* Each is told in its own file, and that the file cannot be used where that is. */
static void test_errors_of_others(void) {
        assert_messages((const char *[]){ "a.json", USE("b"), "path/b.json", "{'btd':1,\n  'root':5}", NULL }, "a.json",
                        "a.json:1:42: error: tree: 'path/b.json' cannot be used, because it has errors (in SubTree)\n"
                        "path/b.json:2:10: error: expected a node, such as {\"type\": \"Sequence\", ...}, not 5");
        assert_messages((const char *[]){ "a.json", USE("b"), "path/b.json", "{'btd':1,\n  oops", NULL }, "a.json",
                        "a.json:1:42: error: tree: 'path/b.json' cannot be used, because it has errors (in SubTree)\n"
                        "path/b.json:2:3: error: expected a key in double quotes, not 'o'");
        assert_messages(
                (const char *[]){ "a.json", "{'btd':1,'include':['b'],'root':{'type':'Do'}}", "path/b.json",
                                  "{'btd':2}", NULL },
                "a.json",
                "path/b.json:1:8: error: btd: the file has version 2 of the format; this btd knows only version "
                "1");
        assert_messages((const char *[]){ "a.json", USE("b"), "path/b.json", "{'btd':1,'trees':{}}", NULL }, "a.json",
                        "a.json:1:42: error: tree: 'path/b.json' has no root, only trees to be included (in SubTree)");
        assert_messages((const char *[]){ "a.json", USE("b"), "path/b.json", USE("c"), "path/c.json", USE("b"), NULL },
                        "a.json",
                        "a.json:1:42: error: tree: 'path/b.json' cannot be used, because it has errors (in SubTree)\n"
                        "path/b.json:1:42: error: tree: 'path/c.json' cannot be used, because it has errors (a uses b) "
                        "(in SubTree)\n"
                        "path/c.json:1:42: error: tree: a tree cannot be part of itself: b uses c uses b (in SubTree)");
        assert_messages((const char *[]){ "path/a.json", USE("a"), NULL }, "path/a.json",
                        "path/a.json:1:42: error: tree: a tree cannot be part of itself: a uses a (in SubTree)");
        assert_messages((const char *[]){ "a.json", USE("b"), "path/b.json", USE("cc"), "path/c.json", LEAF, NULL },
                        "a.json",
                        "a.json:1:42: error: tree: 'path/b.json' cannot be used, because it has errors (in SubTree)\n"
                        "path/b.json:1:42: error: tree: there is no tree 'cc', neither in 'trees' nor on the search "
                        "path (a uses b) (in SubTree)");
        /* Where several include it, once. */
        assert_messages(
                (const char *[]){ "a.json",
                                  "{'btd':1,'include':['i'],'root':{'type':'Sequence','children':["
                                  "{'type':'SubTree','tree':'x'},{'type':'SubTree','tree':'b'}]}}",
                                  "path/b.json", "{'btd':1,'include':['i'],'root':{'type':'SubTree','tree':'x'}}",
                                  "path/i.json", "{'btd':1,'trees':{'x':{'root':{'type':'Du'}}}}", NULL },
                "a.json",
                "a.json:1:119: error: tree: 'path/b.json' cannot be used, because it has errors (in Sequence/SubTree)\n"
                "path/i.json:1:39: error: unknown type 'Du'; did you mean 'Do'? (in x: Du)");
}

/* Unwise things of other files are told where they are. */
static void test_warnings_of_others(void) {
        static const char *const trap = "{'btd':1,'root':{'type':'Fallback','children':[{'type':'ForceSuccess','child':"
                                        "{'type':'Do'}},{'type':'Do'}]}}";
        g_autoptr(TreeFiles) files = tree_files_new((const char *[]){ "a.json", USE("b"), "path/b.json", trap, NULL });
        g_autoptr(Definition) a = NULL, b = NULL;
        g_autofree char *of_a = tree_files_load(files, "a.json", &a), *of_b = tree_files_load(files, "path/b.json", &b);

        g_assert_cmpstr(of_a, ==, "");
        g_assert_true(g_str_has_prefix(of_b, "path/b.json:1:17: warning: "));
}

/* A tree that is not there may have been in the file that is not: it is not told. */
static void test_no_sources(void) {
        static const char *const texts[][2] = {
                { "{\"btd\":1,\"include\":[\"a\"],\"root\":{\"type\":\"SubTree\",\"tree\":\"b\"}}",
                  "include: there is no file 'a', neither beside this one nor on the search path" },
                { "{\"btd\":1,\"root\":{\"type\":\"SubTree\",\"tree\":\"b\"}}",
                  "tree: there is no tree 'b', neither in 'trees' nor on the search path" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(texts); i++) {
                g_autoptr(Diagnostics) diagnostics = diagnostics_new("t");
                Definition *definition;

                g_assert_cmpint(definition_load_text(texts[i][0], strlen(texts[i][0]), tree_file_tables, NULL,
                                                     diagnostics, &definition),
                                <, 0);
                g_assert_cmpuint(diagnostics_count(diagnostics), ==, 1);
                g_assert_cmpstr(diagnostics_get(diagnostics, 0)->text, ==, texts[i][1]);
        }
}

static char *file_name(unsigned i) {
        return g_strdup_printf("path/f%u.json", i);
}

/* Each file uses or includes the next. */
static TreeFiles *chain_of(unsigned n, const char *format) {
        TreeFiles *files = tree_files_new(NULL);

        for (unsigned i = 0; i < n; i++) {
                g_autofree char *path = file_name(i), *next = g_strdup_printf("f%u", i + 1);
                g_auto(GStrv) parts = g_strsplit(format, "NEXT", 2);
                g_autofree char *text = g_strjoin(next, parts[0], parts[1], NULL);

                tree_files_put(files, path, i + 1 < n ? text : LEAF);
        }

        return files;
}

static void test_limits(void) {
        g_autoptr(TreeFiles) uses = chain_of(1000, USE("NEXT")), more_uses = chain_of(1002, USE("NEXT"));
        g_autoptr(TreeFiles) includes = chain_of(60, "{'btd':1,'include':['NEXT'],'root':{'type':'Do'}}");
        g_autoptr(Definition) definition = NULL;
        g_autofree char *good = tree_files_load(uses, "path/f0.json", &definition);
        g_autofree char *bad = tree_files_load(more_uses, "path/f0.json", NULL);
        g_autofree char *deep = tree_files_load(includes, "path/f0.json", NULL);

        g_assert_cmpstr(good, ==, "");
        g_assert_cmpuint(definition_tree(definition)->n_nodes, ==, 1000);
        g_assert_nonnull(strstr(bad, "path/f999.json:1:42: error: tree: a tree can use at most 1000 files ("));
        g_assert_nonnull(strstr(deep, "path/f50.json:1:21: error: include: nested too deeply: files include others at "
                                      "most 50 deep: f0.json includes f1.json"));
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);

        g_test_add_func("/definition-files/search-path", test_search_path);
        g_test_add_func("/definition-files/json", test_json);
        g_test_add_func("/definition-files/own-trees-first", test_own_trees_first);
        g_test_add_func("/definition-files/include", test_include);
        g_test_add_func("/definition-files/only-trees", test_only_trees);
        g_test_add_func("/definition-files/hash", test_hash);
        g_test_add_func("/definition-files/bad-includes", test_bad_includes);
        g_test_add_func("/definition-files/errors-of-others", test_errors_of_others);
        g_test_add_func("/definition-files/warnings-of-others", test_warnings_of_others);
        g_test_add_func("/definition-files/no-sources", test_no_sources);
        g_test_add_func("/definition-files/limits", test_limits);

        return g_test_run();
}
