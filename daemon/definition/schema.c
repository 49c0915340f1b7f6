/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Makes the JSON Schema of tree files, and that of drop-ins. Parameters become schemas by their kinds, from the tables
 * of the node types; if a parameter may be a reference, its schema allows both. Each node type has its own definition,
 * chosen by the key "type". The loader checks what a schema cannot express, such as references, and has better
 * messages.
 */

#include <glib.h>
#include <json-c/json_tokener.h>
#include <json-c/linkhash.h>
#include <string.h>

#include "basic/cause.h"
#include "definition/load/load.h"
#include "definition/params/params.h"
#include "definition/schema.h"

/* {"type": KIND} */
static json_object *schema_of_kind(const char *kind) {
        json_object *schema = json_object_new_object();

        json_object_object_add(schema, "type", json_object_new_string(kind));
        return schema;
}

/* {"$ref": ...}: the definition with that name. */
static json_object *schema_ref(const char *name) {
        json_object *schema = json_object_new_object();
        g_autofree char *pointer = g_strconcat("#/$defs/", name, NULL);

        json_object_object_add(schema, "$ref", json_object_new_string(pointer));
        return schema;
}

/* Takes both. */
static json_object *schema_either(json_object *first, json_object *second) {
        json_object *schema = json_object_new_object(), *choices = json_object_new_array();

        json_object_array_add(choices, first);
        json_object_array_add(choices, second);
        json_object_object_add(schema, "anyOf", choices);
        return schema;
}

/* One of the texts, which are NULL-terminated. */
static json_object *schema_of_strings(const char *const *names) {
        json_object *list = json_object_new_array(), *schema = json_object_new_object();

        for (; *names; names++)
                json_object_array_add(list, json_object_new_string(*names));

        json_object_object_add(schema, "enum", list);
        return schema;
}

static json_object *schema_of_number(const Param *param) {
        json_object *schema = schema_of_kind(param->kind == PARAM_INT ? "integer" : "number");

        if (param->min != 0 || param->max != 0)
                json_object_object_add(schema, "minimum", json_object_new_int64(param->min));
        if (param->max != 0)
                json_object_object_add(schema, "maximum", json_object_new_int64(param->max));
        if (param->positive)
                json_object_object_add(schema, "exclusiveMinimum", json_object_new_int64(0));

        return schema;
}

/* Adds the pattern of a text, and its description for messages ("an object path"), which some editors show. */
static void schema_add_pattern(json_object *schema, const char *pattern, const char *what) {
        g_autofree char *message = g_strconcat("expected ", what, NULL);

        json_object_object_add(schema, "pattern", json_object_new_string(pattern));
        json_object_object_add(schema, "patternErrorMessage", json_object_new_string(message));
}

static json_object *schema_of_format(const TextFormat *format, bool references) {
        json_object *schema = schema_of_kind("string");
        g_autofree char *pattern = references ? g_strconcat("\\{|", format->pattern, NULL) : g_strdup(format->pattern);

        schema_add_pattern(schema, pattern, format->name);
        return schema;
}

/* A text with a reference is checked after the reference is filled in. */
static json_object *schema_of_text(const Param *param, const TextFormat *format, bool references) {
        json_object *schema;

        if (param->causes)
                return schema_ref("cause");
        if (param->values) {
                schema = schema_of_strings(param->values);
                return references ? schema_either(schema, schema_ref("template")) : schema;
        }

        if (format && format->pattern)
                return schema_of_format(format, references);
        if (references)
                return schema_ref(param->shown ? "shown-text" : "text");

        return schema_of_kind("string");
}

/* In a list, "" means that there is no variable. */
static json_object *schema_of_string(const Param *param, bool literal) {
        if (!param_is_name(param))
                return schema_of_text(param, param->format, param_takes_references(param, literal));

        return schema_ref(param->kind == PARAM_STRINGS ? "variable-or-none" : "variable");
}

static json_object *schema_of_members(const Param *params, bool literal);

static json_object *schema_of_value(const Param *param, bool literal);

