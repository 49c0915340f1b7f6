/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * A node is described by its type: for each type a definition of its own, chosen by the key "type". What a schema
 * cannot say (time spans, references, the texts of errors) is left to the loader.
 */

#include <glib.h>
#include <json-c/json_tokener.h>

#include "definition/load.h"
#include "definition/schema.h"

/* As the loader reads them: numbers with units, or "infinity". */
#define SPAN_PATTERN "^\\s*(infinity|([0-9]+(\\.[0-9]+)?\\s*[A-Za-z\\u00b5\\u03bc]+\\s*)+)\\s*$"
/* Any text with a "{" may be one. */
#define REFERENCE_PATTERN "\\{"

static json_object *string_value(const char *text) {
        return json_object_new_string(text);
}

static json_object *schema_of_kind(const char *kind) {
        json_object *schema = json_object_new_object();

        json_object_object_add(schema, "type", string_value(kind));
        return schema;
}

static json_object *schema_ref(const char *name) {
        json_object *schema = json_object_new_object();
        g_autofree char *pointer = g_strconcat("#/$defs/", name, NULL);

        json_object_object_add(schema, "$ref", string_value(pointer));
        return schema;
}

static json_object *either(json_object *first, json_object *second) {
        json_object *schema = json_object_new_object(), *choices = json_object_new_array();

        json_object_array_add(choices, first);
        json_object_array_add(choices, second);
        json_object_object_add(schema, "anyOf", choices);
        return schema;
}

static json_object *schema_of_strings(const char *const *names) {
        json_object *list = json_object_new_array(), *schema = json_object_new_object();

        for (; *names; names++)
                json_object_array_add(list, string_value(*names));

        json_object_object_add(schema, "enum", list);
        return schema;
}

static json_object *schema_of_number(const Param *param) {
        json_object *schema = schema_of_kind(param->kind == PARAM_INT ? "integer" : "number");

        if (param->min != 0 || param->max != 0)
                json_object_object_add(schema, "minimum", json_object_new_int64(param->min));
        if (param->max != 0)
                json_object_object_add(schema, "maximum", json_object_new_int64(param->max));

        return schema;
}

static json_object *schema_of_members(const Param *params, bool literal);

static json_object *schema_of_value(const Param *param, bool literal) {
        json_object *schema;

        switch (param->kind) {
        case PARAM_BOOL:
                return schema_of_kind("boolean");
        case PARAM_INT:
        case PARAM_NUMBER:
                return schema_of_number(param);
        case PARAM_STRING:
                return schema_of_kind("string");
        case PARAM_SPAN:
                return schema_ref("span");
        case PARAM_ENUM:
                return schema_of_strings(param->values);
        case PARAM_STRINGS:
                schema = schema_of_kind("array");
                json_object_object_add(schema, "items", schema_of_kind("string"));
                return param->single ? either(schema_of_kind("string"), schema) : schema;
        case PARAM_STRING_MAP:
                schema = schema_of_kind("object");
                json_object_object_add(schema, "additionalProperties", schema_of_kind("string"));
                return schema;
        case PARAM_JSON:
                return json_object_new_object();
        case PARAM_EXPRESSION:
        case PARAM_CODE:
                return schema_of_kind("string");
        case PARAM_EXPRESSIONS:
                schema = schema_of_kind("object");
                json_object_object_add(schema, "additionalProperties", schema_of_kind("string"));
                return schema;
        case PARAM_OBJECT:
                return schema_of_members(param->members, literal);
        case PARAM_KIND_MAX_:
                break;
        }

        g_assert_not_reached();
}

/* Does a reference need to be allowed on its own, being no value of the kind? */
static bool takes_reference(const Param *param, bool literal) {
        return !literal && !param->literal && param->kind != PARAM_STRING && param->kind != PARAM_JSON;
}

static json_object *schema_of_param(const Param *param, bool literal) {
        json_object *schema = schema_of_value(param, literal || param->literal);

        if (takes_reference(param, literal))
                schema = either(schema, schema_ref("reference"));
        if (param->doc)
                json_object_object_add(schema, "description", string_value(param->doc));
        if (param->fallback)
                json_object_object_add(schema, "default", json_tokener_parse(param->fallback));

        return schema;
}

/* Adds the parameters to the properties, and to the list of what is required. One that is there already can be
 * either. */
static void add_params(json_object *properties, json_object *required, const Param *params, bool literal) {
        for (const Param *param = params; param && param->name; param++) {
                json_object *schema = schema_of_param(param, literal), *other;

                if (json_object_object_get_ex(properties, param->name, &other))
                        schema = either(json_object_get(other), schema);
                json_object_object_add(properties, param->name, schema);
                if (param->required)
                        json_object_array_add(required, string_value(param->name));
        }
}

