/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Runs the stages of a load, for definition.c: files and their top parts, the nodes of each tree, checks between trees,
 * the tree itself, and the checks of its node types.
 */

#include <errno.h>
#include <string.h>

#include "basic/limit.h"
#include "definition/load/loader.h"

#define ARENA_SIZE 1024u

static void on_plan_dropped(void *plan) {
        plan_free(plan);
}

static void on_file_dropped(void *file) {
        tree_file_free(file);
}

static void on_unit_dropped(void *unit) {
        unit_free(unit);
}

static void loader_init(Loader *loader, const NodeType *const *const *tables, const DefinitionSources *sources,
                        Diagnostics *diagnostics) {
        loader->sources = sources;
        loader->types = type_index_new(tables);
        loader->diagnostics = diagnostics;
        loader->scratch = g_string_new(NULL);
        loader->arena = arena_new(ARENA_SIZE);
        loader->script_index = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        loader->names = g_hash_table_new(g_str_hash, g_str_equal);
        loader->defaults = g_hash_table_new(NULL, NULL);
        loader->nothing = blackboard_new();
        loader->files = g_ptr_array_new_with_free_func(on_file_dropped);
        loader->file_ids = g_hash_table_new(g_str_hash, g_str_equal);
        loader->units = g_hash_table_new_full(NULL, NULL, NULL, on_unit_dropped);
        loader->including = g_ptr_array_new();
        loader->queue = g_ptr_array_new();
        loader->plans = g_ptr_array_new_with_free_func(on_plan_dropped);
        loader->open = g_new(Frame, TREE_DEPTH_MAX);
}

/* Call after the result has been moved to Loaded. */
static void loader_clear(Loader *loader) {
        type_index_free(loader->types);
        g_string_free(loader->scratch, true);
        arena_free(loader->arena);
        scripts_free(loader->scripts);
        g_hash_table_unref(loader->script_index);
        g_hash_table_unref(loader->names);
        g_hash_table_unref(loader->defaults);
        blackboard_free(loader->nothing);
        g_hash_table_unref(loader->file_ids);
        g_ptr_array_unref(loader->files);
        g_hash_table_unref(loader->units);
        g_ptr_array_unref(loader->including);
        g_ptr_array_unref(loader->queue);
        g_ptr_array_unref(loader->plans);
        g_free(loader->open);
        doubts_clear(&loader->doubts);
}

/* Reads all trees of the file's own unit, and other trees if a tree uses them. */
static void read_plans(Loader *loader, const Unit *unit) {
        for (unsigned i = 0; i < loader->plans->len; i++) {
                Plan *plan = g_ptr_array_index(loader->plans, i);

                if (plan->unit == unit)
                        loader_queue(loader, plan);
        }

        for (unsigned i = 0; i < loader->queue->len; i++) {
                Plan *plan = g_ptr_array_index(loader->queue, i);

                loader_read_plan(loader, plan);
                loader_find_uses(loader, plan);
        }
}

/* A node that is being checked. */
typedef struct NodeCheck {
        Findings findings; /* first */
        Loader *loader;
        const Tree *tree;
        NodeId id;
        Origin origin;
        bool warnings; /* reports only warnings; else only errors */
        bool found;
        bool passed_over; /* there are warnings that are not reported yet */
} NodeCheck;

static bool is_wrong(const PlanNode *node, const char *param) {
        const Param *found = params_find(node->type->params, param, strlen(param));

        return found && node->wrong_params & UINT64_C(1) << (found - node->type->params);
}

/* The item of the parameter or of its element; else, of the node. */
static uint32_t find_item(const NodeCheck *check, const PlanNode *node, const char *param, int element) {
        const TreeFile *file = check->origin.plan->file;
        uint32_t item = param ? loader_find_member(check->loader, file, node->item, param) : 0;

        if (item == 0)
                return node->item;
        if (element < 0)
                return item;

        for (item++; element > 0; element--)
                item = text_next(&file->text, item);

        return item;
}

/* Warnings about other files are not reported. If the value itself is wrong, findings that follow from it are not
 * reported, and if the node has errors, only findings about its parameters are. */
