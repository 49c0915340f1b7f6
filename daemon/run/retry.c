/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Implements retry.h. A node is taken over if it has succeeded since its parent was started last. A control can be
 * entered in its middle if its outcome depends on those of its children only. All others have a state of their own (an
 * iteration, an element, the variables of a SubTree, a cleanup that has undone what was done), so they begin anew.
 */

#include <errno.h>

#include "engine/types/types.h"
#include "run/retry.h"
#include "run/run-state.h"

typedef enum Entrance {
        ENTRANCE_NONE,  /* it begins anew */
        ENTRANCE_ORDER, /* a child is only taken over if those before it are */
        ENTRANCE_ALL,
        ENTRANCE_FIRST, /* only in its first child; the others handle its failure */
} Entrance;

static const struct {
        const NodeType *type;
        Entrance entrance;
} entrances[] = {
        { &sequence_type, ENTRANCE_ORDER },
        { &async_sequence_type, ENTRANCE_ORDER },
        { &sequence_with_memory_type, ENTRANCE_ORDER },
        { &fallback_type, ENTRANCE_ALL },
        { &async_fallback_type, ENTRANCE_ALL },
        { &parallel_type, ENTRANCE_ALL },
        { &parallel_all_type, ENTRANCE_ALL },
        { &if_then_else_type, ENTRANCE_ALL },
        { &switch_type, ENTRANCE_ALL },
        { &try_catch_type, ENTRANCE_FIRST },
        { &recovery_node_type, ENTRANCE_FIRST },
        { &retry_until_successful_type, ENTRANCE_ALL },
        { &force_success_type, ENTRANCE_ALL },
        { &delay_type, ENTRANCE_ALL },
        { &timeout_type, ENTRANCE_ALL },
        { &run_once_type, ENTRANCE_ALL },
        { &precondition_type, ENTRANCE_ALL },
        { &inhibit_type, ENTRANCE_ALL },
};

typedef struct Walk {
        const Run *run;
        const Tree *tree;
        RetryPlan *plan;
        NodeId from;
        bool reached;   /* from */
        NodeId blocked; /* the control around it that can only begin anew; NODE_NONE: none */
} Walk;

static Entrance entrance_of(const NodeType *type) {
        for (size_t i = 0; i < G_N_ELEMENTS(entrances); i++)
                if (entrances[i].type == type)
                        return entrances[i].entrance;

        return ENTRANCE_NONE;
}

/* Does its status come from the last activation of the node above? */
static bool is_of(const Walk *walk, NodeId node, NodeId above) {
        uint64_t since = node_history_since(walk->run->history, node);

        return since > 0 && (above == NODE_NONE || since >= node_history_since(walk->run->history, above));
}

static bool has_done(const Walk *walk, NodeId node, NodeId above) {
        Status status = node_history_status(walk->run->history, node);

        return is_of(walk, node, above) &&
               (status == STATUS_SUCCESS ||
                (status == STATUS_FAILURE && walk->tree->nodes[node].flags & NODE_MAY_FAIL));
}

static bool has_done_inside(const Walk *walk, NodeId node) {
        for (NodeId below = node + 1; below < walk->tree->nodes[node].end; below++)
                if (walk->tree->nodes[below].type->class == NODE_ACTION && has_done(walk, below, node))
                        return true;

        return false;
}

static void begin_at(Walk *walk, NodeId node) {
        if (walk->plan->first == NODE_NONE)
                walk->plan->first = node;
}

