/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Some services on the simulated bus. The arguments of calls and signals name the leaf that sends them. The seed, the
 * leaf and the number of its starts decide the reply and its time. Each service has a property that every call changes,
 * with a signal.
 */

#include <stdbool.h>
#include <stdint.h>
#include <systemd/sd-bus.h>

#define SERVICES_N 3u

typedef enum ServicesManner {
        SERVICES_LIVELY,
        SERVICES_SILENT, /* they may not answer at all */
        SERVICES_SLOW,   /* most answers take long, and at times a service answers nothing */
} ServicesManner;

void services_open(uint64_t seed, ServicesManner manner);
void services_close(void);

/* The daemon has sent a signal. */
void services_heard(sd_bus_message *signal);

/* A service leaves the bus, or returns. */
void services_toggle(unsigned number);
void services_all_join(void);
