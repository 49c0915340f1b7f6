/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The service whose properties are watched by what is measured: the objects /bench/0, /bench/1, ... with a number Tick
 * and a truth On. Whoever watches one calls React when its Tick has become something, and Ready when it is 0.
 */

#include "connect.h"

#define WATCHED "org.btd1.Bench.Watched"

typedef struct Watched {
        sd_bus *bus;
        unsigned n_react, n_ready;
        gint64 reacted; /* when React was called last, CLOCK_MONOTONIC nanoseconds */
} Watched;

gint64 watched_now(void);
int watched_open(Watched *watched, const char *address);
void watched_close(Watched *watched);
/* Says both in one PropertiesChanged. */
int watched_say(Watched *watched, unsigned object, unsigned tick, bool on);
/* Handles what comes until the counter has reached the number. */
int watched_wait(Watched *watched, const unsigned *counter, unsigned number);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Watched, watched_close)
