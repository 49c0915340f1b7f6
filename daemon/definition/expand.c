/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Making the tree: the nodes of the plan at the top, and below each SubTree and ForEach copies of what they run. */

#include "definition/loader.h"

/* Siblings that are being copied, below a node that is open. */
typedef struct Level {
        const Plan *plan;
        uint32_t at, end;     /* nodes of the plan */
        uint32_t first;       /* where another copy begins */
        uint32_t copies;      /* to make after this one */
        const PlanUse *local; /* each copy has a scope of its own; or NULL */
        unsigned scope;       /* of the siblings */
        unsigned around;      /* of the node that is open */
        const char *lock;     /* that the node holds, or NULL */
} Level;

typedef struct Expander {
        Loader *loader;
        Expansion *expansion;
        TreeBuilder *builder;
        Level *levels; /* TREE_DEPTH_MAX of them at most */
        uint32_t n_levels;
        GHashTable *held; /* lock -> NodeId of its holder */
        uint32_t n_nodes;
} Expander;

static void start_scope(Expander *expander, unsigned scope) {
        GArray *starts = expander->expansion->scope_starts;
        ScopeStart start = { .node = expander->n_nodes, .scope = scope };

        /* One that would end where it begins does not count. */
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

/* The next node is the first of a copy. */
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

static void add_extras(Expander *expander, const PlanNode *from, NodeId node) {
        ExtrasNode extras = { .node = node, .extras = from->extras };

        if (!from->extras)
                return;

        g_array_append_val(expander->expansion->extras, extras);
        tree_builder_set_flags(expander->builder, node, extras_flags(from->extras));
}

static void report_lock(Expander *expander, const Plan *plan, uint32_t from, Origin holder) {
        PlanNode *node = plan_node(plan, from);
        g_autofree char *path = plan_path(holder.plan, holder.node);
        uint32_t item = loader_find_member(expander->loader, plan->file, node->item, "lock");

        if (!node->judged)
                loader_error_in(expander->loader, (Plan *) plan, from, text_offset(&plan->file->text, item),
                                g_strdup_printf("lock: '%s' holds '%s' already while this runs, which would wait for "
                                                "it for ever",
                                                path, node->extras->lock));
        node->judged = true;
}

/* The name of the lock that is to be let go where the node ends, or NULL. */
static const char *take_lock(Expander *expander, const Plan *plan, uint32_t from, NodeId id) {
        const Extras *extras = plan_node(plan, from)->extras;
        const char *lock = extras ? extras->lock : NULL;
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

static NodeId open_node(Expander *expander, const Plan *plan, uint32_t from) {
        const PlanNode *node = plan_node(plan, from);
        const PlanUse *use = node->use != PLAN_NONE ? plan_use(plan, node->use) : NULL;
        Origin origin = { .plan = plan, .node = from };
        NodeId id;

        /* What uses a tree is called by that, if nobody has called it anything else. */
        id = tree_builder_open(expander->builder, node->type,
                               node->name
                                       ?: use && use->tree ? use->tree->name
                                                           : NULL,
                               node->params);
        expander->n_nodes++;
        if (expander->expansion->origins)
                g_array_append_val(expander->expansion->origins, origin);
        add_templates(expander, plan, from, id);
        add_extras(expander, node, id);
        return id;
}

/* What comes below the node that has just been opened. */
static void push_level(Expander *expander, const Plan *plan, uint32_t from, NodeId id, unsigned scope,
                       const char *lock) {
        const PlanNode *node = plan_node(plan, from);
        const PlanUse *use = node->use != PLAN_NONE ? plan_use(plan, node->use) : NULL;
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

        if (node->end > from + 1 || node->use != PLAN_NONE)
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

void expansion_make(Expansion *expansion, Loader *loader, Plan *root) {
        Expander expander = { .loader = loader, .expansion = expansion };

        *expansion = (Expansion){ .root = root,
                                  .templates = g_array_new(false, false, sizeof(Template)),
                                  .extras = g_array_new(false, false, sizeof(ExtrasNode)),
                                  .scopes = g_array_new(false, false, sizeof(ScopeInfo)),
                                  .scope_starts = g_array_new(false, false, sizeof(ScopeStart)) };
        if (root->uses->len > 0)
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
        g_clear_pointer(&expansion->extras, g_array_unref);
        g_clear_pointer(&expansion->scopes, g_array_unref);
        g_clear_pointer(&expansion->scope_starts, g_array_unref);
        g_clear_pointer(&expansion->origins, g_array_unref);
}
