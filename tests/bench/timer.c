/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Measures how late a bare timer is on this machine, for comparison with btd. It waits for the given time in a loop.
 * For each line on its standard input it prints the longest time between two wake-ups since the previous line, in
 * microseconds.
 *
 *   bench-timer MILLISECONDS
 */

#include <glib.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char *argv[]) {
        struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };
        gint64 last = g_get_monotonic_time(), longest = 0;
        char line[8];

        if (argc != 2) {
                fprintf(stderr, "usage: bench-timer MILLISECONDS\n");
                return 2;
        }

        for (;;) {
                int n = poll(&input, 1, atoi(argv[1]));
                gint64 now = g_get_monotonic_time();

                if (n < 0)
                        return EXIT_FAILURE;
                longest = MAX(longest, now - last);
                last = now;
                if (n == 0)
                        continue;

                if (read(STDIN_FILENO, line, sizeof(line)) <= 0)
                        return EXIT_SUCCESS;
                printf("%" G_GINT64_FORMAT "\n", longest);
                fflush(stdout);
                longest = 0;
        }
}
