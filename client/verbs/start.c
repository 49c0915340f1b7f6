/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* btctl start and run: start trees and, with --wait or --follow, wait until the run and its restarts have finished. */

#include <stdio.h>
#include <string.h>
#include <systemd/sd-daemon.h>

#include "basic/cleanup.h"
#include "client/bus/target.h"
#include "client/bus/watch.h"
#include "client/files.h"
#include "client/verbs/variables.h"
#include "client/verbs/verbs.h"
#include "client/view/event.h"
#include "client/view/style.h"
#include "definition/sources.h"

/* How long to wait for the service manager to process earlier messages. */
#define BARRIER_USEC (5 * UINT64_C(1000000))

typedef struct Started {
        Client *client;
        Watch *watch;     /* NULL: do not wait */
        GPtrArray *nodes; /* known from signals */
        char *tree, *instance;
        char *text;           /* of the tree file; NULL: btd has the tree */
        char *id, *path;      /* of the current run; NULL: not started yet */
        char *token;          /* of this run and its restarts */
        char *status, *cause; /* of the last finished run, or NULL */
        bool begun;           /* this call has started it */
        bool ready;           /* the run is ready */
        bool wants_nodes;     /* btd is asked for changes of nodes */
        bool over;            /* the wait has ended */
        bool again;           /* start again when this run, which is halting, has finished */
        gint64 time;          /* CLOCK_MONOTONIC µs */
} Started;

static void started_clear(Started *started) {
        g_clear_pointer(&started->watch, watch_free);
        g_clear_pointer(&started->nodes, g_ptr_array_unref);
        g_clear_pointer(&started->tree, g_free);
        g_clear_pointer(&started->instance, g_free);
        g_clear_pointer(&started->text, g_free);
        g_clear_pointer(&started->id, g_free);
        g_clear_pointer(&started->path, g_free);
        g_clear_pointer(&started->token, g_free);
        g_clear_pointer(&started->status, g_free);
        g_clear_pointer(&started->cause, g_free);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Started, started_clear)

static bool has(const Started *started, OptionId option) {
        return options_has(&started->client->options, option);
}

static bool is_unit(const Started *started) {
        return has(started, OPTION_ATTACH) && g_getenv("NOTIFY_SOCKET");
}

/* Sets the STATUS= of the unit whose main process this is. */
static void set_unit_status(const Started *started, const char *status) {
        if (is_unit(started))
                (void) sd_notifyf(false, "STATUS=%s%s%s", started->id ?: "", started->id ? ": " : "", status);
}

static json_object *started_to_json(const Started *started) {
        json_object *json = json_object_new_object();

        json_object_object_add(json, "id", json_object_new_string(started->id));
        json_object_object_add(json, "tree", json_object_new_string(started->tree));
        json_object_object_add(json, "instance", json_object_new_string(started->instance));

        return json;
}

/* The stamp of an event that is printed now; without --follow, there are only results, without a stamp. */
static char *stamp_now(const Started *started) {
        return has(started, OPTION_FOLLOW) ? event_stamp((uint64_t) (g_get_monotonic_time() - started->time))
                                           : g_strdup("");
}

static void print_finished(const Started *started) {
        g_autofree char *stamp = stamp_now(started);

        if (started->client->output.json || !started->client->output.quiet)
                event_print_finished(&started->client->output, stamp, started->id, started->status,
                                     g_get_monotonic_time() - started->time, started->cause);
}

static void print_result(const Started *started) {
        json_object *json = started_to_json(started);

        json_object_object_add(json, "status", json_object_new_string(started->status));
        json_object_object_add(json, "cause", json_object_new_string(started->cause));
        output_print_json(json);
}

/* With --follow, the result is one of many events. */
static bool prints_result_only(const Started *started) {
        return started->client->output.json && !has(started, OPTION_FOLLOW);
}

/* Ends the wait. For a unit, a run that has succeeded counts as ready. */
static void end(Started *started) {
        int status = report_exit_status(started->status);

        started->over = true;
        if (prints_result_only(started))
                print_result(started);
        set_unit_status(started, started->status);
        if (is_unit(started) && status == EXIT_SUCCESS && sd_notify(false, "READY=1") > 0)
                (void) sd_notify_barrier(false, BARRIER_USEC);
        watch_end(started->watch, status);
}