static json_object *schema_of_list(const Param *param, bool literal) {
        json_object *schema = schema_of_kind("array");

        if (param->first_format) {
                json_object *first = json_object_new_array();

                json_object_array_add(
                        first, schema_of_text(param, param->first_format, param_takes_references(param, literal)));
                json_object_object_add(schema, "prefixItems", first);
        }
        json_object_object_add(schema, "items", schema_of_string(param, literal));
        if (param->not_empty)
                json_object_object_add(schema, "minItems", json_object_new_int64(1));

        return param->single ? schema_either(schema_of_string(param, literal), schema) : schema;
}

static json_object *schema_of_json(const Param *param, bool literal) {
        bool references = param_takes_references(param, literal);
        json_object *schema, *element;

        if (param->value_format)
                schema = param->value_format->schema();
        else if (!param->elements)
                return json_object_new_object();
        else {
                schema = schema_of_kind("array");
                element = schema_of_value(param->elements, literal);
                if (references && param->elements->kind != PARAM_JSON)
                        element = schema_either(element, schema_ref("reference"));
                json_object_object_add(schema, "items", element);
                if (param->not_empty)
                        json_object_object_add(schema, "minItems", json_object_new_int64(1));
        }

        return references ? schema_either(schema, schema_ref("reference")) : schema;
}

static json_object *schema_of_value(const Param *param, bool literal) {
        json_object *schema;

        switch (param->kind) {
        case PARAM_BOOL:
                return schema_of_kind("boolean");
        case PARAM_INT:
        case PARAM_NUMBER:
                return schema_of_number(param);
        case PARAM_STRING:
                return schema_of_string(param, literal);
        case PARAM_SPAN:
                return schema_ref(param->positive ? "positive-span" : "span");
        case PARAM_ENUM:
                return schema_of_strings(param->values);
        case PARAM_STRINGS:
                return schema_of_list(param, literal);
        case PARAM_STRING_MAP:
                schema = schema_of_kind("object");
                json_object_object_add(schema, "additionalProperties", schema_of_string(param, literal));
                if (param->key_format)
                        json_object_object_add(schema, "propertyNames", schema_of_format(param->key_format, false));
                return schema;
        case PARAM_JSON:
                return schema_of_json(param, literal);
        case PARAM_EXPRESSION:
                return schema_ref("expression");
        case PARAM_CODE:
                return schema_ref("code");
        case PARAM_EXPRESSIONS:
                schema = schema_of_kind("object");
                if (param->writes)
                        json_object_object_add(schema, "propertyNames", schema_ref("variable"));
                json_object_object_add(schema, "additionalProperties", schema_ref("expression"));
                return schema;
        case PARAM_OBJECT:
                return schema_of_members(param->members, literal);
        case PARAM_KIND_MAX_:
                break;
        }

        g_assert_not_reached();
}

/* True if a reference may be a part of the text. */
static bool becomes_text(const Param *param) {
        return param->kind == PARAM_SPAN || param->kind == PARAM_ENUM;
}

/* True if a reference is not a value of the kind, and must be allowed in addition. */
static bool needs_reference(const Param *param, bool literal) {
        return param->kind != PARAM_STRING && param->kind != PARAM_JSON && param_takes_references(param, literal);
}

static json_object *schema_of_param(const Param *param, bool literal) {
        json_object *schema = schema_of_value(param, (literal && !param->late) || param->literal);

        if (needs_reference(param, literal))
                schema = schema_either(schema, schema_ref(becomes_text(param) ? "template" : "reference"));
        if (param->doc)
                json_object_object_add(schema, "description", json_object_new_string(param->doc));
        if (param->fallback)
                json_object_object_add(schema, "default", json_tokener_parse(param->fallback));

        return schema;
}

/* Adds the parameters to the properties, and the required ones to the list. literal: they take no references, unless a
 * parameter allows them. */
static void schema_add_params(json_object *properties, json_object *required, const Param *params, bool literal) {
        for (const Param *param = params; param && param->name; param++) {
                json_object *schema = schema_of_param(param, literal), *other;

                if (json_object_object_get_ex(properties, param->name, &other))
                        schema = schema_either(json_object_get(other), schema);
                json_object_object_add(properties, param->name, schema);
                if (param->required)
                        json_object_array_add(required, json_object_new_string(param->name));
        }
}

