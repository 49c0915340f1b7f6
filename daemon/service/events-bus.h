/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Serves the numbered events of runs: the signal Events of org.btd1.Run, and GetEvents of org.btd1.Manager, which reads
 * them from the run record. An event is an a{sv}, so that keys can be added. Also serves the state of a run after an
 * event, from the run record: GetNodes and GetVariables of org.btd1.Manager.
 */

#include "run/events.h"
#include "service/published.h"

/* Sends a subscriber these events of a run, and the number up to which it knows all events then, if it has not missed
 * some before. */
void events_bus_tell(sd_bus *bus, const char *destination, const Run *run, const RunEvent *events, unsigned n,
                     uint64_t last);

/* Method handlers. The userdata is a Published. */
int events_bus_get(sd_bus_message *message, void *userdata, sd_bus_error *ret_error);
int events_bus_get_nodes(sd_bus_message *message, void *userdata, sd_bus_error *ret_error);
int events_bus_get_variables(sd_bus_message *message, void *userdata, sd_bus_error *ret_error);