static void set_result(Started *started, const char *status, const char *cause) {
        if (started->status)
                return;

        started->status = g_strdup(status);
        started->cause = g_strdup(cause);
        if (!prints_result_only(started))
                print_finished(started);
}

/* Makes this the current run. */
static void set_run(Started *started, const char *id, const char *path) {
        g_free(started->id);
        g_free(started->path);
        started->id = g_strdup(id);
        started->path = g_strdup(path);
        g_clear_pointer(&started->status, g_free);
        g_clear_pointer(&started->cause, g_free);
        started->time = g_get_monotonic_time();
        started->ready = false;
        if (started->nodes)
                g_ptr_array_set_size(started->nodes, 0);
}

static int begin(Started *started);

static void begin_again(Started *started) {
        int status;

        started->again = false;
        status = begin(started);
        if (status != EXIT_SUCCESS)
                watch_end(started->watch, status);
}

/* Reads the result from the history, in case the run finished long ago and others followed it. */
static bool find_result(Started *started) {
        g_autoptr(GPtrArray) past = NULL;

        if (run_info_list_past(started->client, started->tree, &past) != EXIT_SUCCESS)
                return false;

        for (guint i = 0; i < past->len; i++) {
                const RunInfo *run = g_ptr_array_index(past, i);

                if (strcmp(run->id, started->id) == 0)
                        set_result(started, run->status, run->cause);
        }

        return started->status;
}

static void report_not_recovered(Started *started) {
        started->over = true;
        report_error("btd was restarted, but has not recovered %s; see its log", started->id);
        watch_end(started->watch, EXIT_NO_DAEMON);
}

/* Tells systemd READY=1, which makes a unit of Type=notify active. */
static void set_ready(Started *started) {
        started->ready = true;
        if (is_unit(started))
                (void) sd_notifyf(false, "READY=1\nSTATUS=%s: ready", started->id);
}

/* Puts the running nodes that have no running child into STATUS=. */
static void show_running_nodes(void *userdata) {
        const Started *started = userdata;
        g_autoptr(GHashTable) parents = g_hash_table_new(NULL, NULL);
        g_autofree char *path = NULL, *text = NULL;
        unsigned count = 0;

        if (started->over || started->status)
                return;

        /* From the end, because children come after their parents. */
        for (guint i = started->nodes->len; i > 0; i--) {
                const NodeInfo *node = g_ptr_array_index(started->nodes, i - 1);

                if (!node || strcmp(node->status, "running") != 0)
                        continue;

                g_hash_table_add(parents, GUINT_TO_POINTER(node->parent));
                if (g_hash_table_contains(parents, GUINT_TO_POINTER(node->index)))
                        continue;

                count++;
                g_free(path);
                path = node_info_path(started->nodes, node->index);
        }
        if (count == 0)
                return;

        text = g_strdup_printf("%swaits for %s", started->ready ? "ready; " : "", path);
        if (count > 1) {
                g_autofree char *all = g_strdup_printf("%s and %u more", text, count - 1);

                set_unit_status(started, all);
        } else {
                set_unit_status(started, text);
        }
}

/* Gets all nodes, because signals have only the changed nodes. */
static void get_nodes(Started *started) {
        GPtrArray *nodes;

        if (!started->wants_nodes || node_info_of_run(started->client, started->path, &nodes) != EXIT_SUCCESS)
                return;

        g_ptr_array_unref(started->nodes);
        started->nodes = nodes;
        if (is_unit(started))
                watch_soon(started->watch, show_running_nodes);
}

/* The run may have become ready before the signals were watched. */
static void show_state(Started *started, const char *status) {
        uint64_t ready = 0;

        if (!is_unit(started))
                return;

        set_unit_status(started, status);
        if (sd_bus_get_property_trivial(started->client->bus, BTD_NAME, started->path, BTD_RUN, "Ready", NULL, 't',
                                        &ready) >= 0 &&
            ready > 0)
                set_ready(started);
}

