/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Replies to GetManagedObjects in pieces. sd-bus would make the reply at once, which would block the main loop when
 * there are thousands of trees.
 */

#include "service/published.h"

/* Is the message a call of GetManagedObjects on the root object? */
bool managed_objects_is_call(sd_bus_message *message);
/* Returns what a method handler returns. */
int managed_objects_get(Published *published, sd_bus_message *message, sd_bus_error *ret_error);
