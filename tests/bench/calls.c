/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * The baseline of DBusCall: COUNT calls of Echo, at most 100 of them in flight. Prints the microseconds from the first
 * call to the last reply.
 *
 *   bench-calls ADDRESS NAME COUNT
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "connect.h"

#define WINDOW 100u

typedef struct Calls {
        sd_bus *bus;
        const char *name;
        unsigned to_send, to_come;
        int error;
} Calls;

static void calls_send(Calls *calls);

static int on_reply(sd_bus_message *reply, void *userdata, sd_bus_error *ret_error) {
        Calls *calls = userdata;

        calls->to_come--;
        if (sd_bus_message_is_method_error(reply, NULL))
                calls->error = -sd_bus_message_get_errno(reply);
        else if (calls->to_send > 0)
                calls_send(calls);
        return 0;
}

static void calls_send(Calls *calls) {
        calls->to_send--;
        int r = sd_bus_call_method_async(calls->bus, NULL, calls->name, "/bench", "org.btd1.Bench", "Echo", on_reply,
                                         calls, "s", "hello");
        if (r < 0)
                calls->error = r;
}

static int calls_run(Calls *calls) {
        for (unsigned i = 0; i < WINDOW && calls->to_send > 0; i++)
                calls_send(calls);

        while (calls->to_come > 0 && calls->error == 0) {
                int r = sd_bus_process(calls->bus, NULL);
                if (r == 0)
                        r = sd_bus_wait(calls->bus, UINT64_MAX);
                if (r < 0)
                        return r;
        }
        return calls->error;
}

static int measure(const char *address, const char *name, unsigned count) {
        g_autoptr(sd_bus) bus = NULL;

        int r = bench_connect(address, &bus);
        if (r < 0)
                return r;
        /* The connection is there when the first call is made. */
        r = sd_bus_call_method(bus, name, "/bench", "org.freedesktop.DBus.Peer", "Ping", NULL, NULL, "");
        if (r < 0)
                return r;

        Calls calls = { .bus = bus, .name = name, .to_send = count, .to_come = count };
        gint64 begin = g_get_monotonic_time();
        if ((r = calls_run(&calls)) < 0)
                return r;
        printf("%" G_GINT64_FORMAT "\n", g_get_monotonic_time() - begin);
        return 0;
}

int main(int argc, char *argv[]) {
        if (argc != 4) {
                fprintf(stderr, "usage: bench-calls ADDRESS NAME COUNT\n");
                return 2;
        }

        int r = measure(argv[1], argv[2], (unsigned) strtoul(argv[3], NULL, 10));
        if (r < 0) {
                fprintf(stderr, "bench-calls: %s\n", strerror(-r));
                return EXIT_FAILURE;
        }
        return EXIT_SUCCESS;
}