/* An object that has only these keys. Takes both. */
static json_object *schema_of_object(json_object *properties, json_object *required) {
        json_object *schema = schema_of_kind("object");

        json_object_object_add(schema, "properties", properties);
        json_object_object_add(schema, "required", required);
        json_object_object_add(schema, "additionalProperties", json_object_new_boolean(false));
        return schema;
}

static json_object *schema_of_members(const Param *params, bool literal) {
        json_object *properties = json_object_new_object(), *required = json_object_new_array();

        schema_add_params(properties, required, params, literal);
        return schema_of_object(properties, required);
}

/* As the loader reads them: numbers with units, or "infinity". */
#define SPAN_UNITS                                                                                                     \
        "(seconds?|sec|s|minutes?|min|months?|M|msec|ms|m|hours?|hr|h|days?|d|weeks?|w|years?|y|usec|us|\\u03bcs|"     \
        "\\u00b5s)"
#define SPAN_PATTERN_REST "(infinity|([0-9]+(\\.[0-9]+)?\\s*" SPAN_UNITS "\\s*)+)\\s*$"
#define SPAN_PATTERN "^\\s*" SPAN_PATTERN_REST
/* At least one digit is not 0. */
#define POSITIVE_SPAN_PATTERN "^\\s*(?=infinity|[^1-9]*[1-9])" SPAN_PATTERN_REST
#define REFERENCE_PATTERN "^\\{[^{}]+\\}$"
/* A text with a reference anywhere. */
#define TEMPLATE_PATTERN "\\{"
/* A part of a text: characters, an escaped brace or a reference. */
#define PIECE                                                                                                          \
        "[^{]|\\{\\{|\\{(unit_escape:|unit_escape_path:)?@?[A-Za-z_][A-Za-z0-9_-]*"                                    \
        "(\\.[A-Za-z0-9_-]+|\\[[0-9]+\\])*(\\.\\.\\.)?\\}"
#define TEXT_MEANT "a text, in which \"{key}\" is a variable and \"{{\" a brace"
/* Keywords of Lua, see script/analysis.c. */
#define NO_KEYWORD                                                                                                     \
        "(?!(and|break|do|else|elseif|end|false|for|function|goto|if|in|local|nil|not|or|repeat|return|then|true|"     \
        "until|while)$)"
#define KEY_PATTERN "^" NO_KEYWORD "[A-Za-z_][A-Za-z0-9_-]{0,254}$"
/* With "@", a variable of the outermost scope. */
#define NAME_PATTERN "^@?" NO_KEYWORD "[A-Za-z_][A-Za-z0-9_-]{0,254}$"

static json_object *string_value(const char *text) {
        return json_object_new_string(text);
}

static json_object *schema_of_children(const NodeType *type) {
        json_object *schema = schema_of_kind("array");

        json_object_object_add(schema, "items", schema_ref("node"));
        json_object_object_add(schema, "minItems", json_object_new_int64(type->min_children));
        if (type->max_children < UINT32_MAX)
                json_object_object_add(schema, "maxItems", json_object_new_int64(type->max_children));

        return schema;
}

/* Name and aliases. */
static json_object *names_of(const NodeType *type) {
        g_autoptr(GPtrArray) names = g_ptr_array_new();

        g_ptr_array_add(names, (char *) type->name);
        for (const char *const *alias = type->aliases; alias && *alias; alias++)
                g_ptr_array_add(names, (char *) *alias);
        g_ptr_array_add(names, NULL);

        return schema_of_strings((const char *const *) names->pdata);
}

/* The key of the children; NULL: none. */
static const char *children_key(const NodeType *type) {
        if (type->class == NODE_CONTROL)
                return "children";

        return type->class == NODE_DECORATOR && !(type->flags & TYPE_SUBTREE) ? "child" : NULL;
}

static json_object *schema_that_requires(const char *first, const char *second) {
        json_object *schema = json_object_new_object(), *required = json_object_new_array();

        json_object_array_add(required, string_value(first));
        if (second)
                json_object_array_add(required, string_value(second));
        json_object_object_add(schema, "required", required);
        return schema;
}

static json_object *schema_not(json_object *other) {
        json_object *schema = json_object_new_object();

        json_object_object_add(schema, "not", other);
        return schema;
}