static void handle_outcome(Started *started, const char *id, const char *path, const char *status, const char *cause,
                           bool finished, bool followed) {
        bool other = strcmp(id, started->id) != 0;

        if (other && has(started, OPTION_ONCE)) {
                if (started->status || find_result(started))
                        end(started);
                else
                        report_not_recovered(started);
                return;
        }

        if (other) {
                set_run(started, id, path);
                get_nodes(started);
                if (!prints_result_only(started) && (started->client->output.json || !started->client->output.quiet)) {
                        g_autofree char *stamp = stamp_now(started);

                        event_print_started(&started->client->output, stamp, id);
                }
        }
        if (!finished && !followed) {
                show_state(started, status);
                return;
        }

        /* The status is empty if btd knows no more than that another run follows. */
        if (*status)
                set_result(started, status, cause);
        if (followed && !has(started, OPTION_ONCE))
                set_unit_status(started, "waiting for the restart");
        else if (started->again)
                begin_again(started);
        else
                end(started);
}

/* Asks btd for the state of the run, since signals may have been missed. */
static void check_outcome(Started *started) {
        g_autoptr(sd_bus_message) reply = NULL;
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        const char *id, *path, *status, *cause;
        int followed, r;
        uint64_t finished;

        r = sd_bus_call_method(started->client->bus, BTD_NAME, BTD_PATH, BTD_MANAGER, "GetOutcome", &error, &reply,
                               "sss", started->tree, started->instance, started->token);
        if (r >= 0)
                r = sd_bus_message_read(reply, "sosstb", &id, &path, &status, &cause, &finished, &followed);

        if (r >= 0)
                handle_outcome(started, id, path, status, cause, finished > 0, followed);
        else if (client_is_away(&error, r))
                return; /* until btd has come back */
        else if (started->status)
                end(started);
        else
                report_not_recovered(started);
}

static void on_run_finished(const char *id, const char *status, const char *cause, void *userdata) {
        Started *started = userdata;

        if (g_strcmp0(id, started->id) != 0)
                return;

        set_result(started, status, cause);
        /* Nothing follows a run that was halted. */
        if (started->again)
                begin_again(started);
        else if (has(started, OPTION_ONCE) || strcmp(status, "halted") == 0)
                end(started);
        else
                check_outcome(started);
}

static void on_run_new(const char *id, const char *path, void *userdata) {
        Started *started = userdata;
        size_t length = strlen(started->tree);

        if (started->status && g_str_has_prefix(id, started->tree) && id[length] == '.')
                check_outcome(started);
}

static void on_restart_dropped(const char *tree, const char *instance, void *userdata) {
        Started *started = userdata;

        if (started->status && strcmp(tree, started->tree) == 0 && strcmp(instance, started->instance) == 0)
                check_outcome(started);
}

static void on_run_ready(const char *id, void *userdata) {
        Started *started = userdata;
        g_autofree char *stamp = NULL;

        if (g_strcmp0(id, started->id) != 0)
                return;

        set_ready(started);
        if (!has(started, OPTION_FOLLOW))
                return;

        stamp = stamp_now(started);
        event_print_ready(&started->client->output, stamp, id);
}

static void on_nodes_changed(const char *run_path, GPtrArray *nodes, void *userdata) {
        Started *started = userdata;
        g_autofree char *stamp = NULL;

        if (g_strcmp0(run_path, started->path) != 0)
                return;

        node_info_merge(started->nodes, nodes);
        if (is_unit(started))
                watch_soon(started->watch, show_running_nodes);
        if (!has(started, OPTION_FOLLOW))
                return;

        stamp = stamp_now(started);
        event_print_nodes(started->client, stamp, started->id, run_path, nodes, started->nodes);
}

static void on_away(void *userdata) {
        set_unit_status(userdata, "cannot reach btd; waiting for it");
}

