/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * /org/btd1: org.btd1.Manager. Its userdata is the Published.
 */

#include "service/published.h"

extern const sd_bus_vtable manager_vtable[];

void manager_bus_emit_run_new(sd_bus *bus, const Run *run);
void manager_bus_emit_run_finished(sd_bus *bus, const Run *run);
void manager_bus_emit_reloaded(sd_bus *bus, const GPtrArray *messages);
