/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Reads the nodes of a tree, depth first. A node is read in two steps: first the common keys are found, and then, when
 * its type is known, all of its keys are read: parameters, common attributes and unknown keys. The content of a wrong
 * node is read, too, to report the errors inside it.
 */

#include <string.h>

#include "basic/excerpt.h"
#include "basic/nearest.h"
#include "definition/hints.h"
#include "definition/load/loader.h"

static Key key_of(Loader *loader, uint32_t item) {
        size_t length;
        const char *word = text_string(loader_text(loader), item, loader->scratch, &length);

        for (Key key = 0; key < KEY_MAX_; key++)
                if (loader_key_names[key][0] == word[0] && strncmp(loader_key_names[key], word, length) == 0 &&
                    loader_key_names[key][length] == 0)
                        return key;

        return KEY_MAX_;
}

static bool takes_key(const NodeType *type, Key key) {
        if (key == KEY_CHILDREN)
                return type->class == NODE_CONTROL;

        return key != KEY_CHILD || (type->class == NODE_DECORATOR && !(type->flags & TYPE_SUBTREE));
}

/* A type may have a parameter with the name of a common key. */
bool loader_takes_word(const NodeType *type, const char *word) {
        const Param *attribute = params_find(common_attribute_params, word, strlen(word));

        for (Key key = 0; key < KEY_MAX_; key++)
                if (takes_key(type, key) && g_str_equal(loader_key_names[key], word))
                        return true;

        return params_find(type->params, word, strlen(word)) ||
               (attribute && common_attribute_applies(attribute, type));
}

char *loader_explain_key(const NodeType *type, const char *word, const char **ret_meant, bool *ret_close,
                         bool *ret_other) {
        const Hint *hint = hint_find(HINT_KEY, type->name, word);
        Nearest nearest = { .word = word };
        g_autofree char *owner = with_article(type->name);

        *ret_other = false;
        if (hint && (!hint->instead || loader_takes_word(type, hint->instead))) {
                *ret_meant = hint->instead;
                *ret_close = hint->instead != NULL;
                *ret_other = hint->text != NULL;
                return hint_format(hint);
        }

        for (const Param *param = type->params; param && param->name; param++)
                nearest_offer(&nearest, param->name);
        for (const Param *param = common_attribute_params; param->name; param++)
                if (common_attribute_applies(param, type))
                        nearest_offer(&nearest, param->name);
        for (Key key = 0; key < KEY_MAX_; key++)
                if (takes_key(type, key))
                        nearest_offer(&nearest, loader_key_names[key]);

        *ret_meant = nearest.best;
        *ret_close = nearest_is_close(&nearest);
        if (nearest.best)
                return g_strdup_printf("; did you mean '%s'?", nearest.best);
        if (g_ascii_isupper(*word) && params_find(type->params, "properties", strlen("properties")))
                return g_strdup_printf("; if it is a property of the unit, write it in 'properties'");

        return g_strdup_printf("; 'btctl types %s' lists what %s takes", type->name, owner);
}

/* A node with parameters that are given has its own struct of values; other nodes share the defaults. */
static void set_value(Loader *loader, Target *target, const Param *param, uint32_t item) {
        if (!target->values) {
                const void *defaults = loader_defaults(loader, target->params, target->size);

                target->values = arena_alloc(loader->arena, target->size);
                memcpy(target->values, defaults, target->size);
        }

        loader_set_param(loader, target, loader_choose_param(loader, param, item), item);
}

/* Reports the key. Its value is read as that of the key that was probably meant, to report the errors inside it, unless
 * that one is given, too, or takes a value of another kind. */
