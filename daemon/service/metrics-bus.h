/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Makes the answer of GetMetrics: the counters of btd as text in the OpenMetrics format.
 */

#include <systemd/sd-bus.h>

int metrics_bus_get(sd_bus_message *message, void *userdata, sd_bus_error *ret_error);
