/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The parameters of a node with its references filled in: nodes without have those of the tree. */

#include <errno.h>
#include <string.h>

#include "definition/definition-state.h"
#include "definition/params.h"
#include "script/reference.h"

#define PARAMS_ARENA_SIZE 512u

/* The first template of the node or of one behind it. */
static unsigned find_templates(const GArray *templates, NodeId node) {
        unsigned low = 0, high = templates->len;

        while (low < high) {
                unsigned middle = low + (high - low) / 2;

                if (g_array_index(templates, Template, middle).node < node)
                        low = middle + 1;
                else
                        high = middle;
        }

        return low;
}

json_object *definition_template(const Definition *definition, NodeId node, const Param *param) {
        const GArray *templates = definition->loaded.templates;

        for (unsigned i = find_templates(templates, node);
             i < templates->len && g_array_index(templates, Template, i).node == node; i++)
                if (g_array_index(templates, Template, i).param == param)
                        return g_array_index(templates, Template, i).value;

        return NULL;
}

/* The first problem is enough: the leaf cannot start. */
static void on_param_report(const Place *place, bool at_key, char *text, void *userdata) {
        g_autofree char *problem = text;
        g_autofree char *prefix = place_format(at_key ? place->parent : place);
        char **error = userdata;

        if (!*error)
                *error = g_strdup_printf("%s: %s", prefix, problem);
}

/* What the values of a node are filled in from, and where to. */
typedef struct Filling {
        const Blackboard *blackboard;
        Secrets *secrets; /* NULL: their references stay */
        Arena *arena;
        void *values;
} Filling;

static int fill_in(const Filling *filling, const Template *template, char **ret_error);

/* What a text says of a value may quote it, or a part of it. So where a secret is in the value, it is about what was
 * written instead. */
static char *tell_secretly(const Filling *filling, const Template *template) {
        Filling openly = *filling;
        char *error;

        openly.secrets = NULL;
        if (fill_in(&openly, template, &error) < 0)
                return error;

        return g_strdup_printf("%s: what is in the credential cannot stand here", template->param->name);
}

static int fill_in(const Filling *filling, const Template *template, char **ret_error) {
        g_autofree char *problem = NULL;
        ParamSetter setter = {
                .arena = filling->arena, .report = on_param_report, .userdata = &problem, .origin = template->value
        };
        json_object *value;
        int r;

        r = reference_reveal(filling->blackboard, filling->secrets, template->value, &value, &problem);
        if (r < 0) {
                *ret_error = g_strdup_printf("%s: %s", template->param->name, problem);
                return -EINVAL;
        }

        arena_own(filling->arena, value);
        r = param_set(&setter, template->param, filling->values, value);
        if (r < 0)
                *ret_error = filling->secrets && reference_to_secret_inside(template->value)
                                     ? tell_secretly(filling, template)
                                     : g_steal_pointer(&problem);

        return r;
}

int definition_params_revealed(const Definition *definition, NodeId node, const Blackboard *blackboard,
                               Secrets *secrets, Params *ret_params, char **ret_error) {
        const Node *n = &definition->loaded.tree->nodes[node];
        const GArray *templates = definition->loaded.templates;
        unsigned i = find_templates(templates, node);
        Filling filling = { .blackboard = blackboard, .secrets = secrets };
        g_autoptr(Arena) arena = NULL;

        if (i == templates->len || g_array_index(templates, Template, i).node != node) {
                *ret_params = (Params){ .values = n->params };
                return 0;
        }

        filling.arena = arena = arena_new(PARAMS_ARENA_SIZE);
        filling.values = arena_alloc(arena, n->type->params_size);
        memcpy(filling.values, n->params, n->type->params_size);

        for (; i < templates->len && g_array_index(templates, Template, i).node == node; i++) {
                int r = fill_in(&filling, &g_array_index(templates, Template, i), ret_error);

                if (r < 0)
                        return r;
        }

        *ret_params = (Params){ .values = filling.values, .owned = g_steal_pointer(&arena) };
        return 0;
}

int definition_params(const Definition *definition, NodeId node, const Blackboard *blackboard, Params *ret_params,
                      char **ret_error) {
        return definition_params_revealed(definition, node, blackboard, NULL, ret_params, ret_error);
}

void params_clear(Params *params) {
        arena_free(params->owned);
        *params = (Params){};
}
