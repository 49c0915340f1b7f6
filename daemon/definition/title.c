/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Implements title.h. The table of each type marks the parameter, so this file needs no names of types. */

#include <string.h>

#include "basic/excerpt.h"
#include "basic/span.h"
#include "definition/title.h"
#include "script/scripts.h"

static const Param *title_param(const NodeType *type) {
        for (const Param *param = type->params; param && param->name; param++)
                if (param->title)
                        return param;

        return NULL;
}

/* ["/bin/echo", "{whom}"] as "/bin/echo {whom}". */
static char *text_of_template(json_object *value) {
        GString *text = g_string_new(NULL);

        if (!json_object_is_type(value, json_type_array)) {
                g_string_assign(text, json_object_get_string(value));
                return g_string_free(text, FALSE);
        }

        for (size_t i = 0; i < json_object_array_length(value); i++)
                g_string_append_printf(text, "%s%s", i > 0 ? " " : "",
                                       json_object_get_string(json_object_array_get_idx(value, i)));
        return g_string_free(text, FALSE);
}

static char *text_of_field(const Param *param, const void *field) {
        switch (param->kind) {
        case PARAM_STRING:
                return g_strdup(*(const char *const *) field);
        case PARAM_STRINGS: {
                char *const *strings = *(char *const *const *) field;

                return strings ? g_strjoinv(" ", (char **) strings) : NULL;
        }
        case PARAM_SPAN:
                return span_format(*(const uint64_t *) field);
        case PARAM_EXPRESSION:
        case PARAM_CODE: {
                const Script *script = *(const Script *const *) field;

                return script ? g_strdup(script_code(script)) : NULL;
        }
        default:
                g_assert_not_reached();
        }
}

char *definition_title(const Definition *definition, NodeId node) {
        const Node *n = &definition_tree(definition)->nodes[node];
        const Param *param = title_param(n->type);
        g_autofree char *text = NULL;
        json_object *template;

        if (!param)
                return NULL;

        template = definition_template(definition, node, param);
        text = template ? text_of_template(template) : text_of_field(param, (const char *) n->params + param->offset);
        return text && *text ? excerpt(text, strlen(text)) : NULL;
}
