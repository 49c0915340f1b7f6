/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Builds a tree in depth-first order, computes the flags and routes that follow from its structure, and checks its
 * nodes. Also computes possible outcomes for the node types that share the reasoning, and has the names of the
 * statuses. */

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "engine/tree.h"

static const char *const status_names[STATUS_MAX_] = {
        [STATUS_IDLE] = "idle",       [STATUS_RUNNING] = "running",       [STATUS_SUCCESS] = "success",
        [STATUS_FAILURE] = "failure", [STATUS_SKIPPED] = "skipped",       [STATUS_HALTED] = "halted",
        [STATUS_ERROR] = "error",     [STATUS_UNFINISHED] = "unfinished",
};

const char *status_to_string(Status status) {
        assert(status < STATUS_MAX_);

        return status_names[status];
}

struct TreeBuilder {
        GArray *nodes; /* of Node */
        GPtrArray *names;
        NodeId open; /* NODE_NONE before the root and after it */
};

TreeBuilder *tree_builder_new(uint32_t n_nodes) {
        TreeBuilder *builder = g_new0(TreeBuilder, 1);

        builder->nodes = g_array_sized_new(false, false, sizeof(Node), n_nodes);
        builder->names = g_ptr_array_sized_new(n_nodes);
        builder->open = NODE_NONE;
        return builder;
}

void tree_builder_free(TreeBuilder *builder) {
        if (!builder)
                return;

        g_clear_pointer(&builder->nodes, g_array_unref);
        g_clear_pointer(&builder->names, g_ptr_array_unref);
        g_free(builder);
}

static Node *builder_node(TreeBuilder *builder, NodeId node) {
        return &g_array_index(builder->nodes, Node, node);
}

NodeId tree_builder_open(TreeBuilder *builder, const NodeType *type, const char *name, const void *params) {
        Node node = { .type = type, .params = params, .parent = builder->open };
        NodeId id = builder->nodes->len;

        assert(id < TREE_NODES_MAX);

        if (type->class == NODE_ACTION || type->class == NODE_CONDITION)
                node.flags |= NODE_LEAF;
        if (type->flags & TYPE_IMMEDIATE || type->class == NODE_CONDITION)
                node.flags |= NODE_IMMEDIATE;

        if (builder->open != NODE_NONE) {
                Node *parent = builder_node(builder, builder->open);

                node.depth = parent->depth + 1;
                parent->n_children++;
        }

        g_array_append_val(builder->nodes, node);
        g_ptr_array_add(builder->names, (char *) name);
        builder->open = id;
        return id;
}

void tree_builder_set_flags(TreeBuilder *builder, NodeId node, unsigned flags) {
        assert(!(flags & ~(unsigned) (NODE_GUARDED | NODE_ATTRIBUTED | NODE_LATE)));

        builder_node(builder, node)->flags |= flags;
}

/* The flags for the possible outcomes of the node; its children's are known. With a guard, every outcome is possible.
 */
static unsigned outcome_flags(const Node *nodes, NodeId id) {
        const NodeType *type = nodes[id].type;
        unsigned flags = type->flags & (NODE_NEVER_FAILS | NODE_NEVER_SUCCEEDS | NODE_MAY_SKIP);

        if (type->never)
                flags |= type->never(nodes, id);
        /* Its parameters are not known yet. */
        if (nodes[id].flags & NODE_LATE)
                flags &= ~(unsigned) (NODE_NEVER_FAILS | NODE_NEVER_SUCCEEDS);
        if (nodes[id].flags & NODE_GUARDED)
                flags = NODE_MAY_SKIP;
        /* A node that never ends does not fail, either. */
        if (nodes[id].flags & NODE_MAY_FAIL && !(flags & NODE_NEVER_FAILS && flags & NODE_NEVER_SUCCEEDS))
                flags = (flags & ~(unsigned) NODE_NEVER_SUCCEEDS) | NODE_NEVER_FAILS;
        if (type->class == NODE_ACTION && !(type->flags & TYPE_IMMEDIATE))
                flags |= NODE_SLOW;

        for (NodeId child = id + 1; child < nodes[id].end; child = nodes[child].end)
                flags |= nodes[child].flags & (type->flags & TYPE_ONCE ? NODE_MAY_SKIP : NODE_MAY_SKIP | NODE_SLOW);

        return flags;
}

/* Is it made of conditions only? NODE_LIVE, NODE_CONDITIONAL and NODE_PASSIVE; without the first if there is a SubTree
 * in it; only the last if there are guards. */
