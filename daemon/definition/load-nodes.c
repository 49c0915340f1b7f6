/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * The nodes of a tree, depth first. A node is read in two goes: which of the keys that any node has are there,
 * and then, its type being known, all of its keys. Wrong nodes are read on for what else is wrong inside of them.
 */

#include <string.h>

#include "basic/excerpt.h"
#include "basic/limit.h"
#include "definition/loader.h"

#define NAME_MAX_BYTES 255u

Key loader_key_of(Loader *loader, uint32_t item) {
        size_t length;
        const char *word = text_string(loader_text(loader), item, loader->scratch, &length);

        for (Key key = 0; key < KEY_MAX_; key++)
                if (loader_key_names[key][0] == word[0] && strncmp(loader_key_names[key], word, length) == 0 &&
                    loader_key_names[key][length] == 0)
                        return key;

        return KEY_MAX_;
}

static bool is_string(const Loader *loader, uint32_t item) {
        return item > 0 && text_kind(loader_text(loader), item) == TEXT_STRING;
}

static bool has_control(const char *text) {
        for (; *text; text = g_utf8_next_char(text))
                if (g_ascii_iscntrl(*text) || (*text & 0x80 && g_unichar_iscntrl(g_utf8_get_char(text))))
                        return true;

        return false;
}

/* What is wrong with a name, or NULL. */
static char *name_problem(const char *name, size_t length) {
        if (length == 0)
                return g_strdup("it is empty; leave it out, or give one");
        if (length > NAME_MAX_BYTES)
                return g_strdup_printf("it is longer than %u bytes; 'description' has room", NAME_MAX_BYTES);

        return has_control(name) ? g_strdup("it contains a control character") : NULL;
}

/* A string that can stand in a path, or NULL. */
static const char *path_name(Loader *loader, uint32_t item, char **ret_problem) {
        size_t length;
        const char *name;

        if (!is_string(loader, item))
                return NULL;

        name = loader_string(loader, item, &length);
        *ret_problem = name_problem(name, length);
        return *ret_problem ? NULL : loader_intern_text(loader, name);
}

