/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * A caller that starts a tree and halts it again as fast as it can, in so many instances at once, until its input ends.
 * It then halts what it has started, so that btd starts nothing for it later. Prints how many runs it has started and
 * halted, and how many calls have been answered with an error.
 *
 *   load-churn ADDRESS TREE INSTANCES
 */

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "loop.h"

#define MANAGER "org.btd1", "/org/btd1", "org.btd1.Manager"

typedef struct Churn {
        Loop loop;
        const char *tree;
        unsigned n_halted, n_errors;
        unsigned n_active; /* instances, each with a call that has no answer yet */
} Churn;

typedef struct Instance {
        Churn *churn;
        unsigned number, n_runs;
} Instance;

static int start(Instance *instance);

static void check(Instance *instance, sd_bus_message *reply) {
        const sd_bus_error *error = sd_bus_message_get_error(reply);

        if (!error)
                return;

        if (instance->churn->n_errors++ == 0)
                fprintf(stderr, "load-churn: %s\n", error->message);
}

static int on_halted(sd_bus_message *reply, void *userdata, sd_bus_error *ret_error) {
        Instance *instance = userdata;

        check(instance, reply);
        instance->churn->n_halted++;
        return start(instance);
}

static int on_started(sd_bus_message *reply, void *userdata, sd_bus_error *ret_error) {
        Instance *instance = userdata;
        const char *id;

        check(instance, reply);
        if (sd_bus_message_read(reply, "s", &id) < 0)
                return start(instance);

        return sd_bus_call_method_async(instance->churn->loop.bus, NULL, MANAGER, "HaltRun", on_halted, instance,
                                        "sa{sv}", id, 0);
}

/* Another instance each time, since the one before may take its time to end, even beyond the end of this caller. */
static int start(Instance *instance) {
        char name[48];

        if (instance->churn->loop.ended)
                return --instance->churn->n_active > 0 ? 0 : sd_event_exit(instance->churn->loop.event, 0);

        snprintf(name, sizeof(name), "%d-%u-%u", (int) getpid(), instance->number, instance->n_runs++);
        return sd_bus_call_method_async(instance->churn->loop.bus, NULL, MANAGER, "StartTree", on_started, instance,
                                        "sa{sv}a{sv}", instance->churn->tree, 0, 1, "instance", "s", name);
}

static int churn(Churn *churn, const char *address, Instance *instances, unsigned n) {
        int r;

        churn->loop.finishes = true;
        r = loop_open(&churn->loop, address);

        for (unsigned i = 0; i < n && r >= 0; i++) {
                instances[i].churn = churn;
                instances[i].number = i;
                churn->n_active++;
                r = start(&instances[i]);
        }

        return r < 0 ? r : loop_run(&churn->loop);
}

int main(int argc, char *argv[]) {
        Churn it = { 0 };
        Instance *instances;
        unsigned n;
        int r;

        if (argc != 4) {
                fprintf(stderr, "usage: load-churn ADDRESS TREE INSTANCES\n");
                return 2;
        }

        it.tree = argv[2];
        n = (unsigned) strtoul(argv[3], NULL, 10);
        instances = calloc(n, sizeof(Instance));
        r = instances ? churn(&it, argv[1], instances, n) : -1;
        printf("%u %u\n", it.n_halted, it.n_errors);
        loop_close(&it.loop);
        free(instances);
        return loop_status("load-churn", r);
}
