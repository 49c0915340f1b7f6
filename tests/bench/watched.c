/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Get always answers with 0 and false: what is measured comes with signals. */

#include <time.h>

#include "watched.h"

#define PROPERTIES "org.freedesktop.DBus.Properties"

gint64 watched_now(void) {
        struct timespec now;

        clock_gettime(CLOCK_MONOTONIC, &now);
        return (gint64) now.tv_sec * 1000000000 + now.tv_nsec;
}

static int reply_to_get(sd_bus_message *message) {
        const char *property;

        int r = sd_bus_message_read(message, "ss", NULL, &property);
        if (r < 0)
                return r;
        if (g_str_equal(property, "Tick"))
                return sd_bus_reply_method_return(message, "v", "u", 0);
        return sd_bus_reply_method_return(message, "v", "b", false);
}

static int on_call(sd_bus_message *message, void *userdata, sd_bus_error *ret_error) {
        Watched *watched = userdata;

        if (sd_bus_message_is_method_call(message, PROPERTIES, "Get") > 0)
                return reply_to_get(message);
        if (sd_bus_message_is_method_call(message, WATCHED, "React") > 0) {
                watched->reacted = watched_now();
                watched->n_react++;
        } else if (sd_bus_message_is_method_call(message, WATCHED, "Ready") > 0) {
                watched->n_ready++;
        } else {
                return 0;
        }
        return sd_bus_reply_method_return(message, "");
}

int watched_open(Watched *watched, const char *address) {
        *watched = (Watched){};

        int r = bench_connect(address, &watched->bus);
        if (r < 0)
                return r;
        if ((r = sd_bus_add_fallback(watched->bus, NULL, "/bench", on_call, watched)) < 0)
                return r;
        return sd_bus_request_name(watched->bus, WATCHED, 0);
}

void watched_close(Watched *watched) {
        watched->bus = sd_bus_flush_close_unref(watched->bus);
}

int watched_say(Watched *watched, unsigned object, unsigned tick, bool on) {
        char path[32];

        snprintf(path, sizeof(path), "/bench/%u", object);
        return sd_bus_emit_signal(watched->bus, path, PROPERTIES, "PropertiesChanged", "sa{sv}as", WATCHED, 2, "Tick",
                                  "u", tick, "On", "b", on, 0);
}

int watched_wait(Watched *watched, const unsigned *counter, unsigned number) {
        while (*counter < number) {
                int r = sd_bus_process(watched->bus, NULL);

                if (r == 0)
                        r = sd_bus_wait(watched->bus, UINT64_MAX);
                if (r < 0)
                        return r;
        }
        return 0;
}
