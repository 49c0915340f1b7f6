/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Puts an sd_bus on the main loop as a GSource: reads and writes messages on the main loop, in batches, so that other
 * sources get their turn. Connections use it.
 */

#include <glib.h>
#include <stdint.h>
#include <systemd/sd-bus.h>

/* The callback (g_source_set_callback) is called after each batch of messages, after bus_source_wake(), and when the
 * bus is no longer open: then it must destroy the source. */
GSource *bus_source_new(sd_bus *bus);

/* Asks for a callback at that time (CLOCK_MONOTONIC microseconds, 0: in the next turn). The callback may come
 * earlier. */
void bus_source_wake(GSource *source, uint64_t when);

/* For a bus on which this process replies to others: requests are read only as fast as the bus reads the replies. A bus
 * that reads nothing for the given time is closed, with -ETIMEDOUT. */
void bus_source_pace(GSource *source, uint64_t patience_usec);

/* The reason why the bus is no longer open: a negative errno. */
int bus_source_error(GSource *source);
