/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Checks that each SubTree sets the inputs that its tree needs, and uses only inputs and outputs that the tree
 * declares. */

#include <string.h>

#include "basic/cleanup.h"
#include "basic/excerpt.h"
#include "basic/nearest.h"
#include "definition/loader.h"
#include "script/reference.h"

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
        if (variable)
                return;

        /* A string with a reference inside is still a string, and a list with one is still a list. */
        known = settled(call, value);
        problem = declaration_problem(input, known ?: value);
        if (problem)
                call_error(call, key + 1, g_strdup_printf("inputs.%s: %s", name, problem));
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
        const SubTreeParams *params = plan_node(plan, node)->params;
        uint32_t end = node + 1 < plan->nodes->len ? plan_node(plan, node + 1)->templates : plan->templates->len;

        for (uint32_t i = plan_node(plan, node)->templates; i < end; i++) {
                const Template *template = &g_array_index(plan->templates, Template, i);

                if (template->param->offset == offsetof(SubTreeParams, inputs))
                        return template->value;
        }

        return params->inputs;
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