static unsigned conditional_flags(TreeBuilder *builder, const Node *node, NodeId id) {
        const NodeType *type = node->type;
        unsigned flags = NODE_LIVE | NODE_CONDITIONAL | NODE_PASSIVE;

        if (node->flags & NODE_ATTRIBUTED)
                return 0;
        if (node->flags & (NODE_GUARDED | NODE_LATE))
                flags = NODE_PASSIVE;
        if (node->flags & NODE_LEAF)
                return type->class == NODE_CONDITION ? flags : 0;

        if (type->flags & TYPE_SUBTREE)
                flags &= ~(unsigned) NODE_LIVE;
        else if (type->flags & TYPE_PASSIVE)
                flags &= NODE_PASSIVE;
        else if (!(type->flags & TYPE_PURE))
                return 0;

        for (NodeId child = id + 1; flags && child < node->end; child = builder_node(builder, child)->end)
                flags &= builder_node(builder, child)->flags;

        return flags;
}

/* Closing happens after all children. */
void tree_builder_close(TreeBuilder *builder) {
        NodeId id = builder->open;
        Node *node = builder_node(builder, id);

        if (node->type->class == NODE_ACTION && !(node->flags & (NODE_GUARDED | NODE_ATTRIBUTED)))
                node->flags |= NODE_PLAIN_LEAF;

        node->end = builder->nodes->len;
        node->flags |= conditional_flags(builder, node, id);
        node->flags |= outcome_flags(builder_node(builder, 0), id);

        builder->open = node->parent;
}

/* Leads to the next child, or to where the parent's outcome leads. */
static NodeId route_after(const Tree *tree, NodeId child, Status outcome) {
        NodeId parent = tree->nodes[child].parent, next = tree->nodes[child].end;
        const Course *course = tree->nodes[parent].type->course;

        if (outcome == course->continue_on && next < tree->nodes[parent].end) {
                while (tree->nodes[next].flags & NODE_PASSED)
                        next++;

                return next;
        }

        outcome = outcome == STATUS_SUCCESS ? course->success : course->failure;
        return tree->nodes[parent].flags & NODE_PASSED ? tree->routes[parent].after[outcome - STATUS_SUCCESS]
                                                       : ROUTE_OUT | outcome;
}

Tree *tree_builder_finish(TreeBuilder *builder) {
        Tree *tree = g_new0(Tree, 1);

        assert(builder->open == NODE_NONE);
        assert(builder->nodes->len > 0);

        tree->interval = TREE_INTERVAL_DEFAULT;
        tree->n_nodes = builder->nodes->len;
        tree->nodes = g_renew(Node, g_array_free(g_steal_pointer(&builder->nodes), false), tree->n_nodes);
        tree->names = g_renew(const char *, g_ptr_array_free(g_steal_pointer(&builder->names), false), tree->n_nodes);
        tree->routes = g_new0(Route, tree->n_nodes);
        tree->attributed = tree->nodes[0].flags & NODE_ATTRIBUTED;

        /* Parents come before their children, so one pass reaches everything below a child that a reactive node
         * evaluates again. Routes lead through a node that begins with its first child, and whose outcome those of its
         * children decide. */
        for (NodeId id = 1; id < tree->n_nodes; id++) {
                Node *node = &tree->nodes[id];
                const Node *parent = &tree->nodes[node->parent];

                if (parent->flags & NODE_RETAINED || parent->type->flags & TYPE_REACTIVE ||
                    (parent->type->flags & TYPE_REACTIVE_FIRST && id == node->parent + 1))
                        node->flags |= NODE_RETAINED;
                if (node->type->course && parent->type->course && !(node->flags & (NODE_GUARDED | NODE_ATTRIBUTED)))
                        node->flags |= NODE_PASSED;
                tree->attributed = tree->attributed || node->flags & NODE_ATTRIBUTED;
        }

        /* A child may take over the routes of its parent. */
        for (NodeId id = 1; id < tree->n_nodes; id++)
                if (tree->nodes[tree->nodes[id].parent].type->course)
                        tree->routes[id] = (Route){ .after = { route_after(tree, id, STATUS_SUCCESS),
                                                               route_after(tree, id, STATUS_FAILURE) } };

        return tree;
}

void tree_free(Tree *tree) {
        if (!tree)
                return;

        g_free(tree->nodes);
        g_free(tree->routes);
        g_free(tree->names);
        g_strfreev(tree->copy_names);
        g_free(tree);
}

NodeId tree_nth_child(const Tree *tree, NodeId node, uint32_t n) {
        NodeId child = node + 1;

        if (n >= tree->nodes[node].n_children)
                return NODE_NONE;

        while (n-- > 0)
                child = tree->nodes[child].end;

        return child;
}

const char *tree_node_name(const Tree *tree, NodeId node) {
        return tree->names[node] ?: tree->nodes[node].type->name;
}

