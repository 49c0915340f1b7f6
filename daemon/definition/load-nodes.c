/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * The nodes of a tree file, depth first. A node is read in two goes: which of the keys that any node has are there,
 * and then, its type being known, all of its keys. Wrong nodes are read on for what else is wrong inside of them.
 */

#include <string.h>

#include "basic/excerpt.h"
#include "basic/nearest.h"
#include "definition/loader.h"

#define NAME_MAX_BYTES 255u

static Key key_of(Loader *loader, uint32_t item) {
        size_t length;
        const char *word = text_string(&loader->text, item, loader->scratch, &length);

        for (Key key = 0; key < KEY_MAX_; key++)
                if (loader_key_names[key][0] == word[0] && strncmp(loader_key_names[key], word, length) == 0 &&
                    loader_key_names[key][length] == 0)
                        return key;

        return KEY_MAX_;
}

static bool is_string(const Loader *loader, uint32_t item) {
        return item > 0 && text_kind(&loader->text, item) == TEXT_STRING;
}

static bool has_control(const char *text) {
        for (; *text; text = g_utf8_next_char(text))
                if (g_ascii_iscntrl(*text) || (*text & 0x80 && g_unichar_iscntrl(g_utf8_get_char(text))))
                        return true;

        return false;
}

/* What is wrong with a name, or NULL. */
static char *name_problem(Loader *loader, uint32_t item) {
        size_t length;
        const char *name = loader_string(loader, item, &length);

        if (length == 0)
                return g_strdup("it is empty; leave it out, or give one");
        if (length > NAME_MAX_BYTES)
                return g_strdup_printf("it is longer than %u bytes; 'description' has room", NAME_MAX_BYTES);

        return has_control(name) ? g_strdup("it contains a control character") : NULL;
}

/* A string that can stand in a path, or NULL. */
static const char *path_name(Loader *loader, uint32_t item) {
        g_autofree char *problem = is_string(loader, item) ? name_problem(loader, item) : NULL;

        return is_string(loader, item) && !problem ? loader_intern(loader, item) : NULL;
}

/* What paths call the node. */
static const char *display_name(Loader *loader, const Reading *reading) {
        const char *name = path_name(loader, reading->keys[KEY_NAME]);

        if (name || reading->type)
                return name ?: reading->type->name;

        return path_name(loader, reading->keys[KEY_TYPE]) ?: "?";
}

static bool node_is_leaf(const NodeType *type) {
        return type->class == NODE_ACTION || type->class == NODE_CONDITION;
}

/* The struct of a type's defaults, which all nodes share that give none of the parameters. */
static const void *defaults_of(Loader *loader, const NodeType *type) {
        void *values;

        if (type->params_size == 0)
                return NULL;

        values = g_hash_table_lookup(loader->defaults, type);
        if (!values) {
                values = arena_alloc(loader->arena, type->params_size);
                params_set_defaults(loader->arena, type->params, values);
                g_hash_table_insert(loader->defaults, (NodeType *) type, values);
        }

        return values;
}

static void find_keys(Loader *loader, Reading *reading) {
        uint32_t n = text_item(&loader->text, reading->item)->count, item = reading->item + 1;

        for (uint32_t i = 0; i < n; i++, item = text_next(&loader->text, item + 1)) {
                Key key = key_of(loader, item);

                if (key < KEY_MAX_ && reading->keys[key] == 0)
                        reading->keys[key] = item + 1;
        }

        if (is_string(loader, reading->keys[KEY_TYPE])) {
                size_t length;

                reading->type = types_find(loader->types, loader_string(loader, reading->keys[KEY_TYPE], &length));
        }
}

static void expect_string(Loader *loader, Reading *reading, Key key) {
        uint32_t item = reading->keys[key];

        if (item > 0 && !is_string(loader, item))
                reading_error(loader, reading, item,
                              g_strdup_printf("%s: expected a string, not %s", loader_key_names[key],
                                              loader_describe(loader, item)));
}

static void check_type(Loader *loader, Reading *reading) {
        uint32_t item = reading->keys[KEY_TYPE];
        g_autofree char *shown = NULL;
        const char *nearest, *word;
        size_t length;

        if (reading->type)
                return;

        loader_give_up_tree(loader);
        if (item == 0) {
                reading_error(loader, reading, reading->item,
                              g_strdup("'type' is missing; it says what the node is, such as \"Sequence\""));
                return;
        }
        if (!is_string(loader, item))
                return;

        word = loader_string(loader, item, &length);
        shown = excerpt(word, length);
        nearest = types_nearest(loader->types, word);
        reading_error(loader, reading, item,
                      nearest ? g_strdup_printf("unknown type '%s'; did you mean '%s'?", shown, nearest)
                              : g_strdup_printf("unknown type '%s'; 'btctl types' lists all that there are", shown));

        /* For what else is wrong, it is read as what was probably meant. */
        if (nearest)
                reading->type = types_find(loader->types, nearest);
}

