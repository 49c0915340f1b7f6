/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * The baseline of a reaction: a plain program that calls React or Ready in its signal handler.
 *
 *   bench-reactor ADDRESS
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "watched.h"

static int call(sd_bus *bus, const char *member) {
        return sd_bus_call_method_async(bus, NULL, WATCHED, "/bench", WATCHED, member, NULL, NULL, NULL);
}

static int on_changed(sd_bus_message *message, void *userdata, sd_bus_error *ret_error) {
        const char *name;
        uint32_t tick;

        int r = sd_bus_message_skip(message, "s");
        if (r >= 0)
                r = sd_bus_message_enter_container(message, 'a', "{sv}");
        while (r >= 0 && (r = sd_bus_message_enter_container(message, 'e', "sv")) > 0) {
                r = sd_bus_message_read(message, "s", &name);
                if (r >= 0 && g_str_equal(name, "Tick")) {
                        r = sd_bus_message_read(message, "v", "u", &tick);
                        return r < 0 ? r : call(userdata, tick > 0 ? "React" : "Ready");
                }
                if (r >= 0)
                        r = sd_bus_message_skip(message, "v");
                if (r >= 0)
                        r = sd_bus_message_exit_container(message);
        }
        return r;
}

static int serve(const char *address) {
        g_autoptr(sd_bus) bus = NULL;

        int r = bench_connect(address, &bus);
        if (r < 0)
                return r;
        r = sd_bus_match_signal(bus, NULL, WATCHED, "/bench/0", "org.freedesktop.DBus.Properties", "PropertiesChanged",
                                on_changed, bus);
        if (r >= 0)
                r = call(bus, "Ready");

        while (r >= 0 && (r = sd_bus_process(bus, NULL)) >= 0)
                if (r == 0)
                        r = sd_bus_wait(bus, UINT64_MAX);
        return r;
}

int main(int argc, char *argv[]) {
        if (argc != 2) {
                fprintf(stderr, "usage: bench-reactor ADDRESS\n");
                return 2;
        }

        int r = serve(argv[1]);
        if (r < 0 && r != -ENOTCONN && r != -ECONNRESET) {
                fprintf(stderr, "bench-reactor: %s\n", strerror(-r));
                return EXIT_FAILURE;
        }
        return EXIT_SUCCESS;
}
