/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* btctl types and schema: the reference and the JSON schema of the node types, from the tables that btd itself reads.
 */

#include <inttypes.h>
#include <json-c/json_tokener.h>
#include <stdio.h>

#include "basic/foreach.h"
#include "basic/span.h"
#include "client/files.h"
#include "client/verbs/verbs.h"
#include "client/view/text.h"
#include "definition/common-attributes.h"
#include "definition/params/params.h"
#include "definition/schema.h"
#include "definition/type-index.h"

/* Indents of a parameter's name and of its documentation. */
#define NAME_INDENT 2u
#define DOC_INDENT 6u

static const struct {
        const char *singular, *title;
} classes[] = {
        [NODE_CONTROL] = { "control", "Controls (\"children\")" },
        [NODE_DECORATOR] = { "decorator", "Decorators (one \"child\")" },
        [NODE_ACTION] = { "action", "Actions" },
        [NODE_CONDITION] = { "condition", "Conditions" },
};

static const char *const kinds[PARAM_KIND_MAX_] = {
        [PARAM_BOOL] = "true or false",
        [PARAM_INT] = "integer",
        [PARAM_NUMBER] = "number",
        [PARAM_STRING] = "string",
        [PARAM_SPAN] = "time span",
        [PARAM_ENUM] = "one of",
        [PARAM_STRINGS] = "array of strings",
        [PARAM_STRING_MAP] = "object of strings",
        [PARAM_EXPRESSION] = "expression",
        [PARAM_CODE] = "code",
        [PARAM_EXPRESSIONS] = "object of expressions",
        [PARAM_JSON] = "any value",
        [PARAM_OBJECT] = "object",
};

static char *limit_text(const Param *param, int64_t limit) {
        return param->kind == PARAM_SPAN ? span_format(limit) : g_strdup_printf("%" PRIi64, limit);
}

/* ", 1 to 100", or ", at least 1" if the other limit is that of the type. */
static void append_limits(GString *text, const Param *param) {
        g_autofree char *min = limit_text(param, param->min), *max = limit_text(param, param->max);
        bool is_span = param->kind == PARAM_SPAN;
        bool has_min = param->min != INT64_MIN && !(is_span && param->min == 0);
        bool has_max = is_span ? param->max > 0 && param->max < INT64_MAX : param->max < UINT32_MAX;

        if (param->min == 0 && param->max == 0)
                return;

        if (has_min && has_max)
                g_string_append_printf(text, ", %s to %s", min, max);
        else if (has_min)
                g_string_append_printf(text, ", at least %s", min);
        else if (has_max)
                g_string_append_printf(text, ", at most %s", max);
}

/* Appends the formats of the parameter's texts, and whether it must not be empty. */
static void append_format(GString *text, const Param *param) {
        if (param->format)
                g_string_append_printf(text, ", %s", param->format->name);
        if (param->first_format)
                g_string_append_printf(text, ", the first %s", param->first_format->name);
        if (param->key_format)
                g_string_append_printf(text, ", each key %s", param->key_format->name);
        if (param->kind == PARAM_STRINGS && param->values) {
                g_string_append(text, param->open ? " such as " : " of ");
                for (const char *const *value = param->values; *value; value++)
                        g_string_append_printf(text, "%s\"%s\"", value == param->values ? "" : ", ", *value);
        }
        if (param->elements && param->elements->kind == PARAM_INT) {
                g_string_append(text, " of integers");
                append_limits(text, param->elements);
        }
        if (param->positive)
                g_string_append(text, ", above 0");
        if (param->not_empty)
                g_string_append(text, ", not empty");
}

static const char *kind_text(const Param *param) {
        bool names = param_is_name(param);

        if (param->kind == PARAM_STRINGS && param->single)
                return "string or array of strings";
        if (names && param->kind == PARAM_STRING)
                return "name of a variable";
        if (names && param->kind == PARAM_STRINGS)
                return "array of names of variables";

        if (param->kind == PARAM_JSON && param->elements)
                return "array";

        return names && param->kind == PARAM_STRING_MAP ? "object of names of variables" : kinds[param->kind];
}

/* "integer, at least 1, required". composite: of a control or decorator, whose parameters mostly take no references. */
static char *param_text(const Param *param, bool composite) {
        g_autoptr(GString) text = g_string_new(kind_text(param));
        bool references = param_takes_references(param, composite), names = param_is_name(param);

        for (const char *const *value = param->values; param->kind == PARAM_ENUM && *value; value++)
                g_string_append_printf(text, "%s \"%s\"", value == param->values ? "" : ",", *value);
        append_limits(text, param);
        append_format(text, param);

        if (param->required)
                g_string_append(text, ", required");
        else if (param->fallback)
                g_string_append_printf(text, ", default %s", param->fallback);
        if (composite && references)
                g_string_append(text, ", {references} too");
        else if (!composite && !references && !names && !param_is_script(param))
                g_string_append(text, ", no {references}");

        return g_string_free(g_steal_pointer(&text), FALSE);
}

