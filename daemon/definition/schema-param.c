/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Makes the JSON Schema of values by the kinds of parameters. If a parameter may be a reference, the schema allows
 * both. */

#include <glib.h>
#include <json-c/json_tokener.h>

#include "definition/params.h"
#include "definition/schema-param.h"

json_object *schema_of_kind(const char *kind) {
        json_object *schema = json_object_new_object();

        json_object_object_add(schema, "type", json_object_new_string(kind));
        return schema;
}

json_object *schema_ref(const char *name) {
        json_object *schema = json_object_new_object();
        g_autofree char *pointer = g_strconcat("#/$defs/", name, NULL);

        json_object_object_add(schema, "$ref", json_object_new_string(pointer));
        return schema;
}

json_object *schema_either(json_object *first, json_object *second) {
        json_object *schema = json_object_new_object(), *choices = json_object_new_array();

        json_object_array_add(choices, first);
        json_object_array_add(choices, second);
        json_object_object_add(schema, "anyOf", choices);
        return schema;
}

json_object *schema_of_strings(const char *const *names) {
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

void schema_add_pattern(json_object *schema, const char *pattern, const char *what) {
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
        json_object *schema = schema_of_value(param, literal || param->literal);

        if (needs_reference(param, literal))
                schema = schema_either(schema, schema_ref(becomes_text(param) ? "template" : "reference"));
        if (param->doc)
                json_object_object_add(schema, "description", json_object_new_string(param->doc));
        if (param->fallback)
                json_object_object_add(schema, "default", json_tokener_parse(param->fallback));

        return schema;
}

void schema_add_params(json_object *properties, json_object *required, const Param *params, bool literal) {
        for (const Param *param = params; param && param->name; param++) {
                json_object *schema = schema_of_param(param, literal), *other;

                if (json_object_object_get_ex(properties, param->name, &other))
                        schema = schema_either(json_object_get(other), schema);
                json_object_object_add(properties, param->name, schema);
                if (param->required)
                        json_object_array_add(required, json_object_new_string(param->name));
        }
}

json_object *schema_of_object(json_object *properties, json_object *required) {
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
