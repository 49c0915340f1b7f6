/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * An sd_bus on the main loop: reads and writes when it wants to, in batches that leave room for others.
 */

#include <glib.h>
#include <stdint.h>
#include <systemd/sd-bus.h>

/* The callback (g_source_set_callback) is called after each batch of messages, when bus_source_wake() has asked
 * for it, and when the bus is no longer open: then it has to destroy the source. */
GSource *bus_source_new(sd_bus *bus);

/* Asks for a callback at that time (CLOCK_MONOTONIC microseconds, 0: in the next turn). The callback may come
 * earlier. */
void bus_source_wake(GSource *source, uint64_t when);

/* For a bus over which others are answered: what they ask is read only as fast as the bus takes the answers, and a bus
 * that reads none for so long is closed, with -ETIMEDOUT. */
void bus_source_pace(GSource *source, uint64_t patience_usec);

/* Why the bus is no longer open: a negative errno. */
int bus_source_error(GSource *source);
