/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Finds which trees use which others, checks the inputs and outputs of each SubTree against what its tree declares, and
 * computes the sizes of trees. A tree that would exceed the limits is refused before it is copied.
 */

#include <string.h>

#include "basic/cleanup.h"
#include "basic/excerpt.h"
#include "basic/foreach.h"
#include "basic/nearest.h"
#include "definition/load/loader.h"
#include "script/reference.h"

/* Longer ones are cut. */
#define CHAIN_MAX 30u
#define CIRCLE_MAX 30u

void loader_add_use(Loader *loader, uint32_t node) {
        PlanNode *n = plan_node(loader->plan, node);
        PlanUse use = { .node = node, .depth = loader->n_open };

        if (n->type->flags & TYPE_FOR_EACH) {
                const ForEachParams *params = n->params;
                const char **name = arena_alloc(loader->arena, 3 * sizeof(char *));

                use.names = name;
                if (params->as)
                        *name++ = params->as;
                if (params->index)
                        *name = params->index;
                use.copies = plan_template(loader->plan, node, "concurrency") ? FOR_EACH_LATE_COPIES
                                                                              : (uint32_t) MAX(params->concurrency, 1);
        }

        n->use = loader->plan->uses->len;
        g_array_append_val(loader->plan->uses, use);
}

static size_t offset_of(const Loader *loader, const Plan *plan, uint32_t node, const char *key) {
        uint32_t item = plan_node(plan, node)->item, member = loader_find_member(loader, plan->file, item, key);

        return text_offset(&plan->file->text, member > 0 ? member : item);
}

/* The message names the chain of trees that leads to this one, if it is not the tree at the top: "boot uses camera uses
 * lens". */
static void report_tree(Loader *loader, Plan *plan, uint32_t node, const char *problem) {
        g_autoptr(GPtrArray) names = g_ptr_array_new();
        GString *text = g_string_new(NULL);
        const Plan *user = plan;

        for (; user && names->len < CHAIN_MAX; user = user->user)
                g_ptr_array_add(names, (char *) user->name);

        g_string_append_printf(text, "tree: %s", problem);
        if (plan->user) {
                g_string_append(text, user ? " (... uses " : " (");
                for (unsigned i = names->len; i-- > 0;)
                        g_string_append_printf(text, "%s%s", (const char *) names->pdata[i], i > 0 ? " uses " : ")");
        }

        loader_error_in(loader, plan, node, offset_of(loader, plan, node, "tree"), g_string_free(text, false));
}

void loader_find_uses(Loader *loader, Plan *plan) {
        for (unsigned i = 0; i < plan->uses->len; i++) {
                const SubTreeParams *params = plan_node(plan, plan_use(plan, i)->node)->params;
                char *problem = NULL, *instead = NULL;
                Plan *tree;

                if (plan_use(plan, i)->copies > 0)
                        continue;

                tree = params->tree ? loader_find_tree(loader, plan, params->tree, &problem, &instead) : NULL;
                plan_use(plan, i)->tree = tree;
                plan_use(plan, i)->problem = problem;
                plan_use(plan, i)->instead = instead;
                plan_node(plan, plan_use(plan, i)->node)->malformed |= !tree;
        }
}

void loader_report_uses(Loader *loader, Plan *root) {
        g_autoptr(GPtrArray) found = g_ptr_array_new();

        /* By which tree each other one is used, from the root on. */
        if (root)
                g_ptr_array_add(found, root);
        for (unsigned i = 0; i < found->len; i++) {
                Plan *plan = g_ptr_array_index(found, i);

                ARRAY_FOREACH(const PlanUse, use, plan->uses) {
                        if (!use->tree || use->tree == root || use->tree->user)
                                continue;

                        use->tree->user = plan;
                        g_ptr_array_add(found, use->tree);
                }
        }

        PTRS_FOREACH(Plan, plan, loader->queue)
                ARRAY_FOREACH(const PlanUse, use, plan->uses)
                        if (use->problem) {
                                report_tree(loader, plan, use->node, use->problem);
                                diagnostics_suggest(loader->diagnostics, use->instead);
                        }
}

/* A tree that is being measured, and its next use. */
typedef struct Step {
        Plan *plan;
        unsigned next; /* use */
} Step;

