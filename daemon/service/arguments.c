/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Reads options. Checks the types of a call's arguments before sd-bus does, to reply with a clearer error. sd-bus
 * does not tell how large a message is, so the size of a call is computed from its arguments. Arrays of numbers are not
 * walked through, because they can have millions of elements. */

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/excerpt.h"
#include "service/answers.h"
#include "service/arguments.h"
#include "service/errors.h"

#define NAME_LENGTH_MAX 200u
/* Each value takes about this many bytes of memory besides its text or number. Since it counts, the limit of bytes also
 * limits the number of values, and so the time that it takes to measure them. */
#define VALUE_SIZE 64u

int arguments_check(sd_bus_message *message, const sd_bus_vtable *vtable) {
        const char *member = sd_bus_message_get_member(message), *given, *wanted;

        while (vtable->type != _SD_BUS_VTABLE_END &&
               (vtable->type != _SD_BUS_VTABLE_METHOD || !g_str_equal(vtable->x.method.member, member)))
                vtable++;
        if (vtable->type == _SD_BUS_VTABLE_END)
                return 0;

        /* sd-bus uses NULL or "" for no arguments. */
        given = sd_bus_message_get_signature(message, true) ?: "";
        wanted = vtable->x.method.signature ?: "";
        if (g_str_equal(wanted, given))
                return 0;

        return sd_bus_reply_method_errorf(message, ERROR_INVALID_ARGUMENT,
                                          "%s takes arguments of the types '%s', not '%s'", member, wanted, given);
}

static int refuse_option(sd_bus_message *message, const char *key, const CallOption *known, sd_bus_error *ret_error) {
        g_autofree char *shown = excerpt(key, strlen(key));
        g_autoptr(GString) keys = g_string_new(NULL);

        if (!known->key)
                return sd_bus_error_setf(ret_error, ERROR_INVALID_ARGUMENT, "there is no option '%s'; %s has none",
                                         shown, sd_bus_message_get_member(message));

        /* "'a', 'b' and 'c'" */
        for (const CallOption *option = known; option->key; option++)
                g_string_append_printf(keys, "%s'%s'",
                                       option == known ? ""
                                       : option[1].key ? ", "
                                                       : " and ",
                                       option->key);
        return sd_bus_error_setf(ret_error, ERROR_INVALID_ARGUMENT, "there is no option '%s'; %s has %s", shown,
                                 sd_bus_message_get_member(message), keys->str);
}

/* given: a bit for each option that was read. Without this check, a call could have a million of them. */
static int read_option(sd_bus_message *message, const char *key, const CallOption *known, uint32_t *given,
                       sd_bus_error *ret_error) {
        const CallOption *option = known;
        const char *type;
        int r;

        while (option->key && !g_str_equal(option->key, key))
                option++;
        if (!option->key)
                return refuse_option(message, key, known, ret_error);
        if (*given & 1u << (option - known))
                return sd_bus_error_setf(ret_error, ERROR_INVALID_ARGUMENT, "the option '%s' is given twice", key);

        *given |= 1u << (option - known);
        r = sd_bus_message_peek_type(message, NULL, &type);
        if (r < 0)
                return r;
        if (!g_str_equal(type, option->type))
                return sd_bus_error_setf(ret_error, ERROR_INVALID_ARGUMENT,
                                         "the option '%s' is of the type '%s', not '%s'", key, option->type, type);

        return error_from_message(ret_error, sd_bus_message_read(message, "v", type, option->value));
}

int arguments_read_options(sd_bus_message *message, const CallOption *known, sd_bus_error *ret_error) {
        uint32_t given = 0;
        const char *key;
        int r;

        r = sd_bus_message_enter_container(message, 'a', "{sv}");
        while (r >= 0 && (r = sd_bus_message_enter_container(message, 'e', "sv")) > 0) {
                r = error_from_message(ret_error, sd_bus_message_read(message, "s", &key));
                if (r >= 0)
                        r = read_option(message, key, known, &given, ret_error);
                if (r >= 0)
                        r = sd_bus_message_exit_container(message);
        }

        return r < 0 ? r : sd_bus_message_exit_container(message);
}

/* Stops when the size is above max. each: what a value takes besides its text or numbers. */
static int add_size(sd_bus_message *message, size_t each, size_t max, size_t *size) {
        const char *contents, *text;
        const void *numbers;
        size_t length;
        char type;
        int r;

        while (*size <= max && (r = sd_bus_message_peek_type(message, &type, &contents)) != 0) {
                if (r < 0)
                        return r;

                *size += each;
                if (contents && type == SD_BUS_TYPE_ARRAY && strlen(contents) == 1 && strchr("ynqiuxtd", *contents)) {
                        r = sd_bus_message_read_array(message, *contents, &numbers, &length);
                        *size += r >= 0 ? length : 0;
                } else if (contents) {
                        r = sd_bus_message_enter_container(message, type, contents);
                        if (r >= 0)
                                r = add_size(message, each, max, size);
                        if (r >= 0 && *size <= max)
                                r = sd_bus_message_exit_container(message);
                } else if (type == SD_BUS_TYPE_STRING) {
                        r = sd_bus_message_read_basic(message, type, &text);
                        *size += r > 0 ? strlen(text) : 0;
                } else {
                        r = sd_bus_message_skip(message, NULL);
                }
                if (r < 0)
                        return r;
        }

        return 0;
}

static size_t measure(sd_bus_message *message, size_t each, size_t max) {
        size_t size = 0;

        (void) add_size(message, each, max, &size);
        (void) sd_bus_message_rewind(message, true);
        return size;
}

size_t arguments_size(sd_bus_message *message, size_t max) {
        return measure(message, VALUE_SIZE, max);
}

size_t arguments_bytes(sd_bus_message *message, size_t max) {
        return measure(message, ANSWER_VALUE_SIZE, max);
}

bool arguments_are_long(sd_bus_message *message) {
        return measure(message, 0, NAME_LENGTH_MAX) > NAME_LENGTH_MAX;
}