static void read_unknown(Loader *loader, Reading *reading, uint32_t key) {
        size_t length;
        const char *word = loader_string(loader, key, &length), *meant;
        bool close, other;
        g_autofree char *shown = excerpt(word, length),
                        *why = loader_explain_key(reading->type, word, &meant, &close, &other);
        const Param *param, *attribute;
        Target *target;

        reading_error(loader, reading, key, g_strdup_printf("unknown key '%s'%s", shown, why));
        diagnostics_suggest(loader->diagnostics, meant);
        if (!close || !loader_mean(loader, reading->item, key, meant)) {
                loader_doubt(loader, key + 1);
                return;
        }

        param = params_find(reading->type->params, meant, strlen(meant));
        attribute = params_find(common_attribute_params, meant, strlen(meant));
        target = param ? &reading->target : &reading->attributes;
        if (param || attribute) {
                target_was_given(target, param ?: attribute);
                if (other)
                        loader_param_wrong(loader, target, param ?: attribute, key + 1);
                else
                        set_value(loader, target, param ?: attribute, key + 1);
                return;
        }

        for (Key below = KEY_NAME; !other && below < KEY_MAX_; below++)
                if (g_str_equal(meant, loader_key_names[below])) {
                        reading->keys[below] = key + 1;
                        reading->n_below += below >= KEY_CHILDREN;
                        return;
                }

        loader_doubt(loader, key + 1);
}

/* Reads the value of a parameter of the type, or of a common attribute. */
static void read_value(Loader *loader, Reading *reading, uint32_t key) {
        size_t length;
        const char *word = text_string(loader_text(loader), key, loader->scratch, &length);
        const Param *param = params_find(reading->type->params, word, length);
        const Param *attribute = param ? NULL : params_find(common_attribute_params, word, length);
        Target *target = param ? &reading->target : &reading->attributes;

        if (!param && !attribute)
                read_unknown(loader, reading, key);
        else if (target_was_given(target, param ?: attribute)) {
                unsigned n_templates = loader->plan->templates->len;
                Target second = *target;

                /* Only its first value is used; the second is only checked. */
                reading_error(loader, reading, key, g_strdup_printf("'%s' is given twice", (param ?: attribute)->name));
                second.values = arena_alloc(loader->arena, target->size);
                memcpy(second.values, target->values, target->size);
                loader_set_param(loader, &second, loader_choose_param(loader, param ?: attribute, key + 1), key + 1);
                g_array_set_size(loader->plan->templates, n_templates);
        } else
                set_value(loader, target, param ?: attribute, key + 1);
}

static void read_keys(Loader *loader, Reading *reading) {
        TEXT_KEYS(loader_text(loader), item, reading->item) {
                Key key = 0;

                /* find_keys() has already found the first of each. */
                while (key < KEY_MAX_ && reading->keys[key] != item + 1)
                        key++;
                if (key == KEY_MAX_)
                        key = key_of(loader, item);

                /* A type may have a parameter with the name "name". */
                if (reading->type &&
                    (key == KEY_MAX_ || (key == KEY_NAME && params_find(reading->type->params, "name", 4))))
                        read_value(loader, reading, item);
                else if (key == KEY_MAX_)
                        loader_doubt(loader, item + 1);
                else if (reading->keys[key] != item + 1)
                        reading_error(loader, reading, item,
                                      g_strdup_printf("'%s' is given twice", loader_key_names[key]));
        }

        if (reading->type) {
                loader_check_required(loader, &reading->target, reading->item, reading->type->name);
                loader_check_rules(loader, reading);
        }
}

/* Reports that the children of the node are wrong; format is the text after "a Sequence ". */
static void wrong_shape(Loader *loader, Reading *reading, uint32_t item, const char *format, ...) G_GNUC_PRINTF(4, 5);

static void wrong_shape(Loader *loader, Reading *reading, uint32_t item, const char *format, ...) {
        g_autofree char *owner = with_article(reading->type->name), *what = NULL;
        va_list args;

        va_start(args, format);
        what = g_strdup_vprintf(format, args);
        va_end(args);

        loader_give_up_node(loader);
        reading_error(loader, reading, item, g_strdup_printf("%s %s", owner, what));
}

