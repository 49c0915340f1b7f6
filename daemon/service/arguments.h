/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * A call with arguments of other types than the method has, answered with an error of our own and a text that says
 * what they are. sd-bus would answer it before any handler is called.
 */

#include <systemd/sd-bus.h>

/* Positive: it was answered. 0: it is right, or no method of the table. */
int arguments_check(sd_bus_message *message, const sd_bus_vtable *vtable);

/* How long all texts of a call are together; it is still to be read after that. */
size_t arguments_size(sd_bus_message *message);
