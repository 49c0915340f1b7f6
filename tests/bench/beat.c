/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * How regularly something else is done meanwhile: notes when Beat is called. For each line that is written to it, it
 * prints the longest time between two calls since the line before, in microseconds.
 *
 *   bench-beat ADDRESS NAME
 */

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include "connect.h"

typedef struct Beat {
        gint64 last, longest;
} Beat;

static int method_beat(sd_bus_message *message, void *userdata, sd_bus_error *error) {
        gint64 now = g_get_monotonic_time();
        Beat *beat = userdata;

        if (beat->last > 0)
                beat->longest = MAX(beat->longest, now - beat->last);
        beat->last = now;
        return sd_bus_reply_method_return(message, "");
}

static const sd_bus_vtable vtable[] = {
        SD_BUS_VTABLE_START(0),
        SD_BUS_METHOD("Beat", NULL, NULL, method_beat, SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_VTABLE_END,
};

/* False: the input is at its end. */
static bool tell(Beat *beat) {
        char line[8];

        if (read(STDIN_FILENO, line, sizeof(line)) <= 0)
                return false;

        printf("%" G_GINT64_FORMAT "\n", beat->longest);
        fflush(stdout);
        *beat = (Beat){};
        return true;
}

static int serve(const char *address, const char *name) {
        g_autoptr(sd_bus) bus = NULL;
        Beat beat = {};

        int r = bench_connect(address, &bus);
        if (r < 0)
                return r;
        if ((r = sd_bus_add_object_vtable(bus, NULL, "/bench", "org.btd1.Bench", vtable, &beat)) < 0 ||
            (r = sd_bus_request_name(bus, name, 0)) < 0)
                return r;

        while (r >= 0) {
                struct pollfd fds[] = { { .fd = sd_bus_get_fd(bus), .events = POLLIN },
                                        { .fd = STDIN_FILENO, .events = POLLIN } };

                while ((r = sd_bus_process(bus, NULL)) > 0)
                        ;
                if (r < 0 || (r = sd_bus_flush(bus)) < 0 || poll(fds, 2, -1) < 0)
                        break;
                if (fds[1].revents && !tell(&beat))
                        return 0;
        }
        return r;
}

int main(int argc, char *argv[]) {
        if (argc != 3) {
                fprintf(stderr, "usage: bench-beat ADDRESS NAME\n");
                return 2;
        }

        int r = serve(argv[1], argv[2]);
        if (r < 0) {
                fprintf(stderr, "bench-beat: %s\n", strerror(-r));
                return EXIT_FAILURE;
        }
        return EXIT_SUCCESS;
}
