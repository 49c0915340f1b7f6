/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <ctype.h>
#include <string.h>

#include "stage-tree.h"

static const NodeType action_type = { .name = "action", .class = NODE_ACTION };
static const NodeType immediate_type = { .name = "immediate", .class = NODE_ACTION, .flags = TYPE_IMMEDIATE };
static const NodeType condition_type = { .name = "condition", .class = NODE_CONDITION };

typedef struct Reader {
        StageTree *tree;
        TreeBuilder *builder;
        const char *text;
} Reader;

static const NodeType *find_type(const char *name) {
        for (const NodeType *const *type = engine_types; *type; type++)
                if (g_str_equal((*type)->name, name))
                        return *type;

        g_error("no type %s", name);
}

static const char *read_word(Reader *reader) {
        const char *start = reader->text;

        while (isalnum((unsigned char) *reader->text) || *reader->text == '_')
                reader->text++;

        return g_string_chunk_insert_len(reader->tree->names, start, reader->text - start);
}

static bool accept(Reader *reader, char c) {
        while (*reader->text == ' ')
                reader->text++;

        if (*reader->text != c)
                return false;

        reader->text++;
        return true;
}

static void *zeroed(Reader *reader, size_t size) {
        g_ptr_array_add(reader->tree->params, g_malloc0(size));
        return reader->tree->params->pdata[reader->tree->params->len - 1];
}

static bool set_param(Reader *reader, const Param *param, char *params, const char *name, double value);

/* False: the object has no such member. */
static bool set_member(Reader *reader, const Param *param, void **object, const char *name, double value) {
        bool known = false;

        for (const Param *member = param->members; member->name; member++)
                known = known || g_str_equal(member->name, name);

        if (!known)
                return false;
        if (!*object)
                *object = zeroed(reader, param->members_size);

        return set_param(reader, param->members, *object, name, value);
}

/* The allowed elements whose bits are set. */
static const char *const *choose(Reader *reader, const Param *param, unsigned bits) {
        const char **chosen = zeroed(reader, (g_strv_length((char **) param->values) + 1) * sizeof(*chosen));
        unsigned n = 0;

        for (unsigned i = 0; param->values[i]; i++)
                if (bits & 1u << i)
                        chosen[n++] = param->values[i];

        return chosen;
}

static bool set_param(Reader *reader, const Param *param, char *params, const char *name, double value) {
        static const char *const some_strings[] = { "some", NULL };

        for (; param && param->name; param++) {
                void *field = params + param->offset;

                if (param->kind == PARAM_OBJECT && set_member(reader, param, field, name, value))
                        return true;
                if (!g_str_equal(param->name, name))
                        continue;

                switch (param->kind) {
                case PARAM_INT:
                        *(int64_t *) field = (int64_t) value;
                        return true;
                case PARAM_SPAN:
                        *(uint64_t *) field = value < 0 ? SPAN_INFINITY : (uint64_t) value;
                        return true;
                case PARAM_NUMBER:
                        *(double *) field = value;
                        return true;
                case PARAM_BOOL:
                        *(bool *) field = value != 0;
                        return true;
                case PARAM_ENUM:
                        *(int *) field = (int) value;
                        return true;
                case PARAM_STRINGS:
                        *(const char *const **) field = value == 0      ? NULL
                                                        : param->values ? choose(reader, param, (unsigned) value)
                                                                        : some_strings;
                        return true;
                default:
                        return false;
                }
        }

        return false;
}

static double fallback_of(const Param *param) {
        if (g_str_equal(param->fallback, "true"))
                return 1;

        return g_str_equal(param->fallback, "\"infinity\"") ? -1 : g_ascii_strtod(param->fallback, NULL);
}

