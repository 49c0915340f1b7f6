/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * A systemd on the simulated bus: the methods that the daemon uses, with the real order of signals and replies.
 */

#include <stdbool.h>
#include <stdint.h>

#include "bus.h"
#include "dice.h"

/* slow: the percentage of calls that it handles late; calls stay in order. */
void systemd_open(uint64_t seed, unsigned slow);
void systemd_close(void);

/* Puts it on the bus, or takes it off. */
void systemd_set_there(bool there);
/* daemon-reload, or daemon-reexec if anew; nothing if it is not on the bus, or is reloading already. */
void systemd_reload(Dice *dice, bool anew);
/* The name of a loaded unit, to be freed; failed: of one that has failed. NULL: there is none. */
char *systemd_pick_unit(Dice *dice, bool failed);
/* An administrator wants a job of this type, or "reset-failed". A transient unit is never started again. */
void systemd_administer(const char *name, const char *type);
/* False: it is not on the bus, or reloads; nothing happens. */
bool systemd_is_at_work(void);
