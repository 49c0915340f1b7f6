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

typedef struct Pair {
        const char *key; /* NULL: end of the array */
        json_object *value;
} Pair;

/* Takes the values; pairs without one are left out. */
static json_object *object_of(const Pair *pairs) {
        json_object *object = json_object_new_object();

        for (; pairs->key; pairs++)
                if (pairs->value)
                        json_object_object_add(object, pairs->key, pairs->value);

        return object;
}

#define OBJECT(...) object_of((const Pair[]){ __VA_ARGS__, {} })

static json_object *string_value(const char *text) {
        return json_object_new_string(text);
}

/* {"type": KIND} */
static json_object *schema_of_kind(const char *kind) {
        return OBJECT({ "type", string_value(kind) });
}

/* {"$ref": ...}: the definition with that name. */
static json_object *schema_ref(const char *name) {
        g_autofree char *pointer = g_strconcat("#/$defs/", name, NULL);

        return OBJECT({ "$ref", string_value(pointer) });
}

/* Takes both; the second may be NULL. */
static json_object *list_of(json_object *first, json_object *second) {
        json_object *list = json_object_new_array();

        json_object_array_add(list, first);
        if (second)
                json_object_array_add(list, second);
        return list;
}

/* Takes both. */
static json_object *schema_either(json_object *first, json_object *second) {
        return OBJECT({ "anyOf", list_of(first, second) });
}

/* One of the texts, which are NULL-terminated. */
static json_object *schema_of_strings(const char *const *names) {
        json_object *list = json_object_new_array();

        for (; *names; names++)
                json_object_array_add(list, string_value(*names));

        return OBJECT({ "enum", list });
}

/* A text that matches the pattern, with its description for messages ("an object path"), which some editors show. It
 * has no description, because editors would show that instead of the parameter's. */
static json_object *schema_of_pattern(const char *pattern, const char *what) {
        g_autofree char *message = g_strconcat("expected ", what, NULL);

        return OBJECT({ "type", string_value("string") }, { "pattern", string_value(pattern) },
                      { "patternErrorMessage", string_value(message) });
}

static json_object *schema_of_format(const TextFormat *format, bool references) {
        g_autofree char *pattern = references ? g_strconcat("\\{|", format->pattern, NULL) : g_strdup(format->pattern);

        return schema_of_pattern(pattern, format->name);
}

/* A text with a reference is checked after the reference is filled in. */
static json_object *schema_of_text(const Param *param, const TextFormat *format, bool references) {
        if (param->causes)
                return schema_ref("cause");
        if (param->values)
                return references ? schema_either(schema_of_strings(param->values), schema_ref("template"))
                                  : schema_of_strings(param->values);
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
        json_object *schema, *first = NULL;

        if (param->first_format)
                first = list_of(schema_of_text(param, param->first_format, param_takes_references(param, literal)),
                                NULL);
        schema = OBJECT({ "type", string_value("array") }, { "prefixItems", first },
                        { "items", schema_of_string(param, literal) },
                        { "minItems", param->not_empty ? json_object_new_int64(1) : NULL });

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
                element = schema_of_value(param->elements, literal);
                if (references && param->elements->kind != PARAM_JSON)
                        element = schema_either(element, schema_ref("reference"));
                schema = OBJECT({ "type", string_value("array") }, { "items", element },
                                { "minItems", param->not_empty ? json_object_new_int64(1) : NULL });
        }

        return references ? schema_either(schema, schema_ref("reference")) : schema;
}

static json_object *schema_of_value(const Param *param, bool literal) {
        switch (param->kind) {
        case PARAM_BOOL:
                return schema_of_kind("boolean");
        case PARAM_INT:
        case PARAM_NUMBER:
                return OBJECT(
                        { "type", string_value(param->kind == PARAM_INT ? "integer" : "number") },
                        { "minimum", param->min != 0 || param->max != 0 ? json_object_new_int64(param->min) : NULL },
                        { "maximum", param->max != 0 ? json_object_new_int64(param->max) : NULL },
                        { "exclusiveMinimum", param->positive ? json_object_new_int64(0) : NULL });
        case PARAM_STRING:
                return schema_of_string(param, literal);
        case PARAM_SPAN:
                return schema_ref(param->positive ? "positive-span" : "span");
        case PARAM_ENUM:
                return schema_of_strings(param->values);
        case PARAM_STRINGS:
                return schema_of_list(param, literal);
        case PARAM_STRING_MAP:
                return OBJECT(
                        { "type", string_value("object") },
                        { "additionalProperties", schema_of_string(param, literal) },
                        { "propertyNames", param->key_format ? schema_of_format(param->key_format, false) : NULL });
        case PARAM_JSON:
                return schema_of_json(param, literal);
        case PARAM_EXPRESSION:
                return schema_ref("expression");
        case PARAM_CODE:
                return schema_ref("code");
        case PARAM_EXPRESSIONS:
                return OBJECT({ "type", string_value("object") },
                              { "propertyNames", param->writes ? schema_ref("variable") : NULL },
                              { "additionalProperties", schema_ref("expression") });
        case PARAM_OBJECT:
                return schema_of_members(param->members, literal);
        case PARAM_KIND_MAX_:
                break;
        }

        g_assert_not_reached();
}

