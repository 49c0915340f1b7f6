/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The keys of one node, its type being known: parameters, what any node can say, and those that are neither. */

#include <string.h>

#include "basic/excerpt.h"
#include "basic/nearest.h"
#include "definition/loader.h"

static bool takes_key(const NodeType *type, Key key) {
        if (key == KEY_CHILDREN)
                return type->class == NODE_CONTROL;

        return key != KEY_CHILD || (type->class == NODE_DECORATOR && !(type->flags & TYPE_SUBTREE));
}

static void append_name(GString *text, const char *owner, const char *name) {
        g_string_append_printf(text, "%s%s%s", text->len == 0 ? owner : "", text->len == 0 ? " takes: " : ", ", name);
}

/* "a Sequence takes: children; any node: type, name, description" */
static char *describe_keys(const NodeType *type) {
        g_autofree char *owner = with_article(type->name);
        GString *text = g_string_new(NULL);

        for (Key key = KEY_CHILDREN; key <= KEY_CHILD; key++)
                if (takes_key(type, key))
                        append_name(text, owner, loader_key_names[key]);
        for (const Param *param = type->params; param && param->name; param++)
                if (param == type->params || !g_str_equal(param->name, param[-1].name))
                        append_name(text, owner, param->name);

        g_string_append_printf(text, "%s: type, name, description", text->len > 0 ? "; any node" : "any node takes");
        for (const Param *param = extras_params; param->name; param++)
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
        for (const Param *param = extras_params; param->name; param++)
                nearest_offer(&nearest, param->name);
        for (Key key = 0; key < KEY_MAX_; key++)
                if (takes_key(type, key))
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
        loader->plan->unsure = true;
}

/* Nodes that set something have a struct of their own. */
static void own_values(Loader *loader, Target *target) {
        const void *defaults;

        if (target->values)
                return;

        defaults = loader_defaults(loader, target->params, target->size);
        target->values = arena_alloc(loader->arena, target->size);
        memcpy(target->values, defaults, target->size);
}

static void set_value(Loader *loader, Target *target, const Param *param, uint32_t item) {
        own_values(loader, target);
        loader_set_param(loader, target, loader_choose_param(loader, param, item), item);
}

/* The value of one of the type's parameters, or of what any node can say. */
static void read_value(Loader *loader, Reading *reading, uint32_t key) {
        size_t length;
        const char *word = text_string(loader_text(loader), key, loader->scratch, &length);
        const Param *param = params_find(reading->type->params, word, length);
        const Param *extra = param ? NULL : params_find(extras_params, word, length);
        Target *target = param ? &reading->target : &reading->extras;

        if (!param && !extra)
                report_unknown_key(loader, reading, key);
        else if (target_was_given(target, param ?: extra))
                reading_error(loader, reading, key, g_strdup_printf("'%s' is given twice", (param ?: extra)->name));
        else
                set_value(loader, target, param ?: extra, key + 1);
}

/* A type may want the name for itself, too. */
static bool name_is_param(const Loader *loader, const Reading *reading, Key key, uint32_t item) {
        return key == KEY_NAME && text_kind(loader_text(loader), item + 1) == TEXT_STRING &&
               params_find(reading->type->params, "name", 4);
}

/* Those that were found before need no second look. */
static Key key_at(Loader *loader, const Reading *reading, uint32_t item) {
        for (Key key = 0; key < KEY_MAX_; key++)
                if (reading->keys[key] == item + 1)
                        return key;

        return loader_key_of(loader, item);
}

void loader_read_keys(Loader *loader, Reading *reading) {
        uint32_t n = text_item(loader_text(loader), reading->item)->count, item = reading->item + 1;

        for (uint32_t i = 0; i < n; i++, item = text_next(loader_text(loader), item + 1)) {
                Key key = key_at(loader, reading, item);

                if (reading->type && (key == KEY_MAX_ || name_is_param(loader, reading, key, item)))
                        read_value(loader, reading, item);
                else if (key < KEY_MAX_ && reading->keys[key] != item + 1)
                        reading_error(loader, reading, item,
                                      g_strdup_printf("'%s' is given twice", loader_key_names[key]));
        }

        if (reading->type)
                loader_check_required(loader, &reading->target, reading->item, reading->type->name);
}
