/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Users who start trees with tokens and as instances, and ask what has become of a token: before and after a daemon has
 * died, the answer must be the same. See troubles.c.
 */

#include <systemd/sd-bus.h>

void users_open(const char *directory, unsigned n_trees);
void users_close(void);

/* The daemon has replied to a call. */
void users_answered(sd_bus_message *reply);