/* Adds the parameters to the properties, and the required ones to the list. literal: they take no references, unless a
 * parameter allows them. */
static void schema_add_params(json_object *properties, json_object *required, const Param *params, bool literal) {
        for (const Param *param = params; param && param->name; param++) {
                json_object *schema = schema_of_value(param, (literal && !param->late) || param->literal), *other;
                /* A reference may be a part of the text. */
                bool becomes_text = param->kind == PARAM_SPAN || param->kind == PARAM_ENUM;

                /* A reference is not a value of the kind, and must be allowed in addition. */
                if (param->kind != PARAM_STRING && param->kind != PARAM_JSON && param_takes_references(param, literal))
                        schema = schema_either(schema, schema_ref(becomes_text ? "template" : "reference"));
                if (param->doc)
                        json_object_object_add(schema, "description", string_value(param->doc));
                if (param->fallback)
                        json_object_object_add(schema, "default", json_tokener_parse(param->fallback));

                if (json_object_object_get_ex(properties, param->name, &other))
                        schema = schema_either(json_object_get(other), schema);
                json_object_object_add(properties, param->name, schema);
                if (param->required)
                        json_object_array_add(required, string_value(param->name));
        }
}

/* An object that has only these keys. Takes both; required: NULL: none of them. */
static json_object *schema_of_object(json_object *properties, json_object *required) {
        return OBJECT({ "type", string_value("object") }, { "properties", properties }, { "required", required },
                      { "additionalProperties", json_object_new_boolean(false) });
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
/* Keywords of Lua, see keyword_is(). */
#define NO_KEYWORD                                                                                                     \
        "(?!(and|break|do|else|elseif|end|false|for|function|goto|if|in|local|nil|not|or|repeat|return|then|true|"     \
        "until|while)$)"
#define KEY_PATTERN "^" NO_KEYWORD "[A-Za-z_][A-Za-z0-9_-]{0,254}$"
/* With "@", a variable of the outermost scope. */
#define NAME_PATTERN "^@?" NO_KEYWORD "[A-Za-z_][A-Za-z0-9_-]{0,254}$"

/* Name and aliases. */
static json_object *names_of(const NodeType *type) {
        json_object *names = list_of(string_value(type->name), NULL);

        for (const char *const *alias = type->aliases; alias && *alias; alias++)
                json_object_array_add(names, string_value(*alias));

        return OBJECT({ "enum", names });
}

/* second: may be NULL. */
static json_object *schema_that_requires(const char *first, const char *second) {
        return OBJECT({ "required", list_of(string_value(first), second ? string_value(second) : NULL) });
}

static json_object *schema_of_rules(const ParamRule *rules) {
        json_object *all = json_object_new_array();

        for (const ParamRule *rule = rules; rule->kind; rule++) {
                json_object *choices = NULL;

                /* {"required": [PARAM, OTHER], "properties": {OTHER: {"const": WORD}}} */
                if (rule->kind == RULE_NOT_WITH) {
                        json_object *both = schema_that_requires(rule->params[0], rule->params[1]);

                        json_object_object_add(
                                both, "properties",
                                OBJECT({ rule->params[1], OBJECT({ "const", string_value(rule->word) }) }));
                        json_object_array_add(all, OBJECT({ "not", both }));
                        continue;
                }

                if (rule->kind == RULE_EXACTLY_ONE) {
                        choices = json_object_new_array();
                        json_object_array_add(all, OBJECT({ "anyOf", choices }));
                }
                for (size_t i = 0; choices && rule->params[i]; i++)
                        json_object_array_add(choices, schema_that_requires(rule->params[i], NULL));
                for (size_t i = 0; rule->params[i]; i++)
                        for (size_t j = i + 1; rule->params[j]; j++)
                                json_object_array_add(
                                        all, OBJECT({ "not", schema_that_requires(rule->params[i], rule->params[j]) }));
        }

        return all;
}

static json_object *schema_of_type(const NodeType *type) {
        json_object *properties = OBJECT({ "type", names_of(type) }, { "description", schema_of_kind("string") }),
                    *required = json_object_new_array(), *schema;
        bool control = type->class == NODE_CONTROL, decorator = type->class == NODE_DECORATOR;

        if (control) {
                json_object *most = type->max_children < UINT32_MAX ? json_object_new_int64(type->max_children) : NULL;

                json_object_object_add(properties, "children",
                                       OBJECT({ "type", string_value("array") }, { "items", schema_ref("node") },
                                              { "minItems", json_object_new_int64(type->min_children) },
                                              { "maxItems", most }));
                json_object_array_add(required, string_value("children"));
        } else if (decorator && !(type->flags & TYPE_SUBTREE)) {
                json_object_object_add(properties, "child", schema_ref("node"));
                json_object_array_add(required, string_value("child"));
        }
        schema_add_params(properties, required, type->params, control || decorator);
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

static json_object *schema_of_node(const NodeType *const *const *tables) {
        json_object *types = json_object_new_array(), *choices = json_object_new_array(), *names;

        for (; *tables; tables++)
                for (const NodeType *const *type = *tables; *type; type++) {
                        /* Its names and aliases with its summary. */
                        names = names_of(*type);
                        json_object_object_add(names, "description", string_value((*type)->summary));
                        json_object_array_add(types, names);

                        /* If the node is of the type, its definition applies. */
                        names = OBJECT({ "type", names_of(*type) });
                        json_object_array_add(choices, OBJECT({ "if", OBJECT({ "properties", names }) },
                                                              { "then", schema_ref((*type)->name) }));
                }

        return OBJECT({ "type", string_value("object") },
                      { "properties", OBJECT({ "type", OBJECT({ "anyOf", types }) }) },
                      { "required", list_of(string_value("type"), NULL) }, { "allOf", choices });
}

/* An object of variables, each of which matches the schema each (taken; NULL: any value). */
static json_object *schema_of_variables(json_object *each, const char *description) {
        return OBJECT({ "type", string_value("object") },
                      { "propertyNames", schema_of_pattern(KEY_PATTERN, "the name of a variable") },
                      { "additionalProperties", each }, { "description", string_value(description) });
}

/* Adds the keys at the top of a tree, both for the tree of the file and for those in "trees". A declaration is a type,
 * or an object with a type and more. */
static void add_tree(json_object *properties) {
        json_object *input = schema_either(schema_of_strings(variable_type_names),
                                           schema_of_members(input_params, true)),
                    *output = schema_either(schema_of_strings(variable_type_names),
                                            schema_of_members(output_params, true));

        json_object_object_add(properties, "inputs",
                               schema_of_variables(input, "the variables that are given to the tree"));
        json_object_object_add(properties, "outputs",
                               schema_of_variables(output, "the variables that the tree returns"));
        json_object_object_add(properties, "blackboard",
                               schema_of_variables(NULL, "the variables that a run starts with"));
        json_object_object_add(properties, "root", schema_ref("node"));
}

static json_object *schema_of_files(const char *doc) {
        return OBJECT({ "type", string_value("array") }, { "items", schema_of_kind("string") },
                      { "description", string_value(doc) });
}

static json_object *schema_of_script(const char *meant) {
        return schema_either(schema_of_pattern(".", meant),
                             OBJECT({ "type", string_value("array") }, { "items", schema_of_kind("string") },
                                    { "minItems", json_object_new_int64(1) }));
}

/* The definitions that the schemas of values refer to. */
static json_object *definitions_of_values(void) {
        g_autofree char *cause = cause_pattern_expression();

        return OBJECT(
                { "span", schema_of_pattern(SPAN_PATTERN, "a time span, such as \"150ms\" or \"1min 30s\"") },
                { "positive-span", schema_of_pattern(POSITIVE_SPAN_PATTERN, "a time span above 0, such as \"150ms\"") },
                { "reference", schema_of_pattern(REFERENCE_PATTERN, "a variable, such as \"{key}\"") },
                { "template", schema_of_pattern(TEMPLATE_PATTERN, "a text with a variable, such as \"{key}s\"") },
                { "text", schema_of_pattern("^(" PIECE "|\\{secret:[A-Za-z0-9_-][A-Za-z0-9_.-]*\\})*$", TEXT_MEANT) },
                { "shown-text", schema_of_pattern("^(" PIECE ")*$", TEXT_MEANT) },
                { "cause", schema_of_pattern(cause, "the kind of a cause, or the name of a D-Bus error") },
                { "variable", schema_of_pattern(NAME_PATTERN, "the name of a variable") },
                { "variable-or-none",
                  schema_of_pattern("^$|" NAME_PATTERN, "the name of a variable, or \"\" for none") },
                { "expression", schema_of_script("an expression, in Lua; a text, or its lines") },
                { "code", schema_of_script("statements, in Lua; a text, or its lines") });
}

/* Takes both objects. */
static json_object *schema_of_document(json_object *schema, const char *title, json_object *defs) {
        json_object_object_add(schema, "$schema", string_value("https://json-schema.org/draft/2020-12/schema"));
        json_object_object_add(schema, "title", string_value(title));
        json_object_object_add(schema, "$defs", defs);
        return schema;
}

json_object *schema_new(const NodeType *const *const *tables) {
        json_object *properties = json_object_new_object(), *required = json_object_new_array(),
                    *tree = json_object_new_object(), *tree_required = json_object_new_array(),
                    *defs = definitions_of_values(), *name, *schema;

        schema_add_params(properties, required, header_params, true);
        json_object_object_add(properties, "btd", OBJECT({ "const", json_object_new_int64(HEADER_VERSION) }));
        json_object_object_add(properties, "include", schema_of_files("files whose trees this file can use"));
        json_object_object_add(properties, "lua", schema_of_files("Lua files whose functions its expressions can use"));
        json_object_object_add(
                properties, "trees",
                OBJECT({ "type", string_value("object") },
                       { "propertyNames", schema_of_pattern("^[A-Za-z0-9_-]{1,100}$", "the name of a tree") },
                       { "additionalProperties", schema_ref("tree") },
                       { "description", string_value("trees for SubTree nodes, by name") }));
        add_tree(properties);

        /* A file can be run, or included, or both. */
        schema = schema_of_object(properties, required);
        json_object_object_add(schema, "anyOf",
                               list_of(schema_that_requires("root", NULL), schema_that_requires("trees", NULL)));

        json_object_object_add(defs, "node", schema_of_node(tables));
        name = schema_of_pattern("^[^\\u0000-\\u001f\\u007f]+$", "a name without control characters");
        json_object_object_add(name, "description", string_value("the name of the node"));
        json_object_object_add(defs, "name", name);
        schema_add_params(tree, tree_required, tree_params, true);
        add_tree(tree);
        json_object_array_add(tree_required, string_value("root"));
        json_object_object_add(defs, "tree", schema_of_object(tree, tree_required));
        for (; *tables; tables++)
                for (const NodeType *const *type = *tables; *type; type++)
                        json_object_object_add(defs, (*type)->name, schema_of_type(*type));

        return schema_of_document(schema, "A tree file of btd", defs);
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
                entry = OBJECT({ "anyOf", json_object_new_array() }, { "description", json_object_get(doc) });
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
        json_object *properties = json_object_new_object();

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
        return schema_of_object(properties, NULL);
}

json_object *schema_new_of_dropin(const NodeType *const *const *tables) {
        json_object *properties = json_object_new_object(), *required = json_object_new_array(),
                    *input = schema_of_members(input_params, true), *defs = definitions_of_values();

        schema_add_params(properties, required, header_params, true);
        json_object_put(required);
        make_members_partial(properties);
        json_object_object_add(properties, "btd", OBJECT({ "const", json_object_new_int64(HEADER_VERSION) }));

        /* Each input has some of its members; the type cannot change. */
        json_object_object_del(json_object_object_get(input, "properties"), "type");
        make_partial(input);
        json_object_object_add(properties, "inputs", schema_of_variables(input, "what changes at inputs of the tree"));
        json_object_object_add(properties, "blackboard",
                               schema_of_variables(NULL, "other values of variables in 'blackboard' of the tree"));
        json_object_object_add(
                properties, "nodes",
                OBJECT({ "type", string_value("object") }, { "additionalProperties", schema_ref("node") },
                       { "description",
                         string_value("what changes at nodes, by their names or paths, such as Boot/Start") }));

        json_object_object_add(defs, "node", schema_of_node_change(tables));
        return schema_of_document(schema_of_object(properties, NULL), "A drop-in of a tree file of btd", defs);
}