/* {"required": [PARAM], "properties": {OTHER: {"const": WORD}}} */
static json_object *schema_with_word(const char *param, const char *other, const char *word) {
        json_object *schema = schema_that_requires(param, other), *properties = json_object_new_object();
        json_object *value = json_object_new_object();

        json_object_object_add(value, "const", string_value(word));
        json_object_object_add(properties, other, value);
        json_object_object_add(schema, "properties", properties);
        return schema;
}

static json_object *schema_of_any(const ParamRule *rule) {
        json_object *schema = json_object_new_object(), *choices = json_object_new_array();

        for (size_t i = 0; rule->params[i]; i++)
                json_object_array_add(choices, schema_that_requires(rule->params[i], NULL));

        json_object_object_add(schema, "anyOf", choices);
        return schema;
}

static json_object *schema_of_rules(const ParamRule *rules) {
        json_object *all = json_object_new_array();

        for (const ParamRule *rule = rules; rule->kind; rule++) {
                if (rule->kind == RULE_NOT_WITH) {
                        json_object_array_add(
                                all, schema_not(schema_with_word(rule->params[0], rule->params[1], rule->word)));
                        continue;
                }

                if (rule->kind == RULE_EXACTLY_ONE)
                        json_object_array_add(all, schema_of_any(rule));
                for (size_t i = 0; rule->params[i]; i++)
                        for (size_t j = i + 1; rule->params[j]; j++)
                                json_object_array_add(
                                        all, schema_not(schema_that_requires(rule->params[i], rule->params[j])));
        }

        return all;
}

static json_object *schema_of_type(const NodeType *type) {
        json_object *properties = json_object_new_object(), *required = json_object_new_array(), *schema;
        bool composite = type->class == NODE_CONTROL || type->class == NODE_DECORATOR;
        const char *key = children_key(type);

        json_object_object_add(properties, "type", names_of(type));
        json_object_object_add(properties, "description", schema_of_kind("string"));
        if (key) {
                json_object_object_add(properties, key,
                                       type->class == NODE_CONTROL ? schema_of_children(type) : schema_ref("node"));
                json_object_array_add(required, string_value(key));
        }
        schema_add_params(properties, required, type->params, composite);
        if (!json_object_object_get_ex(properties, "name", NULL))
                json_object_object_add(properties, "name", schema_ref("name"));
        schema_add_params(properties, required, common_attribute_params, true);
        if (type->class != NODE_ACTION)
                json_object_object_del(properties, "halt_timeout");
        if (type->class != NODE_CONDITION) {
                json_object_object_del(properties, "for");
                json_object_object_del(properties, "false_for");
        }
        if (!type_has_time(type))
                json_object_object_del(properties, "clock");
        if (type->flags & TYPE_HAS_LOCK)
                json_object_object_del(properties, "lock");

        schema = schema_of_object(properties, required);
        if (type->rules)
                json_object_object_add(schema, "allOf", schema_of_rules(type->rules));
        json_object_object_add(schema, "description", string_value(type->summary));
        return schema;
}

/* If the node is of the type, its definition applies. */
static json_object *choice_of_type(const NodeType *type) {
        json_object *choice = json_object_new_object(), *condition = json_object_new_object();
        json_object *properties = json_object_new_object();

        json_object_object_add(properties, "type", names_of(type));
        json_object_object_add(condition, "properties", properties);
        json_object_object_add(choice, "if", condition);
        json_object_object_add(choice, "then", schema_ref(type->name));
        return choice;
}

/* All names and aliases with their summaries. */
static json_object *schema_of_type_names(const NodeType *const *const *tables) {
        json_object *schema = json_object_new_object(), *choices = json_object_new_array();

        for (; *tables; tables++)
                for (const NodeType *const *type = *tables; *type; type++) {
                        json_object *names = names_of(*type);

                        json_object_object_add(names, "description", string_value((*type)->summary));
                        json_object_array_add(choices, names);
                }

        json_object_object_add(schema, "anyOf", choices);
        return schema;
}