/* Wraps text at a width that is easy to read. */
static size_t width_of(const Output *output) {
        return output->columns > 0 ? MIN(output->columns, 80) : 80;
}

static void print_wrapped(const Output *output, const char *paragraphs, size_t indent) {
        g_autoptr(GString) text = g_string_new(NULL);

        text_append_wrapped(text, paragraphs, indent, width_of(output));
        fputs(text->str, stdout);
}

static void print_params(const Output *output, const Param *params, bool composite, const char *prefix) {
        for (const Param *param = params; param && param->name; param++) {
                g_autofree char *name = g_strconcat(prefix, param->name, NULL), *text = param_text(param, composite);
                g_autoptr(GString) line = g_string_new(NULL), wrapped = g_string_new(NULL);

                /* Further lines are indented like the documentation. */
                output_append(output, line, STYLE_BOLD, name);
                output_appendf(output, line, STYLE_DIM, " (%s)", text);
                text_append_wrapped(wrapped, line->str, DOC_INDENT, width_of(output));
                fputs(wrapped->str + DOC_INDENT - NAME_INDENT, stdout);
                if (param->doc)
                        print_wrapped(output, param->doc, DOC_INDENT);

                if (param->kind == PARAM_OBJECT) {
                        g_autofree char *inner = g_strconcat(name, ".", NULL);

                        print_params(output, param->members, composite && !param->late, inner);
                }
        }
}

/* "Only one of equals, one_of, test can be given." */
static char *rule_text(const ParamRule *rule) {
        g_autofree char *names = g_strjoinv(", ", (char **) rule->params);

        switch (rule->kind) {
        case RULE_AT_MOST_ONE:
                return g_strdup_printf("Only one of %s can be given.", names);
        case RULE_EXACTLY_ONE:
                return g_strdup_printf("Give exactly one of these parameters: %s.", names);
        default:
                return g_strdup_printf("%s cannot be given with \"%s\": \"%s\".", rule->params[0], rule->params[1],
                                       rule->word);
        }
}

static bool is_composite(const NodeType *type) {
        return type->class == NODE_CONTROL || type->class == NODE_DECORATOR;
}

/* "control, 2 or more children". */
static char *class_text(const NodeType *type) {
        const char *class = classes[type->class].singular;

        if (type->class != NODE_CONTROL)
                return g_strdup(class);
        if (type->min_children == type->max_children)
                return g_strdup_printf("%s, %u children", class, type->min_children);
        if (type->max_children == UINT32_MAX)
                return g_strdup_printf("%s, %u or more children", class, type->min_children);

        return g_strdup_printf("%s, %u to %u children", class, type->min_children, type->max_children);
}

static void print_titled(const Output *output, const char *title, const char *text) {
        printf("\n%s:\n", title);
        print_wrapped(output, text, NAME_INDENT);
}

static void print_type(const Output *output, const NodeType *type) {
        g_autofree char *class = class_text(type);
        g_autoptr(GString) line = g_string_new(NULL);

        output_append(output, line, STYLE_BOLD, type->name);
        output_appendf(output, line, STYLE_DIM, " (%s)", class);
        puts(line->str);
        print_wrapped(output, type->summary, 0);

        if (type->aliases) {
                g_autofree char *aliases = g_strjoinv(", ", (char **) type->aliases);

                printf("Also called: %s\n", aliases);
        }
        if (type->doc) {
                puts("");
                print_wrapped(output, type->doc, 0);
        }
        if (type->params && type->params->name) {
                puts("\nParameters:");
                print_params(output, type->params, is_composite(type), "");
        }

        for (const ParamRule *rule = type->rules; rule && rule->kind; rule++) {
                g_autofree char *text = rule_text(rule);

                print_wrapped(output, text, NAME_INDENT);
        }

        if (type->halting)
                print_titled(output, "On a halt", type->halting);
        if (type->recovery)
                print_titled(output, "After a restart of btd", type->recovery);
}

static void print_class(const Output *output, const GPtrArray *types, NodeClass class) {
        g_autoptr(Columns) columns = columns_new(2);
        g_autoptr(GString) line = g_string_new(NULL);

        output_append(output, line, STYLE_BOLD, classes[class].title);
        puts(line->str);

        for (guint i = 0; i < types->len; i++) {
                const NodeType *type = g_ptr_array_index(types, i);

                if (type->class != class)
                        continue;
                g_string_printf(line, "  %s", type->name);
                columns_add(columns, line->str);
                columns_add(columns, type->summary);
        }

        columns_print(columns, output);
}