/* True: what follows it in a Sequence can be taken over, too. */
static bool visit(Walk *walk, NodeId node) {
        const Node *definition = &walk->tree->nodes[node];
        bool around = walk->from != NODE_NONE && node < walk->from && walk->from < definition->end;
        Entrance entrance = entrance_of(definition->type);

        if (walk->from != NODE_NONE && node >= walk->from) {
                walk->reached |= node == walk->from;
                begin_at(walk, node);
                return false;
        }
        if (!around && (definition->type->class == NODE_CONDITION || definition->flags & NODE_PASSIVE))
                return true;
        if (!is_of(walk, node, definition->parent)) {
                begin_at(walk, node);
                return false;
        }
        if (!around && has_done(walk, node, definition->parent)) {
                g_array_append_val(walk->plan->taken, node);
                return true;
        }
        if (!around && node_history_status(walk->run->history, node) == STATUS_SKIPPED)
                return true;
        if (entrance == ENTRANCE_NONE) {
                begin_at(walk, node);
                if (around)
                        walk->blocked = node;
                if (has_done_inside(walk, node))
                        g_array_append_val(walk->plan->anew, node);
                return false;
        }

        for (NodeId child = node + 1; child < definition->end; child = walk->tree->nodes[child].end)
                if ((!visit(walk, child) && entrance == ENTRANCE_ORDER) || entrance == ENTRANCE_FIRST)
                        break;
        return false;
}

static int refuse(const Walk *walk, char **ret_error) {
        g_autofree char *from = tree_node_path(walk->tree, walk->from), *other = NULL;

        if (walk->blocked != NODE_NONE) {
                other = tree_node_path(walk->tree, walk->blocked);
                *ret_error = g_strdup_printf("'%s' is in the %s '%s', which can only begin anew; give that one", from,
                                             walk->tree->nodes[walk->blocked].type->name, other);
        } else if (walk->plan->first != NODE_NONE && walk->plan->first < walk->from) {
                other = tree_node_path(walk->tree, walk->plan->first);
                *ret_error = g_strdup_printf("'%s' comes before '%s' and has not succeeded; begin with that one", other,
                                             from);
        } else
                *ret_error = g_strdup_printf("a run cannot begin with '%s', which handles a failure", from);
        return -EINVAL;
}

int retry_plan_new(const Run *run, NodeId from, RetryPlan **ret_plan, char **ret_error) {
        g_autoptr(RetryPlan) plan = g_new(RetryPlan, 1);
        Walk walk = {
                .run = run, .tree = definition_tree(run->definition), .plan = plan, .from = from, .blocked = NODE_NONE
        };

        *plan = (RetryPlan){ .taken = g_array_new(FALSE, FALSE, sizeof(NodeId)),
                             .anew = g_array_new(FALSE, FALSE, sizeof(NodeId)),
                             .first = NODE_NONE };
        if (run_status(run) == STATUS_RUNNING || run_status(run) == STATUS_IDLE) {
                *ret_error = g_strdup_printf("%s has not finished; halt it first", run_id(run));
                return -EINVAL;
        }
        if (run_status(run) == STATUS_SUCCESS && from == NODE_NONE) {
                *ret_error =
                        g_strdup_printf("%s has succeeded; to run a part of it again, give --from=NODE", run_id(run));
                return -EINVAL;
        }

        (void) visit(&walk, 0);
        if (from != NODE_NONE && !walk.reached)
                return refuse(&walk, ret_error);

        *ret_plan = g_steal_pointer(&plan);
        return 0;
}

void retry_plan_free(RetryPlan *plan) {
        if (!plan)
                return;

        g_array_unref(plan->taken);
        g_array_unref(plan->anew);
        g_free(plan);
}

json_object *retry_variables(const Run *run) {
        const ScopeInfo *scope = definition_scope_info(run->definition, 0);
        unsigned own = definition_own_variables(run->definition);
        const Blackboard *blackboard = variables_outermost(run->variables);
        json_object *variables = blackboard_to_json(blackboard);

        for (const char *const *secret = scope->secrets; secret && *secret; secret++)
                json_object_object_del(variables, *secret);
        for (const Declaration *input = scope->inputs; input->name; input++)
                if (input->kept)
                        json_object_object_del(variables, input->name);
        if (own & OWN_INSTANCE)
                json_object_object_del(variables, VARIABLE_INSTANCE);
        if (own & OWN_RUN)
                json_object_object_del(variables, VARIABLE_RUN);
        return variables;
}
