/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Makes the connections of OwnConnection nodes, for LeafServices. */

#include "run/own-connection.h"

extern const OwnConnectionKind own_connections;
