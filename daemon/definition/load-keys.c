/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Reads the keys of a node whose type is known: parameters, common attributes and unknown keys. */

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
        for (const Param *param = common_attribute_params; param->name; param++)
                g_string_append_printf(text, ", %s", param->name);

        return g_string_free(text, false);
}

/* Reports the key. Returns the key that was probably meant if that one is not given, or NULL. Its value is then read as
 * that of the returned key, to report the errors inside it. */
static const char *report_unknown_key(Loader *loader, Reading *reading, uint32_t item) {
        const NodeType *type = reading->type;
        size_t length;
        const char *word = loader_string(loader, item, &length);
        g_autofree char *shown = excerpt(word, length), *keys = describe_keys(type);
        Nearest nearest = { .word = word };
        GString *text = g_string_new(NULL);

        for (const Param *param = type->params; param && param->name; param++)
                nearest_offer(&nearest, param->name);
        for (const Param *param = common_attribute_params; param->name; param++)
                if (common_attribute_applies(param, type))
                        nearest_offer(&nearest, param->name);
        for (Key key = 0; key < KEY_MAX_; key++)
                if (takes_key(type, key))
                        nearest_offer(&nearest, loader_key_names[key]);

        g_string_append_printf(text, "unknown key '%s'", shown);
        if (nearest.best)
                g_string_append_printf(text, "; did you mean '%s'?", nearest.best);
        g_string_append_printf(text, " (%s)", keys);
        reading_error(loader, reading, item, g_string_free(text, false));
        diagnostics_suggest(loader->diagnostics, nearest.best);

        return nearest_is_close(&nearest) && loader_mean(loader, reading->item, item, nearest.best) ? nearest.best
                                                                                                    : NULL;
}

/* A node with parameters that are given has its own struct of values; other nodes share the defaults. */
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

/* If a key is given twice, only its first value is used; the second is only checked. */
static void check_value(Loader *loader, const Target *target, const Param *param, uint32_t item) {
        unsigned n_templates = loader->plan->templates->len;
        Target other = *target;

        other.values = arena_alloc(loader->arena, target->size);
        memcpy(other.values, target->values, target->size);
        loader_set_param(loader, &other, loader_choose_param(loader, param, item), item);
        g_array_set_size(loader->plan->templates, n_templates);
}

static void read_unknown(Loader *loader, Reading *reading, uint32_t key) {
        const char *meant = report_unknown_key(loader, reading, key);
        const Param *param = meant ? params_find(reading->type->params, meant, strlen(meant)) : NULL;
        const Param *attribute = meant ? params_find(common_attribute_params, meant, strlen(meant)) : NULL;
        Target *target = param ? &reading->target : &reading->attributes;

        if (param || attribute) {
                target_was_given(target, param ?: attribute);
                set_value(loader, target, param ?: attribute, key + 1);
                return;
        }

        for (Key below = KEY_NAME; meant && below < KEY_MAX_; below++)
                if (meant == loader_key_names[below]) {
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
                reading_error(loader, reading, key, g_strdup_printf("'%s' is given twice", (param ?: attribute)->name));
                check_value(loader, target, param ?: attribute, key + 1);
        } else
                set_value(loader, target, param ?: attribute, key + 1);
}

/* A type may have a parameter with the name "name". */
static bool name_is_param(const Reading *reading, Key key) {
        return key == KEY_NAME && params_find(reading->type->params, "name", 4);
}

/* find_keys() has already found the first of each. */
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

                if (reading->type && (key == KEY_MAX_ || name_is_param(reading, key)))
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
                loader_check_fits(loader, reading);
        }
}
