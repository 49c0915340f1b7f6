/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* JSON in strings of D-Bus. */

#include <json-c/json_tokener.h>
#include <json-c/linkhash.h>
#include <limits.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/excerpt.h"
#include "service/errors.h"
#include "service/variables-bus.h"

/* Deeper values are no data that a tree could work with. */
#define DEPTH_MAX 100

/* One variable is a name and its value as JSON text. */
static int read_one(sd_bus_message *message, json_tokener *tokener, json_object *variables, sd_bus_error *ret_error) {
        g_autoptr(json_object) value = NULL;
        g_autofree char *shown = NULL;
        const char *name, *text;
        size_t length;
        int r;

        r = sd_bus_message_read(message, "{ss}", &name, &text);
        if (r <= 0)
                return r;

        length = strlen(text);
        json_tokener_reset(tokener);
        value = json_tokener_parse_ex(tokener, text, (int) MIN(length + 1, INT_MAX));
        if (json_tokener_get_error(tokener) != json_tokener_success || json_tokener_get_parse_end(tokener) < length) {
                shown = excerpt(name, strlen(name));
                return sd_bus_error_setf(ret_error, ERROR_INVALID_ARGUMENT,
                                         "the value of '%s' is not JSON; a string needs double quotes: '%s=\"text\"'",
                                         shown, shown);
        }

        json_object_object_add(variables, name, g_steal_pointer(&value));
        return 1;
}

int variables_bus_read(sd_bus_message *message, json_object **ret_variables, sd_bus_error *ret_error) {
        g_autoptr(json_object) variables = json_object_new_object();
        json_tokener *tokener = json_tokener_new_ex(DEPTH_MAX);
        int r;

        json_tokener_set_flags(tokener, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);
        r = sd_bus_message_enter_container(message, 'a', "{ss}");
        while (r >= 0) {
                r = read_one(message, tokener, variables, ret_error);
                if (r == 0)
                        break;
        }
        json_tokener_free(tokener);
        if (r < 0)
                return r;

        *ret_variables = g_steal_pointer(&variables);
        return sd_bus_message_exit_container(message);
}

static char *to_text(json_object *value) {
        return g_utf8_make_valid(json_object_to_json_string_ext(value, JSON_C_TO_STRING_NOSLASHESCAPE), -1);
}

int variables_bus_append(sd_bus_message *message, json_object *variables) {
        int r = sd_bus_message_open_container(message, 'a', "{ss}");

        json_object_object_foreach(variables, key, value) {
                g_autofree char *text = to_text(value);

                if (r >= 0)
                        r = sd_bus_message_append(message, "{ss}", key, text);
        }

        return r < 0 ? r : sd_bus_message_close_container(message);
}

int variables_bus_append_value(sd_bus_message *message, json_object *value) {
        g_autofree char *text = to_text(value);

        return sd_bus_message_append(message, "s", text);
}
