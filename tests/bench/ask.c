/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Asks for long answers without end: on each of its connections a method without arguments is called again as soon as
 * it has been answered. Says "ready" when all are connected, ends with its input, and prints then how many answers and
 * how many errors there were.
 *
 *   bench-ask ADDRESS CONNECTIONS PATH INTERFACE MEMBER
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-event.h>
#include <unistd.h>

#include "connect.h"

G_DEFINE_AUTOPTR_CLEANUP_FUNC(sd_event, sd_event_unref)

typedef struct Asked {
        const char *path, *interface, *member;
        unsigned long n_answers, n_errors;
} Asked;

static int on_answer(sd_bus_message *reply, void *userdata, sd_bus_error *ret_error);

static int ask(sd_bus *bus, Asked *asked) {
        return sd_bus_call_method_async(bus, NULL, "org.btd1", asked->path, asked->interface, asked->member, on_answer,
                                        asked, NULL);
}

static int on_answer(sd_bus_message *reply, void *userdata, sd_bus_error *ret_error) {
        Asked *asked = userdata;

        if (sd_bus_message_is_method_error(reply, NULL))
                asked->n_errors++;
        else
                asked->n_answers++;
        return ask(sd_bus_message_get_bus(reply), asked);
}

static int on_input(sd_event_source *source, int fd, uint32_t events, void *userdata) {
        return sd_event_exit(sd_event_source_get_event(source), 0);
}

static void close_bus(void *bus) {
        sd_bus_close_unref(bus);
}

static int run(const char *address, unsigned long n_connections, Asked *asked) {
        g_autoptr(GPtrArray) buses = g_ptr_array_new_with_free_func(close_bus);
        g_autoptr(sd_event) event = NULL;

        int r = sd_event_new(&event);
        if (r < 0 || (r = sd_event_add_io(event, NULL, STDIN_FILENO, EPOLLIN, on_input, NULL)) < 0)
                return r;
        for (unsigned long i = 0; i < n_connections; i++) {
                g_autoptr(sd_bus) bus = NULL;

                if ((r = bench_connect(address, &bus)) < 0 || (r = sd_bus_attach_event(bus, event, 0)) < 0 ||
                    (r = ask(bus, asked)) < 0)
                        return r;
                g_ptr_array_add(buses, g_steal_pointer(&bus));
        }

        puts("ready");
        fflush(stdout);
        return sd_event_loop(event);
}

int main(int argc, char *argv[]) {
        if (argc != 6) {
                fprintf(stderr, "usage: bench-ask ADDRESS CONNECTIONS PATH INTERFACE MEMBER\n");
                return 2;
        }

        Asked asked = { .path = argv[3], .interface = argv[4], .member = argv[5] };
        int r = run(argv[1], strtoul(argv[2], NULL, 10), &asked);
        if (r < 0) {
                fprintf(stderr, "bench-ask: %s\n", strerror(-r));
                return EXIT_FAILURE;
        }
        printf("%lu %lu\n", asked.n_answers, asked.n_errors);
        return EXIT_SUCCESS;
}
