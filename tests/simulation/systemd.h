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

const Peer *systemd_peer(void);
/* How many transient units there are. */
unsigned systemd_n_transient(void);
