/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Reads and writes variables in D-Bus messages, as JSON in strings. */

#include <json-c/json_tokener.h>
#include <json-c/linkhash.h>
#include <limits.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/excerpt.h"
#include "service/errors.h"
#include "service/variables-bus.h"

/* Limit of nesting; deeper values are refused. */
#define DEPTH_MAX 100

/* Reads one variable: its name, and its value as JSON text. */
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

int variables_bus_append_value(Answer *answer, sd_bus_error *ret_error) {
        const char *text;
        size_t length;

        if (json_text_continue(answer->text))
                return 1;

        text = json_text_get(answer->text, &length);
        return answer_append_text(answer, text, length);
}

/* Appends the current variable, whose text is complete. */
static int append_entry(Answer *answer) {
        const char *text, *name = json_object_iter_peek_name(&answer->variable);
        size_t length;
        int r = 0;

        text = json_text_get(answer->text, &length);
        if (!answer->space)
                r = sd_bus_message_open_container(answer->reply, 'e', "ss");
        if (r >= 0 && !answer->space)
                r = sd_bus_message_append(answer->reply, "s", name);
        if (r >= 0)
                r = answer_append_text(answer, text, length);
        if (r != 0)
                return r;

        g_clear_pointer(&answer->text, json_text_free);
        answer->space = NULL;
        answer->next = 0;
        json_object_iter_next(&answer->variable);
        r = sd_bus_message_close_container(answer->reply);
        return r < 0 ? r : 1;
}

int variables_bus_append(Answer *answer, sd_bus_error *ret_error) {
        struct json_object_iterator end = json_object_iter_end(answer->variables);

        if (json_object_iter_equal(&answer->variable, &end))
                return 0;

        if (!answer->text)
                answer->text = json_text_new(json_object_iter_peek_value(&answer->variable));
        return json_text_continue(answer->text) ? 1 : append_entry(answer);
}
