/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <systemd/sd-bus.h>

/* A method call that was sent has a serial number, which may be in use by now: to be sent again it is replaced by a
 * copy. One that was not sent stays as it is. Negative errno. */
int message_renew(sd_bus *bus, sd_bus_message **message);
