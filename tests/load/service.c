/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * A service with nothing to do. Ask is answered at once. Wait is answered when somebody has called Answer, which says
 * how often Wait has been called until now; from Hold on it is not answered again.
 *
 *   load-service ADDRESS NAME
 */

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "loop.h"

typedef struct Service {
        Loop loop;
        bool holding;
        sd_bus_message **held;
        unsigned n_held, n_allocated, n_calls;
} Service;

static int method_ask(sd_bus_message *message, void *userdata, sd_bus_error *ret_error) {
        return sd_bus_reply_method_return(message, "u", 1u);
}

static int method_wait(sd_bus_message *message, void *userdata, sd_bus_error *ret_error) {
        Service *service = userdata;

        service->n_calls++;
        if (!service->holding)
                return sd_bus_reply_method_return(message, NULL);

        if (service->n_held == service->n_allocated) {
                service->n_allocated = service->n_allocated * 2 + 64;
                service->held = reallocarray(service->held, service->n_allocated, sizeof(service->held[0]));
                if (!service->held)
                        abort();
        }

        service->held[service->n_held++] = sd_bus_message_ref(message);
        return 1;
}

static int method_hold(sd_bus_message *message, void *userdata, sd_bus_error *ret_error) {
        Service *service = userdata;

        service->holding = true;
        service->n_calls = 0;
        return sd_bus_reply_method_return(message, NULL);
}

static int method_answer(sd_bus_message *message, void *userdata, sd_bus_error *ret_error) {
        Service *service = userdata;

        service->holding = false;
        while (service->n_held > 0) {
                sd_bus_message *held = service->held[--service->n_held];

                (void) sd_bus_reply_method_return(held, NULL);
                sd_bus_message_unref(held);
        }

        return sd_bus_reply_method_return(message, "u", service->n_calls);
}

static int property_get_ready(sd_bus *bus, const char *path, const char *interface, const char *property,
                              sd_bus_message *reply, void *userdata, sd_bus_error *ret_error) {
        return sd_bus_message_append(reply, "b", true);
}

static const sd_bus_vtable vtable[] = {
        SD_BUS_VTABLE_START(0),
        SD_BUS_PROPERTY("Ready", "b", property_get_ready, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
        SD_BUS_METHOD_WITH_ARGS("Ask", SD_BUS_NO_ARGS, SD_BUS_RESULT("u", one), method_ask, SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_ARGS("Wait", SD_BUS_NO_ARGS, SD_BUS_NO_RESULT, method_wait, SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_ARGS("Hold", SD_BUS_NO_ARGS, SD_BUS_NO_RESULT, method_hold, SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_ARGS("Answer", SD_BUS_NO_ARGS, SD_BUS_RESULT("u", calls), method_answer,
                                SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_VTABLE_END,
};

static int serve(Service *service, const char *address, const char *name) {
        int r = loop_open(&service->loop, address);

        if (r >= 0)
                r = sd_bus_add_object_vtable(service->loop.bus, NULL, "/load", "org.example.Load", vtable, service);
        if (r >= 0)
                r = sd_bus_request_name(service->loop.bus, name, 0);

        return r < 0 ? r : loop_run(&service->loop);
}

int main(int argc, char *argv[]) {
        Service service = { .holding = true };
        int r;

        if (argc != 3) {
                fprintf(stderr, "usage: load-service ADDRESS NAME\n");
                return 2;
        }

        r = serve(&service, argv[1], argv[2]);
        loop_close(&service.loop);
        free(service.held);
        return loop_status("load-service", r);
}