/* "a uses b uses a": from the step with the tree that is used on. */
static void report_circle(Loader *loader, const GArray *steps, const PlanUse *use) {
        Plan *plan = g_array_index(steps, Step, steps->len - 1).plan;
        GString *circle = g_string_new("tree: a tree cannot be part of itself: ");
        unsigned first = steps->len - 1, n;

        while (g_array_index(steps, Step, first).plan != use->tree)
                first--;

        n = MIN(steps->len - first, CIRCLE_MAX);
        for (unsigned i = first; i < first + n; i++)
                g_string_append_printf(circle, "%s uses ", g_array_index(steps, Step, i).plan->name);
        g_string_append_printf(circle, "%s%s", first + n < steps->len ? "... uses " : "", use->tree->name);

        plan->unbuildable = true;
        loader_error_in(loader, plan, use->node, offset_of(loader, plan, use->node, "tree"),
                        g_string_free(circle, false));
}

/* How often each node below a ForEach counts. */
typedef struct Factor {
        uint32_t end; /* of the ForEach */
        uint64_t copies;
} Factor;

static uint64_t add_limited(const Loader *loader, uint64_t sum, uint64_t copies, uint64_t n) {
        unsigned max = loader->limits->max[LIMIT_NODES];

        return MIN(sum + MIN(copies, max + 1) * n, max + 1);
}

static void check_size(Loader *loader, Plan *plan, const PlanUse *use) {
        unsigned max = loader->limits->max[LIMIT_NODES];
        bool was_small = !use->tree || use->tree->n_nodes <= max;

        if (plan->n_nodes <= max)
                return;

        plan->unbuildable = true;
        if (was_small)
                loader_error_in(loader, plan, use->node,
                                offset_of(loader, plan, use->node, use->copies > 0 ? "concurrency" : "tree"),
                                g_strdup_printf("too many nodes: a tree has at most %u, counting what each SubTree "
                                                "uses, and the child of a ForEach as often as its 'concurrency' says",
                                                max));
}

/* Adds the nodes from *at to until, each as often as the ForEach nodes around it require. Afterwards, factors are those
 * of the last node. */
static uint64_t count_until(const Loader *loader, const Plan *plan, GArray *factors, uint32_t *at, uint32_t until) {
        uint64_t sum = plan->n_nodes;

        while (*at < until) {
                const Factor *factor = &g_array_index(factors, Factor, factors->len - 1);
                uint32_t n = MIN(factor->end, until) - *at;

                if (n == 0)
                        g_array_set_size(factors, factors->len - 1);

                sum = add_limited(loader, sum, factor->copies, n);
                *at += n;
        }

        return sum;
}

static void measure_use(Loader *loader, Plan *plan, const PlanUse *use, GArray *factors) {
        unsigned max_nodes = loader->limits->max[LIMIT_NODES], max_levels = loader->limits->max[LIMIT_DEPTH];
        uint64_t copies = g_array_index(factors, Factor, factors->len - 1).copies;
        Factor inside = { .end = plan_node(plan, use->node)->end, .copies = MIN(copies * use->copies, max_nodes + 1) };

        if (use->copies > 0) {
                g_array_append_val(factors, inside);
                return;
        }

        if (!use->tree)
                return;

        plan->n_nodes = add_limited(loader, plan->n_nodes, copies, use->tree->n_nodes);
        plan->unbuildable |= use->tree->unbuildable;
        plan->levels = MAX(plan->levels, MIN(use->depth + use->tree->levels, max_levels + 1));
        if (plan->levels <= max_levels || plan->unbuildable)
                return;

        plan->unbuildable = true;
        if (use->tree->levels <= max_levels)
                loader_error_in(loader, plan, use->node, offset_of(loader, plan, use->node, "tree"),
                                g_strdup_printf("nested too deeply: with the tree that is used here, there are more "
                                                "than %u levels",
                                                max_levels));
}

static void measure(Loader *loader, Plan *plan) {
        g_autoptr(GArray) factors = g_array_new(false, false, sizeof(Factor));
        Factor all = { .end = plan->nodes->len, .copies = 1 };
        const PlanUse *use = NULL;
        uint32_t at = 0;

        plan->levels = plan->depth;
        g_array_append_val(factors, all);

        for (unsigned i = 0; i < plan->uses->len && !plan->unbuildable; i++) {
                use = plan_use(plan, i);
                plan->n_nodes = count_until(loader, plan, factors, &at, use->node + 1);
                measure_use(loader, plan, use, factors);
                check_size(loader, plan, use);
        }

        if (plan->unbuildable)
                return;

        plan->n_nodes = count_until(loader, plan, factors, &at, plan->nodes->len);
        if (use)
                check_size(loader, plan, use);
}

