/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * What a node is about, in a few words from its parameters: "cam.service" of a StartUnit, "/bin/sh -c ..." of a Spawn.
 */

#include "definition/definition.h"

/* From the parameter that its type's table says. References stand as they were written. To be freed; NULL: none. */
char *definition_title(const Definition *definition, NodeId node);
