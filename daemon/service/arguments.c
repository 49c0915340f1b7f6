/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Checks the types of a call's arguments before sd-bus does, to reply with a clearer error. The size of a call is the
 * length of its texts, because all other types have a fixed size. */

#include <glib.h>
#include <stdbool.h>
#include <string.h>

#include "service/arguments.h"
#include "service/errors.h"

#define NAME_LENGTH_MAX 200u

static const sd_bus_vtable *find_method(const sd_bus_vtable *vtable, const char *member) {
        for (; vtable->type != _SD_BUS_VTABLE_END; vtable++)
                if (vtable->type == _SD_BUS_VTABLE_METHOD && g_str_equal(vtable->x.method.member, member))
                        return vtable;

        return NULL;
}

/* sd-bus uses NULL or "" for no arguments. */
static const char *signature_text(const char *signature) {
        return signature ? signature : "";
}

int arguments_check(sd_bus_message *message, const sd_bus_vtable *vtable) {
        const char *member = sd_bus_message_get_member(message);
        const char *given = signature_text(sd_bus_message_get_signature(message, true)), *wanted;
        const sd_bus_vtable *method = find_method(vtable, member);

        if (!method)
                return 0;

        wanted = signature_text(method->x.method.signature);
        if (g_str_equal(wanted, given))
                return 0;

        return sd_bus_reply_method_errorf(message, ERROR_INVALID_ARGUMENT,
                                          "%s takes arguments of the types '%s', not '%s'", member, wanted, given);
}

static int add_size(sd_bus_message *message, size_t *size) {
        const char *contents, *text;
        char type;
        int r;

        while ((r = sd_bus_message_peek_type(message, &type, &contents)) > 0) {
                if (contents) {
                        r = sd_bus_message_enter_container(message, type, contents);
                        if (r >= 0)
                                r = add_size(message, size);
                        if (r >= 0)
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

        return r;
}

size_t arguments_size(sd_bus_message *message) {
        size_t size = 0;

        (void) add_size(message, &size);
        (void) sd_bus_message_rewind(message, true);
        return size;
}

bool arguments_are_long(sd_bus_message *message) {
        return arguments_size(message) > NAME_LENGTH_MAX;
}