static void find_keys(Loader *loader, Reading *reading) {
        uint32_t n = text_item(loader_text(loader), reading->item)->count, item = reading->item + 1;

        for (uint32_t i = 0; i < n; i++, item = text_next(loader_text(loader), item + 1)) {
                Key key = loader_key_of(loader, item);

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

/* What is to be read next below the node. Children under the wrong key are read, too, for what is wrong in them. */
static void set_children(Loader *loader, const Reading *reading) {
        Frame *frame = &loader->open[loader->n_open - 1];
        uint32_t array = reading->keys[KEY_CHILDREN], child = reading->keys[KEY_CHILD];

        if (array > 0 && text_kind(loader_text(loader), array) == TEXT_ARRAY) {
                frame->child = array + 1;
                frame->n_left = text_item(loader_text(loader), array)->count;
        } else if (child > 0) {
                frame->child = child;
                frame->n_left = 1;
        }
}

/* A node whose type is not known is called by what stands there for it. */
static void open_node(Loader *loader, Reading *reading) {
        g_autofree char *problem = NULL, *no_name = NULL;
        GArray *nodes = loader->plan->nodes;
        Frame frame = { .node = nodes->len };
        PlanNode node = { .type = reading->type,
                          .name = path_name(loader, reading->keys[KEY_NAME], &problem),
                          .item = reading->item,
                          .parent = PLAN_NONE,
                          .templates = loader->plan->templates->len,
                          .use = PLAN_NONE };

        if (!node.name && !node.type)
                node.name = path_name(loader, reading->keys[KEY_TYPE], &no_name);
        if (node.type)
                node.params = loader_defaults(loader, node.type->params, node.type->params_size);
        if (loader->n_open > 0)
                node.parent = loader->open[loader->n_open - 1].node;

        reading->target.node = reading->extras.node = nodes->len;
        g_array_append_val(nodes, node);
        loader->open[loader->n_open++] = frame;
        loader->plan->depth = MAX(loader->plan->depth, loader->n_open);

        if (problem)
                reading_error(loader, reading, reading->keys[KEY_NAME], g_strdup_printf("name: %s", problem));
}

/* What receives the values of the keys, now that the type is known or has been guessed. */
static void set_targets(Reading *reading) {
        const NodeType *type = reading->type;

        reading->extras.params = extras_params;
        reading->extras.size = sizeof(Extras);
        reading->extras.literal = true;
        if (!type)
                return;

        reading->target.params = type->params;
        reading->target.size = type->params_size;
        reading->target.literal = type->class == NODE_CONTROL || type->class == NODE_DECORATOR;
}

/* What the table cannot say. */
static void check_extras(Loader *loader, Reading *reading) {
        const Extras *extras = reading->extras.values;

        if (extras && extras->lock && !*extras->lock)
                reading_error(loader, reading, loader_find_member(loader, loader->file, reading->item, "lock"),
                              g_strdup("lock: it is empty; leave it out, or give a name"));
        if (extras && reading->type && extras->halt_timeout != SPAN_INFINITY && reading->type->class != NODE_ACTION)
                reading_error(
                        loader, reading, loader_find_member(loader, loader->file, reading->item, "halt_timeout") - 1,
                        g_strdup("halt_timeout: only an action takes time to halt; give it to the actions inside"));
}

static void finish_node(Loader *loader, const Reading *reading) {
        PlanNode *node = plan_node(loader->plan, reading->target.node);

        if (reading->target.values)
                node->params = reading->target.values;
        node->extras = reading->extras.values;
        node->sound = !reading->target.wrong && !reading->extras.wrong;
        if (node->type && node->type->flags & (TYPE_SUBTREE | TYPE_FOR_EACH))
                loader_add_use(loader, reading->target.node);
}

/* Is there room for a node here? */
static bool check_limits(Loader *loader, uint32_t item) {
        if (loader->n_open >= limits_in_force(LIMIT_DEPTH)) {
                loader_give_up_tree(loader);
                loader_error(loader, item,
                             g_strdup_printf("nested too deeply: a tree has at most %u levels",
                                             limits_in_force(LIMIT_DEPTH)));
                return false;
        }
        if (loader->plan->nodes->len >= limits_in_force(LIMIT_NODES)) {
                loader_give_up_tree(loader);
                loader_error(loader, item,
                             g_strdup_printf("a tree has at most %u nodes", limits_in_force(LIMIT_NODES)));
                loader->n_open = 0;
                return false;
        }

        return true;
}

static void read_node(Loader *loader, uint32_t item) {
        Reading reading = { .item = item };

        if (!check_limits(loader, item))
                return;

        if (text_kind(loader_text(loader), item) != TEXT_OBJECT) {
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
        loader_read_keys(loader, &reading);
        for (Key key = KEY_TYPE; key <= KEY_DESCRIPTION; key++)
                expect_string(loader, &reading, key);
        check_extras(loader, &reading);
        loader_check_children(loader, &reading);
        set_children(loader, &reading);
        finish_node(loader, &reading);
}

static void close_node(Loader *loader) {
        const Frame *frame = &loader->open[loader->n_open - 1];

        plan_node(loader->plan, frame->node)->end = loader->plan->nodes->len;
        loader->n_open--;
}

void loader_read_plan(Loader *loader, Plan *plan) {
        if (plan->root == 0)
                return;

        loader->file = plan->file;
        loader->plan = plan;
        read_node(loader, plan->root);

        while (loader->n_open > 0) {
                Frame *frame = &loader->open[loader->n_open - 1];

                if (frame->n_left > 0) {
                        uint32_t child = frame->child;

                        frame->n_left--;
                        frame->child = text_next(loader_text(loader), child);
                        read_node(loader, child);
                } else
                        close_node(loader);
        }

        loader->plan = NULL;
}
