/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Replies with a clear error, which names the expected types, if the arguments of a call have the wrong types.
 * Otherwise sd-bus would reply with its own error, before any handler is called.
 */

#include <stdbool.h>
#include <systemd/sd-bus.h>

/* Positive: replied with an error. 0: the arguments are right, or the table has no such method. */
int arguments_check(sd_bus_message *message, const sd_bus_vtable *vtable);

/* Total length of all strings in a call. Rewinds the message. */
size_t arguments_size(sd_bus_message *message);
/* Is the call longer than any name, and too long to keep while it waits? Then it cannot name anything. */
bool arguments_are_long(sd_bus_message *message);
