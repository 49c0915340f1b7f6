/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Subscribes to everything that btd tells, and never reads it. With a run, asks for its run record so many times, too,
 * and reads no answer.
 *
 *   load-mute ADDRESS [QUESTIONS RUN]
 */

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "loop.h"

static int listen_to_all(sd_bus *bus) {
        int r = sd_bus_call_method(bus, "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus",
                                   "AddMatch", NULL, NULL, "s", "type='signal',sender='org.btd1'");

        return r < 0 ? r
                     : sd_bus_call_method(bus, "org.btd1", "/org/btd1", "org.btd1.Manager", "Subscribe", NULL, NULL,
                                          NULL);
}

/* Without one, no answer is expected. */
static int on_answer(sd_bus_message *reply, void *userdata, sd_bus_error *ret_error) {
        return 0;
}

static int ask(sd_bus *bus, unsigned long questions, const char *run) {
        int r = 0;

        for (unsigned long i = 0; i < questions && r >= 0; i++)
                r = sd_bus_call_method_async(bus, NULL, "org.btd1", "/org/btd1", "org.btd1.Manager", "GetRecord",
                                             on_answer, NULL, "st", run, UINT64_C(0));

        return r < 0 ? r : sd_bus_flush(bus);
}

int main(int argc, char *argv[]) {
        Loop loop = { 0 };
        char byte;
        int r;

        if (argc != 2 && argc != 4) {
                fprintf(stderr, "usage: load-mute ADDRESS [QUESTIONS RUN]\n");
                return 2;
        }

        r = loop_open(&loop, argv[1]);
        if (r >= 0)
                r = listen_to_all(loop.bus);
        if (r >= 0 && argc == 4)
                r = ask(loop.bus, strtoul(argv[2], NULL, 10), argv[3]);
        if (r >= 0) {
                puts("ready");
                fflush(stdout);
                while (read(STDIN_FILENO, &byte, 1) > 0)
                        ;
        }

        loop_close(&loop);
        return loop_status("load-mute", r);
}
