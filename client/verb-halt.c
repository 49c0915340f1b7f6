/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* btctl halt: halts a run or all runs of a tree, and waits for their ends where that is wanted. */

#include <string.h>

#include "basic/cleanup.h"
#include "event.h"
#include "target.h"
#include "verbs.h"
#include "watch.h"

/* What is left to wait for. */
typedef struct Halting {
        Client *client;
        Watch *watch;
        GHashTable *runs; /* ids of those that are not over */
} Halting;

static void halting_clear(Halting *halting) {
        g_clear_pointer(&halting->watch, watch_free);
        g_clear_pointer(&halting->runs, g_hash_table_unref);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Halting, halting_clear)

static void on_run_finished(const char *id, const char *status, const char *cause, void *userdata) {
        Halting *halting = userdata;

        if (!g_hash_table_remove(halting->runs, id))
                return;

        if (!halting->client->output.quiet)
                event_print_finished(&halting->client->output, "", id, status, 0, cause);
        if (g_hash_table_size(halting->runs) == 0)
                watch_end(halting->watch, EXIT_SUCCESS);
}

static bool is_meant(const RunInfo *run, const char *operand) {
        g_autofree char *tree = NULL, *instance = NULL;

        if (target_is_run_id(operand))
                return strcmp(run->id, operand) == 0;

        target_split(operand, &tree, &instance);
        return strcmp(run->tree, tree) == 0 && (!instance || strcmp(run->instance, instance) == 0);
}

/* Those that run now, found while their ends are watched already. */
static int collect_runs(Halting *halting, const char *operand) {
        g_autoptr(GPtrArray) runs = NULL;
        int status;

        status = run_info_list(halting->client, &runs);
        if (status != EXIT_SUCCESS)
                return status;

        halting->runs = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        for (guint i = 0; i < runs->len; i++) {
                const RunInfo *run = g_ptr_array_index(runs, i);

                if (!run_info_is_over(run) && is_meant(run, operand))
                        g_hash_table_add(halting->runs, g_strdup(run->id));
        }

        return EXIT_SUCCESS;
}

static int halt_run(Client *client, const char *id) {
        return client_call(client, NULL, BTD_PATH, BTD_MANAGER, "HaltRun", "s", id);
}

static int halt_tree(Client *client, const char *tree) {
        g_autoptr(sd_bus_message) reply = NULL;
        unsigned count;
        int status, r;

        status = client_call(client, &reply, BTD_PATH, BTD_MANAGER, "HaltTree", "s", tree);
        if (status != EXIT_SUCCESS)
                return status;

        r = sd_bus_message_read(reply, "u", &count);
        if (r < 0)
                return client_bad_message(r);

        /* What was to be is so already. */
        if (count == 0)
                client_say(client, "tree '%s' is not running", tree);

        return EXIT_SUCCESS;
}

static int halt(Client *client, const char *operand) {
        g_auto(Target) target = {};
        int status;

        if (target_is_run_id(operand))
                return halt_run(client, operand);
        if (!strchr(operand, '@'))
                return halt_tree(client, operand);

        status = target_find(client, operand, &target);
        return status != EXIT_SUCCESS ? status : halt_run(client, target.run->id);
}

static int halt_and_wait(Client *client, const char *operand) {
        static const WatchCallbacks callbacks = { .run_finished = on_run_finished };
        g_auto(Halting) halting = { .client = client };
        int status;

        status = watch_new(client, &callbacks, &halting, &halting.watch);
        if (status != EXIT_SUCCESS)
                return status;

        status = collect_runs(&halting, operand);
        if (status != EXIT_SUCCESS)
                return status;

        status = halt(client, operand);
        if (status != EXIT_SUCCESS)
                return status;

        if (g_hash_table_size(halting.runs) == 0)
                return EXIT_SUCCESS;

        status = watch_wait(halting.watch);
        if (status > EXIT_SIGNAL)
                report_error("no longer waiting; '%s' is still being halted", operand);

        return status;
}

int verb_halt(Client *client, char **operands) {
        if (options_has(&client->options, OPTION_WAIT))
                return halt_and_wait(client, operands[0]);

        return halt(client, operands[0]);
}