/* A new btd may have the run, and signals may have been missed. */
static void on_back(const char *how, void *userdata) {
        Started *started = userdata;
        const Client *client = started->client;
        g_autofree char *id = g_strdup(started->id);

        if (!id) {
                begin_again(started);
                return;
        }

        check_outcome(started);
        if (started->over)
                return;

        if (started->wants_nodes)
                (void) client_call(started->client, NULL, BTD_PATH, BTD_MANAGER, "Subscribe", NULL);
        /* A run that has finished may be in the history only. */
        if (!started->status)
                get_nodes(started);
        if (!client->output.quiet && !started->status && strcmp(id, started->id) == 0)
                report_error("%s; %s continues", how, id);
}

/* A run that is not durable ends with btd. */
static void allow_restart(const Started *started) {
        int durable = false;

        if (sd_bus_get_property_trivial(started->client->bus, BTD_NAME, started->path, BTD_RUN, "Durable", NULL, 'b',
                                        &durable) >= 0)
                watch_wait_for_restart(started->watch, durable, durable && has(started, OPTION_ATTACH));
}

/* Watches before the start, so that no signal is missed. */
static int watch(Started *started) {
        WatchCallbacks callbacks = {
                .run_new = on_run_new,
                .run_ready = on_run_ready,
                .run_finished = on_run_finished,
                .restart_dropped = on_restart_dropped,
                .away = on_away,
                .back = on_back,
        };

        if (!has(started, OPTION_WAIT) && !has(started, OPTION_FOLLOW))
                return EXIT_SUCCESS;

        started->wants_nodes = has(started, OPTION_FOLLOW) || is_unit(started);
        if (started->wants_nodes)
                callbacks.nodes_changed = on_nodes_changed;

        started->nodes = node_info_array_new();
        return watch_new(started->client, &callbacks, started, &started->watch);
}

static int append_options(const Started *started, sd_bus_message *message) {
        const char *token = started->client->options.values[OPTION_TOKEN];
        int r;

        r = sd_bus_message_open_container(message, 'a', "{sv}");
        if (r >= 0)
                r = sd_bus_message_append(message, "{sv}", "instance", "s", started->instance);
        if (r >= 0 && has(started, OPTION_ATTACH))
                r = sd_bus_message_append(message, "{sv}", "attach", "b", true);
        if (r >= 0 && token)
                r = sd_bus_message_append(message, "{sv}", "token", "s", token);
        if (r >= 0 && started->watch)
                r = sd_bus_message_append(message, "{sv}", "wait", "b", true);

        return r < 0 ? r : sd_bus_message_close_container(message);
}

/* Counts the time that the run has been running already. */
static void adjust_time(Started *started) {
        uint64_t now = (uint64_t) g_get_real_time(), since = now;

        (void) sd_bus_get_property_trivial(started->client->bus, BTD_NAME, started->path, BTD_RUN, "Started", NULL, 't',
                                           &since);
        started->time -= (gint64) (now - MIN(now, since));
}

/* Starts a new run. This is not repeated, because it would start a second one. */
static int start_anew(Started *started) {
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

        status = client_send(client, message, &reply);
        if (status != EXIT_SUCCESS)
                return status;

        r = sd_bus_message_read(reply, "so", &id, &path);
        if (r < 0)
                return client_bad_message(r);

        started->token = g_strdup(id);
        started->begun = true;
        set_run(started, id, path);
        return EXIT_SUCCESS;
}

/* Starts the run with a token, or attaches to one: this can be asked for again safely. */
static int start_or_attach(Started *started) {
        g_autoptr(sd_bus_message) message = NULL, reply = NULL;
        Client *client = started->client;
        const char *id, *path, *token, *run_status, *mine = client->options.values[OPTION_TOKEN];
        int status, begun, r;

        status = client_message(client, BTD_PATH, BTD_MANAGER, "StartTreeWith", &message);
        if (status != EXIT_SUCCESS)
                return status;

        r = sd_bus_message_append(message, "s", started->tree);
        if (r >= 0)
                r = variables_append(message, client->options.sets);
        if (r >= 0)
                r = append_options(started, message);
        if (r < 0)
                return client_bad_message(r);

        status = client_send(client, message, &reply);
        if (status != EXIT_SUCCESS)
                return status;

        r = sd_bus_message_read(reply, "sossb", &id, &path, &token, &run_status, &begun);
        if (r < 0)
                return client_bad_message(r);

        g_free(started->token);
        started->token = g_strdup(token);
        started->begun = begun;
        /* Another caller's run that is halting does not count: start again when it has finished. */
        started->again = g_strcmp0(mine, token) != 0 && strcmp(run_status, "halting") == 0;
        set_run(started, id, path);
        if (!begun)
                adjust_time(started);
        if (!begun && client->options.sets->len > 0)
                report_error("%s was started before; --set has no effect on it", id);
        return EXIT_SUCCESS;
}

