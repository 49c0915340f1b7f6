/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Describes the object /org/btd1 with the interface org.btd1.Manager to sd-bus. The userdata is a Published.
 */

#include "service/property.h"
#include "service/published.h"

extern const ObjectKind manager_kind;

void manager_bus_emit_run_new(sd_bus *bus, const Run *run);
void manager_bus_emit_run_ready(sd_bus *bus, const Run *run);
void manager_bus_emit_run_finished(sd_bus *bus, const char *id, const char *status, const char *cause);
void manager_bus_emit_restart_dropped(sd_bus *bus, const char *run, const char *tree, const char *instance);
void manager_bus_emit_reloading(sd_bus *bus);
void manager_bus_emit_reloaded(sd_bus *bus, const GPtrArray *messages);
