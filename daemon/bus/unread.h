/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Messages that came over a connection whose owner has not read them, since it was killed.
 */

#include <stddef.h>
#include <systemd/sd-bus.h>

typedef void (*UnreadMessage)(sd_bus_message *message, void *userdata);

/* Looks at those that the socket holds, and leaves them there (MSG_PEEK, recv(2)). There may be more: a dbus-broker
 * sends a few, and the next ones when these have been taken. fd: of a connection to a bus, with no message half read.
 * Never waits. ret_size: of all that were found, in bytes. Negative errno, also for what makes no sense;
 * -ECONNRESET: there is nothing, and nothing will come. */
int unread_look(int fd, UnreadMessage found, void *userdata, size_t *ret_size);

/* Takes so much of what was found. */
void unread_take(int fd, size_t size);
