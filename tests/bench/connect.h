/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * A plain connection to a bus, as the programs of the benchmark need it.
 */

#include <stdbool.h>

#include "basic/cleanup.h"

static inline int bench_connect(const char *address, sd_bus **ret_bus) {
        g_autoptr(sd_bus) bus = NULL;

        int r = sd_bus_new(&bus);
        if (r < 0)
                return r;
        if ((r = sd_bus_set_address(bus, address)) < 0 || (r = sd_bus_set_bus_client(bus, true)) < 0 ||
            (r = sd_bus_start(bus)) < 0)
                return r;

        *ret_bus = g_steal_pointer(&bus);
        return 0;
}
