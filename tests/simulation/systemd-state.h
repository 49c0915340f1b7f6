/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * What the simulated systemd can be asked for, behind its methods.
 */

#include "systemd.h"
#include "unit.h"

#define SYSTEMD_NAME "org.freedesktop.systemd1"
#define JOB_PREFIX "/org/freedesktop/systemd1/job/"

/* A method was called. */
void systemd_called(Link *from, sd_bus_message *call);

/* NULL: it is not loaded. */
LoadedUnit *systemd_find(const char *name);
/* Is loaded when it was not. */
LoadedUnit *systemd_unit(const char *name);
/* All that are loaded, by name; free the list only. */
GList *systemd_units(void);
/* The number of the job. type: "start", "stop", "restart", "reload". */
unsigned systemd_ask(const char *name, const char *type, Link *asker);
/* False: there is no such job. */
bool systemd_cancel(unsigned id);
void systemd_subscribe(Link *link, bool wanted);
/* Keeps the unit loaded, or no more: then it may be forgotten, and freed. False: it was not held. */
bool systemd_refer(LoadedUnit *unit, Link *link, bool wanted);
/* A failure is forgotten, and the unit may be. */
void systemd_reset(LoadedUnit *unit);
