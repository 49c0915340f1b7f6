/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Serves run records and the history: methods of org.btd1.Manager. Every user may read them, including the variables
 * in them, because every user could also watch the run.
 */

#include <systemd/sd-bus.h>

/* Method handlers. The userdata is a Published. */
int history_bus_get_journal(sd_bus_message *message, void *userdata, sd_bus_error *ret_error);
int history_bus_list(sd_bus_message *message, void *userdata, sd_bus_error *ret_error);