static void on_finding(Findings *findings, const char *param, int element, bool is_error, char *text) {
        NodeCheck *check = (NodeCheck *) findings;
        PlanNode *node = plan_node(check->origin.plan, check->origin.node);
        const TreeFile *file = check->origin.plan->file;
        Diagnostics *diagnostics = check->loader->diagnostics;
        size_t offset;

        check->passed_over |= !is_error;
        if (is_error == check->warnings || (param ? is_wrong(node, param) : !node->correct) ||
            (!is_error && check->origin.plan->unit->file->number > 0)) {
                g_free(text);
                return;
        }

        check->found = true;
        offset = text_offset(&file->text, find_item(check, node, param, element));
        diagnostics_add(diagnostics, file->number, offset, !is_error,
                        diagnostics_is_full(diagnostics) ? NULL : tree_node_path(check->tree, check->id), text);
}

static void check_ready(const Tree *tree, NodeId id, const CommonAttributes *attributes, Findings *findings) {
        if (attributes && attributes->ready && tree->nodes[id].flags & NODE_NEVER_SUCCEEDS)
                findings_trap(findings, "ready",
                              "ready: '%s' can never succeed, so it never makes the run ready; give it to the node "
                              "that comes before",
                              tree_node_name(tree, id));
}

/* If something is found for a copy of a node, the other copies are not checked. True: there are warnings, which are not
 * reported yet. */
static bool check_node(Loader *loader, const Tree *tree, NodeId id, Origin origin, bool warnings) {
        NodeCheck check = { .findings = { on_finding },
                            .loader = loader,
                            .tree = tree,
                            .id = id,
                            .origin = origin,
                            .warnings = warnings };
        PlanNode *node = plan_node(origin.plan, origin.node);

        if (node->malformed || (warnings ? node->has_warnings : node->has_errors))
                return false;

        tree_check_node(tree, id, &check.findings);
        check_ready(tree, id, node->attributes, &check.findings);
        if (warnings)
                node->has_warnings = check.found;
        else if (check.found) {
                node->has_errors = true;
                node->correct = false;
        }

        return check.passed_over;
}

static bool check_nodes(Loader *loader, const Expansion *expansion, bool warnings) {
        bool passed_over = false;

        for (NodeId node = 0; node < expansion->tree->n_nodes; node++)
                passed_over |= check_node(loader, expansion->tree, node, expansion_origin(expansion, node), warnings);

        return passed_over;
}

/* Errors are found first. No warning follows from the outcomes of a wrong node, because nobody knows what it will be
 * when it is correct: so the tree is made again if it has errors. */
static void check_tree(Loader *loader, Expansion *expansion) {
        Plan *root = expansion->root;

        if (!check_nodes(loader, expansion, false))
                return;

        if (diagnostics_count_errors(loader->diagnostics) > 0) {
                expansion_clear(expansion);
                expansion_make(expansion, loader, root, true);
        }
        check_nodes(loader, expansion, true);
}

/* Trees that are not used are expanded, too, but only to check them, up to the limit of nodes. */
static void check_unused(Loader *loader) {
        uint64_t n_left = limits_in_force(LIMIT_NODES);

        for (unsigned i = 0; i < loader->queue->len; i++) {
                Plan *plan = g_ptr_array_index(loader->queue, i);
                Expansion expansion;

                if (plan->expanded || plan->unbuildable || plan->n_nodes > n_left)
                        continue;

                n_left -= plan->n_nodes;
                expansion_make(&expansion, loader, plan, false);
                check_tree(loader, &expansion);
                expansion_clear(&expansion);
        }
}

static void keep_expansion(Loaded *loaded, Expansion *expansion, uint64_t interval) {
        loaded->tree = g_steal_pointer(&expansion->tree);
        loaded->tree->interval = interval;
        loaded->templates = g_steal_pointer(&expansion->templates);
        loaded->attributes = g_steal_pointer(&expansion->attributes);
        loaded->scopes = g_steal_pointer(&expansion->scopes);
        loaded->scope_starts = g_steal_pointer(&expansion->scope_starts);
        expansion_clear(expansion);
}

static void make_tree(Loader *loader, const Unit *unit, Loaded *loaded) {
        Expansion expansion;

        if (unit->root && !unit->root->unbuildable) {
                expansion_make(&expansion, loader, unit->root, false);
                check_tree(loader, &expansion);
                keep_expansion(loaded, &expansion, unit->header.interval);
        }

        check_unused(loader);
}

/* The daemon cannot give values for inputs; a user who starts the tree can. */
static void check_autostart(Loader *loader, const TreeFile *file, const Unit *unit) {
        const Declaration *input = unit->header.autostart && unit->root ? unit->root->inputs : NULL;
        uint32_t item;

        while (input && input->name && !input->required)
                input++;
        if (!input || !input->name)
                return;

        item = loader_find_member(loader, file, 0, "autostart");
        diagnostics_add(loader->diagnostics, file->number, text_offset(&file->text, item), true, NULL,
                        g_strdup_printf("autostart: the daemon cannot start it, since the input '%s' has no default",
                                        input->name));
}

