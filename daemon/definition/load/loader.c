/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Implements what all parts of loading share: files and plans, reports with the place in the tree, and strings. Files
 * are identified by their paths, so two links to the same file are two files. */

#include <string.h>

#include "definition/load/loader.h"

#define ITEMS_OF_NODE 4u /* itself, its type, its name or action, and the value of that */

TreeFile *tree_file_new(const char *path, char *contents, size_t length) {
        TreeFile *file = g_new0(TreeFile, 1);

        file->path = g_strdup(path);
        file->id = path ? source_id(path) : NULL;
        file->name = path ? g_path_get_basename(path) : g_strdup("the tree");
        if (path && g_str_has_suffix(file->name, TREE_SUFFIX))
                file->name[strlen(file->name) - strlen(TREE_SUFFIX)] = 0;
        file->contents = contents;
        file->length = length;
        return file;
}

void tree_file_free(TreeFile *file) {
        if (!file)
                return;

        text_clear(&file->text);
        g_clear_pointer(&file->meant, g_hash_table_unref);
        g_free(file->path);
        g_free(file->id);
        g_clear_pointer(&file->found, g_ptr_array_unref);
        g_free(file->name);
        g_free(file->contents);
        g_clear_pointer(&file->dropins, g_ptr_array_unref);
        g_free(file->merged);
        g_free(file->error);
        g_free(file);
}

TreeFile *tree_file_at(const TreeFile *file, size_t *offset) {
        for (unsigned i = file->dropins ? file->dropins->len : 0; i-- > 0;) {
                TreeFile *dropin = file->dropins->pdata[i];

                if (*offset < dropin->start)
                        continue;
                *offset = MIN(*offset - dropin->start, dropin->length);
                return dropin;
        }

        return (TreeFile *) file;
}

static void on_use_dropped(void *use) {
        g_free(((PlanUse *) use)->problem);
        g_free(((PlanUse *) use)->instead);
}

void doubts_clear(Doubts *doubts) {
        g_clear_pointer(&doubts->words, g_hash_table_unref);
        g_clear_pointer(&doubts->names, g_ptr_array_unref);
}

Plan *plan_new(Unit *unit, TreeFile *file, const char *name, uint32_t root) {
        /* An upper limit for the usual number of nodes; memory that is not needed is never touched. */
        unsigned guess = root > 0 ? (text_next(&file->text, root) - root) / ITEMS_OF_NODE + 1 : 0;
        Plan *plan = g_new0(Plan, 1);

        plan->unit = unit;
        plan->file = file;
        plan->name = name;
        plan->root = root;
        plan->nodes = g_array_sized_new(false, false, sizeof(PlanNode), guess);
        plan->templates = g_array_new(false, false, sizeof(Template));
        plan->uses = g_array_new(false, false, sizeof(PlanUse));
        g_array_set_clear_func(plan->uses, on_use_dropped);
        plan->variable_uses = g_array_new(false, false, sizeof(VariableUse));
        return plan;
}

void plan_free(Plan *plan) {
        if (!plan)
                return;

        g_array_unref(plan->nodes);
        g_array_unref(plan->templates);
        g_array_unref(plan->uses);
        g_array_unref(plan->variable_uses);
        g_clear_pointer(&plan->input_names, g_hash_table_unref);
        doubts_clear(&plan->doubts);
        g_free(plan);
}

json_object *plan_template(const Plan *plan, uint32_t node, const char *param) {
        uint32_t end = node + 1 < plan->nodes->len ? plan_node(plan, node + 1)->templates : plan->templates->len;

        for (uint32_t i = plan_node(plan, node)->templates; i < end; i++)
                if (g_str_equal(g_array_index(plan->templates, Template, i).param->name, param))
                        return g_array_index(plan->templates, Template, i).value;

        return NULL;
}

