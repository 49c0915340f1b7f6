/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Describes the object /org/btd1 with the interface org.btd1.Manager to sd-bus. The userdata is a Published.
 */

#include "service/property.h"
#include "service/published.h"

extern const ObjectKind manager_kind;

/* Emits a signal of the interface. */
void manager_bus_emit(sd_bus *bus, const char *member, const char *types, ...);
void manager_bus_emit_reloaded(sd_bus *bus, const GPtrArray *messages);
