/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * From a signal to what somebody does about it: says "open" when it can be called, starts COUNT runs of a tree, each
 * with the number of its object as variable n, and says "ready" when all have called Ready. For each number that is
 * then written to it, it says so often that the first object's Tick is 1, waits for React, says that it is 0, waits for
 * Ready; and prints the median of the nanoseconds from the signal to the call. With TREE "" nothing is started:
 * somebody else reacts.
 *
 *   bench-reaction ADDRESS TREE COUNT
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "watched.h"

static int start_runs(Watched *watched, const char *tree, unsigned count, sd_bus_error *ret_error) {
        for (unsigned i = 0; i < count; i++) {
                char number[16];
                int r;

                snprintf(number, sizeof(number), "%u", i);
                r = sd_bus_call_method(watched->bus, "org.btd1", "/org/btd1", "org.btd1.Manager", "StartTree",
                                       ret_error, NULL, "sa{sv}a{sv}", tree, 1, "n", "x", (int64_t) i, 1, "instance",
                                       "s", number);
                if (r < 0)
                        return r;
        }
        return 0;
}

static int compare(const void *a, const void *b) {
        gint64 x = *(const gint64 *) a, y = *(const gint64 *) b;

        return (x > y) - (x < y);
}

static int measure(Watched *watched, unsigned rounds) {
        g_autofree gint64 *took = g_new(gint64, rounds);

        for (unsigned i = 0; i < rounds; i++) {
                gint64 begin = watched_now();
                int r = watched_say(watched, 0, 1, true);

                if (r >= 0)
                        r = watched_wait(watched, &watched->n_react, watched->n_react + 1);
                took[i] = watched->reacted - begin;
                if (r >= 0)
                        r = watched_say(watched, 0, 0, false);
                if (r >= 0)
                        r = watched_wait(watched, &watched->n_ready, watched->n_ready + 1);
                if (r < 0)
                        return r;
        }

        qsort(took, rounds, sizeof(gint64), compare);
        printf("%" G_GINT64_FORMAT "\n", took[rounds / 2]);
        return 0;
}

static int run(const char *address, const char *tree, unsigned count, sd_bus_error *ret_error) {
        g_auto(Watched) watched = {};
        char line[32];
        int r = watched_open(&watched, address);

        if (r < 0)
                return r;
        puts("open");
        fflush(stdout);

        if (*tree)
                r = start_runs(&watched, tree, count, ret_error);
        if (r >= 0)
                r = watched_wait(&watched, &watched.n_ready, count);
        if (r < 0)
                return r;
        puts("ready");

        while (fflush(stdout) == 0 && fgets(line, sizeof(line), stdin)) {
                r = measure(&watched, (unsigned) strtoul(line, NULL, 10));
                if (r < 0)
                        return r;
        }
        return 0;
}

int main(int argc, char *argv[]) {
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;

        if (argc != 4) {
                fprintf(stderr, "usage: bench-reaction ADDRESS TREE COUNT\n");
                return 2;
        }

        int r = run(argv[1], argv[2], (unsigned) strtoul(argv[3], NULL, 10), &error);
        if (r < 0) {
                fprintf(stderr, "bench-reaction: %s\n", error.message ?: strerror(-r));
                return EXIT_FAILURE;
        }
        return EXIT_SUCCESS;
}
