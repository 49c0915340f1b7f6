/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* btctl start and run: start a tree, and follow the run to its end where that is wanted. */

#include <stdio.h>
#include <string.h>

#include "basic/cleanup.h"
#include "definition/tree-name.h"
#include "event.h"
#include "file.h"
#include "look.h"
#include "target.h"
#include "variables.h"
#include "verbs.h"
#include "watch.h"

typedef struct Started {
        Client *client;
        Watch *watch;     /* NULL: not waited for */
        GPtrArray *nodes; /* what is known of them by signals */
        char *tree, *instance;
        char *text;      /* of the tree; NULL: btd has it */
        char *id, *path; /* once it is started */
        gint64 time;     /* CLOCK_MONOTONIC µs */
} Started;

static void started_clear(Started *started) {
        g_clear_pointer(&started->watch, watch_free);
        g_clear_pointer(&started->nodes, g_ptr_array_unref);
        g_clear_pointer(&started->tree, g_free);
        g_clear_pointer(&started->instance, g_free);
        g_clear_pointer(&started->text, g_free);
        g_clear_pointer(&started->id, g_free);
        g_clear_pointer(&started->path, g_free);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Started, started_clear)

static json_object *started_to_json(const Started *started) {
        json_object *json = json_object_new_object();

        json_object_object_add(json, "id", json_object_new_string(started->id));
        json_object_object_add(json, "tree", json_object_new_string(started->tree));
        json_object_object_add(json, "instance", json_object_new_string(started->instance));

        return json;
}

static void print_result(const Started *started, const char *status, const char *cause) {
        const Client *client = started->client;
        bool stream = options_has(&client->options, OPTION_FOLLOW);

        if (client->output.json && !stream) {
                json_object *json = started_to_json(started);

                json_object_object_add(json, "status", json_object_new_string(status));
                json_object_object_add(json, "cause", json_object_new_string(cause));
                output_print_json(json);
        } else if (client->output.json || !client->output.quiet)
                event_print_finished(&client->output, "", started->id, status, g_get_monotonic_time() - started->time,
                                     cause);
}

static void on_run_finished(const char *id, const char *status, const char *cause, void *userdata) {
        Started *started = userdata;

        if (strcmp(id, started->id) != 0)
                return;

        print_result(started, status, cause);
        watch_end(started->watch, report_exit_status(status));
}

static void on_nodes_changed(const char *run_path, GPtrArray *nodes, void *userdata) {
        Started *started = userdata;
        g_autofree char *stamp = NULL;

        if (strcmp(run_path, started->path) != 0)
                return;

        stamp = g_strdup_printf("%8.3fs", (g_get_monotonic_time() - started->time) / (double) G_USEC_PER_SEC);
        node_info_merge(started->nodes, nodes);
        event_print_nodes(&started->client->output, stamp, started->id, nodes, started->nodes);
}

/* Another btd may have the run, and what happened in between was not told. */
static void on_back(void *userdata) {
        Started *started = userdata;
        Client *client = started->client;
        g_autofree char *result = NULL, *cause = NULL;
        uint64_t finished;
        int status = EXIT_SUCCESS;

        /* The first is answered when btd knows its runs. */
        if (sd_bus_call_method(client->bus, BTD_NAME, BTD_PATH, BTD_MANAGER, "GetRun", NULL, NULL, "s", started->id) <
                    0 ||
            sd_bus_get_property_trivial(client->bus, BTD_NAME, started->path, BTD_RUN, "Finished", NULL, 't',
                                        &finished) < 0) {
                report_error("btd was restarted, but has not taken up %s; its log says why", started->id);
                watch_end(started->watch, EXIT_NO_DAEMON);
                return;
        }

        if (finished > 0) {
                status = client_get_string(client, started->path, BTD_RUN, "Status", &result);
                if (status == EXIT_SUCCESS)
                        status = client_get_string(client, started->path, BTD_RUN, "Cause", &cause);
                if (status == EXIT_SUCCESS)
                        on_run_finished(started->id, result, cause, started);
        } else {
                if (!client->output.quiet)
                        report_error("btd was restarted; %s goes on", started->id);
                if (options_has(&client->options, OPTION_FOLLOW))
                        status = client_call(client, NULL, BTD_PATH, BTD_MANAGER, "Subscribe", NULL);
        }

        if (status != EXIT_SUCCESS)
                watch_end(started->watch, status);
}

