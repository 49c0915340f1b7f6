/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Implements plan.h. Files are identified by their paths, so two links to the same file are two files. */

#include "definition/load/plan.h"
#include "definition/load/load.h"
#include "definition/sources.h"

static char *name_of(const char *path) {
        g_autofree char *base = g_path_get_basename(path);

        if (g_str_has_suffix(base, TREE_SUFFIX))
                base[strlen(base) - strlen(TREE_SUFFIX)] = 0;

        return g_steal_pointer(&base);
}

TreeFile *tree_file_new(const char *path, char *contents, size_t length) {
        TreeFile *file = g_new0(TreeFile, 1);

        file->path = g_strdup(path);
        file->id = path ? source_id(path) : NULL;
        file->name = path ? name_of(path) : g_strdup("the tree");
        file->contents = contents;
        file->length = length;
        return file;
}

TreeFile *tree_file_new_unreadable(const char *path, char *error) {
        TreeFile *file = tree_file_new(path, NULL, 0);

        file->error = error;
        return file;
}

void tree_file_note_name(TreeFile *file, const char *name) {
        file->found = file->found ?: g_ptr_array_new_with_free_func(g_free);
        if (!g_ptr_array_find_with_equal_func(file->found, name, g_str_equal, NULL))
                g_ptr_array_add(file->found, g_strdup(name));
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
        g_free(file->error);
        g_free(file);
}

#define CHAIN_MAX 30u
#define ITEMS_OF_NODE 4u /* itself, its type, its name or action, and the value of that */

static void on_use_dropped(void *use) {
        g_free(((PlanUse *) use)->problem);
        g_free(((PlanUse *) use)->instead);
}

void doubts_clear(Doubts *doubts) {
        g_clear_pointer(&doubts->words, g_hash_table_unref);
        g_clear_pointer(&doubts->names, g_ptr_array_unref);
}

/* An upper limit for the usual number of nodes; memory that is not needed is never touched. */
static unsigned nodes_guess(const TreeFile *file, uint32_t root) {
        return root > 0 ? (text_next(&file->text, root) - root) / ITEMS_OF_NODE + 1 : 0;
}

Plan *plan_new(Unit *unit, TreeFile *file, const char *name, uint32_t root) {
        Plan *plan = g_new0(Plan, 1);

        plan->unit = unit;
        plan->file = file;
        plan->name = name;
        plan->root = root;
        plan->nodes = g_array_sized_new(false, false, sizeof(PlanNode), nodes_guess(file, root));
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

char *plan_chain(const Plan *plan) {
        g_autoptr(GPtrArray) names = g_ptr_array_new();
        GString *chain = g_string_new(NULL);

        for (; plan && names->len < CHAIN_MAX; plan = plan->user)
                g_ptr_array_add(names, (char *) plan->name);

        g_string_append(chain, plan ? "... uses " : "");
        for (unsigned i = names->len; i-- > 0;)
                g_string_append_printf(chain, "%s%s", (const char *) g_ptr_array_index(names, i),
                                       i > 0 ? " uses " : "");

        return g_string_free(chain, false);
}