static void read_all(Loader *loader, TreeFile *file, Loaded *loaded) {
        Unit *unit;

        if (!file->text.items)
                return;

        unit = loader_open_unit(loader, file);
        loaded->header = unit->header;
        loaded->blackboard = unit->root ? json_object_get(unit->root->blackboard) : NULL;
        read_plans(loader, unit);

        loader_report_uses(loader, unit->root);
        loader_check_inputs(loader);
        check_autostart(loader, file, unit);
        loaded->variables = loader_check_variables(loader, unit->root);
        loader_measure_plans(loader);
        make_tree(loader, unit, loaded);
}

static void locate_diagnostics(const Loader *loader) {
        g_autofree DiagnosticsText *texts = g_new0(DiagnosticsText, loader->files->len);

        for (unsigned i = 0; i < loader->files->len; i++) {
                const TreeFile *file = g_ptr_array_index(loader->files, i);

                if (file->contents)
                        texts[file->number] = (DiagnosticsText){ .text = file->contents, .length = file->length };
        }

        diagnostics_locate(loader->diagnostics, texts);
}

static void on_loaded_file_dropped(void *file) {
        g_free(((LoadedFile *) file)->path);
        g_free(((LoadedFile *) file)->hash);
        g_free(((LoadedFile *) file)->text);
        g_strfreev(((LoadedFile *) file)->found);
}

static char **names_of(const GPtrArray *found) {
        unsigned n = found ? found->len : 0;
        char **names = g_new0(char *, n + 1);

        for (unsigned i = 0; i < n; i++)
                names[i] = g_strdup(found->pdata[i]);

        return names;
}

/* All files but the first, which is the tree's own. It cannot appear again, because no file that it uses can use it. */
static GArray *list_files(const Loader *loader) {
        GArray *files = g_array_new(false, false, sizeof(LoadedFile));

        g_array_set_clear_func(files, on_loaded_file_dropped);
        for (unsigned i = 1; i < loader->files->len; i++) {
                const TreeFile *file = g_ptr_array_index(loader->files, i);
                LoadedFile loaded = {
                        .path = g_strdup(file->path),
                        .text = g_strdup(file->contents),
                        .hash = g_compute_checksum_for_data(G_CHECKSUM_SHA256, (const guint8 *) file->contents,
                                                            file->length),
                        .found = names_of(file->found),
                };

                g_array_append_val(files, loaded);
        }

        return files;
}

int load_text(const char *path, char *text, size_t length, const NodeType *const *const *tables,
              const DefinitionSources *sources, Diagnostics *diagnostics, Loaded *ret_loaded) {
        Loader loader = {};
        Loaded loaded = {};
        TreeFile *file;

        loader_init(&loader, tables, sources, diagnostics);
        file = loader_add_text(&loader, path, text, length);
        read_all(&loader, file, &loaded);
        locate_diagnostics(&loader);
        if (diagnostics_count_errors(diagnostics) == 0)
                loaded.files = list_files(&loader);
        loaded.arena = g_steal_pointer(&loader.arena);
        loaded.scripts = g_steal_pointer(&loader.scripts);
        file->contents = NULL; /* it belongs to the caller again */
        loader_clear(&loader);

        if (diagnostics_count_errors(diagnostics) > 0) {
                loaded_clear(&loaded);
                return -EINVAL;
        }

        *ret_loaded = loaded;
        return 0;
}

void loaded_clear_values(Loaded *loaded) {
        g_clear_pointer(&loaded->blackboard, json_object_put);
        if (loaded->arena)
                arena_put_values(loaded->arena);
}

void loaded_clear(Loaded *loaded) {
        loaded_clear_values(loaded);
        g_clear_pointer(&loaded->tree, tree_free);
        g_clear_pointer(&loaded->scripts, scripts_free);
        g_clear_pointer(&loaded->templates, g_array_unref);
        g_clear_pointer(&loaded->attributes, g_array_unref);
        g_clear_pointer(&loaded->scopes, g_array_unref);
        g_clear_pointer(&loaded->scope_starts, g_array_unref);
        g_clear_pointer(&loaded->files, g_array_unref);
        g_clear_pointer(&loaded->arena, arena_free);
}
