/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What all parts of loading use: reporting with the place in the tree, and setting parameters. */

#include <string.h>

#include "basic/cleanup.h"
#include "basic/excerpt.h"
#include "definition/loader.h"

const char *const loader_key_names[KEY_MAX_] = {
        [KEY_TYPE] = "type",         [KEY_NAME] = "name",   [KEY_DESCRIPTION] = "description",
        [KEY_CHILDREN] = "children", [KEY_CHILD] = "child",
};

#define DRAFT_SIZE 256u

/* The path of the node that is being read. */
static char *current_path(const Loader *loader) {
        GString *path;

        if (loader->open->len == 0)
                return NULL;

        path = g_string_new(NULL);
        for (uint32_t i = 0; i < loader->open->len; i++)
                g_string_append_printf(path, "%s%s", i > 0 ? "/" : "", g_array_index(loader->open, Frame, i).name);

        return g_string_free(path, false);
}

void loader_error(Loader *loader, uint32_t item, char *text) {
        bool full = diagnostics_is_full(loader->diagnostics);

        diagnostics_add(loader->diagnostics, text_offset(&loader->text, item), false,
                        full ? NULL : current_path(loader), text);
}

void reading_error(Loader *loader, Reading *reading, uint32_t item, char *text) {
        reading->target.wrong = true;
        loader_error(loader, item, text);
}

void loader_give_up_tree(Loader *loader) {
        g_clear_pointer(&loader->builder, tree_builder_free);
}

const char *loader_string(Loader *loader, uint32_t item, size_t *ret_length) {
        const char *string = text_string(&loader->text, item, loader->scratch, ret_length);

        if (string != loader->scratch->str) {
                g_string_truncate(loader->scratch, 0);
                g_string_append_len(loader->scratch, string, (gssize) *ret_length);
        }

        return loader->scratch->str;
}

const char *loader_intern(Loader *loader, uint32_t item) {
        size_t length;
        const char *string = loader_string(loader, item, &length);
        const char *interned = g_hash_table_lookup(loader->names, string);

        if (!interned) {
                interned = arena_string(loader->arena, string, length);
                g_hash_table_add(loader->names, (char *) interned);
        }

        return interned;
}

const char *loader_describe(const Loader *loader, uint32_t item) {
        static const char *const kinds[] = {
                [TEXT_NULL] = "null",        [TEXT_FALSE] = "false",     [TEXT_TRUE] = "true",
                [TEXT_NUMBER] = "a number",  [TEXT_STRING] = "a string", [TEXT_ARRAY] = "an array",
                [TEXT_OBJECT] = "an object",
        };

        return kinds[text_kind(&loader->text, item)];
}

/* By letter: the names of types that begin with a U sound like "you". */
char *with_article(const char *name) {
        return g_strdup_printf("%s %s", strchr("AEIO", *name) ? "an" : "a", name);
}

bool target_was_given(Target *target, const Param *param) {
        uint64_t bit = UINT64_C(1) << (param - target->params);
        bool given = target->given & bit;

        g_assert(param - target->params < TARGET_PARAMS_MAX);
        target->given |= bit;
        return given;
}

typedef struct Report {
        Loader *loader;
        uint32_t item; /* of the parameter's value */
} Report;

static bool is_key(Loader *loader, uint32_t item, const char *key) {
        size_t length;

        return g_str_equal(loader_string(loader, item, &length), key);
}

/* The item at a place inside of the parameter's value; its key when that is meant. It is looked for anew for each
 * fault, of which there are only so many. */
static uint32_t find_place(const Report *report, const Place *place, bool at_key) {
        const Text *text = &report->loader->text;
        uint32_t container, item;

        if (!place->parent)
                return report->item;

        container = find_place(report, place->parent, false);
        item = container + 1;
        if (!place->key) {
                for (size_t i = 0; i < place->index; i++)
                        item = text_next(text, item);
                return item;
        }

        for (uint32_t i = 0; i < text_item(text, container)->count; i++, item = text_next(text, item + 1))
                if (is_key(report->loader, item, place->key))
                        return at_key ? item : item + 1;

        return container;
}

static void on_param_report(const Place *place, bool at_key, char *text, void *userdata) {
        const Report *report = userdata;
        g_autofree char *problem = text;
        g_autofree char *prefix = place_format(at_key ? place->parent : place);

        uint32_t item = report->item;

        if (!diagnostics_is_full(report->loader->diagnostics))
                item = find_place(report, place, at_key);

        loader_error(report->loader, item, g_strdup_printf("%s: %s", prefix, problem));
}

/* A value without references has its escapes undone now; one with references becomes a template. 1: it did; 0: the
 * value is known; -EINVAL: reported. */
static int settle_references(Loader *loader, Target *target, const Param *param, uint32_t item, json_object **value) {
        g_autofree char *error = NULL;
        Template template = { .node = target->node, .param = param };
        json_object *unescaped;
        int r;

        if (target->plain || param->plain || !reference_inside(*value))
                return 0;

        r = reference_check(*value, &error);
        if (r == 0)
                r = reference_expand(loader->nothing, *value, &unescaped, &error);
        else if (r > 0 && (target->literal || param->literal)) {
                error = g_strdup("a variable cannot stand here, since this must be known before the run; write '{{' "
                                 "for a brace");
                r = -EINVAL;
        } else if (r > 0) {
                template.value = arena_own(loader->arena, json_object_get(*value));
                g_array_append_val(loader->templates, template);
                return 1;
        }

        if (r < 0) {
                loader_error(loader, item, g_strdup_printf("%s: %s", param->name, error));
                return r;
        }

        json_object_put(*value);
        *value = unescaped;
        return 0;
}

void loader_set_param(Loader *loader, Target *target, const Param *param, uint32_t item) {
        Report report = { .loader = loader, .item = item };
        ParamSetter setter = { .arena = loader->arena, .report = on_param_report, .userdata = &report };
        void *values = target->values;
        g_autoptr(json_object) value = NULL;
        g_autoptr(Arena) draft = NULL;
        g_autofree char *error = NULL;
        uint32_t fault;
        int r;

        if (text_to_json(&loader->text, item, loader->scratch, &value, &fault, &error) < 0) {
                loader_error(loader, fault, g_strdup_printf("%s: %s", param->name, error));
                target->wrong = true;
                return;
        }

        r = settle_references(loader, target, param, item, &value);
        if (r < 0) {
                target->wrong = true;
                return;
        }

        /* The node itself keeps the default until the value is known. */
        if (r > 0) {
                draft = arena_new(target->size + DRAFT_SIZE);
                values = arena_alloc(draft, target->size);
                setter.arena = draft;
                setter.provisional = true;
        }

        if (param_set(&setter, param, values, value) < 0)
                target->wrong = true;
}

void loader_check_required(Loader *loader, Target *target, uint32_t item, const char *owner) {
        for (const Param *param = target->params; param && param->name; param++) {
                g_autofree char *needs = NULL, *what = NULL;

                if (!param->required || target->given & UINT64_C(1) << (param - target->params))
                        continue;

                needs = with_article(owner);
                what = g_strdup(param->doc);
                what[0] = g_ascii_tolower(what[0]);
                loader_error(loader, item,
                             g_strdup_printf("'%s' is missing; %s needs it: %s", param->name, needs, what));
                target->wrong = true;
        }
}
