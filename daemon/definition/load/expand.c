/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Builds the tree from plans, for load.c: the nodes of the root plan, and below each SubTree and ForEach the copies of
 * the nodes that they run. */

#include "definition/load/loader.h"

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

static void add_templates(Expander *expander, const Plan *plan, uint32_t from, NodeId node) {
        uint32_t end = from + 1 < plan->nodes->len ? plan_node(plan, from + 1)->templates : plan->templates->len;

        for (uint32_t i = plan_node(plan, from)->templates; i < end; i++) {
                Template template = g_array_index(plan->templates, Template, i);

                template.node = node;
                g_array_append_val(expander->expansion->templates, template);
        }
}

static void add_attributes(Expander *expander, const PlanNode *from, NodeId node) {
        NodeAttributes attributes = { .node = node, .attributes = from->attributes };

        if (!from->attributes)
                return;

        g_array_append_val(expander->expansion->attributes, attributes);
        tree_builder_set_flags(expander->builder, node, common_attributes_flags(from->attributes));
}

static void report_lock(Expander *expander, const Plan *plan, uint32_t from, Origin holder) {
        PlanNode *node = plan_node(plan, from);
        g_autofree char *path = plan_path(holder.plan, holder.node);
        uint32_t item = loader_find_member(expander->loader, plan->file, node->item, "lock");

        if (!node->has_errors)
                loader_error_in(expander->loader, (Plan *) plan, from, text_offset(&plan->file->text, item),
                                g_strdup_printf("lock: '%s' holds '%s' already while this runs, which would wait for "
                                                "it for ever",
                                                path, node->attributes->lock));
        node->has_errors = true;
        node->correct = false;
}

/* Returns the name of the lock to release when the node is closed, or NULL. */
static const char *take_lock(Expander *expander, const Plan *plan, uint32_t from, NodeId id) {
        const CommonAttributes *attributes = plan_node(plan, from)->attributes;
        const char *lock = attributes ? attributes->lock : NULL;
        void *holder;

        if (!lock)
                return NULL;

        if (g_hash_table_lookup_extended(expander->held, lock, NULL, &holder)) {
                report_lock(expander, plan, from, expansion_origin(expander->expansion, GPOINTER_TO_UINT(holder)));
                return NULL;
        }

        g_hash_table_insert(expander->held, (char *) lock, GUINT_TO_POINTER(id));
        return lock;
}

/* They replace nodes with errors, so that the rest can be checked: no check rejects them. */
static const NodeType unknown_control = { .name = "Unknown", .class = NODE_CONTROL, .flags = TYPE_PURE };
static const NodeType unknown_leaf = { .name = "Unknown", .class = NODE_CONDITION };

/* True if the node has children that matter. A leaf stays a leaf even if it was given children. */
static bool has_children(const PlanNode *node, uint32_t from) {
        bool is_leaf = node->type && (node->type->class == NODE_ACTION || node->type->class == NODE_CONDITION);

        return node->end > from + 1 && !is_leaf;
}

static const NodeType *type_of(const PlanNode *node, uint32_t from) {
        if (!node->malformed)
                return node->type;

        return has_children(node, from) ? &unknown_control : &unknown_leaf;
}

static NodeId open_node(Expander *expander, const Plan *plan, uint32_t from) {
        const PlanNode *node = plan_node(plan, from);
        const PlanUse *use = node->use != PLAN_NONE && !node->malformed ? plan_use(plan, node->use) : NULL;
        Origin origin = { .plan = plan, .node = from };
        const char *name = node->name;
        NodeId id;

        /* A SubTree without a name gets the name of its tree, and a node with errors keeps its own in messages. */
        if (!name && use && use->tree)
                name = use->tree->name;
        else if (!name && node->malformed && node->type)
                name = node->type->name;
        id = tree_builder_open(expander->builder, type_of(node, from), name, node->params);
        expander->n_nodes++;
        if (expander->expansion->origins)
                g_array_append_val(expander->expansion->origins, origin);
        add_templates(expander, plan, from, id);
        add_attributes(expander, node, id);
        if (expander->expansion->doubtful && !node->correct)
                tree_builder_set_flags(expander->builder, id, NODE_GUARDED);
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

static void pop_level(Expander *expander, const Level *level) {
        if (level->scope != level->around)
                start_scope(expander, level->around);

        close_node(expander, level->lock);
        expander->n_levels--;
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
                } else
                        pop_level(expander, level);
        }
}

void expansion_make(Expansion *expansion, Loader *loader, Plan *root, bool doubtful) {
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

Origin expansion_origin(const Expansion *expansion, NodeId node) {
        if (!expansion->origins)
                return (Origin){ .plan = expansion->root, .node = node };

        return g_array_index(expansion->origins, Origin, node);
}

void expansion_clear(Expansion *expansion) {
        g_clear_pointer(&expansion->tree, tree_free);
        g_clear_pointer(&expansion->templates, g_array_unref);
        g_clear_pointer(&expansion->attributes, g_array_unref);
        g_clear_pointer(&expansion->scopes, g_array_unref);
        g_clear_pointer(&expansion->scope_starts, g_array_unref);
        g_clear_pointer(&expansion->origins, g_array_unref);
}