static void check_count(Loader *loader, Reading *reading, uint32_t array) {
        uint32_t min = reading->type->min_children, max = reading->type->max_children,
                 n = text_item(loader_text(loader), array)->count;

        if (n >= min && n <= max)
                return;

        if (max == min || max == UINT32_MAX)
                wrong_shape(loader, reading, array, "takes %s %u %s, not %u", max == min ? "exactly" : "at least", min,
                            min == 1 ? "child" : "children", n);
        else
                wrong_shape(loader, reading, array, "takes %u to %u children, not %u", min, max, n);
}

static void check_children(Loader *loader, Reading *reading) {
        uint32_t item = reading->keys[KEY_CHILDREN], child = reading->keys[KEY_CHILD];
        Key given = item > 0 ? KEY_CHILDREN : KEY_CHILD;

        /* If the type does not take the key at all, only that is reported. */
        if (item > 0 && (!reading->type || reading->type->class == NODE_CONTROL) &&
            text_kind(loader_text(loader), item) != TEXT_ARRAY) {
                loader_give_up_node(loader);
                reading_error(loader, reading, item,
                              loader_unexpected(loader, item, "children: expected an array of nodes"));
        }
        if (child > 0 && (!reading->type || reading->type->class == NODE_DECORATOR) &&
            text_kind(loader_text(loader), child) == TEXT_ARRAY) {
                loader_give_up_node(loader);
                reading_error(loader, reading, child, g_strdup("child: expected one node, not an array"));
        }

        if (!reading->type)
                return;
        if (reading->type->class == NODE_CONTROL) {
                if (child > 0)
                        wrong_shape(loader, reading, child - 1, "takes 'children', an array of nodes, not 'child'");
                else if (item == 0)
                        wrong_shape(loader, reading, reading->item,
                                    "needs 'children', an array of nodes, and none is given");
                if (item > 0 && text_kind(loader_text(loader), item) == TEXT_ARRAY)
                        check_count(loader, reading, item);
        } else if (reading->type->class == NODE_DECORATOR && !(reading->type->flags & TYPE_SUBTREE)) {
                if (item > 0)
                        wrong_shape(loader, reading, item - 1,
                                    "has one child: it takes 'child', a node, not 'children'");
                else if (child == 0)
                        wrong_shape(loader, reading, reading->item, "needs a 'child', a node, and none is given");
        } else if (reading->keys[given] > 0)
                wrong_shape(loader, reading, reading->keys[given] - 1,
                            reading->type->flags & TYPE_SUBTREE
                                    ? "takes no '%s', because it runs the tree that 'tree' names"
                                    : "is a leaf, so it takes no '%s'",
                            loader_key_names[given]);
}

#define NAME_MAX_BYTES 255u
#define TYPE_DISTANCE_MAX 2

static bool is_string(const Loader *loader, uint32_t item) {
        return item > 0 && text_kind(loader_text(loader), item) == TEXT_STRING;
}

/* A string that can be part of a node's path, or NULL. */
static const char *path_name(Loader *loader, uint32_t item, char **ret_problem) {
        size_t length;
        const char *name;

        if (!is_string(loader, item))
                return NULL;

        name = loader_string(loader, item, &length);
        if (length == 0)
                *ret_problem = g_strdup("it is empty; leave it out, or give one");
        else if (length > NAME_MAX_BYTES)
                *ret_problem =
                        g_strdup_printf("it is longer than %u bytes; put the rest into 'description'", NAME_MAX_BYTES);
        else
                for (const char *p = name; *p && !*ret_problem; p = g_utf8_next_char(p))
                        if (g_ascii_iscntrl(*p) || (*p & 0x80 && g_unichar_iscntrl(g_utf8_get_char(p))))
                                *ret_problem = g_strdup("it contains a control character");

        return *ret_problem ? NULL : loader_intern_text(loader, name);
}

