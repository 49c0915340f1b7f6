/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What is written to the input is of no interest, only its end. */

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "loop.h"

static int on_input(sd_event_source *source, int fd, uint32_t events, void *userdata) {
        Loop *loop = userdata;
        char bytes[64];

        if (read(fd, bytes, sizeof(bytes)) > 0)
                return 0;

        loop->ended = true;
        if (loop->finishes)
                return sd_event_source_set_enabled(source, SD_EVENT_OFF);

        return sd_event_exit(sd_event_source_get_event(source), 0);
}

int loop_open(Loop *loop, const char *address) {
        int r = sd_event_new(&loop->event);

        if (r >= 0)
                r = sd_bus_new(&loop->bus);
        if (r >= 0)
                r = sd_bus_set_address(loop->bus, address);
        if (r >= 0)
                r = sd_bus_set_bus_client(loop->bus, true);
        if (r >= 0)
                r = sd_bus_start(loop->bus);
        if (r >= 0)
                r = sd_bus_set_close_on_exit(loop->bus, false);
        if (r >= 0)
                r = sd_bus_attach_event(loop->bus, loop->event, 0);

        return r < 0 ? r : sd_event_add_io(loop->event, NULL, STDIN_FILENO, EPOLLIN, on_input, loop);
}

int loop_run(Loop *loop) {
        puts("ready");
        fflush(stdout);
        return sd_event_loop(loop->event);
}

void loop_close(Loop *loop) {
        sd_bus_flush_close_unref(loop->bus);
        sd_event_unref(loop->event);
}

int loop_status(const char *program, int r) {
        if (r >= 0)
                return EXIT_SUCCESS;

        fprintf(stderr, "%s: %s\n", program, strerror(-r));
        return EXIT_FAILURE;
}
