/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Values are shown as JSON, in short. */

#include <json-c/linkhash.h>
#include <string.h>

#include "basic/excerpt.h"
#include "script/seen.h"

json_object *seen_variables(const Blackboard *scope, const char *const *names) {
        json_object *values = json_object_new_object();

        for (; *names; names++) {
                json_object *value = NULL;

                (void) blackboard_get(scope, *names, &value);
                json_object_object_add(values, *names, json_object_get(value));
        }

        return values;
}

char *seen_describe(json_object *values) {
        GString *text = g_string_new(NULL);

        json_object_object_foreach(values, name, value) {
                const char *json = json_object_to_json_string_ext(value, JSON_C_TO_STRING_NOSLASHESCAPE);
                g_autofree char *shown = value ? excerpt(json, strlen(json)) : g_strdup("not set");

                g_string_append_printf(text, "%s%s is %s", text->len > 0 ? ", " : "", name, shown);
        }

        return g_string_free(text, false);
}

char *seen_falsity(const char *expression, json_object *values) {
        g_autofree char *shown = seen_describe(values);

        return g_strdup_printf("%s is false%s%s%s", expression, *shown ? " (" : "", shown, *shown ? ")" : "");
}