/* A key is considered as a misspelt "type" only if its value is the name of a type. */
static void find_misspelt_type(Loader *loader, Reading *reading) {
        TEXT_KEYS(loader_text(loader), item, reading->item) {
                size_t length;
                Nearest nearest = {};

                if (!is_string(loader, item + 1) ||
                    !type_index_find(loader->types, loader_string(loader, item + 1, &length)))
                        continue;

                nearest.word = loader_string(loader, item, &length);
                nearest_offer(&nearest, loader_key_names[KEY_TYPE]);
                if (nearest.best) {
                        reading->misspelt_type = item;
                        reading->keys[KEY_TYPE] = item + 1;
                        return;
                }
        }
}

static void find_keys(Loader *loader, Reading *reading) {
        TEXT_KEYS(loader_text(loader), item, reading->item) {
                Key key = key_of(loader, item);

                if (key < KEY_MAX_ && reading->keys[key] == 0)
                        reading->keys[key] = item + 1;
                reading->n_below += key == KEY_CHILDREN || key == KEY_CHILD;
        }

        if (reading->keys[KEY_TYPE] == 0)
                find_misspelt_type(loader, reading);

        if (is_string(loader, reading->keys[KEY_TYPE])) {
                size_t length;

                reading->type = type_index_find(loader->types, loader_string(loader, reading->keys[KEY_TYPE], &length));
        }
}

static void check_type(Loader *loader, Reading *reading) {
        uint32_t item = reading->keys[KEY_TYPE];
        g_autofree char *shown = NULL, *why = NULL;
        const char *nearest, *word;
        const Hint *hint;
        size_t length;

        if (reading->misspelt_type > 0) {
                shown = g_strdup(loader_string(loader, reading->misspelt_type, &length));
                reading_error(loader, reading, reading->misspelt_type,
                              g_strdup_printf("unknown key '%s'; did you mean 'type'?", shown));
                diagnostics_suggest(loader->diagnostics, loader_key_names[KEY_TYPE]);
        }
        if (reading->type)
                return;

        loader_give_up_node(loader);
        if (item == 0) {
                reading_error(loader, reading, reading->item,
                              g_strdup("'type' is missing; it says what the node is, such as \"Sequence\""));
                return;
        }
        if (!is_string(loader, item))
                return;

        word = loader_string(loader, item, &length);
        shown = excerpt(word, length);
        hint = hint_find(HINT_TYPE, NULL, word);
        nearest = hint ? hint->instead : type_index_nearest(loader->types, word);
        why = hint      ? hint_format(hint)
              : nearest ? g_strdup_printf("; did you mean '%s'?", nearest)
                        : g_strdup("; 'btctl types' lists all that there are");
        reading_error(loader, reading, item, g_strdup_printf("unknown type '%s'%s", shown, why));
        diagnostics_suggest(loader->diagnostics, nearest);

        /* To report more errors, the node is read as one of the type that was probably meant. If the word is much
         * shorter, this is not certain: "Wait" may mean Sleep. */
        if (nearest && (hint || labs((long) strlen(word) - (long) strlen(nearest)) <= TYPE_DISTANCE_MAX))
                reading->type = type_index_find(loader->types, nearest);
}

/* Continues with the node or the nodes at the item, even if the key does not match their number. */
static void enter(Loader *loader, Frame *frame, uint32_t item, Key key) {
        bool is_array = text_kind(loader_text(loader), item) == TEXT_ARRAY;

        frame->child = is_array ? item + 1 : item;
        frame->n_left = is_array ? text_item(loader_text(loader), item)->count : 1;
        if (key == KEY_CHILD || is_array || loader_find_member(loader, loader->file, item, loader_key_names[KEY_TYPE]))
                return;

        /* It was already reported that this is not an array of nodes; more reports about it would not help. */
        frame->n_left = 0;
        loader->plan->setters_unknown = true;
}

