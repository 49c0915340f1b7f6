/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Serves run records and the history: methods of org.btd1.Manager. Every user may read them, including the variables
 * in them, because every user could also watch the run.
 */

#include <systemd/sd-bus.h>

#include "runtime/manager.h"

/* Method handlers. The userdata is a Published. */
int history_bus_get_record(sd_bus_message *message, void *userdata, sd_bus_error *ret_error);
int history_bus_list(sd_bus_message *message, void *userdata, sd_bus_error *ret_error);

/* Return the error for a run record that could not be read, see record_read_run(); and for a run whose name in the call
 * is too long. */
int history_bus_refuse(Manager *manager, const char *id, int r, const char *error, sd_bus_error *ret_error);
int history_bus_refuse_name(sd_bus_message *message, sd_bus_error *ret_error);
