/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Some services on the simulated bus: the arguments of a call say which leaf it is that calls, and so do those of the
 * signals that they hear. What they answer, and when, comes from the seed, the leaf and how often it has begun. Each
 * has a property, which every call changes, and a signal for that.
 */

#include <stdbool.h>
#include <stdint.h>
#include <systemd/sd-bus.h>

#define SERVICES_N 3u

/* silent: they may not answer at all. */
void services_open(uint64_t seed, bool silent);
void services_close(void);

/* A signal that the daemon has sent. */
void services_heard(sd_bus_message *signal);

/* One leaves the bus, or comes again. */
void services_toggle(unsigned number);
void services_all_join(void);
