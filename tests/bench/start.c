/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * The measured side: starts a tree and waits for its run to succeed. Prints the microseconds from the StartTree call to
 * the RunFinished signal.
 *
 *   bench-start ADDRESS TREE
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "connect.h"

typedef struct Finished {
        gint64 when; /* 0: not yet */
        char *status, *cause;
} Finished;

static void finished_clear(Finished *finished) {
        g_free(finished->status);
        g_free(finished->cause);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Finished, finished_clear)

/* Only one run is going on, so it is this one. */
static int on_run_finished(sd_bus_message *message, void *userdata, sd_bus_error *ret_error) {
        Finished *finished = userdata;
        const char *id, *path, *status, *cause;

        finished->when = g_get_monotonic_time();
        int r = sd_bus_message_read(message, "soss", &id, &path, &status, &cause);
        if (r < 0)
                return r;

        finished->status = g_strdup(status);
        finished->cause = g_strdup(cause);
        return 0;
}

static int start_and_wait(sd_bus *bus, const char *tree, gint64 *ret_took, sd_bus_error *ret_error) {
        g_auto(Finished) finished = {};

        int r = sd_bus_match_signal(bus, NULL, "org.btd1", "/org/btd1", "org.btd1.Manager", "RunFinished",
                                    on_run_finished, &finished);
        if (r < 0)
                return r;

        gint64 begin = g_get_monotonic_time();
        r = sd_bus_call_method(bus, "org.btd1", "/org/btd1", "org.btd1.Manager", "StartTree", ret_error, NULL,
                               "sa{sv}a{sv}", tree, 0, 0);
        while (r >= 0 && finished.when == 0) {
                r = sd_bus_process(bus, NULL);
                if (r == 0)
                        r = sd_bus_wait(bus, UINT64_MAX);
        }
        if (r < 0)
                return r;
        if (!g_str_equal(finished.status, "success"))
                return sd_bus_error_setf(ret_error, "org.btd1.Bench.Error", "%s: %s", finished.status, finished.cause);

        *ret_took = finished.when - begin;
        return 0;
}

static int measure(const char *address, const char *tree, gint64 *ret_took, sd_bus_error *ret_error) {
        g_autoptr(sd_bus) bus = NULL;

        int r = bench_connect(address, &bus);
        if (r < 0)
                return r;

        return start_and_wait(bus, tree, ret_took, ret_error);
}

int main(int argc, char *argv[]) {
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        gint64 took = 0;

        if (argc != 3) {
                fprintf(stderr, "usage: bench-start ADDRESS TREE\n");
                return 2;
        }

        int r = measure(argv[1], argv[2], &took, &error);
        if (r < 0) {
                fprintf(stderr, "bench-start: %s\n", error.message ?: strerror(-r));
                return EXIT_FAILURE;
        }
        printf("%" G_GINT64_FORMAT "\n", took);
        return EXIT_SUCCESS;
}
