/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Describes a node in a few words from its parameters: "cam.service" for a StartUnit, "/bin/sh -c ..." for a Spawn.
 * btctl and the bus show it.
 */

#include "definition/definition.h"

/* The parameter that the type's table marks as its title, as text. References are shown as written. To be freed; NULL:
 * none. */
char *definition_title(const Definition *definition, NodeId node);