/* Sets the items to read next below the node. Children under a wrong key, or under a key that is given twice, are read,
 * too, to report the errors inside them. */
static void set_children(Loader *loader, Reading *reading) {
        Frame *frame = &loader->open[loader->n_open - 1];
        uint32_t children = reading->keys[KEY_CHILDREN], child = reading->keys[KEY_CHILD];

        if (reading->n_below > 1) {
                loader_give_up_node(loader);
                frame->key = reading->item + 1;
                frame->n_keys = text_item(loader_text(loader), reading->item)->count;
        } else if (children > 0)
                enter(loader, frame, children, KEY_CHILDREN);
        else if (child > 0)
                enter(loader, frame, child, KEY_CHILD);
}

/* Continues with the next key that has children. */
static bool find_more(Loader *loader, Frame *frame) {
        while (frame->n_keys > 0) {
                uint32_t key = frame->key;
                const char *meant = loader_meant(loader->file, key);
                Key below = g_strcmp0(meant, loader_key_names[KEY_CHILDREN]) == 0 ? KEY_CHILDREN
                            : g_strcmp0(meant, loader_key_names[KEY_CHILD]) == 0  ? KEY_CHILD
                                                                                  : key_of(loader, key);

                frame->key = text_next(loader_text(loader), key + 1);
                frame->n_keys--;
                if (below == KEY_CHILD || below == KEY_CHILDREN)
                        enter(loader, frame, key + 1, below);
                if (frame->n_left > 0)
                        return true;
        }

        return false;
}

/* A node of an unknown type is named after the value of its "type". */
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

        reading->target.node = reading->attributes.node = nodes->len;
        g_array_append_val(nodes, node);
        loader->open[loader->n_open++] = frame;
        loader->plan->depth = MAX(loader->plan->depth, loader->n_open);

        if (problem)
                reading_error(loader, reading, reading->keys[KEY_NAME], g_strdup_printf("name: %s", problem));
        if (node.name && !(node.type && params_find(node.type->params, "name", 4)) &&
            g_regex_match_simple("\\{@?[A-Za-z_][\\w.]*\\}", node.name, 0, 0))
                loader_warning(loader, reading->keys[KEY_NAME],
                               g_strdup("name: a name has no variables; a ForEach shows its elements by 'label'"));
}

/* Checks what the table of common attributes cannot express. */
static void check_attributes(Loader *loader, Reading *reading) {
        const CommonAttributes *attributes = reading->attributes.values;
        const NodeType *type = reading->type;
        uint32_t clock;

        if (!attributes || !type)
                return;

        if (attributes->halt_timeout != SPAN_INFINITY && type->class != NODE_ACTION)
                reading_error(
                        loader, reading, loader_find_member(loader, loader->file, reading->item, "halt_timeout") - 1,
                        g_strdup("halt_timeout: only an action takes time to halt; give it to the actions inside"));
        if ((attributes->true_for > 0 || attributes->false_for > 0) && type->class != NODE_CONDITION) {
                const char *key = attributes->true_for > 0 ? "for" : "false_for";

                reading_error(loader, reading, loader_find_member(loader, loader->file, reading->item, key) - 1,
                              g_strdup_printf("%s: only a condition has a value that can hold for a time; give it to "
                                              "the conditions inside",
                                              key));
        }
        if (attributes->lock && type->flags & TYPE_HAS_LOCK)
                reading_error(loader, reading, loader_find_member(loader, loader->file, reading->item, "lock") - 1,
                              g_strdup_printf("lock: the node %s; give '%s' to its child",
                                              type->flags & TYPE_INHIBITS ? "takes a lock of logind"
                                                                          : "waits for its connection",
                                              attributes->lock));

        /* A clock is useful only for a node with a time. */
        clock = type_has_time(type) ? 0 : loader_find_member(loader, loader->file, reading->item, "clock");
        if (clock > 0) {
                g_autofree char *owner = with_article(type->name);

                reading_error(loader, reading, clock - 1,
                              g_strdup_printf("clock: %s has no time that a clock could measure; give it to a node "
                                              "that has one, such as Sleep or Timeout",
                                              owner));
        }
}