/* Starts the run. If this can safely be repeated, waits for a btd that is restarting. */
static int begin(Started *started) {
        bool patient = started->watch && has(started, OPTION_ATTACH);
        int status = EXIT_SUCCESS;

        if (patient)
                watch_wait_for_restart(started->watch, true, false);

        if (started->wants_nodes)
                status = client_call(started->client, NULL, BTD_PATH, BTD_MANAGER, "Subscribe", NULL);
        /* In a unit, btd must know which unit waits for the run. */
        if (status == EXIT_SUCCESS)
                status = has(started, OPTION_ATTACH) || has(started, OPTION_TOKEN) ||
                                         (started->watch && !started->text && g_getenv("INVOCATION_ID"))
                                 ? start_or_attach(started)
                                 : start_anew(started);
        if (status == EXIT_NO_DAEMON && patient) {
                g_clear_pointer(&started->id, g_free);
                watch_daemon_away(started->watch);
                return EXIT_SUCCESS;
        }
        if (status != EXIT_SUCCESS || !started->watch)
                return status;

        allow_restart(started);
        set_unit_status(started, "running");
        /* The run may already have finished. */
        if (!started->begun) {
                get_nodes(started);
                check_outcome(started);
        }
        return EXIT_SUCCESS;
}

static int wait_for_result(Started *started) {
        int status;

        status = watch_wait(started->watch);
        /* In a unit, ExecStop= halts the run, so nothing is printed. */
        if (status > EXIT_SIGNAL && started->id && !is_unit(started))
                report_error("stopped waiting; %s continues: see 'btctl status %s', or halt it with 'btctl halt %s'",
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

/* The tree gets the name that it would have on the search path. */
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

/* Starts the tree that the operand names, and waits if asked to. */
static int start(Started *started) {
        const Client *client = started->client;
        int status;

        if (has(started, OPTION_ONCE) && !has(started, OPTION_WAIT) && !has(started, OPTION_FOLLOW))
                return report_usage("'--once' needs --wait or --follow");

        status = variables_check("--set ", client->options.sets);
        if (status != EXIT_SUCCESS)
                return status;

        status = watch(started);
        if (status != EXIT_SUCCESS)
                return status;

        status = begin(started);
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

/* "name=eth0" is an attempt to set a variable. */
static int check_operands(const Client *client, char **operands) {
        static const OptionId single[] = { OPTION_WAIT, OPTION_FOLLOW, OPTION_ATTACH };

        for (char **operand = operands; *operand; operand++)
                if ((*operand)[strcspn(*operand, "@=")] == '=')
                        return report_usage("'%s' is unexpected; set a variable with --set KEY=JSON", *operand);

        for (size_t i = 0; operands[1] && i < G_N_ELEMENTS(single); i++)
                if (options_has(&client->options, single[i]))
                        return report_usage("'--%s' takes one tree: '%s' is unexpected", option_table[single[i]].name,
                                            operands[1]);

        return EXIT_SUCCESS;
}

/* A tree that cannot be started does not keep the others from starting; the first failure is the result. */
int verb_start(Client *client, char **operands) {
        int result = check_operands(client, operands);

        if (result != EXIT_SUCCESS)
                return result;

        for (char **operand = operands; *operand; operand++) {
                g_auto(Started) started = { .client = client };
                int status = parse_operand(&started, *operand);

                if (status == EXIT_SUCCESS)
                        status = start(&started);
                if (result == EXIT_SUCCESS)
                        result = status;
        }

        return result;
}

int verb_run(Client *client, char **operands) {
        g_auto(Started) started = { .client = client };
        int status = read_text(&started, operands[0]);

        return status == EXIT_SUCCESS ? start(&started) : status;
}
