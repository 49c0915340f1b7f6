/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Says the signal Beat of the object /load with a number that goes up, RATE times a second, until its input ends; then
 * once the signal Last, and prints how many there have been.
 *
 *   load-signals ADDRESS NAME RATE
 */

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "loop.h"

/* Said together, so that a high rate does not need as many wake-ups. */
#define INTERVAL_USEC UINT64_C(2000)

typedef struct Signals {
        Loop loop;
        uint64_t begin;
        unsigned rate, n_said;
} Signals;

static int say(Signals *signals, const char *member) {
        return sd_bus_emit_signal(signals->loop.bus, "/load", "org.example.Load", member, "u", signals->n_said);
}

static int on_time(sd_event_source *source, uint64_t due, void *userdata) {
        Signals *signals = userdata;
        uint64_t now, wanted;
        int r = sd_event_now(signals->loop.event, CLOCK_MONOTONIC, &now);

        if (r < 0)
                return r;
        if (signals->begin == 0)
                signals->begin = now;

        wanted = (now - signals->begin) * signals->rate / 1000000;
        for (; signals->n_said < wanted && r >= 0; signals->n_said++)
                r = say(signals, "Beat");

        if (r >= 0)
                r = sd_event_source_set_time(source, now + INTERVAL_USEC);
        return r < 0 ? r : sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
}

static int talk(Signals *signals, const char *address, const char *name) {
        int r = loop_open(&signals->loop, address);

        if (r >= 0)
                r = sd_bus_request_name(signals->loop.bus, name, 0);
        if (r >= 0)
                r = sd_event_add_time(signals->loop.event, NULL, CLOCK_MONOTONIC, 0, 1, on_time, signals);
        if (r >= 0)
                r = loop_run(&signals->loop);

        return r < 0 ? r : say(signals, "Last");
}

int main(int argc, char *argv[]) {
        Signals signals = { 0 };
        int r;

        if (argc != 4) {
                fprintf(stderr, "usage: load-signals ADDRESS NAME RATE\n");
                return 2;
        }

        signals.rate = (unsigned) strtoul(argv[3], NULL, 10);
        r = talk(&signals, argv[1], argv[2]);
        if (r >= 0)
                printf("%u\n", signals.n_said);
        loop_close(&signals.loop);
        return loop_status("load-signals", r);
}