static void finish_node(Loader *loader, const Reading *reading) {
        PlanNode *node = plan_node(loader->plan, reading->target.node);

        node->type = reading->type;
        if (reading->target.values)
                node->params = reading->target.values;
        else if (node->type && !node->params) /* the type was guessed after the node was opened */
                node->params = loader_defaults(loader, node->type->params, node->type->params_size);
        node->attributes = reading->attributes.values;
        node->correct = !reading->target.wrong && !reading->attributes.wrong;
        node->wrong_params = reading->target.wrong_params;
        if (node->type && node->type->flags & (TYPE_SUBTREE | TYPE_FOR_EACH))
                loader_add_use(loader, reading->target.node);
}

/* Checks that the node does not exceed the limits on depth and number of nodes. */
static bool check_limits(Loader *loader, uint32_t item) {
        unsigned levels = loader->limits->max[LIMIT_DEPTH], nodes = loader->limits->max[LIMIT_NODES];

        if (loader->n_open < levels && loader->plan->nodes->len < nodes)
                return true;

        /* The tree cannot be made; reading continues to find more errors. */
        loader->plan->unbuildable = loader->plan->setters_unknown = true;
        if (loader->n_open >= levels)
                loader_error(loader, item, g_strdup_printf("nested too deeply: a tree has at most %u levels", levels));
        else {
                loader_error(loader, item, g_strdup_printf("a tree has at most %u nodes", nodes));
                loader->n_open = 0;
        }
        return false;
}

static void read_node(Loader *loader, uint32_t item) {
        Reading reading = {
                .item = item,
                .attributes = { .params = common_attribute_params, .size = sizeof(CommonAttributes), .literal = true }
        };

        if (!check_limits(loader, item))
                return;

        if (text_kind(loader_text(loader), item) != TEXT_OBJECT) {
                loader_give_up_node(loader);
                loader->plan->setters_unknown = true;
                loader_error(loader, item,
                             loader_unexpected(loader, item, "expected a node, such as {\"type\": \"Sequence\", ...}"));
                return;
        }

        find_keys(loader, &reading);
        open_node(loader, &reading);
        check_type(loader, &reading);
        if (reading.type) {
                reading.target.params = reading.type->params;
                reading.target.size = reading.type->params_size;
                reading.target.literal = reading.type->class == NODE_CONTROL || reading.type->class == NODE_DECORATOR;
        }

        read_keys(loader, &reading);
        for (Key key = KEY_TYPE; key <= KEY_DESCRIPTION; key++)
                if (reading.keys[key] > 0 && !is_string(loader, reading.keys[key]))
                        reading_error(loader, &reading, reading.keys[key],
                                      loader_unexpected(loader, reading.keys[key], "%s: expected a string",
                                                        loader_key_names[key]));
        check_attributes(loader, &reading);
        check_children(loader, &reading);
        set_children(loader, &reading);
        finish_node(loader, &reading);
}

void loader_read_plan(Loader *loader, Plan *plan) {
        if (plan->root == 0)
                return;

        loader->file = plan->file;
        loader->plan = plan;
        read_node(loader, plan->root);

        while (loader->n_open > 0) {
                Frame *frame = &loader->open[loader->n_open - 1];

                if (frame->n_left > 0 || find_more(loader, frame)) {
                        uint32_t child = frame->child;

                        frame->n_left--;
                        frame->child = text_next(loader_text(loader), child);
                        read_node(loader, child);
                } else {
                        plan_node(plan, frame->node)->end = plan->nodes->len;
                        loader->n_open--;
                }
        }

        loader->plan = NULL;
}
