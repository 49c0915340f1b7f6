/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * How the bus sees the journals of runs: methods of org.btd1.Manager. Reading them is open to all, as it was to look
 * on while it happened; so is what they have in them of variables.
 */

#include <systemd/sd-bus.h>

/* Method handlers; the userdata is the Published. */
int history_bus_get_journal(sd_bus_message *message, void *userdata, sd_bus_error *ret_error);
int history_bus_list(sd_bus_message *message, void *userdata, sd_bus_error *ret_error);
