/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Runs the stages of a load, for definition.c: files and their top parts, the nodes of each tree, checks between trees,
 * the tree itself, and the checks of its node types.
 *
 * The tree is built from plans: the nodes of the root plan, and below each SubTree and ForEach the copies of the nodes
 * that they run.
 */

#include <errno.h>
#include <string.h>

#include "basic/foreach.h"
#include "definition/load/loader.h"

#define ARENA_SIZE 1024u

static void loader_init(Loader *loader, const NodeType *const *const *tables, const DefinitionSources *sources,
                        Diagnostics *diagnostics) {
        loader->sources = sources;
        loader->limits = sources && sources->limits ? sources->limits : &limits_default;
        loader->types = type_index_new(tables);
        loader->diagnostics = diagnostics;
        loader->scratch = g_string_new(NULL);
        loader->arena = arena_new(ARENA_SIZE);
        loader->script_index = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        loader->names = g_hash_table_new(g_str_hash, g_str_equal);
        loader->defaults = g_hash_table_new(NULL, NULL);
        loader->nothing = blackboard_new(loader->limits);
        loader->files = g_ptr_array_new_with_free_func((GDestroyNotify) tree_file_free);
        loader->file_ids = g_hash_table_new(g_str_hash, g_str_equal);
        loader->units = g_hash_table_new_full(NULL, NULL, NULL, (GDestroyNotify) unit_free);
        loader->including = g_ptr_array_new();
        loader->queue = g_ptr_array_new();
        loader->plans = g_ptr_array_new_with_free_func((GDestroyNotify) plan_free);
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

/* The source of a node of a tree. */
typedef struct Origin {
        const Plan *plan;
        uint32_t node;
} Origin;

typedef struct Expansion {
        Plan *root;
        bool doubtful;
        Tree *tree;
        GArray *templates, *attributes, *scopes, *scope_starts; /* as in Loaded */
        GArray *origins;                                        /* NULL: all nodes are those of the root, in order */
} Expansion;

/* Siblings that are being copied, below an open node. */
typedef struct Level {
        const Plan *plan;
        uint32_t at, end;     /* nodes of the plan */
        uint32_t first;       /* the start of each copy */
        uint32_t copies;      /* left to make after the current one */
        const PlanUse *local; /* its loop, if each copy has its own scope; or NULL */
        unsigned scope;       /* of the siblings */
        unsigned around;      /* of the open node */
        const char *lock;     /* held by the open node, or NULL */
} Level;

typedef struct Expander {
        Loader *loader;
        Expansion *expansion;
        TreeBuilder *builder;
        Level *levels; /* at most TREE_DEPTH_MAX */
        uint32_t n_levels;
        GHashTable *held; /* lock -> NodeId of its holder */
        uint32_t n_nodes;
} Expander;

static Origin expansion_origin(const Expansion *expansion, NodeId node) {
        if (!expansion->origins)
                return (Origin){ .plan = expansion->root, .node = node };

        return g_array_index(expansion->origins, Origin, node);
}

static void start_scope(Expander *expander, unsigned scope) {
        GArray *starts = expander->expansion->scope_starts;
        ScopeStart start = { .node = expander->n_nodes, .scope = scope };

        /* A scope that would end at its own start is dropped. */
        if (starts->len > 0 && g_array_index(starts, ScopeStart, starts->len - 1).node == start.node)
                g_array_set_size(starts, starts->len - 1);

        g_array_append_val(starts, start);
}

static unsigned add_scope(Expander *expander, const ScopeInfo *info) {
        g_array_append_vals(expander->expansion->scopes, info, 1);
        start_scope(expander, expander->expansion->scopes->len - 1);
        return expander->expansion->scopes->len - 1;
}

static unsigned add_tree_scope(Expander *expander, const Plan *plan, ScopeKind kind, NodeId node, unsigned parent) {
        ScopeInfo info = { .kind = kind,
                           .node = node,
                           .parent = parent,
                           .inputs = plan->inputs,
                           .outputs = plan->outputs,
                           .secrets = plan->secrets,
                           .blackboard = plan->blackboard };

        return add_scope(expander, &info);
}

/* Call before the first node of a copy is opened. */
static void begin_copy(Expander *expander, Level *level) {
        ScopeInfo info = { .kind = SCOPE_LOCAL,
                           .node = expander->n_nodes,
                           .parent = level->around,
                           .names = level->local ? level->local->names : NULL };

        level->at = level->first;
        if (level->local)
                level->scope = add_scope(expander, &info);
}

/* Returns the name of the lock to release when the node is closed, or NULL. */
static const char *take_lock(Expander *expander, const Plan *plan, uint32_t from, NodeId id) {
        PlanNode *node = plan_node(plan, from);
        const char *lock = node->attributes ? node->attributes->lock : NULL;
        g_autofree char *path = NULL;
        uint32_t item;
        Origin holder;
        void *held_by;

        if (!lock)
                return NULL;

        if (!g_hash_table_lookup_extended(expander->held, lock, NULL, &held_by)) {
                g_hash_table_insert(expander->held, (char *) lock, GUINT_TO_POINTER(id));
                return lock;
        }

        holder = expansion_origin(expander->expansion, GPOINTER_TO_UINT(held_by));
        path = plan_path(holder.plan, holder.node);
        item = loader_find_member(expander->loader, plan->file, node->item, "lock");
        if (!node->has_errors)
                loader_error_in(expander->loader, (Plan *) plan, from, text_offset(&plan->file->text, item),
                                g_strdup_printf("lock: '%s' already holds '%s' while this node runs, so it would "
                                                "wait for ever",
                                                path, lock));
        node->has_errors = true;
        node->correct = false;
        return NULL;
}

/* They replace nodes with errors, so that the rest can be checked: no check rejects them. */
static const NodeType unknown_control = { .name = "Unknown", .class = NODE_CONTROL, .flags = TYPE_PURE };
static const NodeType unknown_leaf = { .name = "Unknown", .class = NODE_CONDITION };

/* True if the node has children that matter. A leaf stays a leaf even if it was given children. */
static bool has_children(const PlanNode *node, uint32_t from) {
        bool is_leaf = node->type && (node->type->class == NODE_ACTION || node->type->class == NODE_CONDITION);

        return node->end > from + 1 && !is_leaf;
}

static NodeId open_node(Expander *expander, const Plan *plan, uint32_t from) {
        const PlanNode *node = plan_node(plan, from);
        const PlanUse *use = node->use != PLAN_NONE && !node->malformed ? plan_use(plan, node->use) : NULL;
        uint32_t end = from + 1 < plan->nodes->len ? plan_node(plan, from + 1)->templates : plan->templates->len;
        Origin origin = { .plan = plan, .node = from };
        NodeAttributes attributes = { .attributes = node->attributes };
        const NodeType *type = node->type;
        const char *name = node->name;
        unsigned flags = 0;
        NodeId id;

        /* A SubTree without a name gets the name of its tree, and a node with errors keeps its own in messages. */
        if (!name && use && use->tree)
                name = use->tree->name;
        else if (!name && node->malformed && node->type)
                name = node->type->name;
        if (node->malformed)
                type = has_children(node, from) ? &unknown_control : &unknown_leaf;
        id = tree_builder_open(expander->builder, type, name, node->params);
        expander->n_nodes++;
        if (expander->expansion->origins)
                g_array_append_val(expander->expansion->origins, origin);

        for (uint32_t i = node->templates; i < end; i++) {
                Template template = g_array_index(plan->templates, Template, i);

                /* The inputs of a SubTree and the list of a ForEach alone are taken by the functions for them. */
                if (template.param->late && template.param->kind != PARAM_JSON)
                        flags |= NODE_LATE;
                template.node = id;
                g_array_append_val(expander->expansion->templates, template);
        }

        if (node->attributes) {
                attributes.node = id;
                g_array_append_val(expander->expansion->attributes, attributes);
                flags |= common_attributes_flags(node->attributes);
        }
        if (node->type && node->type->flags & TYPE_HAS_LOCK)
                flags |= NODE_LOCKED;
        if (expander->expansion->doubtful && !node->correct)
                flags |= NODE_GUARDED;
        if (flags != 0)
                tree_builder_set_flags(expander->builder, id, flags);
        return id;
}

/* Adds the level below the node that was just opened. */
static void push_level(Expander *expander, const Plan *plan, uint32_t from, NodeId id, unsigned scope,
                       const char *lock) {
        const PlanNode *node = plan_node(plan, from);
        const PlanUse *use = node->use != PLAN_NONE && !node->malformed ? plan_use(plan, node->use) : NULL;
        Level level = { .plan = plan, .first = from + 1, .end = node->end, .scope = scope, .around = scope };

        level.lock = lock;
        level.at = level.first;
        if (use && use->copies > 0) {
                level.copies = use->copies - 1;
                level.local = use;
                begin_copy(expander, &level);
        } else if (use) {
                level.plan = use->tree;
                level.at = level.first = 0;
                level.end = use->tree->nodes->len;
                level.scope = add_tree_scope(expander, use->tree, SCOPE_SUBTREE, id, scope);
                use->tree->expanded = true;
        }

        expander->levels[expander->n_levels++] = level;
}

static void close_node(Expander *expander, const char *lock) {
        if (lock)
                g_hash_table_remove(expander->held, lock);

        tree_builder_close(expander->builder);
}

static void copy_node(Expander *expander, const Plan *plan, uint32_t from, unsigned scope) {
        const PlanNode *node = plan_node(plan, from);
        NodeId id = open_node(expander, plan, from);
        const char *lock = take_lock(expander, plan, from, id);

        if (has_children(node, from) || (node->use != PLAN_NONE && !node->malformed))
                push_level(expander, plan, from, id, scope, lock);
        else
                close_node(expander, lock);
}

static void copy_all(Expander *expander) {
        while (expander->n_levels > 0) {
                Level *level = &expander->levels[expander->n_levels - 1];

                if (level->at < level->end) {
                        uint32_t from = level->at;

                        level->at = plan_node(level->plan, from)->end;
                        copy_node(expander, level->plan, from, level->scope);
                } else if (level->copies > 0) {
                        level->copies--;
                        begin_copy(expander, level);
                } else {
                        if (level->scope != level->around)
                                start_scope(expander, level->around);
                        close_node(expander, level->lock);
                        expander->n_levels--;
                }
        }
}

/* doubtful: every outcome is possible for nodes with errors, as for nodes with guards. */
static void expansion_make(Expansion *expansion, Loader *loader, Plan *root, bool doubtful) {
        Expander expander = { .loader = loader, .expansion = expansion };

        *expansion = (Expansion){ .root = root,
                                  .doubtful = doubtful,
                                  .templates = g_array_new(false, false, sizeof(Template)),
                                  .attributes = g_array_new(false, false, sizeof(NodeAttributes)),
                                  .scopes = g_array_new(false, false, sizeof(ScopeInfo)),
                                  .scope_starts = g_array_new(false, false, sizeof(ScopeStart)) };
        /* The children of a leaf are not copied, so in a tree with errors the numbers of nodes may differ from the
         * plan's. */
        if (root->uses->len > 0 || root->wrong)
                expansion->origins = g_array_sized_new(false, false, sizeof(Origin), (unsigned) root->n_nodes);

        expander.builder = tree_builder_new((uint32_t) root->n_nodes);
        expander.levels = g_new(Level, TREE_DEPTH_MAX);
        expander.held = g_hash_table_new(g_str_hash, g_str_equal);
        root->expanded = true;

        add_tree_scope(&expander, root, SCOPE_OUTERMOST, 0, 0);
        copy_node(&expander, root, 0, 0);
        copy_all(&expander);

        expansion->tree = tree_builder_finish(expander.builder);
        tree_builder_free(expander.builder);
        g_free(expander.levels);
        g_hash_table_unref(expander.held);
}

static void expansion_clear(Expansion *expansion) {
        g_clear_pointer(&expansion->tree, tree_free);
        g_clear_pointer(&expansion->templates, g_array_unref);
        g_clear_pointer(&expansion->attributes, g_array_unref);
        g_clear_pointer(&expansion->scopes, g_array_unref);
        g_clear_pointer(&expansion->scope_starts, g_array_unref);
        g_clear_pointer(&expansion->origins, g_array_unref);
}

/* A node that is being checked. */
typedef struct NodeCheck {
        Findings findings; /* first */
        Loader *loader;
        const Expansion *expansion;
        NodeId id;
        bool warnings; /* reports only warnings; else only errors */
        bool found;
        bool passed_over; /* there are warnings that are not reported yet */
} NodeCheck;

/* The item of the parameter or of its element; else, of the node. */
static uint32_t find_item(const NodeCheck *check, Origin origin, const char *param, int element) {
        const PlanNode *node = plan_node(origin.plan, origin.node);
        const TreeFile *file = origin.plan->file;
        bool own = check->findings.node == check->id;
        uint32_t item = param && own ? loader_find_member(check->loader, file, node->item, param) : 0;

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
        Origin origin = expansion_origin(check->expansion, check->id),
               place = expansion_origin(check->expansion, findings->node);
        PlanNode *node = plan_node(origin.plan, origin.node);
        const Param *found = param ? params_find(node->type->params, param, strlen(param)) : NULL;
        bool wrong_value = found && node->wrong_params & UINT64_C(1) << (found - node->type->params);
        bool follows = param ? wrong_value && element != FINDING_COUNT : !node->correct;
        /* True if the finding is about a value that is known only when the node begins. */
        bool late = check->expansion->tree->nodes[check->id].flags & NODE_LATE &&
                    (!param || plan_template(origin.plan, origin.node, param));
        const TreeFile *file = place.plan->file;
        size_t offset;

        check->passed_over |= !is_error;
        if (is_error == check->warnings || follows || late || (!is_error && origin.plan->unit->file->number > 0)) {
                g_free(text);
                return;
        }

        check->found = true;
        offset = text_offset(&file->text, find_item(check, place, param, element));
        loader_report(check->loader, file, offset, !is_error,
                      diagnostics_is_full(check->loader->diagnostics)
                              ? NULL
                              : tree_node_path(check->expansion->tree, findings->node),
                      text);
}

/* If something is found for a copy of a node, the other copies are not checked. True: there are warnings, which are not
 * reported yet. */
static bool check_nodes(Loader *loader, const Expansion *expansion, bool warnings) {
        const Tree *tree = expansion->tree;
        bool passed_over = false;

        for (NodeId id = 0; id < tree->n_nodes; id++) {
                NodeCheck check = { .findings = { on_finding, id },
                                    .loader = loader,
                                    .expansion = expansion,
                                    .id = id,
                                    .warnings = warnings };
                Origin origin = expansion_origin(expansion, id);
                PlanNode *node = plan_node(origin.plan, origin.node);

                if (node->malformed || (warnings ? node->has_warnings : node->has_errors))
                        continue;

                tree_check_node(tree, id, &check.findings);
                if (node->attributes && node->attributes->ready && tree->nodes[id].flags & NODE_NEVER_SUCCEEDS)
                        findings_trap(&check.findings, "ready",
                                      "ready: '%s' can never succeed, so it never makes the run ready; give it to the "
                                      "node that comes before",
                                      tree_node_name(tree, id));
                if (warnings)
                        node->has_warnings = check.found;
                else if (check.found) {
                        node->has_errors = true;
                        node->correct = false;
                }
                passed_over |= check.passed_over;
        }

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
        uint64_t n_left = loader->limits->max[LIMIT_NODES];

        PTRS_FOREACH(Plan, plan, loader->queue) {
                Expansion expansion;

                if (plan->expanded || plan->unbuildable || plan->n_nodes > n_left)
                        continue;

                n_left -= plan->n_nodes;
                expansion_make(&expansion, loader, plan, false);
                check_tree(loader, &expansion);
                expansion_clear(&expansion);
        }
}

static void make_tree(Loader *loader, const Unit *unit, Loaded *loaded) {
        Expansion expansion;

        if (!unit->root || unit->root->unbuildable)
                return;

        expansion_make(&expansion, loader, unit->root, false);
        check_tree(loader, &expansion);

        /* The copies get their names only now: error messages use the names of the nodes in the file. */
        tree_name_copies(expansion.tree);
        loaded->tree = g_steal_pointer(&expansion.tree);
        loaded->tree->interval = unit->header.interval;
        loaded->templates = g_steal_pointer(&expansion.templates);
        loaded->attributes = g_steal_pointer(&expansion.attributes);
        loaded->scopes = g_steal_pointer(&expansion.scopes);
        loaded->scope_starts = g_steal_pointer(&expansion.scope_starts);
        expansion_clear(&expansion);
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
        loader_report(
                loader, file, text_offset(&file->text, item), true, NULL,
                g_strdup_printf("autostart: btd cannot start it, because the input '%s' has no default", input->name));
}

static void read_all(Loader *loader, TreeFile *file, Loaded *loaded) {
        Unit *unit;

        if (!file->text.items)
                return;

        unit = loader_open_unit(loader, file);
        loaded->header = unit->header;
        loaded->blackboard = unit->root ? json_object_get(unit->root->blackboard) : NULL;

        /* All trees of the file's own unit, and other trees if a tree uses them: then the queue grows. */
        PTRS_FOREACH(Plan, plan, loader->plans)
                if (plan->unit == unit)
                        loader_queue(loader, plan);
        for (unsigned i = 0; i < loader->queue->len; i++) {
                loader_read_plan(loader, loader->queue->pdata[i]);
                loader_find_uses(loader, loader->queue->pdata[i]);
        }

        loader_report_uses(loader, unit->root);
        loader_check_inputs(loader);
        check_autostart(loader, file, unit);
        loaded->variables = loader_check_variables(loader, unit->root, &loaded->own_variables);
        loader_measure_plans(loader);
        make_tree(loader, unit, loaded);
        check_unused(loader);
}

static void on_loaded_file_dropped(void *file) {
        g_free(((LoadedFile *) file)->path);
        g_free(((LoadedFile *) file)->hash);
        g_free(((LoadedFile *) file)->text);
        g_free(((LoadedFile *) file)->extends);
        g_strfreev(((LoadedFile *) file)->found);
}

/* All files but the first, which is the tree's own. It cannot appear again, because no file that it uses can use it. */
static GArray *list_files(const Loader *loader) {
        GArray *files = g_array_new(false, false, sizeof(LoadedFile));

        g_array_set_clear_func(files, on_loaded_file_dropped);
        for (unsigned i = 1; i < loader->files->len; i++) {
                const TreeFile *file = g_ptr_array_index(loader->files, i);
                unsigned n_names = file->found ? file->found->len : 0;
                LoadedFile loaded = {
                        .path = g_strdup(file->path),
                        .text = g_strdup(file->contents),
                        .hash = g_compute_checksum_for_data(G_CHECKSUM_SHA256, (const guint8 *) file->contents,
                                                            file->length),
                        .found = g_new0(char *, n_names + 1),
                        .extends = file->extends ? g_strdup(file->extends->path) : NULL,
                };

                for (unsigned name = 0; name < n_names; name++)
                        loaded.found[name] = g_strdup(file->found->pdata[name]);
                g_array_append_val(files, loaded);
        }

        return files;
}

int load_text(const char *path, char *text, size_t length, const NodeType *const *const *tables,
              const DefinitionSources *sources, Diagnostics *diagnostics, Loaded *ret_loaded) {
        Loader loader = {};
        Loaded loaded = {};
        g_autofree DiagnosticsText *texts = NULL;
        TreeFile *file;

        loader_init(&loader, tables, sources, diagnostics);
        file = loader_add_text(&loader, path, text, length);
        read_all(&loader, file, &loaded);

        texts = g_new0(DiagnosticsText, loader.files->len);
        PTRS_FOREACH(const TreeFile, read, loader.files)
                if (read->contents)
                        texts[read->number] = (DiagnosticsText){ .text = read->contents, .length = read->length };
        diagnostics_locate(diagnostics, texts);

        if (diagnostics_count_errors(diagnostics) == 0)
                loaded.files = list_files(&loader);
        loaded.limits = *loader.limits;
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
