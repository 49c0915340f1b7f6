/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * What is shared by those who watch properties through one connection: see bus/property-watch.h.
 */

#include "bus/connection.h"

/* Made and freed by the connection. */
Properties *properties_new(Connection *connection);
/* Watches that are left over can be freed. */
void properties_free(Properties *properties);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Properties, properties_free)