/* Errors in another file are also reported where that file is used. */
static void check_used(Loader *loader, Plan *plan) {
        ARRAY_FOREACH(const PlanUse, use, plan->uses) {
                g_autofree char *problem = NULL;

                if (!use->tree || !(use->tree->wrong || use->tree->file->wrong))
                        continue;

                if (use->tree->unit != plan->unit) {
                        problem = g_strdup_printf("'%s' cannot be used, because it has errors", use->tree->file->path);
                        report_tree(loader, plan, use->node, problem);
                }
                plan->wrong = true;
        }
}

/* Measures all trees that a tree uses before the tree itself. */
static void visit(Loader *loader, Plan *root) {
        g_autoptr(GArray) steps = g_array_new(false, false, sizeof(Step));
        Step first = { .plan = root };

        root->state = PLAN_OPEN;
        g_array_append_val(steps, first);

        while (steps->len > 0) {
                Step *step = &g_array_index(steps, Step, steps->len - 1);
                const PlanUse *use = step->next < step->plan->uses->len ? plan_use(step->plan, step->next++) : NULL;

                if (!use) {
                        check_used(loader, step->plan);
                        measure(loader, step->plan);
                        step->plan->state = PLAN_DONE;
                        g_array_set_size(steps, steps->len - 1);
                } else if (use->tree && use->tree->state == PLAN_OPEN)
                        report_circle(loader, steps, use);
                else if (use->tree && use->tree->state == PLAN_NEW) {
                        Step inner = { .plan = use->tree };

                        use->tree->state = PLAN_OPEN;
                        g_array_append_val(steps, inner);
                }
        }
}

void loader_measure_plans(Loader *loader) {
        PTRS_FOREACH(Plan, plan, loader->queue)
                if (plan->state == PLAN_NEW)
                        visit(loader, plan);
}

/* With more candidates, no name is suggested. */
#define NEAREST_MAX 1000u

/* A SubTree whose tree is known. */
typedef struct Call {
        Loader *loader;
        Plan *plan;
        uint32_t node;
        const Plan *tree;
        GHashTable *meant; /* inputs that were probably meant by misspelt ones */
} Call;

static void call_error(const Call *call, uint32_t item, char *text) {
        plan_node(call->plan, call->node)->correct = false;
        loader_error_in(call->loader, call->plan, call->node, text_offset(&call->plan->file->text, item), text);
}

/* Reports that "the tree 'camera' has no input 'unt'; did you mean 'unit'?". Returns the suggested name, or NULL. */
static const char *no_variable(const Call *call, uint32_t key, const char *what, const char *name,
                               const Declaration *declarations) {
        g_autofree char *shown = excerpt(name, strlen(name));
        Nearest nearest = { .word = name };
        const Declaration *declaration = declarations;

        for (unsigned i = 0; i < NEAREST_MAX && declaration->name; i++, declaration++)
                nearest_offer(&nearest, declaration->name);

        if (nearest.best)
                call_error(call, key,
                           g_strdup_printf("%ss: the tree '%s' has no %s '%s'; did you mean '%s'?", what,
                                           call->tree->name, what, shown, nearest.best));
        else
                call_error(call, key,
                           g_strdup_printf("%ss: the tree '%s' has no %s '%s'", what, call->tree->name, what, shown));
        diagnostics_suggest(call->loader->diagnostics, nearest.best);
        return nearest.best;
}

