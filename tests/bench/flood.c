/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * A property that changes all the time: says Tick 1, 2, 3, ... of the first object, RATE times a second for SECONDS,
 * and waits until somebody reacts to the last one. Starts when a line is written to it, prints a line at every tenth of
 * the time, and at the end the microseconds from the last signal to the reaction.
 *
 *   bench-flood ADDRESS RATE SECONDS
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "watched.h"

/* Signals that are said at once, so that a rate of 10,000 does not need as many wake-ups. */
#define BATCHES_PER_SECOND 1000u

static int wait_until(Watched *watched, gint64 when) {
        for (;;) {
                gint64 left = when - watched_now();
                int r = sd_bus_process(watched->bus, NULL);

                if (r < 0 || (r == 0 && left <= 0))
                        return r;
                if (r == 0)
                        r = sd_bus_wait(watched->bus, (uint64_t) left / 1000 + 1);
                if (r < 0)
                        return r;
        }
}

static int flood(Watched *watched, unsigned rate, unsigned seconds) {
        unsigned n_batches = seconds * BATCHES_PER_SECOND, batch = rate / BATCHES_PER_SECOND;
        gint64 begin = watched_now(), end;

        for (unsigned i = 0; i < n_batches; i++) {
                int r = wait_until(watched, begin + (gint64) i * (1000000000 / BATCHES_PER_SECOND));

                for (unsigned k = 1; r >= 0 && k <= batch; k++)
                        r = watched_say(watched, 0, i * batch + k, k % 2);
                if (r < 0)
                        return r;
                if (i % (n_batches / 10) == 0) {
                        puts("part");
                        fflush(stdout);
                }
        }

        end = watched_now();
        int r = watched_wait(watched, &watched->n_react, 1);
        if (r >= 0)
                printf("%" G_GINT64_FORMAT "\n", (watched->reacted - end) / 1000);
        return r;
}

int main(int argc, char *argv[]) {
        g_auto(Watched) watched = {};
        char line[8];

        if (argc != 4) {
                fprintf(stderr, "usage: bench-flood ADDRESS RATE SECONDS\n");
                return 2;
        }

        int r = watched_open(&watched, argv[1]);
        if (r >= 0) {
                puts("open");
                fflush(stdout);
                r = watched_wait(&watched, &watched.n_ready, 1);
        }
        if (r >= 0 && fgets(line, sizeof(line), stdin))
                r = flood(&watched, (unsigned) strtoul(argv[2], NULL, 10), (unsigned) strtoul(argv[3], NULL, 10));
        if (r < 0) {
                fprintf(stderr, "bench-flood: %s\n", strerror(-r));
                return EXIT_FAILURE;
        }
        return EXIT_SUCCESS;
}