void tree_name_copies(Tree *tree) {
        GPtrArray *names = NULL;

        for (NodeId id = 0; id < tree->n_nodes; id++) {
                bool has_copies = tree->nodes[id].type->flags & TYPE_FOR_EACH && tree->nodes[id].n_children > 1;
                uint32_t n = 0;

                for (NodeId child = id + 1; has_copies && child < tree->nodes[id].end; child = tree->nodes[child].end) {
                        char *name = g_strdup_printf("%s[%" PRIu32 "]", tree_node_name(tree, child), ++n);

                        names = names ?: g_ptr_array_new();
                        g_ptr_array_add(names, name);
                        tree->names[child] = name;
                }
        }

        if (names) {
                g_ptr_array_add(names, NULL);
                tree->copy_names = (char **) g_ptr_array_free(names, false);
        }
}

char *tree_node_path(const Tree *tree, NodeId node) {
        unsigned depth = tree->nodes[node].depth;
        g_autofree const char **names = g_new0(const char *, depth + 2);

        for (NodeId id = node; id != NODE_NONE; id = tree->nodes[id].parent)
                names[depth--] = tree_node_name(tree, id);

        return g_strjoinv("/", (char **) names);
}

char *tree_element_label(const char *name, const char *element) {
        if (!g_str_has_suffix(name, "]"))
                return g_strdup_printf("%s[%s]", name, element);

        return g_strdup_printf("%.*s: %s]", (int) strlen(name) - 1, name, element);
}

char *tree_plain_path(const char *path) {
        GString *text = g_string_new(NULL);

        for (; *path; path++) {
                size_t n = *path == '[' ? strspn(path + 1, "0123456789") : 0;

                if (n > 0 && path[n + 1] == ']' && (!path[n + 2] || path[n + 2] == '/'))
                        path += n + 1;
                else
                        g_string_append_c(text, *path);
        }

        return g_string_free(text, false);
}

void findings_error(Findings *findings, const char *param, int element, const char *format, ...) {
        va_list args;

        va_start(args, format);
        findings->add(findings, param, element, true, g_strdup_vprintf(format, args));
        va_end(args);
}

void findings_trap(Findings *findings, const char *param, const char *format, ...) {
        va_list args;

        va_start(args, format);
        findings->add(findings, param, -1, false, g_strdup_vprintf(format, args));
        va_end(args);
}

void tree_check_node(const Tree *tree, NodeId node, Findings *findings) {
        const Node *definition = &tree->nodes[node];

        if (definition->type->check)
                definition->type->check(tree, node, findings);
        if (definition->flags & NODE_UNINTERRUPTIBLE && node_runs_forever(definition))
                findings_trap(findings, "uninterruptible",
                              "it never ends and is uninterruptible, so nothing can halt it");
}

#define OUTCOMES ((unsigned) (NODE_NEVER_FAILS | NODE_NEVER_SUCCEEDS))

unsigned outcomes_of_child(const Node *nodes, NodeId node) {
        return nodes[node + 1].flags & OUTCOMES;
}

unsigned outcomes_in_order(const Node *nodes, NodeId node, NodeId end, unsigned continue_on) {
        unsigned never = OUTCOMES & ~continue_on;

        for (NodeId child = node + 1; child < end; child = nodes[child].end) {
                never &= nodes[child].flags;
                if (outcome_is_impossible(&nodes[child], continue_on))
                        return never | continue_on;
        }

        return never;
}

unsigned outcomes_in_sequence(const Node *nodes, NodeId node) {
        return outcomes_in_order(nodes, node, nodes[node].end, NODE_NEVER_SUCCEEDS);
}

unsigned outcomes_in_fallback(const Node *nodes, NodeId node) {
        return outcomes_in_order(nodes, node, nodes[node].end, NODE_NEVER_FAILS);
}

uint32_t outcomes_count(const Node *nodes, NodeId node, unsigned never) {
        uint32_t n = 0;

        for (NodeId child = node + 1; child < nodes[node].end; child = nodes[child].end)
                n += !(nodes[child].flags & never);

        return n;
}

static const char *verb_of(unsigned never) {
        return never == NODE_NEVER_SUCCEEDS ? "succeed" : "fail";
}

void outcomes_check_in_order(const Tree *tree, NodeId node, NodeId end, unsigned continue_on, Findings *findings) {
        const Node *nodes = tree->nodes;

        for (NodeId child = node + 1; nodes[child].end < end; child = nodes[child].end)
                if (outcome_is_impossible(&nodes[child], continue_on)) {
                        findings_trap(findings, NULL, "'%s' can never %s, so the nodes after it can never run",
                                      tree_node_name(tree, child), verb_of(continue_on));
                        return;
                }
}

void outcomes_check_sequence(const Tree *tree, NodeId node, Findings *findings) {
        outcomes_check_in_order(tree, node, tree->nodes[node].end, NODE_NEVER_SUCCEEDS, findings);
}

void outcomes_check_other(const Tree *tree, NodeId node, unsigned never, NodeId other, Findings *findings) {
        if (tree->nodes[node].flags & never)
                findings_trap(findings, NULL, "'%s' can never %s, so '%s' can never run", tree_node_name(tree, node),
                              verb_of(never), tree_node_name(tree, other));
}
