/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * The service that the benchmark calls: Echo answers with its text, Wait never answers. It also stands for the smallest
 * daemon there can be, when the start and the memory of btd are measured: connected, name owned, READY told.
 *
 *   bench-echo ADDRESS NAME
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-daemon.h>

#include "connect.h"

static int method_echo(sd_bus_message *message, void *userdata, sd_bus_error *error) {
        const char *text;

        int r = sd_bus_message_read(message, "s", &text);
        if (r < 0)
                return r;

        return sd_bus_reply_method_return(message, "s", text);
}

static int method_wait(sd_bus_message *message, void *userdata, sd_bus_error *error) {
        return 1;
}

static const sd_bus_vtable vtable[] = {
        SD_BUS_VTABLE_START(0),
        SD_BUS_METHOD_WITH_ARGS("Echo", SD_BUS_ARGS("s", text), SD_BUS_RESULT("s", text), method_echo,
                                SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_ARGS("Wait", SD_BUS_NO_ARGS, SD_BUS_NO_RESULT, method_wait, SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_VTABLE_END,
};

static int serve(const char *address, const char *name) {
        g_autoptr(sd_bus) bus = NULL;

        int r = bench_connect(address, &bus);
        if (r < 0)
                return r;
        if ((r = sd_bus_add_object_vtable(bus, NULL, "/bench", "org.btd1.Bench", vtable, NULL)) < 0 ||
            (r = sd_bus_request_name(bus, name, 0)) < 0)
                return r;
        sd_notify(false, "READY=1");

        while ((r = sd_bus_process(bus, NULL)) >= 0)
                if (r == 0 && (r = sd_bus_wait(bus, UINT64_MAX)) < 0)
                        break;
        return r;
}

int main(int argc, char *argv[]) {
        if (argc != 3) {
                fprintf(stderr, "usage: bench-echo ADDRESS NAME\n");
                return 2;
        }

        int r = serve(argv[1], argv[2]);
        if (r < 0 && r != -ENOTCONN && r != -ECONNRESET) {
                fprintf(stderr, "bench-echo: %s\n", strerror(-r));
                return EXIT_FAILURE;
        }
        return EXIT_SUCCESS;
}
