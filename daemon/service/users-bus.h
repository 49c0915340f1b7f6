/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Serves what each user uses, and the shares: a method of org.btd1.Manager.
 */

#include <systemd/sd-bus.h>

/* Method handler. The userdata is a Published. */
int users_bus_list(sd_bus_message *message, void *userdata, sd_bus_error *ret_error);
