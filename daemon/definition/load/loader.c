/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Implements the functions that all parts of loading share: reports with the place in the tree, and strings. */

#include <string.h>

#include "definition/load/loader.h"

typedef struct Fault {
        Loader *loader;
        const char *where;
} Fault;

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
        if (loader->plan)
                loader->plan->wrong = true;

        diagnostics_add(loader->diagnostics, loader->file->number, offset, false, full ? NULL : current_path(loader),
                        text);
}

void loader_error(Loader *loader, uint32_t item, char *text) {
        loader_error_at(loader, text_offset(loader_text(loader), item), text);
}

void loader_error_inside(Loader *loader, uint32_t item, size_t byte, char *text) {
        loader_error_at(loader, text_offset_inside(loader_text(loader), item, byte, loader->scratch), text);
        diagnostics_set_inside(loader->diagnostics);
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
        loader->plan->unbuildable = loader->plan->setters_unknown = true;
}

void loader_give_up_node(Loader *loader) {
        if (loader->n_open > 0)
                plan_node(loader->plan, loader->open[loader->n_open - 1].node)->malformed = true;
        else
                loader->plan->unbuildable = true;
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

const char *loader_meant(const TreeFile *file, uint32_t key) {
        return file->meant ? g_hash_table_lookup(file->meant, GUINT_TO_POINTER(key)) : NULL;
}

static uint32_t find_misspelt(const TreeFile *file, uint32_t object, const char *key) {
        uint32_t item = object + 1;

        for (uint32_t i = 0; i < text_item(&file->text, object)->count; i++, item = text_next(&file->text, item + 1))
                if (g_strcmp0(loader_meant(file, item), key) == 0)
                        return item + 1;

        return 0;
}

bool loader_mean(Loader *loader, uint32_t object, uint32_t key, const char *meant) {
        TreeFile *file = loader->file;

        if (loader_find_member(loader, file, object, meant) > 0)
                return false;

        if (!file->meant)
                file->meant = g_hash_table_new(NULL, NULL);
        g_hash_table_insert(file->meant, GUINT_TO_POINTER(key), (char *) meant);
        return true;
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

        return file->meant ? find_misspelt(file, object, key) : 0;
}

static void on_fault(uint32_t item, char *text, void *userdata) {
        const Fault *fault = userdata;
        g_autofree char *problem = text;

        loader_error(fault->loader, item, g_strdup_printf("%s: %s", fault->where, problem));
}

int loader_read_json(Loader *loader, const char *where, uint32_t item, json_object **ret_value) {
        Fault fault = { .loader = loader, .where = where };

        return text_to_json(loader_text(loader), item, loader->scratch, on_fault, &fault, ret_value);
}

static bool is_word(char c) {
        return g_ascii_isalnum(c) || strchr("_-.@", c);
}

/* Adds the word, and its parts as an expression would read them. */
static void doubt_word(Loader *loader, GHashTable *words, const char *word) {
        g_auto(GStrv) parts = g_strsplit_set(word, "-.@", -1);

        g_hash_table_add(words, (char *) loader_intern_text(loader, word));
        for (char **part = parts; *part; part++)
                if (**part)
                        g_hash_table_add(words, (char *) loader_intern_text(loader, *part));
}

static void doubt_string(Loader *loader, GHashTable *words, uint32_t item) {
        size_t length;
        g_autofree char *text = g_strdup(loader_string(loader, item, &length));

        for (char *p = text, *end; *p; p = end) {
                for (end = p; *end && is_word(*end);)
                        end++;
                if (end > p) {
                        g_autofree char *word = g_strndup(p, (size_t) (end - p));

                        doubt_word(loader, words, word);
                } else
                        end++;
        }
}

void loader_doubt(Loader *loader, uint32_t item) {
        const Text *text = loader_text(loader);
        Doubts *doubts = loader->plan ? &loader->plan->doubts : &loader->doubts;

        if (!doubts->words)
                doubts->words = g_hash_table_new(NULL, NULL);
        for (uint32_t i = item; i < text_next(text, item); i++)
                if (text_kind(text, i) == TEXT_STRING)
                        doubt_string(loader, doubts->words, i);
}

void loader_doubt_name(Loader *loader, uint32_t item) {
        const Text *text = loader_text(loader);
        Doubts *doubts = &loader->plan->doubts;

        loader_doubt(loader, item);
        if (!doubts->names)
                doubts->names = g_ptr_array_new();
        for (uint32_t i = item; i < text_next(text, item); i++)
                if (text_kind(text, i) == TEXT_STRING)
                        g_ptr_array_add(doubts->names, (char *) loader_intern(loader, i));
                else if (text_kind(text, i) < TEXT_STRING)
                        loader->plan->setters_unknown = true; /* in place of a name */
}

char *loader_unexpected(const Loader *loader, uint32_t item, const char *expected, ...) {
        g_autofree char *text = NULL;
        va_list args;

        va_start(args, expected);
        text = g_strdup_vprintf(expected, args);
        va_end(args);

        return text_unexpected(loader_text(loader), item, text);
}

/* The article follows the first letter: names of types that begin with U sound like "you". */
char *with_article(const char *name) {
        return g_strdup_printf("%s %s", strchr("AEIO", *name) ? "an" : "a", name);
}