/* A run that is not durable ends with btd. */
static void outlast(const Started *started) {
        int durable = false;

        if (sd_bus_get_property_trivial(started->client->bus, BTD_NAME, started->path, BTD_RUN, "Durable", NULL, 'b',
                                        &durable) >= 0 &&
            durable)
                watch_outlast(started->watch);
}

/* Before it is started, so that nothing is missed. */
static int watch(Started *started) {
        const Options *options = &started->client->options;
        WatchCallbacks callbacks = { .run_finished = on_run_finished, .back = on_back };

        if (!options_has(options, OPTION_WAIT) && !options_has(options, OPTION_FOLLOW))
                return EXIT_SUCCESS;

        if (options_has(options, OPTION_FOLLOW))
                callbacks.nodes_changed = on_nodes_changed;

        started->nodes = node_info_array_new();
        return watch_new(started->client, &callbacks, started, &started->watch);
}

static int start_tree(Started *started) {
        g_autoptr(sd_bus_message) message = NULL, reply = NULL;
        Client *client = started->client;
        const char *id, *path;
        int status, r;

        status = client_message(client, BTD_PATH, BTD_MANAGER, started->text ? "StartText" : "StartTree", &message);
        if (status != EXIT_SUCCESS)
                return status;

        r = sd_bus_message_append(message, "ss", started->tree, started->text ?: started->instance);
        if (r >= 0)
                r = variables_append(message, client->options.sets);
        if (r < 0)
                return client_bad_message(r);

        started->time = g_get_monotonic_time();
        status = client_send(client, message, &reply);
        if (status != EXIT_SUCCESS)
                return status;

        r = sd_bus_message_read(reply, "so", &id, &path);
        if (r < 0)
                return client_bad_message(r);

        started->id = g_strdup(id);
        started->path = g_strdup(path);
        return EXIT_SUCCESS;
}

static int wait_for_result(Started *started) {
        int status;

        outlast(started);
        status = watch_wait(started->watch);
        if (status > EXIT_SIGNAL)
                report_error("no longer waiting, but %s goes on; see it with 'btctl status %s', "
                             "stop it with 'btctl halt %s'",
                             started->id, started->id, started->id);

        return status;
}

/* "boot@eth0" is short for "boot --instance=eth0". */
static int parse_operand(Started *started, const char *operand) {
        const char *instance = started->client->options.values[OPTION_INSTANCE];

        target_split(operand, &started->tree, &started->instance);
        if (started->instance && instance)
                return report_usage("the instance is given twice: '%s' and --instance=%s", operand, instance);
        if (!started->instance)
                started->instance = g_strdup(instance ?: "");

        return EXIT_SUCCESS;
}

/* The tree is called as if the file were on the search path. */
static int read_text(Started *started, const char *path) {
        g_autofree char *base = g_path_get_basename(path);
        size_t length;
        int r;

        if (g_str_has_suffix(base, TREE_SUFFIX))
                base[strlen(base) - strlen(TREE_SUFFIX)] = 0;
        if (!tree_name_valid(base)) {
                report_error("%s: the name of a tree consists of letters, digits, '_' and '-', %u at most", path,
                             TREE_NAME_MAX);
                return EXIT_FAILURE;
        }

        r = file_read(path, &started->text, &length);
        if (r < 0) {
                report_error("%s: %s", path, g_strerror(-r));
                return EXIT_FAILURE;
        }
        if (!g_utf8_validate_len(started->text, length, NULL)) {
                report_error("%s: is not text in UTF-8", path);
                return EXIT_FAILURE;
        }

        started->tree = g_steal_pointer(&base);
        started->instance = g_strdup("");
        return EXIT_SUCCESS;
}

/* What is to be started is known. */
static int start(Started *started) {
        const Client *client = started->client;
        int status;

        status = variables_check("--set ", client->options.sets);
        if (status != EXIT_SUCCESS)
                return status;

        status = watch(started);
        if (status != EXIT_SUCCESS)
                return status;

        status = start_tree(started);
        if (status != EXIT_SUCCESS)
                return status;

        if (started->watch)
                return wait_for_result(started);

        if (client->output.json)
                output_print_json(started_to_json(started));
        else
                puts(started->id);
        return EXIT_SUCCESS;
}

int verb_start(Client *client, char **operands) {
        g_auto(Started) started = { .client = client };
        int status = parse_operand(&started, operands[0]);

        return status == EXIT_SUCCESS ? start(&started) : status;
}

int verb_run(Client *client, char **operands) {
        g_auto(Started) started = { .client = client };
        int status = read_text(&started, operands[0]);

        return status == EXIT_SUCCESS ? start(&started) : status;
}
