/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Collects the places where a node uses variables: references, parameters that are names of variables, and variables
 * that scripts read or assign. load-variables.c checks them. */

#include <string.h>

#include "definition/loader.h"
#include "script/reference.h"

void loader_add_variable_use(Loader *loader, const Param *param, uint32_t node, uint32_t item, uint32_t offset,
                             const char *name, bool writes) {
        VariableUse use = { .name = loader_intern_text(loader, name),
                            .param = param,
                            .node = node,
                            .item = item,
                            .offset = offset,
                            .writes = writes };

        g_array_append_val(loader->plan->variable_uses, use);
}

static void add_string(Loader *loader, const Param *param, uint32_t node, uint32_t item) {
        size_t length, at = 0, start;
        g_autofree char *text = g_strdup(loader_string(loader, item, &length));

        for (char *key; (key = reference_next(text, length, &at, &start)); g_free(key))
                loader_add_variable_use(loader, param, node, item, (uint32_t) start + 1, key, false);
}

/* The depth needs no check, because the value was already read. */
void loader_add_references(Loader *loader, const Param *param, uint32_t node, uint32_t item) {
        const Text *text = loader_text(loader);
        bool is_object = text_kind(text, item) == TEXT_OBJECT;
        uint32_t inside = item + 1;

        if (text_kind(text, item) == TEXT_STRING)
                add_string(loader, param, node, item);
        if (text_kind(text, item) != TEXT_ARRAY && !is_object)
                return;

        for (uint32_t i = 0; i < text_item(text, item)->count; i++, inside = text_next(text, inside)) {
                inside += is_object;
                loader_add_references(loader, param, node, inside);
        }
}

static void add_script(Loader *loader, const Param *param, uint32_t node, uint32_t item, const Script *script) {
        for (const char *const *name = script_reads(script); *name; name++)
                loader_add_variable_use(loader, param, node, item, USE_SOMEWHERE, *name, false);
        for (const char *const *name = param->kind == PARAM_CODE ? script_writes(script) : NULL; name && *name; name++)
                loader_add_variable_use(loader, param, node, item, USE_SOMEWHERE, *name, true);
}

/* Adds the variable whose name is the string at the item. */
static void add_name(Loader *loader, const Param *param, uint32_t node, uint32_t item, const char *name) {
        if (param->reads)
                loader_add_variable_use(loader, param, node, item, 0, name, false);
        if (param->writes)
                loader_add_variable_use(loader, param, node, item, 0, name, true);
}

static void add_strings(Loader *loader, const Param *param, uint32_t node, uint32_t item, const char *const *names) {
        bool is_array = text_kind(loader_text(loader), item) == TEXT_ARRAY;
        uint32_t element = is_array ? item + 1 : item;

        for (; names && *names; names++, element = text_next(loader_text(loader), element))
                if (**names)
                        add_name(loader, param, node, element, *names);
}

/* Adds the values of an object of strings, or the keys of an object of expressions. */
static void add_members(Loader *loader, const Param *param, uint32_t node, uint32_t item) {
        bool keys = param->kind == PARAM_EXPRESSIONS;
        uint32_t key = item + 1;

        for (uint32_t i = 0; i < text_item(loader_text(loader), item)->count; i++) {
                size_t length;
                g_autofree char *name = g_strdup(loader_string(loader, keys ? key : key + 1, &length));

                add_name(loader, param, node, keys ? key : key + 1, name);
                key = text_next(loader_text(loader), key + 1);
        }
}

static int compare_name(const void *name, const void *script) {
        return strcmp(name, ((const NamedScript *) script)->name);
}

/* Adds the variables of each expression at the place of its code. */
static void add_expressions(Loader *loader, const Param *param, uint32_t node, uint32_t item,
                            const NamedScript *scripts) {
        uint32_t n = text_item(loader_text(loader), item)->count, key = item + 1;

        for (uint32_t i = 0; i < n; i++, key = text_next(loader_text(loader), key + 1)) {
                size_t length;
                const char *name = loader_string(loader, key, &length);
                const NamedScript *found = bsearch(name, scripts, n, sizeof(NamedScript), compare_name);

                add_script(loader, param, node, key + 1, found->script);
        }
}

void loader_add_param_variables(Loader *loader, const Param *param, uint32_t node, uint32_t item, const void *values) {
        const void *field = (const char *) values + param->offset;
        bool names = param->reads || param->writes;

        if (param->kind == PARAM_EXPRESSION || param->kind == PARAM_CODE)
                add_script(loader, param, node, item, *(const Script *const *) field);
        else if (param->kind == PARAM_EXPRESSIONS)
                add_expressions(loader, param, node, item, *(const NamedScript *const *) field);

        if (names && param->kind == PARAM_STRING)
                add_name(loader, param, node, item, *(const char *const *) field);
        else if (names && param->kind == PARAM_STRINGS)
                add_strings(loader, param, node, item, *(const char *const *const *) field);
        else if (names)
                add_members(loader, param, node, item);
}
