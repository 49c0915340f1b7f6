/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Sets the field of a parameter from a JSON value, by the kind of the parameter; objects are set member by member. */

#include <errno.h>
#include <json-c/linkhash.h>
#include <string.h>

#include "basic/cleanup.h"
#include "definition/param-kinds.h"
#include "definition/param-report.h"
#include "definition/text.h"

static int set_field(const ParamSetter *setter, const Place *place, const Param *param, void *values,
                     json_object *value);

/* The member that a misspelt key probably means, if that member is not given; or NULL. */
static const Param *find_meant(const Param *param, json_object *value, const char *key) {
        const char *meant = param_nearest_member(param, key);

        return meant && !json_object_object_get_ex(value, meant, NULL)
                       ? params_find(param->members, meant, strlen(meant))
                       : NULL;
}

static int set_object(const ParamSetter *setter, const Place *place, const Param *param, const void **field,
                      json_object *value) {
        uint64_t misspelt = 0;
        void *values;
        int r = 0;

        if (param_may_be_anything(setter, value))
                return 0;
        if (!json_object_is_type(value, json_type_object))
                return param_report_kind(setter, place, "an object", value);

        values = arena_alloc(setter->arena, param->members_size);
        params_set_defaults(setter->arena, param->members, values);

        json_object_object_foreach(value, key, member) {
                const Param *found = params_find(param->members, key, strlen(key));
                Place at = { .parent = place, .key = key };

                if (!found) {
                        r = param_report_unknown(setter, place, param, key);
                        found = find_meant(param, value, key);
                        misspelt |= found ? UINT64_C(1) << (found - param->members) : 0;
                }
                if (found && set_field(setter, &at, found, values, member) < 0)
                        r = -EINVAL;
        }

        for (const Param *needed = param->members; needed->name; needed++)
                if (needed->required && !(misspelt & UINT64_C(1) << (needed - param->members)) &&
                    !json_object_object_get_ex(value, needed->name, NULL))
                        r = param_report(setter, place, "'%s' is missing: %c%s", needed->name,
                                         g_ascii_tolower(*needed->doc), needed->doc + 1);

        if (r == 0)
                *field = values;
        return r;
}

static int set_field(const ParamSetter *setter, const Place *place, const Param *param, void *values,
                     json_object *value) {
        void *field = (char *) values + param->offset;

        switch (param->kind) {
        case PARAM_BOOL:
                return param_set_bool(setter, place, field, value);
        case PARAM_INT:
                return param_set_int(setter, place, param, field, value);
        case PARAM_NUMBER:
                return param_set_number(setter, place, param, field, value);
        case PARAM_STRING:
                return param_set_string(setter, place, param, field, value);
        case PARAM_SPAN:
                return param_set_span(setter, place, param, field, value);
        case PARAM_ENUM:
                return param_set_enum(setter, place, param, field, value);
        case PARAM_STRINGS:
                return param_set_strings(setter, place, param, field, value);
        case PARAM_STRING_MAP:
                return param_set_string_map(setter, place, param, field, value);
        case PARAM_JSON:
                return param_set_json(setter, place, param, field, value);
        case PARAM_OBJECT:
                return set_object(setter, place, param, field, value);
        case PARAM_EXPRESSION:
        case PARAM_CODE:
                return param_set_script(setter, place, param, field, value);
        case PARAM_EXPRESSIONS:
                return param_set_expressions(setter, place, param, field, value);
        case PARAM_KIND_MAX_:
                break;
        }

        g_assert_not_reached();
}

int param_set(const ParamSetter *setter, const Param *param, void *values, json_object *value) {
        Place place = { .key = param->name };

        return set_field(setter, &place, param, values, value);
}

int param_set_at(const ParamSetter *setter, const Place *place, const Param *param, void *values, json_object *value) {
        return set_field(setter, place, param, values, value);
}

/* Defaults are part of the program, so a wrong one is a bug in its table. */
static void on_bad_default(const ParamFinding *finding, void *userdata) {
        g_error("the default of the parameter %s: %s", finding->place->key, finding->text);
}

static void on_bad_value(uint32_t item, char *text, void *userdata) {
        (void) item;
        g_error("the default of the parameter %s: %s", ((const Param *) userdata)->name, text);
}

static json_object *parse_default(const Param *param) {
        g_autoptr(GString) scratch = g_string_new(NULL);
        g_autofree char *error = NULL;
        g_auto(Text) text = {};
        json_object *value = NULL;
        size_t offset;

        if (text_read(param->fallback, strlen(param->fallback), &text, &offset, &error) < 0)
                on_bad_value(0, error, (Param *) param);

        text_to_json(&text, 0, scratch, on_bad_value, (Param *) param, &value);
        return value;
}

void params_set_defaults(Arena *arena, const Param *params, void *values) {
        ParamSetter setter = { .arena = arena, .report = on_bad_default };

        for (const Param *param = params; param && param->name; param++)
                if (param->fallback) {
                        g_autoptr(json_object) value = parse_default(param);

                        param_set(&setter, param, values, value);
                }
}

bool param_is_script(const Param *param) {
        return param->kind == PARAM_EXPRESSION || param->kind == PARAM_CODE || param->kind == PARAM_EXPRESSIONS;
}

bool param_takes_references(const Param *param, bool literal) {
        return !param_is_script(param) && !param->literal && !param->plain && !param->causes && !param_is_name(param) &&
               (!literal || param->late);
}

const Param *params_find(const Param *params, const char *key, size_t length) {
        for (const Param *param = params; param && param->name; param++)
                if (param->name[0] == key[0] && strncmp(param->name, key, length) == 0 && param->name[length] == 0)
                        return param;

        return NULL;
}
