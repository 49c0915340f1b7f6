/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * A systemd on the simulated bus: what the daemon asks of the real one, with its order of signals and replies.
 */

#include <stdbool.h>
#include <stdint.h>

#include "bus.h"
#include "dice.h"

void systemd_open(uint64_t seed);
void systemd_close(void);

/* Whether it is on the bus. */
void systemd_set_there(bool there);
/* It reads its units again, or executes itself anew; unless it is not there, or is at it already. */
void systemd_reload(Dice *dice, bool anew);
/* Else nothing goes on. */
bool systemd_is_at_work(void);
