/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Fills in the references in the parameters of a node, for definition.h. Nodes without references share the parameters
 * of the tree. */

#include <errno.h>
#include <string.h>

#include "definition/definition-state.h"
#include "definition/params.h"
#include "script/reference.h"

#define PARAMS_ARENA_SIZE 512u

/* The index of the first template whose node is the given one or follows it. */
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

/* Keeps the first problem only: it is enough to refuse the start of the leaf. */
static void on_param_report(const ParamFinding *finding, void *userdata) {
        g_autofree char *problem = finding->text;
        g_autofree char *prefix = place_format(finding->at_key ? finding->place->parent : finding->place);
        char **error = userdata;

        if (!*error && !finding->trap)
                *error = g_strdup_printf("%s: %s", prefix, problem);
}

/* The sources and the destination of the filled-in values of a node. */
typedef struct Filling {
        const Blackboard *blackboard;
        json_object *noted; /* or NULL */
        Secrets *secrets;   /* NULL: references to secrets stay as they are */
        Arena *arena;
        void *values;
} Filling;

static char *text_without_value(const Param *param) {
        return g_strdup_printf("%s: the credential's text cannot be used here", param->name);
}

static int fill_in(const Filling *filling, const Template *template, char **ret_error);

/* An error message may quote the value or a part of it. If the value contains a secret, the message is made from the
 * value as it was written in the file instead. */
static char *describe_without_secret(const Filling *filling, const Template *template) {
        Filling without_secrets = *filling;
        char *error;

        without_secrets.secrets = NULL;
        return fill_in(&without_secrets, template, &error) < 0 ? error : text_without_value(template->param);
}

static int fill_in(const Filling *filling, const Template *template, char **ret_error) {
        g_autofree char *problem = NULL;
        ParamSetter setter = {
                .arena = filling->arena, .report = on_param_report, .userdata = &problem, .origin = template->value
        };
        json_object *value;
        int r;

        r = reference_reveal(filling->blackboard, filling->noted, filling->secrets, template->value, &value, &problem);
        if (r < 0) {
                *ret_error = g_strdup_printf("%s: %s", template->param->name, problem);
                return -EINVAL;
        }

        arena_own(filling->arena, value);
        r = param_set(&setter, template->param, filling->values, value);
        if (r < 0)
                *ret_error = filling->secrets && reference_to_secret_inside(template->value)
                                     ? describe_without_secret(filling, template)
                                     : g_steal_pointer(&problem);

        return r;
}

/* Checks that the value of the parameter is consistent with the others, now that all are known. origin: the value as it
 * was written, or NULL. */
static int check_fit(const Filling *filling, const Param *param, json_object *origin, char **ret_error) {
        ParamSetter setter = {
                .arena = filling->arena, .report = on_param_report, .userdata = ret_error, .origin = origin
        };
        Place place = { .key = param->name };
        json_object *value = *(json_object **) ((char *) filling->values + param->offset);

        *ret_error = NULL;
        return param->fits(&setter, &place, value, filling->values);
}

/* The same for a value with a secret, as in describe_without_secret(). The field is filled in anew; it is not used any
 * more. */
static char *describe_mismatch_without_secret(const Filling *filling, const Template *template) {
        Filling without_secrets = *filling;
        char *error = NULL;

        without_secrets.secrets = NULL;
        if (fill_in(&without_secrets, template, &error) < 0 ||
            check_fit(&without_secrets, template->param, template->value, &error) < 0)
                return error;

        return text_without_value(template->param);
}

static int check_fits(const Definition *definition, NodeId node, const Filling *filling, char **ret_error) {
        const NodeType *type = definition->loaded.tree->nodes[node].type;

        for (const Param *param = type->params; param && param->name; param++) {
                json_object *origin = param->fits ? definition_template(definition, node, param) : NULL;
                const Template template = { .node = node, .param = param, .value = origin };
                g_autofree char *error = NULL;

                if (!param->fits || check_fit(filling, param, origin, &error) >= 0)
                        continue;

                *ret_error = filling->secrets && origin && reference_to_secret_inside(origin)
                                     ? describe_mismatch_without_secret(filling, &template)
                                     : g_steal_pointer(&error);
                return -EINVAL;
        }

        return 0;
}

int definition_params_revealed(const Definition *definition, NodeId node, const Blackboard *blackboard,
                               json_object *noted, Secrets *secrets, Params *ret_params, char **ret_error) {
        const Node *n = &definition->loaded.tree->nodes[node];
        const GArray *templates = definition->loaded.templates;
        unsigned i = find_templates(templates, node);
        Filling filling = { .blackboard = blackboard, .noted = noted, .secrets = secrets };
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

        if (check_fits(definition, node, &filling, ret_error) < 0)
                return -EINVAL;

        *ret_params = (Params){ .values = filling.values, .owned = g_steal_pointer(&arena) };
        return 0;
}

int definition_params(const Definition *definition, NodeId node, const Blackboard *blackboard, Params *ret_params,
                      char **ret_error) {
        return definition_params_revealed(definition, node, blackboard, NULL, NULL, ret_params, ret_error);
}

json_object *definition_note_variables(const Definition *definition, NodeId node, const Blackboard *blackboard) {
        const GArray *templates = definition->loaded.templates;
        json_object *noted = NULL;

        for (unsigned i = find_templates(templates, node);
             i < templates->len && g_array_index(templates, Template, i).node == node; i++) {
                noted = noted ?: json_object_new_object();
                reference_note(blackboard, g_array_index(templates, Template, i).value, noted);
        }

        return noted;
}

void params_clear(Params *params) {
        arena_free(params->owned);
        *params = (Params){};
}