static json_object *schema_of_node(const NodeType *const *const *tables) {
        json_object *schema = schema_of_kind("object"), *properties = json_object_new_object();
        json_object *required = json_object_new_array(), *choices = json_object_new_array();

        json_object_object_add(properties, "type", schema_of_type_names(tables));
        json_object_array_add(required, string_value("type"));
        for (; *tables; tables++)
                for (const NodeType *const *type = *tables; *type; type++)
                        json_object_array_add(choices, choice_of_type(*type));

        json_object_object_add(schema, "properties", properties);
        json_object_object_add(schema, "required", required);
        json_object_object_add(schema, "allOf", choices);
        return schema;
}

/* It has no description, because editors would show that instead of the parameter's. */
static json_object *schema_of_pattern(const char *pattern, const char *what) {
        json_object *schema = schema_of_kind("string");

        schema_add_pattern(schema, pattern, what);
        return schema;
}

static json_object *schema_of_name(void) {
        json_object *schema = schema_of_pattern("^[^\\u0000-\\u001f\\u007f]+$", "a name without control characters");

        json_object_object_add(schema, "description", string_value("the name of the node"));
        return schema;
}

/* An object of variables, each of which matches the schema each (taken; NULL: any value). */
static json_object *schema_of_variables(json_object *each, const char *description) {
        json_object *schema = schema_of_kind("object");

        json_object_object_add(schema, "propertyNames", schema_of_pattern(KEY_PATTERN, "the name of a variable"));
        if (each)
                json_object_object_add(schema, "additionalProperties", each);
        json_object_object_add(schema, "description", string_value(description));
        return schema;
}

/* A type, or an object with a type and more. */
static json_object *schema_of_declaration(const Param *params) {
        json_object *properties = json_object_new_object(), *required = json_object_new_array();

        schema_add_params(properties, required, params, true);
        return schema_either(schema_of_strings(variable_type_names), schema_of_object(properties, required));
}

/* Adds the keys at the top of a tree, both for the tree of the file and for those in "trees". */
static void add_tree(json_object *properties) {
        json_object_object_add(
                properties, "inputs",
                schema_of_variables(schema_of_declaration(input_params), "the variables that are given to the tree"));
        json_object_object_add(
                properties, "outputs",
                schema_of_variables(schema_of_declaration(output_params), "the variables that the tree returns"));
        json_object_object_add(properties, "blackboard",
                               schema_of_variables(NULL, "the variables that a run starts with"));
        json_object_object_add(properties, "root", schema_ref("node"));
}

static json_object *schema_of_tree(void) {
        json_object *properties = json_object_new_object(), *required = json_object_new_array();

        schema_add_params(properties, required, tree_params, true);
        add_tree(properties);
        json_object_array_add(required, string_value("root"));
        return schema_of_object(properties, required);
}

static json_object *schema_of_trees(void) {
        json_object *schema = schema_of_kind("object");

        json_object_object_add(schema, "propertyNames",
                               schema_of_pattern("^[A-Za-z0-9_-]{1,100}$", "the name of a tree"));
        json_object_object_add(schema, "additionalProperties", schema_ref("tree"));
        json_object_object_add(schema, "description", string_value("trees for SubTree nodes, by name"));
        return schema;
}

static json_object *schema_of_files(const char *doc) {
        json_object *schema = schema_of_kind("array");

        json_object_object_add(schema, "items", schema_of_kind("string"));
        json_object_object_add(schema, "description", string_value(doc));
        return schema;
}

static json_object *schema_of_cause(void) {
        g_autofree char *pattern = cause_pattern_expression();

        return schema_of_pattern(pattern, "the kind of a cause, or the name of a D-Bus error");
}

static json_object *schema_of_script(const char *meant) {
        json_object *lines = schema_of_kind("array");

        json_object_object_add(lines, "items", schema_of_kind("string"));
        json_object_object_add(lines, "minItems", json_object_new_int64(1));
        return schema_either(schema_of_pattern(".", meant), lines);
}

