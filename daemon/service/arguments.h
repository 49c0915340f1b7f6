/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Reads and checks the arguments of calls. If they have the wrong types, it replies with a clear error, which names the
 * expected types. Otherwise sd-bus would reply with its own error, before any handler is called.
 */

#include <stdbool.h>
#include <systemd/sd-bus.h>

/* Positive: replied with an error. 0: the arguments are right, or the table has no such method. */
int arguments_check(sd_bus_message *message, const sd_bus_vtable *vtable);

/* An option of a call, in an a{sv} after its other arguments. value: a const char * for "s", an int for "b", a uint32_t
 * for "u". */
typedef struct CallOption {
        const char *key, *type;
        void *value;
} CallOption;

/* Reads the options. Those that are absent keep their values; unknown ones are an error that lists the known ones,
 * which end with a row without a key. Returns what method handlers return. */
int arguments_read_options(sd_bus_message *message, const CallOption *known, sd_bus_error *ret_error);

/* The size of the arguments in memory, about; above max, any number above it. Rewinds the message. */
size_t arguments_size(sd_bus_message *message, size_t max);
/* The bytes of the arguments of a sealed message, about; above max, any number above it. */
size_t arguments_bytes(sd_bus_message *message, size_t max);
/* Is the call longer than any name, and too long to keep while it waits? Then it cannot name anything. */
bool arguments_are_long(sd_bus_message *message);
