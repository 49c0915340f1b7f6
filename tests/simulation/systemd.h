/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * A systemd on the simulated bus: what the daemon asks of the real one, with its order of signals and replies.
 */

#include <stdbool.h>
#include <stdint.h>

#include "bus.h"

void systemd_open(uint64_t seed);
void systemd_close(void);

/* Whether it is on the bus; while it is not, nothing goes on. */
void systemd_set_there(bool there);
bool systemd_is_there(void);
