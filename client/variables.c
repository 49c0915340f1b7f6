/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The shell takes quotes away, so whoever means a string is told how to keep them. */

#include <json-c/json_tokener.h>
#include <string.h>

#include "basic/cleanup.h"
#include "report.h"
#include "script/blackboard.h"
#include "variables.h"

#define JSON_DEPTH_MAX 1000

/* False: it is not JSON. */
static bool parse_value(const char *text, json_object **ret_value) {
        json_tokener *tokener = json_tokener_new_ex(JSON_DEPTH_MAX);
        json_object *value;
        bool valid;

        json_tokener_set_flags(tokener, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);
        /* With the NUL, which says that a number is over. */
        value = json_tokener_parse_ex(tokener, text, strlen(text) + 1);
        valid = json_tokener_get_error(tokener) == json_tokener_success;
        json_tokener_free(tokener);

        if (valid)
                *ret_value = value;
        return valid;
}

static int check_value(const char *option, const char *key, const char *text) {
        g_autoptr(json_object) value = NULL;

        if (parse_value(text, &value))
                return EXIT_SUCCESS;

        /* Only what was meant as a word is worth an example. */
        if (*text && !strpbrk(text, "{}[]\"'\\"))
                return report_usage("%s%s: '%s' is not JSON; quote a string twice: %s%s='\"%s\"'", option, key, text,
                                    option, key, text);

        return report_usage("%s%s: '%s' is not JSON", option, key, text);
}

int variables_check(const char *option, const GPtrArray *sets) {
        g_autoptr(GHashTable) keys = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);

        for (guint i = 0; i < sets->len; i++) {
                const char *set = g_ptr_array_index(sets, i), *equals = strchr(set, '=');
                g_autofree char *key = NULL;
                int status;

                if (!equals)
                        return report_usage("%s%s: the value is missing: %sKEY=JSON", option, set, option);

                key = g_strndup(set, equals - set);
                if (!blackboard_key_valid(key))
                        return report_usage("%s%s: '%s' cannot be the name of a variable: a letter or '_', then "
                                            "letters, digits, '_', '-' and '.'",
                                            option, set, key);

                status = check_value(option, key, equals + 1);
                if (status != EXIT_SUCCESS)
                        return status;

                if (!g_hash_table_add(keys, g_strdup(key)))
                        return report_usage("%s%s: it is set twice", option, key);
        }

        return EXIT_SUCCESS;
}

json_object *variables_to_json(const GPtrArray *sets) {
        json_object *variables = json_object_new_object();

        for (guint i = 0; i < sets->len; i++) {
                g_auto(GStrv) parts = g_strsplit(g_ptr_array_index(sets, i), "=", 2);
                json_object *value = NULL;

                if (parse_value(parts[1], &value))
                        json_object_object_add(variables, parts[0], value);
        }

        return variables;
}

int variables_append(sd_bus_message *message, const GPtrArray *sets) {
        int r;

        r = sd_bus_message_open_container(message, SD_BUS_TYPE_ARRAY, "{ss}");
        if (r < 0)
                return r;

        for (guint i = 0; i < sets->len; i++) {
                g_auto(GStrv) parts = g_strsplit(g_ptr_array_index(sets, i), "=", 2);

                r = sd_bus_message_append(message, "{ss}", parts[0], parts[1]);
                if (r < 0)
                        return r;
        }

        return sd_bus_message_close_container(message);
}
