/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <errno.h>
#include <string.h>

#include "basic/nearest.h"
#include "tree-files.h"

static const char *const do_extra[] = { "value", NULL };

static const Param do_params[] = {
        { .name = "text", .kind = PARAM_STRING, .offset = offsetof(Do, text), .doc = "a text" },
        { .name = "reads", .kind = PARAM_STRING, .offset = offsetof(Do, reads), .reads = true, .doc = "a name" },
        { .name = "writes", .kind = PARAM_STRING, .offset = offsetof(Do, writes), .writes = true, .doc = "a name" },
        { .name = "list", .kind = PARAM_STRINGS, .offset = offsetof(Do, list), .writes = true, .doc = "names" },
        { .name = "outputs", .kind = PARAM_STRINGS, .offset = offsetof(Do, names), .writes = true, .doc = "names" },
        { .name = "outputs",
          .kind = PARAM_EXPRESSIONS,
          .offset = offsetof(Do, outputs),
          .writes = true,
          .extra = do_extra,
          .doc = "expressions" },
        { .name = "test",
          .kind = PARAM_EXPRESSION,
          .offset = offsetof(Do, test),
          .extra = do_extra,
          .doc = "an expression" },
        { .name = "code", .kind = PARAM_CODE, .offset = offsetof(Do, code), .doc = "code" },
        { .name = "any", .kind = PARAM_JSON, .offset = offsetof(Do, any), .doc = "any value" },
        {},
};

static const NodeType do_type = {
        .name = "Do",
        .class = NODE_ACTION,
        .params = do_params,
        .params_size = sizeof(Do),
        .summary = "Does nothing",
};

static const NodeType see_type = { .name = "See", .class = NODE_CONDITION, .summary = "Sees nothing" };

static const NodeType *const do_types[] = { &do_type, &see_type, NULL };
static const NodeType *const *const tables[] = { engine_types, do_types, NULL };
const NodeType *const *const *const tree_file_tables = tables;

struct TreeFiles {
        GHashTable *texts; /* path -> text */
        char *draft;
        GString *changes;
};

TreeFiles *tree_files_new(const char *const *files) {
        TreeFiles *new = g_new0(TreeFiles, 1);

        new->changes = g_string_new(NULL);
        new->texts = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
        for (; files && *files; files += 2)
                tree_files_put(new, files[0], files[1]);

        return new;
}

void tree_files_free(TreeFiles *files) {
        if (!files)
                return;

        g_hash_table_unref(files->texts);
        g_free(files->draft);
        g_string_free(files->changes, true);
        g_free(files);
}

void tree_files_put(TreeFiles *files, const char *path, const char *text) {
        g_hash_table_replace(files->texts, g_strdup(path), g_strdelimit(g_strdup(text), "'", '"'));
}

void tree_files_draft(TreeFiles *files, const char *path) {
        g_free(files->draft);
        files->draft = g_strdup(path);
}

const char *tree_files_changes(const TreeFiles *files) {
        return files->changes->str;
}

static void on_changed(const char *key, json_object *from, json_object *to, void *userdata) {
        const TreeFiles *files = userdata;

        g_string_append_printf(files->changes, "%s%s: %s", files->changes->len > 0 ? "\n" : "", key,
                               json_object_to_json_string_ext(from, JSON_C_TO_STRING_PLAIN));
        g_string_append_printf(files->changes, " -> %s", json_object_to_json_string_ext(to, JSON_C_TO_STRING_PLAIN));
}

static char *on_find(const char *file, void *userdata) {
        const TreeFiles *files = userdata;
        g_autofree char *path = g_build_filename("path", file, NULL);

        return g_hash_table_contains(files->texts, path) ? g_steal_pointer(&path) : NULL;
}