/* An object with just these keys. Takes both. */
static json_object *schema_of_object(json_object *properties, json_object *required) {
        json_object *schema = schema_of_kind("object");

        json_object_object_add(schema, "properties", properties);
        json_object_object_add(schema, "required", required);
        json_object_object_add(schema, "additionalProperties", json_object_new_boolean(false));
        return schema;
}

static json_object *schema_of_members(const Param *params, bool literal) {
        json_object *properties = json_object_new_object(), *required = json_object_new_array();

        add_params(properties, required, params, literal);
        return schema_of_object(properties, required);
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

static json_object *schema_of_type(const NodeType *type) {
        json_object *properties = json_object_new_object(), *required = json_object_new_array(), *schema;
        bool leaf = type->class == NODE_ACTION || type->class == NODE_CONDITION;

        json_object_object_add(properties, "type", names_of(type));
        json_object_object_add(properties, "name", schema_ref("name"));
        json_object_object_add(properties, "description", schema_of_kind("string"));
        if (!leaf) {
                bool control = type->class == NODE_CONTROL;
                const char *key = control ? "children" : "child";

                json_object_object_add(properties, key, control ? schema_of_children(type) : schema_ref("node"));
                json_object_array_add(required, string_value(key));
        }
        add_params(properties, required, type->params, !leaf);
        add_params(properties, required, extras_params, true);

        schema = schema_of_object(properties, required);
        json_object_object_add(schema, "description", string_value(type->summary));
        return schema;
}

/* If the node is of the type, then its definition holds. */
static json_object *choice_of_type(const NodeType *type) {
        json_object *choice = json_object_new_object(), *condition = json_object_new_object();
        json_object *properties = json_object_new_object();

        json_object_object_add(properties, "type", names_of(type));
        json_object_object_add(condition, "properties", properties);
        json_object_object_add(choice, "if", condition);
        json_object_object_add(choice, "then", schema_ref(type->name));
        return choice;
}

/* All names and aliases with what they are. */
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

static json_object *schema_of_text(const char *pattern, const char *description) {
        json_object *schema = schema_of_kind("string");

        json_object_object_add(schema, "pattern", string_value(pattern));
        json_object_object_add(schema, "description", string_value(description));
        return schema;
}

static json_object *schema_of_name(void) {
        json_object *schema = schema_of_kind("string");

        json_object_object_add(schema, "minLength", json_object_new_int64(1));
        json_object_object_add(schema, "description", string_value("what people call the node"));
        return schema;
}

static json_object *schema_of_blackboard(void) {
        json_object *schema = schema_of_kind("object");

        json_object_object_add(schema, "propertyNames",
                               schema_of_text("^[A-Za-z_][A-Za-z0-9_.-]{0,254}$", "the name of a variable"));
        json_object_object_add(schema, "description", string_value("the variables that a run starts with"));
        return schema;
}

static json_object *definitions(const NodeType *const *const *tables) {
        json_object *defs = json_object_new_object();

        json_object_object_add(defs, "node", schema_of_node(tables));
        json_object_object_add(defs, "name", schema_of_name());
        json_object_object_add(defs, "span",
                               schema_of_text(SPAN_PATTERN, "a time span, such as \"150ms\" or \"1min 30s\""));
        json_object_object_add(defs, "reference", schema_of_text(REFERENCE_PATTERN, "a variable, such as \"{key}\""));

        for (; *tables; tables++)
                for (const NodeType *const *type = *tables; *type; type++)
                        json_object_object_add(defs, (*type)->name, schema_of_type(*type));

        return defs;
}

json_object *schema_new(const NodeType *const *const *tables) {
        json_object *properties = json_object_new_object(), *required = json_object_new_array(), *schema;
        json_object *version = json_object_new_object();

        add_params(properties, required, header_params, true);
        json_object_object_add(version, "const", json_object_new_int64(HEADER_VERSION));
        json_object_object_add(properties, "btd", version);
        json_object_object_add(properties, "blackboard", schema_of_blackboard());
        json_object_object_add(properties, "root", schema_ref("node"));
        json_object_array_add(required, string_value("root"));

        schema = schema_of_object(properties, required);
        json_object_object_add(schema, "$schema", string_value("https://json-schema.org/draft/2020-12/schema"));
        json_object_object_add(schema, "title", string_value("A tree file of btd"));
        json_object_object_add(schema, "$defs", definitions(tables));
        return schema;
}
