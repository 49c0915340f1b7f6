/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What all parts of loading use: reporting with the place in the tree, and strings. */

#include <string.h>

#include "basic/excerpt.h"
#include "definition/loader.h"

const char *const loader_key_names[KEY_MAX_] = {
        [KEY_TYPE] = "type",         [KEY_NAME] = "name",   [KEY_DESCRIPTION] = "description",
        [KEY_CHILDREN] = "children", [KEY_CHILD] = "child",
};

/* The path of the node that is being read. */
static char *current_path(const Loader *loader) {
        uint32_t node = PLAN_NONE;

        if (!loader->plan)
                return NULL;
        if (loader->n_open > 0)
                node = loader->open[loader->n_open - 1].node;

        return node == PLAN_NONE && loader->plan->is_root ? NULL : plan_path(loader->plan, node);
}

void loader_error_at(Loader *loader, size_t offset, char *text) {
        bool full = diagnostics_is_full(loader->diagnostics);

        loader->file->wrong = true;
        if (loader->plan) {
                loader->plan->wrong = true;
                loader->plan->vague |= loader->n_open == 0;
                loader->plan->unsure |= loader->plan->vague;
        }

        diagnostics_add(loader->diagnostics, loader->file->number, offset, false, full ? NULL : current_path(loader),
                        text);
}

void loader_error(Loader *loader, uint32_t item, char *text) {
        loader_error_at(loader, text_offset(loader_text(loader), item), text);
}

void loader_warning(Loader *loader, uint32_t item, char *text) {
        bool full = diagnostics_is_full(loader->diagnostics);

        if (loader->plan->unit->file->number > 0) {
                g_free(text);
                return;
        }

        diagnostics_add(loader->diagnostics, loader->file->number, text_offset(loader_text(loader), item), true,
                        full ? NULL : current_path(loader), text);
}

void loader_error_in(Loader *loader, Plan *plan, uint32_t node, size_t offset, char *text) {
        bool full = diagnostics_is_full(loader->diagnostics);

        plan->file->wrong = plan->wrong = true;
        diagnostics_add(loader->diagnostics, plan->file->number, offset, false,
                        full || (node == PLAN_NONE && plan->is_root) ? NULL : plan_path(plan, node), text);
}

void reading_error(Loader *loader, Reading *reading, uint32_t item, char *text) {
        reading->target.wrong = true;
        loader_error(loader, item, text);
}

void loader_give_up_tree(Loader *loader) {
        loader->plan->shapeless = loader->plan->unsure = true;
}

const char *loader_string(Loader *loader, uint32_t item, size_t *ret_length) {
        const char *string = text_string(loader_text(loader), item, loader->scratch, ret_length);

        if (string != loader->scratch->str) {
                g_string_truncate(loader->scratch, 0);
                g_string_append_len(loader->scratch, string, (gssize) *ret_length);
        }

        return loader->scratch->str;
}

const char *loader_intern_text(Loader *loader, const char *text) {
        const char *interned = g_hash_table_lookup(loader->names, text);

        if (!interned) {
                interned = arena_string(loader->arena, text, strlen(text));
                g_hash_table_add(loader->names, (char *) interned);
        }

        return interned;
}

const char *loader_intern(Loader *loader, uint32_t item) {
        size_t length;

        return loader_intern_text(loader, loader_string(loader, item, &length));
}

uint32_t loader_find_member(const Loader *loader, const TreeFile *file, uint32_t object, const char *key) {
        const Text *text = &file->text;
        uint32_t item = object + 1;

        if (text_kind(text, object) != TEXT_OBJECT)
                return 0;

        for (uint32_t i = 0; i < text_item(text, object)->count; i++, item = text_next(text, item + 1)) {
                size_t length;
                const char *word = text_string(text, item, loader->scratch, &length);

                if (strlen(key) == length && memcmp(word, key, length) == 0)
                        return item + 1;
        }

        return 0;
}

char *loader_bad_variable(const char *where, const char *name) {
        g_autofree char *shown = excerpt(name, strlen(name));

        return g_strdup_printf("%s: '%s' cannot be the name of a variable: a letter or '_', then letters, digits, "
                               "'_', '-' and '.'",
                               where, shown);
}

const char *loader_describe(const Loader *loader, uint32_t item) {
        static const char *const kinds[] = {
                [TEXT_NULL] = "null",        [TEXT_FALSE] = "false",     [TEXT_TRUE] = "true",
                [TEXT_NUMBER] = "a number",  [TEXT_STRING] = "a string", [TEXT_ARRAY] = "an array",
                [TEXT_OBJECT] = "an object",
        };

        return kinds[text_kind(loader_text(loader), item)];
}

/* By letter: the names of types that begin with a U sound like "you". */
char *with_article(const char *name) {
        return g_strdup_printf("%s %s", strchr("AEIO", *name) ? "an" : "a", name);
}