static void check_input(const Call *call, const char *name, json_object *value, uint32_t key) {
        const Declaration *input = g_hash_table_lookup(call->tree->input_names, name), *from;
        g_autofree char *variable = reference_key(value), *problem = NULL, *error = NULL;
        g_autoptr(json_object) known = NULL;
        const char *text = json_object_is_type(value, json_type_string) ? json_object_get_string(value) : NULL;

        if (!input) {
                const char *meant = no_variable(call, key, "input", name, call->tree->inputs);

                if (meant)
                        g_hash_table_add(call->meant, (char *) meant);
                return;
        }

        /* An input of the tree becomes one of the other tree. */
        if (variable) {
                from = declaration_find(call->plan->inputs, variable);
                if (from && from->type != VARIABLE_ANY && input->type != VARIABLE_ANY && from->type != input->type &&
                    !(variable_type_is_number(from->type) && variable_type_is_number(input->type)))
                        call_error(call, key + 1,
                                   g_strdup_printf("inputs.%s: expected %s, but '%s' is %s", input->name,
                                                   variable_type_describe(input->type), variable,
                                                   variable_type_describe(from->type)));
                return;
        }

        /* A string with a reference inside is still a string, and a list with one is still a list. References are
         * checked when the SubTree starts. */
        if (reference_inside(value) && reference_expand(call->loader->nothing, value, &known, &error) < 0)
                known = NULL;
        problem = declaration_problem(input, known ?: value);
        if (problem)
                call_error(call, key + 1, g_strdup_printf("inputs.%s: %s", name, problem));
        else if (text && (declaration_find(call->plan->inputs, text) ||
                          json_object_object_get_ex(call->plan->blackboard, text, NULL)))
                loader_warning_in(call->loader, call->plan, call->node, text_offset(&call->plan->file->text, key + 1),
                                  g_strdup_printf("inputs.%s: \"%s\" is a text here; the value of the variable is "
                                                  "\"{%s}\"",
                                                  name, text, text));
}

static void check_given(const Call *call, json_object *given, uint32_t item) {
        const Text *text = &call->plan->file->text;

        TEXT_KEYS(text, key, item) {
                size_t length;
                const char *word = text_string(text, key, call->loader->scratch, &length);
                g_autofree char *name = g_strndup(word, length);
                json_object *value;

                json_object_object_get_ex(given, name, &value);
                check_input(call, name, value, key);
        }
}

static void check_outputs(const Call *call, uint32_t item) {
        const Text *text = &call->plan->file->text;
        g_autoptr(GHashTable) names = g_hash_table_new(g_str_hash, g_str_equal);

        if (item == 0 || text_kind(text, item) != TEXT_OBJECT)
                return;

        for (const Declaration *output = call->tree->outputs; output->name; output++)
                g_hash_table_add(names, (char *) output->name);

        TEXT_KEYS(text, key, item) {
                size_t length;
                const char *word = text_string(text, key, call->loader->scratch, &length);
                g_autofree char *name = g_strndup(word, length);

                if (!g_hash_table_contains(names, name))
                        no_variable(call, key, "output", name, call->tree->outputs);
        }
}

static void check_call(const Call *call) {
        const TreeFile *file = call->plan->file;
        const PlanNode *node = plan_node(call->plan, call->node);
        uint32_t inputs = loader_find_member(call->loader, file, node->item, "inputs");
        /* If they contain references, they are in a template. */
        json_object *given =
                plan_template(call->plan, call->node, "inputs") ?: ((const SubTreeParams *) node->params)->inputs;

        if (inputs > 0 && text_kind(&file->text, inputs) != TEXT_OBJECT)
                call_error(call, inputs, g_strdup("inputs: expected an object, such as {\"NAME\": VALUE}"));
        else if (inputs == 0 || given) {
                if (inputs > 0)
                        check_given(call, given, inputs);
                for (const Declaration *input = call->tree->inputs; input->name; input++)
                        if (input->required && !g_hash_table_contains(call->meant, input->name) &&
                            !json_object_object_get_ex(given, input->name, NULL))
                                call_error(call, inputs > 0 ? inputs : node->item,
                                           g_strdup_printf("inputs: '%s' is missing; the tree '%s' needs it%s%s",
                                                           input->name, call->tree->name,
                                                           input->description ? ": " : "", input->description ?: ""));
        }

        check_outputs(call, loader_find_member(call->loader, file, node->item, "outputs"));
}

void loader_check_inputs(Loader *loader) {
        PTRS_FOREACH(Plan, plan, loader->queue)
                ARRAY_FOREACH(const PlanUse, use, plan->uses) {
                        g_autoptr(GHashTable) meant = g_hash_table_new(g_str_hash, g_str_equal);
                        Call call = {
                                .loader = loader, .plan = plan, .node = use->node, .tree = use->tree, .meant = meant
                        };

                        if (use->tree && !use->tree->declarations_unknown)
                                check_call(&call);
                }
}
