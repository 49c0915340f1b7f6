/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Finds which trees use which others, checks the inputs and outputs of each SubTree against what its tree declares, and
 * computes the sizes of trees. A tree that would exceed the limits is refused before it is copied.
 */

#include <string.h>

#include "basic/cleanup.h"
#include "basic/excerpt.h"
#include "basic/nearest.h"
#include "definition/load/loader.h"
#include "script/reference.h"

#define CIRCLE_MAX 30u /* longer circles are cut */

/* The variables that are local to each copy: as, and index if given. */
static const char *const *local_names(Loader *loader, const ForEachParams *params) {
        const char **names = arena_alloc(loader->arena, 3 * sizeof(char *));
        size_t n = 0;

        if (params->as)
                names[n++] = params->as;
        if (params->index)
                names[n++] = params->index;

        return names;
}

void loader_add_use(Loader *loader, uint32_t node) {
        PlanNode *n = plan_node(loader->plan, node);
        PlanUse use = { .node = node, .depth = loader->n_open };

        if (n->type->flags & TYPE_FOR_EACH) {
                const ForEachParams *params = n->params;

                use.names = local_names(loader, params);
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

/* The message names the chain of trees that leads to this one, if it is not the tree at the top. */
static void report_tree(Loader *loader, Plan *plan, uint32_t node, const char *problem) {
        g_autofree char *chain = plan->user ? plan_chain(plan) : NULL;

        loader_error_in(loader, plan, node, offset_of(loader, plan, node, "tree"),
                        g_strdup_printf("tree: %s%s%s%s", problem, chain ? " (" : "", chain ?: "", chain ? ")" : ""));
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

/* Finds, from the root on, by which tree each other one is used, for messages. */
static void find_users(Plan *root) {
        g_autoptr(GPtrArray) found = g_ptr_array_new();

        g_ptr_array_add(found, root);
        for (unsigned i = 0; i < found->len; i++) {
                Plan *plan = g_ptr_array_index(found, i);

                for (unsigned u = 0; u < plan->uses->len; u++) {
                        Plan *used = plan_use(plan, u)->tree;

                        if (used && used != root && !used->user) {
                                used->user = plan;
                                g_ptr_array_add(found, used);
                        }
                }
        }
}

void loader_report_uses(Loader *loader, Plan *root) {
        if (root)
                find_users(root);

        for (unsigned p = 0; p < loader->queue->len; p++) {
                Plan *plan = g_ptr_array_index(loader->queue, p);

                for (unsigned i = 0; i < plan->uses->len; i++)
                        if (plan_use(plan, i)->problem) {
                                report_tree(loader, plan, plan_use(plan, i)->node, plan_use(plan, i)->problem);
                                diagnostics_suggest(loader->diagnostics, plan_use(plan, i)->instead);
                        }
        }
}

/* A tree that is being measured, and its next use. */
typedef struct Step {
        Plan *plan;
        unsigned next; /* use */
} Step;

/* "a uses b uses a": from the step with the plan on. */
static char *circle_of(const GArray *steps, const Plan *plan) {
        unsigned first = steps->len - 1, n;
        GString *circle = g_string_new(NULL);

        while (g_array_index(steps, Step, first).plan != plan)
                first--;

        n = MIN(steps->len - first, CIRCLE_MAX);
        for (unsigned i = first; i < first + n; i++)
                g_string_append_printf(circle, "%s uses ", g_array_index(steps, Step, i).plan->name);

        g_string_append_printf(circle, "%s%s", first + n < steps->len ? "... uses " : "", plan->name);
        return g_string_free(circle, false);
}

static void report_circle(Loader *loader, const GArray *steps, const PlanUse *use) {
        Plan *plan = g_array_index(steps, Step, steps->len - 1).plan;
        g_autofree char *circle = circle_of(steps, use->tree);

        plan->unbuildable = true;
        loader_error_in(loader, plan, use->node, offset_of(loader, plan, use->node, "tree"),
                        g_strdup_printf("tree: a tree cannot be part of itself: %s", circle));
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

static void check_levels(Loader *loader, Plan *plan, const PlanUse *use) {
        unsigned max = loader->limits->max[LIMIT_DEPTH];
        bool was_shallow = use->tree->levels <= max;

        plan->levels = MAX(plan->levels, MIN(use->depth + use->tree->levels, max + 1));
        if (plan->levels <= max || plan->unbuildable)
                return;

        plan->unbuildable = true;
        if (was_shallow)
                loader_error_in(loader, plan, use->node, offset_of(loader, plan, use->node, "tree"),
                                g_strdup_printf("nested too deeply: with the tree that is used here, there are more "
                                                "than %u levels",
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
        uint64_t copies = g_array_index(factors, Factor, factors->len - 1).copies;
        Factor inside = { .end = plan_node(plan, use->node)->end,
                          .copies = MIN(copies * use->copies, loader->limits->max[LIMIT_NODES] + 1) };

        if (use->copies > 0) {
                g_array_append_val(factors, inside);
                return;
        }

        if (!use->tree)
                return;

        plan->n_nodes = add_limited(loader, plan->n_nodes, copies, use->tree->n_nodes);
        plan->unbuildable |= use->tree->unbuildable;
        check_levels(loader, plan, use);
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
        for (unsigned i = 0; i < plan->uses->len; i++) {
                const PlanUse *use = plan_use(plan, i);
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
        for (unsigned i = 0; i < loader->queue->len; i++) {
                Plan *plan = g_ptr_array_index(loader->queue, i);

                if (plan->state == PLAN_NEW)
                        visit(loader, plan);
        }
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

/* The value as it will be if its references are not evaluated: they are checked when the SubTree starts. NULL: not
 * known. */
static json_object *settled(const Call *call, json_object *value) {
        g_autofree char *error = NULL;
        json_object *settled;

        if (!reference_inside(value))
                return json_object_get(value);
        if (reference_expand(call->loader->nothing, value, &settled, &error) < 0)
                return NULL;

        return settled;
}

/* Does the tree itself declare it? */
static bool has_variable(const Plan *plan, const char *name) {
        return declaration_find(plan->inputs, name) || json_object_object_get_ex(plan->blackboard, name, NULL);
}

/* An input of the tree becomes one of the other tree. */
static void check_passed(const Call *call, const Declaration *input, const char *variable, uint32_t key) {
        const Declaration *from = declaration_find(call->plan->inputs, variable);

        if (from && from->type != VARIABLE_ANY && input->type != VARIABLE_ANY && from->type != input->type &&
            !(variable_type_is_number(from->type) && variable_type_is_number(input->type)))
                call_error(call, key + 1,
                           g_strdup_printf("inputs.%s: expected %s, but '%s' is %s", input->name,
                                           variable_type_describe(input->type), variable,
                                           variable_type_describe(from->type)));
}

static void check_input(const Call *call, const char *name, json_object *value, uint32_t key) {
        const Declaration *input = g_hash_table_lookup(call->tree->input_names, name);
        g_autofree char *variable = reference_key(value), *problem = NULL;
        g_autoptr(json_object) known = NULL;

        if (!input) {
                const char *meant = no_variable(call, key, "input", name, call->tree->inputs);

                if (meant)
                        g_hash_table_add(call->meant, (char *) meant);
                return;
        }
        if (variable) {
                check_passed(call, input, variable, key);
                return;
        }
        /* A string with a reference inside is still a string, and a list with one is still a list. */
        known = settled(call, value);
        problem = declaration_problem(input, known ?: value);
        if (problem)
                call_error(call, key + 1, g_strdup_printf("inputs.%s: %s", name, problem));
        else if (json_object_is_type(value, json_type_string) &&
                 has_variable(call->plan, json_object_get_string(value)))
                loader_warning_in(call->loader, call->plan, call->node, text_offset(&call->plan->file->text, key + 1),
                                  g_strdup_printf("inputs.%s: \"%s\" is a text here; the value of the variable is "
                                                  "\"{%s}\"",
                                                  name, json_object_get_string(value), json_object_get_string(value)));
}

static void check_given(const Call *call, json_object *given, uint32_t item) {
        const Text *text = &call->plan->file->text;
        uint32_t key = item + 1;

        for (uint32_t i = 0; item > 0 && i < text_item(text, item)->count; i++, key = text_next(text, key + 1)) {
                size_t length;
                const char *word = text_string(text, key, call->loader->scratch, &length);
                g_autofree char *name = g_strndup(word, length);
                json_object *value;

                json_object_object_get_ex(given, name, &value);
                check_input(call, name, value, key);
        }
}

static void check_missing(const Call *call, json_object *given, uint32_t item) {
        for (const Declaration *input = call->tree->inputs; input->name; input++)
                if (input->required && !g_hash_table_contains(call->meant, input->name) &&
                    !json_object_object_get_ex(given, input->name, NULL))
                        call_error(call, item,
                                   g_strdup_printf("inputs: '%s' is missing; the tree '%s' needs it%s%s", input->name,
                                                   call->tree->name, input->description ? ": " : "",
                                                   input->description ?: ""));
}

static void check_outputs(const Call *call, uint32_t item) {
        const Text *text = &call->plan->file->text;
        g_autoptr(GHashTable) names = g_hash_table_new(g_str_hash, g_str_equal);
        uint32_t key = item + 1;

        if (item == 0 || text_kind(text, item) != TEXT_OBJECT)
                return;

        for (const Declaration *output = call->tree->outputs; output->name; output++)
                g_hash_table_add(names, (char *) output->name);

        for (uint32_t i = 0; i < text_item(text, item)->count; i++, key = text_next(text, key + 1)) {
                size_t length;
                const char *word = text_string(text, key, call->loader->scratch, &length);
                g_autofree char *name = g_strndup(word, length);

                if (!g_hash_table_contains(names, name))
                        no_variable(call, key, "output", name, call->tree->outputs);
        }
}

/* The inputs as they were read; if they contain references, they are in a template. */
static json_object *given_inputs(const Plan *plan, uint32_t node) {
        return plan_template(plan, node, "inputs") ?: ((const SubTreeParams *) plan_node(plan, node)->params)->inputs;
}

static void check_call(const Call *call) {
        const TreeFile *file = call->plan->file;
        uint32_t node = plan_node(call->plan, call->node)->item;
        uint32_t inputs = loader_find_member(call->loader, file, node, "inputs");
        json_object *given = given_inputs(call->plan, call->node);

        if (inputs > 0 && text_kind(&file->text, inputs) != TEXT_OBJECT)
                call_error(call, inputs, g_strdup("inputs: expected an object, such as {\"NAME\": VALUE}"));
        else if (inputs == 0 || given) {
                check_given(call, given, inputs);
                check_missing(call, given, inputs > 0 ? inputs : node);
        }

        check_outputs(call, loader_find_member(call->loader, file, node, "outputs"));
}

void loader_check_inputs(Loader *loader) {
        for (unsigned p = 0; p < loader->queue->len; p++) {
                Plan *plan = g_ptr_array_index(loader->queue, p);

                for (unsigned i = 0; i < plan->uses->len; i++) {
                        const PlanUse *use = plan_use(plan, i);
                        g_autoptr(GHashTable) meant = g_hash_table_new(g_str_hash, g_str_equal);
                        Call call = {
                                .loader = loader, .plan = plan, .node = use->node, .tree = use->tree, .meant = meant
                        };

                        if (use->tree && !use->tree->declarations_unknown)
                                check_call(&call);
                }
        }
}
