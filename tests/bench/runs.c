/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * The measured side: starts runs of a tree, some of them at once, each as an instance of its own, and the next one of
 * an instance when the one before has finished. Prints the microseconds from the first call to the last RunFinished.
 *
 *   bench-runs ADDRESS TREE RUNS AT-ONCE
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "connect.h"

typedef struct Runs {
        sd_bus *bus;
        const char *tree;
        unsigned left, finished, failed;
        GHashTable *slots; /* by the id of the run: the Slot in which it is */
} Runs;

typedef struct Slot {
        Runs *runs;
        char instance[16];
} Slot;

static int start(Slot *slot);

static int on_started(sd_bus_message *reply, void *userdata, sd_bus_error *ret_error) {
        Slot *slot = userdata;
        const char *id;

        int r = sd_bus_message_read(reply, "so", &id, NULL);
        if (r < 0) {
                fprintf(stderr, "bench-runs: %s\n", sd_bus_message_get_error(reply)->message);
                exit(EXIT_FAILURE);
        }

        g_hash_table_insert(slot->runs->slots, g_strdup(id), slot);
        return 0;
}

static int start(Slot *slot) {
        Runs *runs = slot->runs;

        if (runs->left == 0)
                return 0;

        runs->left--;
        return sd_bus_call_method_async(runs->bus, NULL, "org.btd1", "/org/btd1", "org.btd1.Manager", "StartTree",
                                        on_started, slot, "sa{sv}a{sv}", runs->tree, 0, 1, "instance", "s",
                                        slot->instance);
}

/* The reply to the start always comes first. */
static int on_run_finished(sd_bus_message *message, void *userdata, sd_bus_error *ret_error) {
        Runs *runs = userdata;
        const char *id, *path, *status, *cause;
        Slot *slot;

        int r = sd_bus_message_read(message, "soss", &id, &path, &status, &cause);
        if (r < 0)
                return r;

        slot = g_hash_table_lookup(runs->slots, id);
        g_hash_table_remove(runs->slots, id);
        runs->finished++;
        runs->failed += !g_str_equal(status, "success");
        return slot ? start(slot) : 0;
}

static int measure(Runs *runs, const char *address, unsigned n, unsigned width, gint64 *ret_took) {
        g_autofree Slot *slots = g_new0(Slot, width);
        g_autoptr(sd_bus) bus = NULL;

        int r = bench_connect(address, &bus);
        if (r < 0)
                return r;

        runs->bus = bus;
        r = sd_bus_match_signal(bus, NULL, "org.btd1", "/org/btd1", "org.btd1.Manager", "RunFinished", on_run_finished,
                                runs);
        gint64 begin = g_get_monotonic_time();
        for (unsigned i = 0; r >= 0 && i < width; i++) {
                slots[i].runs = runs;
                if (i > 0)
                        g_snprintf(slots[i].instance, sizeof(slots[i].instance), "%u", i);
                r = start(&slots[i]);
        }
        while (r >= 0 && runs->finished < n) {
                r = sd_bus_process(bus, NULL);
                if (r == 0)
                        r = sd_bus_wait(bus, UINT64_MAX);
        }

        *ret_took = g_get_monotonic_time() - begin;
        return r;
}

int main(int argc, char *argv[]) {
        g_autoptr(GHashTable) slots = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        Runs runs = { .slots = slots };
        gint64 took = 0;
        unsigned n;

        if (argc != 5) {
                fprintf(stderr, "usage: bench-runs ADDRESS TREE RUNS AT-ONCE\n");
                return 2;
        }

        runs.tree = argv[2];
        runs.left = n = (unsigned) atoi(argv[3]);
        int r = measure(&runs, argv[1], n, (unsigned) atoi(argv[4]), &took);
        if (r < 0 || runs.failed > 0) {
                fprintf(stderr, "bench-runs: %s\n", r < 0 ? strerror(-r) : "a run has failed");
                return EXIT_FAILURE;
        }
        printf("%" G_GINT64_FORMAT "\n", took);
        return EXIT_SUCCESS;
}