/* The definitions that the schemas of values refer to. */
static json_object *definitions_of_values(void) {
        json_object *defs = json_object_new_object();

        json_object_object_add(defs, "span",
                               schema_of_pattern(SPAN_PATTERN, "a time span, such as \"150ms\" or \"1min 30s\""));
        json_object_object_add(defs, "positive-span",
                               schema_of_pattern(POSITIVE_SPAN_PATTERN, "a time span above 0, such as \"150ms\""));
        json_object_object_add(defs, "reference",
                               schema_of_pattern(REFERENCE_PATTERN, "a variable, such as \"{key}\""));
        json_object_object_add(defs, "template",
                               schema_of_pattern(TEMPLATE_PATTERN, "a text with a variable, such as \"{key}s\""));
        json_object_object_add(
                defs, "text",
                schema_of_pattern("^(" PIECE "|\\{secret:[A-Za-z0-9_-][A-Za-z0-9_.-]*\\})*$", TEXT_MEANT));
        json_object_object_add(defs, "shown-text", schema_of_pattern("^(" PIECE ")*$", TEXT_MEANT));
        json_object_object_add(defs, "cause", schema_of_cause());
        json_object_object_add(defs, "variable", schema_of_pattern(NAME_PATTERN, "the name of a variable"));
        json_object_object_add(defs, "variable-or-none",
                               schema_of_pattern("^$|" NAME_PATTERN, "the name of a variable, or \"\" for none"));
        json_object_object_add(defs, "expression", schema_of_script("an expression, in Lua; a text, or its lines"));
        json_object_object_add(defs, "code", schema_of_script("statements, in Lua; a text, or its lines"));
        return defs;
}

static json_object *definitions(const NodeType *const *const *tables) {
        json_object *defs = definitions_of_values();

        json_object_object_add(defs, "node", schema_of_node(tables));
        json_object_object_add(defs, "name", schema_of_name());
        json_object_object_add(defs, "tree", schema_of_tree());

        for (; *tables; tables++)
                for (const NodeType *const *type = *tables; *type; type++)
                        json_object_object_add(defs, (*type)->name, schema_of_type(*type));

        return defs;
}

/* {"anyOf": [{"required": ["root"]}, {"required": ["trees"]}]}: a file can be run, or included, or both. */
static json_object *root_or_trees(void) {
        static const char *const keys[] = { "root", "trees" };
        json_object *choices = json_object_new_array();

        for (size_t i = 0; i < G_N_ELEMENTS(keys); i++) {
                json_object *choice = json_object_new_object(), *required = json_object_new_array();

                json_object_array_add(required, string_value(keys[i]));
                json_object_object_add(choice, "required", required);
                json_object_array_add(choices, choice);
        }

        return choices;
}

/* Takes both objects. */
static json_object *schema_of_document(json_object *schema, const char *title, json_object *defs) {
        json_object_object_add(schema, "$schema", string_value("https://json-schema.org/draft/2020-12/schema"));
        json_object_object_add(schema, "title", string_value(title));
        json_object_object_add(schema, "$defs", defs);
        return schema;
}

json_object *schema_new(const NodeType *const *const *tables) {
        json_object *properties = json_object_new_object(), *required = json_object_new_array(), *schema;
        json_object *version = json_object_new_object();

        schema_add_params(properties, required, header_params, true);
        json_object_object_add(version, "const", json_object_new_int64(HEADER_VERSION));
        json_object_object_add(properties, "btd", version);
        json_object_object_add(properties, "include", schema_of_files("files whose trees this file can use"));
        json_object_object_add(properties, "lua", schema_of_files("Lua files whose functions its expressions can use"));
        json_object_object_add(properties, "trees", schema_of_trees());
        add_tree(properties);

        schema = schema_of_object(properties, required);
        json_object_object_add(schema, "anyOf", root_or_trees());
        return schema_of_document(schema, "A tree file of btd", definitions(tables));
}

/* Drop-ins. */

static void make_members_partial(json_object *members);

/* A drop-in gives some members of an object, and removes others with null. A list is replaced as a whole. Changes the
 * schema. */
static void make_partial(json_object *schema) {
        json_object *members, *choices;

        json_object_object_del(schema, "required");
        if (json_object_object_get_ex(schema, "properties", &members))
                make_members_partial(members);
        if (json_object_is_type(json_object_object_get(schema, "additionalProperties"), json_type_object)) {
                members = json_object_object_get(schema, "additionalProperties");
                make_partial(members);
                json_object_object_add(schema, "additionalProperties",
                                       schema_either(json_object_get(members), schema_of_kind("null")));
        }
        if (json_object_object_get_ex(schema, "anyOf", &choices))
                for (size_t i = 0; i < json_object_array_length(choices); i++)
                        make_partial(json_object_array_get_idx(choices, i));
}

