/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Messages that came over a connection whose owner has not read them, since it was killed. They are looked at and left
 * where they are (MSG_PEEK, recv(2)), so that whoever comes next can look again.
 */

#include <systemd/sd-bus.h>

typedef void (*UnreadMessage)(sd_bus_message *message, void *userdata);

/* fd: a connection to a bus, with no message half read; what makes no sense ends the look. Never waits, and sees what
 * the socket holds, some 200 short messages: what the bus still has behind them is not seen. Negative errno: it cannot
 * be looked at. */
int unread_look(int fd, UnreadMessage found, void *userdata);