static char *on_nearest(const char *tree, void *userdata) {
        const TreeFiles *files = userdata;
        g_autofree char *path = g_strdup_printf("path/%s.json", tree);
        Nearest nearest = { .word = path };
        GHashTableIter iter;
        void *other;

        g_hash_table_iter_init(&iter, files->texts);
        while (g_hash_table_iter_next(&iter, &other, NULL))
                nearest_offer(&nearest, other);

        return nearest.best ? g_strndup(nearest.best + 5, strlen(nearest.best) - 10) : NULL;
}

static int compare_paths(const void *a, const void *b) {
        return strcmp(*(const char *const *) a, *(const char *const *) b);
}

static int on_dropins(const char *path, GPtrArray *paths, char **ret_error, void *userdata) {
        const TreeFiles *files = userdata;
        g_autofree char *directory = g_strconcat(path, ".d/", NULL);
        GHashTableIter iter;
        void *other;

        g_hash_table_iter_init(&iter, files->texts);
        while (g_hash_table_iter_next(&iter, &other, NULL))
                if (g_str_has_prefix(other, directory))
                        g_ptr_array_add(paths, g_strdup(other));

        g_ptr_array_sort(paths, compare_paths);
        return 0;
}

static int on_read(const char *path, char **ret_text, size_t *ret_length, char **ret_error, void *userdata) {
        const TreeFiles *files = userdata;
        const char *text = g_hash_table_lookup(files->texts, path);

        if (!text) {
                *ret_error = g_strdup("cannot be opened: No such file or directory");
                return -ENOENT;
        }

        *ret_text = g_strdup(text);
        *ret_length = strlen(text);
        return 0;
}

char *tree_files_load(TreeFiles *files, const char *path, Definition **ret_definition) {
        DefinitionSources sources = { .find = on_find,
                                      .nearest = on_nearest,
                                      .dropins = on_dropins,
                                      .read = on_read,
                                      .draft = files->draft,
                                      .changed = on_changed,
                                      .userdata = files };
        g_autoptr(Diagnostics) diagnostics = diagnostics_new(path);
        g_autoptr(Definition) definition = NULL;
        GString *messages = g_string_new(NULL);

        (void) definition_load_file(path, tables, &sources, diagnostics, &definition);
        g_assert_true((definition == NULL) == (diagnostics_count_errors(diagnostics) > 0));
        for (size_t i = 0; i < diagnostics_count(diagnostics); i++) {
                g_autofree char *message = diagnostics_format(diagnostics, i);

                g_string_append_printf(messages, "%s%s", i > 0 ? "\n" : "", message);
        }

        if (ret_definition)
                *ret_definition = g_steal_pointer(&definition);
        return g_string_free(messages, FALSE);
}

char *tree_file_messages(const char *text) {
        g_autoptr(TreeFiles) files = tree_files_new((const char *[]){ "t", text, NULL });

        return tree_files_load(files, "t", NULL);
}

Definition *tree_file_good(const char *text) {
        g_autoptr(TreeFiles) files = tree_files_new((const char *[]){ "t", text, NULL });
        Definition *definition = NULL;
        g_autofree char *messages = tree_files_load(files, "t", &definition);

        g_assert_cmpstr(messages, ==, "");
        return definition;
}

GString *tree_file_chain(unsigned n, unsigned uses, bool from_root) {
        GString *text = g_string_new("{'btd':1,'trees':{");

        for (unsigned i = 0; i < n; i++) {
                g_string_append_printf(text, "'t%u':{'root':{'type':'Sequence','children':[", i);
                for (unsigned u = 0; u < uses; u++)
                        g_string_append_printf(text, "%s{'type':'SubTree','tree':'t%u'}", u > 0 ? "," : "", i + 1);
                g_string_append(text, "]}},");
        }

        g_string_append_printf(text, "'t%u':{'root':{'type':'Do'}}},'root':%s}", n,
                               from_root ? "{'type':'SubTree','tree':'t0'}" : "{'type':'Do'}");
        return text;
}

void assert_tree_messages(const char *text, const char *expected) {
        g_autofree char *messages = tree_file_messages(text);

        g_assert_cmpstr(messages, ==, expected);
}