char *plan_path(const Plan *plan, uint32_t node) {
        g_autoptr(GPtrArray) names = g_ptr_array_new();
        GString *path = g_string_new(NULL);

        for (uint32_t at = node; at != PLAN_NONE; at = plan_node(plan, at)->parent) {
                const PlanNode *n = plan_node(plan, at);

                g_ptr_array_add(names, (char *) (n->name ? n->name : n->type ? n->type->name : "?"));
        }

        if (!plan->is_root)
                g_string_append_printf(path, "%s%s", plan->name, names->len > 0 ? ": " : "");
        for (unsigned i = names->len; i-- > 0;)
                g_string_append_printf(path, "%s%s", (const char *) g_ptr_array_index(names, i), i > 0 ? "/" : "");

        return g_string_free(path, false);
}

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

void loader_report(Loader *loader, const TreeFile *file, size_t offset, bool warning, char *where, char *text) {
        const TreeFile *at = tree_file_at(file, &offset);

        diagnostics_add(loader->diagnostics, at->number, offset, warning, where, text);
}

/* Reports an error at a byte of the file. */
static void loader_error_at(Loader *loader, size_t offset, char *text) {
        bool full = diagnostics_is_full(loader->diagnostics);

        loader->file->wrong = true;
        if (loader->plan)
                loader->plan->wrong = true;

        loader_report(loader, loader->file, offset, false, full ? NULL : current_path(loader), text);
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

        /* The top of a file is read before its plan is made. */
        if ((loader->plan ? loader->plan->unit->file : loader->file)->number > 0) {
                g_free(text);
                return;
        }

        loader_report(loader, loader->file, text_offset(loader_text(loader), item), true,
                      full ? NULL : current_path(loader), text);
}

void loader_error_in(Loader *loader, Plan *plan, uint32_t node, size_t offset, char *text) {
        bool full = diagnostics_is_full(loader->diagnostics);

        plan->file->wrong = plan->wrong = true;
        loader_report(loader, plan->file, offset, false,
                      full || (node == PLAN_NONE && plan->is_root) ? NULL : plan_path(plan, node), text);
}

void loader_warning_in(Loader *loader, const Plan *plan, uint32_t node, size_t offset, char *text) {
        if (plan->unit->file->number > 0) {
                g_free(text);
                return;
        }

        loader_report(loader, plan->file, offset, true,
                      diagnostics_is_full(loader->diagnostics) ? NULL : plan_path(plan, node), text);
}

void reading_error(Loader *loader, Reading *reading, uint32_t item, char *text) {
        reading->target.wrong = true;
        loader_error(loader, item, text);
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

        if (text_kind(text, object) != TEXT_OBJECT)
                return 0;

        TEXT_KEYS(text, item, object) {
                size_t length;
                const char *word = text_string(text, item, loader->scratch, &length);

                if (strlen(key) == length && memcmp(word, key, length) == 0)
                        return item + 1;
        }

        if (file->meant)
                TEXT_KEYS(text, item, object)
                        if (g_strcmp0(loader_meant(file, item), key) == 0)
                                return item + 1;

        return 0;
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

/* Adds each word of the string, and its parts as an expression would read them. */
static void doubt_string(Loader *loader, GHashTable *words, uint32_t item) {
        size_t length;
        g_autofree char *text = g_strdup(loader_string(loader, item, &length));

        for (char *p = text, *end; *p; p = end) {
                g_autofree char *word = NULL;
                g_auto(GStrv) parts = NULL;

                for (end = p; *end && (g_ascii_isalnum(*end) || strchr("_-.@", *end));)
                        end++;
                if (end == p) {
                        end++;
                        continue;
                }

                word = g_strndup(p, (size_t) (end - p));
                parts = g_strsplit_set(word, "-.@", -1);
                g_hash_table_add(words, (char *) loader_intern_text(loader, word));
                for (char **part = parts; *part; part++)
                        if (**part)
                                g_hash_table_add(words, (char *) loader_intern_text(loader, *part));
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