static void print_types(const Output *output, const GPtrArray *types) {
        g_autoptr(Columns) columns = columns_new(2);
        g_autoptr(GString) line = g_string_new(NULL);

        for (NodeClass class = 0; class < G_N_ELEMENTS(classes); class ++) {
                if (class > 0)
                        puts("");
                print_class(output, types, class);
        }

        /* The keys that every node can have. */
        puts("");
        output_append(output, line, STYLE_BOLD, "Keys of any node");
        puts(line->str);
        for (const Param *param = common_attribute_params; param->name; param++) {
                g_string_printf(line, "  %s", param->name);
                columns_add(columns, line->str);
                columns_add(columns, param->doc);
        }
        columns_print(columns, output);
}

static json_object *text_to_json(const char *text) {
        return text ? json_object_new_string(text) : NULL;
}

static json_object *param_to_json(const Param *param, bool composite) {
        json_object *json = json_object_new_object(), *list;
        g_autofree char *text = param_text(param, composite);

        json_object_object_add(json, "name", json_object_new_string(param->name));
        json_object_object_add(json, "kind", json_object_new_string(kind_text(param)));
        json_object_object_add(json, "takes", json_object_new_string(text));
        json_object_object_add(json, "required", json_object_new_boolean(param->required));
        json_object_object_add(json, "references", json_object_new_boolean(param_takes_references(param, composite)));
        if (param->fallback)
                json_object_object_add(json, "default", json_tokener_parse(param->fallback));
        if (param->min != 0 || param->max != 0) {
                json_object_object_add(json, "min", json_object_new_int64(param->min));
                json_object_object_add(json, "max", json_object_new_int64(param->max));
        }
        if (param->format)
                json_object_object_add(json, "format", json_object_new_string(param->format->name));
        if (param->not_empty)
                json_object_object_add(json, "not_empty", json_object_new_boolean(true));
        if (param->values)
                json_object_object_add(json, "values", output_strings_to_json((char **) param->values));
        if (param->kind == PARAM_OBJECT) {
                list = json_object_new_array();
                for (const Param *member = param->members; member->name; member++)
                        json_object_array_add(list, param_to_json(member, composite && !param->late));
                json_object_object_add(json, "members", list);
        }
        json_object_object_add(json, "doc", text_to_json(param->doc));

        return json;
}

static json_object *type_to_json(const NodeType *type) {
        static const char *const none[] = { NULL };
        json_object *json = json_object_new_object(), *params = json_object_new_array(),
                    *rules = json_object_new_array();
        g_autofree char *class = class_text(type);

        for (const ParamRule *rule = type->rules; rule && rule->kind; rule++) {
                g_autofree char *text = rule_text(rule);

                json_object_array_add(rules, json_object_new_string(text));
        }
        for (const Param *param = type->params; param && param->name; param++)
                json_object_array_add(params, param_to_json(param, is_composite(type)));

        json_object_object_add(json, "name", json_object_new_string(type->name));
        json_object_object_add(json, "aliases", output_strings_to_json((char **) (type->aliases ?: none)));
        json_object_object_add(json, "class", json_object_new_string(classes[type->class].singular));
        json_object_object_add(json, "summary", json_object_new_string(type->summary));
        json_object_object_add(json, "takes", json_object_new_string(class));
        json_object_object_add(json, "doc", text_to_json(type->doc));
        json_object_object_add(json, "halting", text_to_json(type->halting));
        json_object_object_add(json, "recovery", text_to_json(type->recovery));
        json_object_object_add(json, "parameters", params);
        json_object_object_add(json, "rules", rules);

        return json;
}

static int show_type(const Client *client, const char *name) {
        g_autoptr(TypeIndex) types = type_index_new(node_type_tables);
        const NodeType *type = type_index_find(types, name);
        const char *nearest = type_index_nearest(types, name);

        if (!type && nearest)
                return report_error("no type '%s'; did you mean '%s'?", name, nearest);
        if (!type)
                return report_error("no type '%s'; 'btctl types' lists them all", name);

        if (client->output.json)
                output_print_json(type_to_json(type));
        else
                print_type(&client->output, type);
        return EXIT_SUCCESS;
}

int verb_types(Client *client, char **operands) {
        g_autoptr(GPtrArray) types = node_types_list();

        if (operands[0])
                return show_type(client, operands[0]);

        if (client->output.json) {
                json_object *json = json_object_new_array();

                PTRS_FOREACH(const NodeType, type, types)
                        json_object_array_add(json, type_to_json(type));
                output_print_json(json);
        } else {
                print_types(&client->output, types);
        }
        return EXIT_SUCCESS;
}

/* btctl schema: the JSON schema of tree files or drop-ins, from the same tables, or that of outputs. */
int verb_schema(Client *client, char **operands) {
        if (!operands[0])
                output_print_json(schema_new(node_type_tables));
        else if (g_str_equal(operands[0], "drop-in"))
                output_print_json(schema_new_of_dropin(node_type_tables));
        else if (g_str_equal(operands[0], "outputs"))
                fputs(outputs_schema, stdout);
        else
                return report_usage("there is no schema '%s': btctl schema [drop-in|outputs]", operands[0]);

        return EXIT_SUCCESS;
}