static void check_name(Loader *loader, Reading *reading) {
        uint32_t item = reading->keys[KEY_NAME];
        g_autofree char *problem = is_string(loader, item) ? name_problem(loader, item) : NULL;

        if (problem)
                reading_error(loader, reading, item, g_strdup_printf("name: %s", problem));
}

/* "a Sequence takes: children; any node: type, name, description" */
static char *describe_keys(const NodeType *type) {
        g_autofree char *owner = with_article(type->name);
        GString *text = g_string_new(NULL);
        const char *separator = " takes: ";

        if (!node_is_leaf(type)) {
                g_string_append_printf(text, "%s%s%s", owner, separator,
                                       type->class == NODE_CONTROL ? "children" : "child");
                separator = ", ";
        }
        for (const Param *param = type->params; param && param->name; param++) {
                g_string_append_printf(text, "%s%s%s", text->len == 0 ? owner : "", separator, param->name);
                separator = ", ";
        }
        g_string_append_printf(text, "%s: type, name, description", text->len > 0 ? "; any node" : "any node takes");
        for (const Param *param = guard_params; param->name; param++)
                g_string_append_printf(text, ", %s", param->name);

        return g_string_free(text, false);
}

static void report_unknown_key(Loader *loader, Reading *reading, uint32_t item) {
        const NodeType *type = reading->type;
        size_t length;
        const char *word = loader_string(loader, item, &length);
        g_autofree char *shown = excerpt(word, length), *keys = describe_keys(type);
        Nearest nearest = { .word = word };
        GString *text = g_string_new(NULL);

        for (const Param *param = type->params; param && param->name; param++)
                nearest_offer(&nearest, param->name);
        for (const Param *param = guard_params; param->name; param++)
                nearest_offer(&nearest, param->name);
        for (Key key = 0; key < KEY_MAX_; key++)
                if ((key != KEY_CHILDREN || type->class == NODE_CONTROL) &&
                    (key != KEY_CHILD || type->class == NODE_DECORATOR))
                        nearest_offer(&nearest, loader_key_names[key]);

        /* Misspelt children are still read, for what is wrong inside of them. */
        for (Key key = KEY_CHILDREN; key <= KEY_CHILD; key++)
                if (nearest.best == loader_key_names[key] && reading->keys[key] == 0)
                        reading->keys[key] = item + 1;

        g_string_append_printf(text, "unknown key '%s'", shown);
        if (nearest.best)
                g_string_append_printf(text, "; did you mean '%s'?", nearest.best);
        g_string_append_printf(text, " (%s)", keys);
        reading_error(loader, reading, item, g_string_free(text, false));
}

/* Nodes that set something have a struct of their own. */
static void own_values(Loader *loader, Target *target, const void *defaults) {
        if (target->values)
                return;

        target->values = arena_alloc(loader->arena, target->size);
        if (defaults)
                memcpy(target->values, defaults, target->size);
}

static void read_guard(Loader *loader, Reading *reading, const Param *param, uint32_t item) {
        const char **variable;

        own_values(loader, &reading->guards, NULL);
        loader_set_param(loader, &reading->guards, param, item);

        variable = (const char **) (void *) ((char *) reading->guards.values + param->offset);
        if (*variable && !blackboard_key_valid(*variable))
                reading_error(loader, reading, item,
                              g_strdup_printf("%s: expected the name of a variable, such as \"ready\"", param->name));
}

/* The value of one of the type's parameters, or of a guard. */
static void read_value(Loader *loader, Reading *reading, uint32_t key) {
        size_t length;
        const char *word = text_string(&loader->text, key, loader->scratch, &length);
        const Param *param = params_find(reading->type->params, word, length);
        const Param *guard = param ? NULL : params_find(guard_params, word, length);

        if (!param && !guard)
                report_unknown_key(loader, reading, key);
        else if (target_was_given(param ? &reading->target : &reading->guards, param ?: guard))
                reading_error(loader, reading, key, g_strdup_printf("'%s' is given twice", (param ?: guard)->name));
        else if (guard)
                read_guard(loader, reading, guard, key + 1);
        else {
                own_values(loader, &reading->target, defaults_of(loader, reading->type));
                loader_set_param(loader, &reading->target, param, key + 1);
        }
}

/* A type may want the name for itself, too. */
static bool name_is_param(const Loader *loader, const Reading *reading, Key key, uint32_t item) {
        return key == KEY_NAME && is_string(loader, item + 1) && params_find(reading->type->params, "name", 4);
}

static void read_key(Loader *loader, Reading *reading, uint32_t item) {
        Key key = key_of(loader, item);

        if (reading->type && (key == KEY_MAX_ || name_is_param(loader, reading, key, item)))
                read_value(loader, reading, item);
        else if (key < KEY_MAX_ && reading->keys[key] != item + 1)
                reading_error(loader, reading, item, g_strdup_printf("'%s' is given twice", loader_key_names[key]));
}

