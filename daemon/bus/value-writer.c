/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Places, limits and errors, once for all that is written. */

#include <errno.h>

#include "bus/value-writer.h"
#include "bus/value.h"

/* As the specification has it, variants and dictionary entries included. */
#define DEPTH_MAX 64u
/* Above this a dbus-daemon throws its client out. Eight bytes are counted for each value, whatever its type. */
#define SIZE_MAX_MIB 32u

static void place_format(const Place *place, GString *text) {
        if (place->up) {
                place_format(place->up, text);
                g_string_append(text, ", ");
        }

        if (place->key)
                g_string_append_printf(text, "%s \"%s\"", place->noun, place->key);
        else
                g_string_append_printf(text, "%s %zu", place->noun, place->number);
}

int writer_fail(Writer *writer, const Place *place, int error, const char *format, ...) {
        GString *text = g_string_new(NULL);
        va_list args;

        place_format(place, text);
        g_string_append(text, ": ");
        va_start(args, format);
        g_string_append_vprintf(text, format, args);
        va_end(args);

        *writer->ret_error = g_string_free(text, FALSE);
        return error;
}

int writer_unexpected(Writer *writer, const Place *place, const char *expected, json_object *value) {
        g_autofree char *text = value_to_text(value);

        return writer_fail(writer, place, -EINVAL, "expected %s, not %s", expected, text);
}

/* What sd-bus says of a value that is right can only be a lack of memory or of space. */
static int writer_done(Writer *writer, const Place *place, int r) {
        return r >= 0 ? 0 : writer_fail(writer, place, r, "cannot be put into the message: %s", g_strerror(-r));
}

static int writer_grow(Writer *writer, const Place *place, size_t size) {
        writer->size += size + 8;
        if (writer->size <= (size_t) SIZE_MAX_MIB << 20)
                return 0;

        return writer_fail(writer, place, -ERANGE, "too large for a message, which holds %u MiB", SIZE_MAX_MIB);
}

int writer_put(Writer *writer, const Place *place, char type, const void *value, size_t size) {
        int r = writer_grow(writer, place, size);

        if (r < 0 || !writer->message)
                return r;
        return writer_done(writer, place, sd_bus_message_append_basic(writer->message, type, value));
}

int writer_put_bytes(Writer *writer, const Place *place, const void *bytes, size_t size) {
        int r = writer_grow(writer, place, size);

        if (r < 0 || !writer->message)
                return r;
        return writer_done(writer, place, sd_bus_message_append_array(writer->message, 'y', bytes, size));
}

int writer_open(Writer *writer, const Place *place, char type, const char *contents) {
        int r = writer_grow(writer, place, 0);

        if (r < 0)
                return r;
        if (place->depth >= DEPTH_MAX)
                return writer_fail(writer, place, -ERANGE, "nested too deeply, D-Bus allows %u levels", DEPTH_MAX);
        if (!writer->message)
                return 0;
        return writer_done(writer, place, sd_bus_message_open_container(writer->message, type, contents));
}

int writer_close(Writer *writer, const Place *place) {
        return writer->message ? writer_done(writer, place, sd_bus_message_close_container(writer->message)) : 0;
}
