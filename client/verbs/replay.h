/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Draws a run from its run record, for btctl replay, and for btctl status if btd does not list the run any more.
 */

#include "client/bus/client.h"

/* operand: TREE, RUN or FILE. until: microseconds since the start of the run; UINT64_MAX: its end. Returns an exit
 * status. */
int replay_print(Client *client, const char *operand, uint64_t until);