static void make_members_partial(json_object *members) {
        json_object_object_foreach(members, key, schema) {
                json_object *doc = NULL, *either;

                /* "true" takes null, too. */
                if (!json_object_is_type(schema, json_type_object))
                        continue;

                make_partial(schema);
                if (json_object_object_get_ex(schema, "description", &doc))
                        json_object_get(doc);
                json_object_object_del(schema, "description");
                either = schema_either(json_object_get(schema), schema_of_kind("null"));
                if (doc)
                        json_object_object_add(either, "description", doc);
                json_object_object_add(members, key, either);
        }
}

/* Adds a schema of the parameter, unless another type has the same one; the documentation stays if it is that of all.
 * Changes the schema. */
static void add_alternative(json_object *alternatives, const char *name, json_object *schema) {
        json_object *entry, *choices, *doc = json_object_object_get(schema, "description");

        if (!json_object_object_get_ex(alternatives, name, &entry)) {
                entry = json_object_new_object();
                json_object_object_add(entry, "anyOf", json_object_new_array());
                if (doc)
                        json_object_object_add(entry, "description", json_object_get(doc));
                json_object_object_add(alternatives, name, entry);
        } else if (!json_object_equal(json_object_object_get(entry, "description"), doc))
                json_object_object_del(entry, "description");

        json_object_object_del(schema, "description");
        json_object_object_del(schema, "default");
        choices = json_object_object_get(entry, "anyOf");
        for (size_t i = 0; i < json_object_array_length(choices); i++)
                if (json_object_equal(json_object_array_get_idx(choices, i), schema))
                        return;
        json_object_array_add(choices, json_object_get(schema));
}

/* The type of a node that a drop-in changes is in another file, so its keys are those of all types. */
static json_object *schema_of_node_change(const NodeType *const *const *tables) {
        json_object *properties = json_object_new_object(), *schema;

        for (; *tables; tables++)
                for (const NodeType *const *type = *tables; *type; type++) {
                        json_object *own = schema_of_type(*type), *members = json_object_object_get(own, "properties");

                        json_object_object_foreach(members, key, member) {
                                if (g_str_equal(key, "type") || g_str_equal(key, "child") ||
                                    g_str_equal(key, "children") ||
                                    (g_str_equal(key, "name") && !params_find((*type)->params, key, strlen(key))))
                                        continue;
                                add_alternative(properties, key, member);
                        }
                        json_object_put(own);
                }

        make_members_partial(properties);
        schema = schema_of_object(properties, json_object_new_array());
        json_object_object_del(schema, "required");
        return schema;
}

/* Each input has some of its members; the type cannot change. */
static json_object *schema_of_input_change(void) {
        json_object *schema = schema_of_members(input_params, true);

        json_object_object_del(json_object_object_get(schema, "properties"), "type");
        make_partial(schema);
        return schema;
}

json_object *schema_new_of_dropin(const NodeType *const *const *tables) {
        json_object *properties = json_object_new_object(), *required = json_object_new_array(), *schema, *nodes,
                    *version = json_object_new_object();

        schema_add_params(properties, required, header_params, true);
        json_object_put(required);
        make_members_partial(properties);
        json_object_object_add(version, "const", json_object_new_int64(HEADER_VERSION));
        json_object_object_add(properties, "btd", version);
        json_object_object_add(properties, "inputs",
                               schema_of_variables(schema_of_input_change(), "what changes at inputs of the tree"));
        json_object_object_add(properties, "blackboard",
                               schema_of_variables(NULL, "other values of variables in 'blackboard' of the tree"));
        nodes = schema_of_kind("object");
        json_object_object_add(nodes, "additionalProperties", schema_ref("node"));
        json_object_object_add(nodes, "description",
                               string_value("what changes at nodes, by their names or paths, such as Boot/Start"));
        json_object_object_add(properties, "nodes", nodes);

        schema = schema_of_object(properties, json_object_new_array());
        json_object_object_del(schema, "required");
        nodes = definitions_of_values();
        json_object_object_add(nodes, "node", schema_of_node_change(tables));
        return schema_of_document(schema, "A drop-in of a tree file of btd", nodes);
}
