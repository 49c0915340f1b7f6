/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The state of the simulated systemd, for its methods and plans.
 */

#include "systemd.h"
#include "unit.h"

#define SYSTEMD_NAME "org.freedesktop.systemd1"
#define JOB_PREFIX "/org/freedesktop/systemd1/job/"

/* A method was called. */
void systemd_called(Link *from, sd_bus_message *call);

/* NULL: it is not loaded. */
LoadedUnit *systemd_find(const char *name);
/* Loads the unit if necessary. */
LoadedUnit *systemd_unit(const char *name);
/* All loaded units, by name; free only the list. */
GList *systemd_units(void);
/* Returns the number of the new job. type: "start", "stop", "restart", "reload". */
unsigned systemd_ask(const char *name, const char *type, Link *asker);
/* False: there is no such job. */
bool systemd_cancel(unsigned id);
void systemd_subscribe(Link *link, bool wanted);
/* Ref or Unref. After Unref, the unit may be unloaded and freed. False: there was no reference. */
bool systemd_refer(LoadedUnit *unit, Link *link, bool wanted);
/* ResetFailed; the unit may be unloaded. */
void systemd_reset(LoadedUnit *unit);
