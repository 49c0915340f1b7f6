/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Tells the service manager what a run waits for, and when it is ready, if btctl is the main process of a unit: see
 * sd_notify(3). If it is not, the UnitStatus is NULL, and the functions do nothing.
 */

#include "client/bus/client.h"

typedef struct UnitStatus UnitStatus;

UnitStatus *unit_status_new(Client *client);
void unit_status_free(UnitStatus *unit);

/* Sets the run whose status the unit shows from now on; NULL: no run is known. */
void unit_status_set_run(UnitStatus *unit, const char *id, const char *path);
/* Sets the STATUS= of the unit. */
void unit_status_set(const UnitStatus *unit, const char *text);
/* The run is ready: READY=1 makes a unit with Type=notify active. */
void unit_status_set_ready(UnitStatus *unit);
/* The run may have become ready before the signals were watched. */
void unit_status_check_ready(UnitStatus *unit);
/* No run follows any more. One that has succeeded counts as ready. */
void unit_status_end(const UnitStatus *unit, const char *result, bool succeeded);

/* Takes the running nodes from the signal Events. False: it is about another run. */
bool unit_status_take(UnitStatus *unit, sd_bus_message *signal);
/* Events may have been missed, so all nodes must be read. */
void unit_status_miss(UnitStatus *unit);
/* Puts the running nodes into STATUS=. */
void unit_status_show_nodes(UnitStatus *unit);
