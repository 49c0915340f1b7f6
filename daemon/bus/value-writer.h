/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * A message that JSON is written into, and the place in the JSON where one is, so that every error can name it.
 * Without a message it is only checked whether the values would fit.
 */

#include <glib.h>
#include <json-c/json_object.h>
#include <systemd/sd-bus.h>

/* From the outermost to the one that is being written. */
typedef struct Place {
        const struct Place *up;
        const char *noun; /* "element" with a number from 1, or "key" with its text */
        const char *key;
        size_t number;
        unsigned depth; /* of containers around it */
} Place;

typedef struct Writer {
        sd_bus_message *message; /* NULL: only check */
        size_t size;
        char **ret_error;
} Writer;

/* -EINVAL or -ERANGE, whichever is passed on, with the text "PLACE: ...". */
int writer_fail(Writer *writer, const Place *place, int error, const char *format, ...) G_GNUC_PRINTF(4, 5);
/* -EINVAL with the text "PLACE: expected EXPECTED, not VALUE". */
int writer_unexpected(Writer *writer, const Place *place, const char *expected, json_object *value);

/* size: of a string, else 0. */
int writer_put(Writer *writer, const Place *place, char type, const void *value, size_t size);
int writer_put_bytes(Writer *writer, const Place *place, const void *bytes, size_t size);
int writer_open(Writer *writer, const Place *place, char type, const char *contents);
int writer_close(Writer *writer, const Place *place);