static void read_keys(Loader *loader, Reading *reading) {
        uint32_t n = text_item(&loader->text, reading->item)->count, item = reading->item + 1;

        for (uint32_t i = 0; i < n; i++, item = text_next(&loader->text, item + 1))
                read_key(loader, reading, item);

        for (Key key = KEY_TYPE; key <= KEY_DESCRIPTION; key++)
                expect_string(loader, reading, key);

        if (reading->type)
                loader_check_required(loader, &reading->target, reading->item, reading->type->name);
}

/* What is to be read next below the node. Children under the wrong key are read, too, for what is wrong in them. */
static void set_children(Loader *loader, const Reading *reading) {
        Frame *frame = &g_array_index(loader->open, Frame, loader->open->len - 1);
        uint32_t array = reading->keys[KEY_CHILDREN], child = reading->keys[KEY_CHILD];

        if (array > 0 && text_kind(&loader->text, array) == TEXT_ARRAY) {
                frame->child = array + 1;
                frame->n_left = text_item(&loader->text, array)->count;
        } else if (child > 0) {
                frame->child = child;
                frame->n_left = 1;
        }
}

static void open_node(Loader *loader, Reading *reading) {
        const char *name = display_name(loader, reading);
        Frame frame = { .name = name };
        Origin origin = { .item = reading->item };

        g_array_append_val(loader->open, frame);
        reading->target.node = NODE_NONE;
        if (reading->type && loader->builder) {
                reading->target.node =
                        tree_builder_open(loader->builder, reading->type, reading->keys[KEY_NAME] > 0 ? name : NULL,
                                          defaults_of(loader, reading->type));
                g_array_append_val(loader->origins, origin);
        }
}

/* What receives the values of the keys, now that the type is known or has been guessed. */
static void set_targets(Reading *reading) {
        reading->guards = (Target){ .params = guard_params, .size = sizeof(Guards), .literal = true };
        if (!reading->type)
                return;

        reading->target.params = reading->type->params;
        reading->target.size = reading->type->params_size;
        reading->target.literal = !node_is_leaf(reading->type);
}

static void finish_node(Loader *loader, const Reading *reading) {
        const Target *target = &reading->target;

        if (!loader->builder)
                return;

        if (target->values)
                tree_builder_set_params(loader->builder, target->node, target->values);
        if (reading->guards.values) {
                GuardedNode guarded = { .node = target->node, .guards = reading->guards.values };

                tree_builder_set_flags(loader->builder, target->node, NODE_GUARDED);
                g_array_append_val(loader->guarded, guarded);
        }
        g_array_index(loader->origins, Origin, target->node).check = !target->wrong;
}

/* Is there room for a node here? */
static bool check_limits(Loader *loader, uint32_t item) {
        if (loader->open->len >= TREE_DEPTH_MAX) {
                loader_give_up_tree(loader);
                loader_error(loader, item,
                             g_strdup_printf("nested too deeply: a tree has at most %u levels", TREE_DEPTH_MAX));
                return false;
        }
        if (loader->n_nodes >= TREE_NODES_MAX) {
                loader_give_up_tree(loader);
                loader_error(loader, item, g_strdup_printf("a tree has at most %u nodes", TREE_NODES_MAX));
                g_array_set_size(loader->open, 0);
                return false;
        }

        loader->n_nodes++;
        return true;
}

static void read_node(Loader *loader, uint32_t item) {
        Reading reading = { .item = item };

        if (!check_limits(loader, item))
                return;

        if (text_kind(&loader->text, item) != TEXT_OBJECT) {
                loader_give_up_tree(loader);
                loader_error(loader, item,
                             g_strdup_printf("expected a node, such as {\"type\": \"Sequence\", ...}, not %s",
                                             loader_describe(loader, item)));
                return;
        }

        find_keys(loader, &reading);
        open_node(loader, &reading);
        check_type(loader, &reading);
        set_targets(&reading);
        check_name(loader, &reading);
        read_keys(loader, &reading);
        loader_check_children(loader, &reading);
        set_children(loader, &reading);
        finish_node(loader, &reading);
}

void loader_read_nodes(Loader *loader, uint32_t root) {
        read_node(loader, root);

        while (loader->open->len > 0) {
                Frame *frame = &g_array_index(loader->open, Frame, loader->open->len - 1);

                if (frame->n_left > 0) {
                        uint32_t child = frame->child;

                        frame->n_left--;
                        frame->child = text_next(&loader->text, child);
                        read_node(loader, child);
                        continue;
                }

                g_array_set_size(loader->open, loader->open->len - 1);
                if (loader->builder)
                        tree_builder_close(loader->builder);
        }
}