static void *read_params(Reader *reader, const NodeType *type) {
        char *params;

        if (type->params_size == 0)
                return NULL;

        params = zeroed(reader, type->params_size);
        for (const Param *param = type->params; param->name; param++)
                if (param->fallback && param->kind != PARAM_OBJECT)
                        set_param(reader, type->params, params, param->name, fallback_of(param));

        if (accept(reader, '{'))
                do {
                        const char *name;
                        char *end;

                        accept(reader, ' ');
                        name = read_word(reader);
                        g_assert_true(accept(reader, '='));
                        g_assert_true(
                                set_param(reader, type->params, params, name, g_ascii_strtod(reader->text, &end)));
                        reader->text = end;
                } while (!accept(reader, '}') && accept(reader, ','));

        return params;
}

static unsigned read_attribute(Reader *reader) {
        static const struct {
                const char *name;
                unsigned flag;
        } attributes[] = {
                { "guards", NODE_GUARDED },    { "hooks", NODE_HOOKED },
                { "lock", NODE_LOCKED },       { "uninterruptible", NODE_UNINTERRUPTIBLE },
                { "may_fail", NODE_MAY_FAIL },
        };
        const char *word;

        accept(reader, ' ');
        word = read_word(reader);
        for (size_t i = 0; i < G_N_ELEMENTS(attributes); i++)
                if (g_str_equal(attributes[i].name, word))
                        return attributes[i].flag;

        g_error("no attribute '%s'", word);
}

static void read_attributes(Reader *reader, NodeId node) {
        if (*reader->text != '[')
                return;

        reader->text++;
        while (!accept(reader, ']'))
                tree_builder_set_flags(reader->builder, node, read_attribute(reader));
}

static void read_node(Reader *reader);

static void read_inner(Reader *reader, const NodeType *type) {
        const char *name = NULL;
        NodeId node;

        if (*reader->text == ':') {
                reader->text++;
                name = read_word(reader);
        }

        node = tree_builder_open(reader->builder, type, name, read_params(reader, type));
        g_string_append_c(reader->tree->traits, ' ');
        read_attributes(reader, node);
        if (accept(reader, '('))
                do
                        read_node(reader);
                while (!accept(reader, ')') && accept(reader, ','));
}

static void read_leaf(Reader *reader, const char *name) {
        char trait = *reader->text && strchr("!+-*?", *reader->text) ? *reader->text++ : ' ';
        const NodeType *type = trait == '?'                   ? &condition_type
                               : trait == '+' || trait == '-' ? &immediate_type
                                                              : &action_type;

        g_string_append_c(reader->tree->traits, trait);
        read_attributes(reader, tree_builder_open(reader->builder, type, name, NULL));
}

static void read_node(Reader *reader) {
        const char *name;

        accept(reader, ' ');
        name = read_word(reader);
        if (isupper((unsigned char) name[0]))
                read_inner(reader, find_type(name));
        else
                read_leaf(reader, name);

        tree_builder_close(reader->builder);
}

StageTree *stage_tree_new(const char *text) {
        g_autoptr(TreeBuilder) builder = tree_builder_new(0);
        StageTree *tree = g_new0(StageTree, 1);
        Reader reader = { .tree = tree, .builder = builder, .text = text };

        tree->traits = g_string_new(NULL);
        tree->names = g_string_chunk_new(256);
        tree->params = g_ptr_array_new_with_free_func(g_free);
        read_node(&reader);
        g_assert_cmpstr(reader.text, ==, "");
        tree->tree = tree_builder_finish(builder);
        return tree;
}

void stage_tree_free(StageTree *tree) {
        if (!tree)
                return;

        tree_free(tree->tree);
        g_string_free(tree->traits, true);
        g_string_chunk_free(tree->names);
        g_ptr_array_unref(tree->params);
        g_free(tree);
}

NodeId stage_tree_find(const StageTree *tree, const char *name) {
        for (NodeId node = 0; node < tree->tree->n_nodes; node++)
                if (g_str_equal(tree_node_name(tree->tree, node), name))
                        return node;

        g_error("no node %s", name);
}
