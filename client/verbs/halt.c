/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* btctl halt: halts runs, all runs of trees, or runs with a token; with --wait, waits until they have finished. */

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "client/bus/target.h"
#include "client/bus/watch.h"
#include "client/verbs/verbs.h"
#include "client/view/event.h"
#include "definition/sources.h"
#include "record/halt-request.h"

/* The runs to wait for. */
typedef struct Halting {
        Client *client;
        Watch *watch;
        GHashTable *runs; /* ids of the runs that have not finished */
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

        /* Nothing is running, so there is nothing to halt: success. */
        if (count == 0)
                client_say(client, "tree '%s' is not running", tree);

        return EXIT_SUCCESS;
}

/* Halts a run, or cancels its pending restart. ret_done: there was something to halt or to cancel. */
static int halt_if_running(Client *client, const char *id, bool *ret_done) {
        g_autoptr(sd_bus_message) message = NULL, reply = NULL;
        int status, r;

        status = client_message(client, BTD_PATH, BTD_MANAGER, "HaltRun", &message);
        if (status != EXIT_SUCCESS)
                return status;

        r = sd_bus_message_append(message, "s", id);
        if (r < 0)
                return client_bad_message(r);

        status = client_send_expecting(client, message, BTD_NOT_RUNNING, &reply);
        *ret_done = status == EXIT_SUCCESS && reply;
        return status;
}

/* Of the runs that have finished, only the newest can have a pending restart. */
static int halt_instance(Client *client, const char *operand) {
        g_autofree char *tree = NULL, *instance = NULL;
        g_autoptr(GPtrArray) runs = NULL;
        bool any = false, newest = true;
        int status;

        status = run_info_list(client, &runs);
        for (guint i = status == EXIT_SUCCESS ? runs->len : 0; i > 0; i--) {
                const RunInfo *run = g_ptr_array_index(runs, i - 1);
                bool done = false;

                if (!is_meant(run, operand) || (run_info_has_finished(run) && !newest))
                        continue;

                status = halt_if_running(client, run->id, &done);
                if (status != EXIT_SUCCESS)
                        return status;
                newest = false;
                any |= done;
        }
        if (status != EXIT_SUCCESS || any)
                return status;

        target_split(operand, &tree, &instance);
        status = newest ? client_call(client, NULL, BTD_PATH, BTD_MANAGER, "GetTree", "s", tree) : EXIT_SUCCESS;
        if (status == EXIT_SUCCESS)
                client_say(client, "tree '%s' is not running with the instance '%s'", tree, instance);

        return status;
}

static int halt(Client *client, const char *operand) {
        if (target_is_run_id(operand))
                return halt_run(client, operand);

        return strchr(operand, '@') ? halt_instance(client, operand) : halt_tree(client, operand);
}

/* An operand that fails does not keep the others from being halted; the first failure is the result. */
static int halt_all(Client *client, char **operands) {
        int result = EXIT_SUCCESS;

        for (char **operand = operands; *operand; operand++) {
                int status = halt(client, *operand);

                if (result == EXIT_SUCCESS)
                        result = status;
        }

        return result;
}

/* Prints the end of a run from the history. Its signal was missed. */
static void print_end(const Halting *halting, const char *id) {
        g_autofree char *tree = g_strndup(id, (size_t) (strrchr(id, '.') - id));
        g_autoptr(GPtrArray) past = NULL;

        if (halting->client->output.quiet || run_info_list_past(halting->client, tree, &past) != EXIT_SUCCESS)
                return;

        for (guint i = 0; i < past->len; i++) {
                const RunInfo *run = g_ptr_array_index(past, i);

                if (strcmp(run->id, id) == 0)
                        event_print_finished(&halting->client->output, "", id, run->status, 0, run->cause);
        }
}

/* The next btd continues to halt the runs. Some may have finished meanwhile, without a signal. */
static void on_back(const char *how, void *userdata) {
        Halting *halting = userdata;
        g_autoptr(GHashTable) running = g_hash_table_new(g_str_hash, g_str_equal);
        g_autoptr(GPtrArray) runs = NULL;
        GHashTableIter iter;
        void *id;

        if (run_info_list(halting->client, &runs) != EXIT_SUCCESS)
                return;

        for (guint i = 0; i < runs->len; i++) {
                const RunInfo *run = g_ptr_array_index(runs, i);

                if (!run_info_has_finished(run))
                        g_hash_table_add(running, run->id);
        }

        g_hash_table_iter_init(&iter, halting->runs);
        while (g_hash_table_iter_next(&iter, &id, NULL))
                if (!g_hash_table_contains(running, id)) {
                        print_end(halting, id);
                        g_hash_table_iter_remove(&iter);
                }
        if (g_hash_table_size(halting->runs) == 0)
                watch_end(halting->watch, EXIT_SUCCESS);
        else if (!halting->client->output.quiet)
                report_error("%s; still waiting", how);
}

/* A run that is not durable ends with btd. */
static bool is_durable(const Client *client, const char *id) {
        g_autofree char *path = NULL;
        int durable = false;

        return sd_bus_path_encode(BTD_PATH "/run", id, &path) >= 0 &&
               sd_bus_get_property_trivial(client->bus, BTD_NAME, path, BTD_RUN, "Durable", NULL, 'b', &durable) >= 0 &&
               durable;
}

/* Halts what the operand names, and adds it to the runs to wait for. Their ends are already watched, so that none is
 * missed; runs that could not be halted are not waited for. */
static int halt_to_wait(Halting *halting, const char *operand, bool *ret_durable) {
        g_autoptr(GPtrArray) runs = NULL, ids = g_ptr_array_new_with_free_func(g_free);
        bool durable = false;
        int status;

        status = run_info_list(halting->client, &runs);
        if (status != EXIT_SUCCESS)
                return status;

        for (guint i = 0; i < runs->len; i++) {
                const RunInfo *run = g_ptr_array_index(runs, i);

                if (run_info_has_finished(run) || !is_meant(run, operand))
                        continue;
                g_ptr_array_add(ids, g_strdup(run->id));
                durable = durable || is_durable(halting->client, run->id);
        }

        status = halt(halting->client, operand);
        for (guint i = 0; status == EXIT_SUCCESS && i < ids->len; i++)
                g_hash_table_add(halting->runs, g_strdup(g_ptr_array_index(ids, i)));

        *ret_durable = durable;
        return status;
}

/* Whether the operand names one of the runs that have not finished. */
static bool is_halting(const Halting *halting, const char *operand) {
        g_autofree char *tree = NULL, *instance = NULL;
        GHashTableIter iter;
        void *id;

        target_split(operand, &tree, &instance);
        g_hash_table_iter_init(&iter, halting->runs);
        while (g_hash_table_iter_next(&iter, &id, NULL))
                if (strcmp(id, operand) == 0 ||
                    (g_str_has_prefix(id, tree) && ((const char *) id)[strlen(tree)] == '.'))
                        return true;

        return false;
}

static int halt_and_wait(Client *client, char **operands) {
        static const WatchCallbacks callbacks = { .run_finished = on_run_finished, .back = on_back };
        g_auto(Halting) halting = {
                .client = client,
                .runs = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
        };
        int status, result = EXIT_SUCCESS;
        bool any_durable = false;

        status = watch_new(client, &callbacks, &halting, &halting.watch);
        if (status != EXIT_SUCCESS)
                return status;

        for (char **operand = operands; *operand; operand++) {
                bool durable = false;

                status = halt_to_wait(&halting, *operand, &durable);
                if (result == EXIT_SUCCESS)
                        result = status;
                any_durable |= durable;
        }
        if (g_hash_table_size(halting.runs) == 0)
                return result;

        watch_wait_for_restart(halting.watch, any_durable, false);
        status = watch_wait(halting.watch);
        for (char **operand = operands; status > EXIT_SIGNAL && *operand; operand++)
                if (is_halting(&halting, *operand))
                        report_error("stopped waiting; '%s' is still halting", *operand);

        return status != EXIT_SUCCESS ? status : result;
}

/* The runtime directory, where btd reads requests; NULL: unknown. */
static char *runtime_directory(const Client *client) {
        static const OptionId elsewhere[] = { OPTION_ADDRESS, OPTION_HOST, OPTION_MACHINE };

        for (size_t i = 0; i < G_N_ELEMENTS(elsewhere); i++)
                if (options_has(&client->options, elsewhere[i]))
                        return NULL;

        return options_has(&client->options, OPTION_USER) ? g_build_filename(g_get_user_runtime_dir(), "btd", NULL)
                                                          : g_strdup("/run/btd");
}

/* Stores a request for the next btd that is on the bus. ret_path: the request's file. */
static int leave_request(const Client *client, const char *operand, const char *directory, char **ret_path) {
        const char *token = client->options.values[OPTION_TOKEN];
        g_autofree char *tree = NULL, *instance = NULL;
        int r;

        target_split(operand, &tree, &instance);
        if (!tree_name_valid(tree) || !token_valid(token))
                return report_usage("no run can have the tree '%s' and the token '%s'", operand, token);

        r = halt_request_write(directory, tree, instance, token, ret_path);
        /* If the directory does not exist, no btd has run since the boot, so there is nothing to halt. */
        if (r < 0 && r != -ENOENT)
                return report_error("btd is not running, and the request cannot be stored: %s/halts: %s", directory,
                                    g_strerror(-r));

        return EXIT_SUCCESS;
}

/* Halts the runs with the token, and adds them to the runs to wait for. */
static int halt_token(Halting *halting, const char *operand) {
        g_autoptr(sd_bus_message) message = NULL, reply = NULL;
        g_autofree char *tree = NULL, *instance = NULL;
        Client *client = halting->client;
        g_auto(GStrv) halted = NULL;
        int status, r;

        target_split(operand, &tree, &instance);
        status = client_message(client, BTD_PATH, BTD_MANAGER, "HaltTreeWith", &message);
        if (status != EXIT_SUCCESS)
                return status;

        r = sd_bus_message_append(message, "s", tree);
        if (r >= 0)
                r = sd_bus_message_open_container(message, 'a', "{sv}");
        if (r >= 0)
                r = sd_bus_message_append(message, "{sv}", "token", "s", client->options.values[OPTION_TOKEN]);
        if (r >= 0 && instance)
                r = sd_bus_message_append(message, "{sv}", "instance", "s", instance);
        if (r >= 0 && options_has(&client->options, OPTION_WAIT))
                r = sd_bus_message_append(message, "{sv}", "wait", "b", 1);
        if (r >= 0)
                r = sd_bus_message_close_container(message);
        if (r < 0)
                return client_bad_message(r);

        status = client_send(client, message, &reply);
        if (status == EXIT_SUCCESS)
                status = client_read_strings(reply, &halted);
        for (char **id = halted; id && *id; id++)
                g_hash_table_add(halting->runs, g_strdup(*id));

        return status;
}

/* If the connection is lost, makes another one. False: there is no bus. ret_is_new: it is another one. */
static bool connect_bus(Halting *halting, bool *ret_is_new) {
        static const WatchCallbacks callbacks = { .run_finished = on_run_finished, .back = on_back };
        Client *client = halting->client;

        *ret_is_new = !halting->watch || sd_bus_is_open(client->bus) <= 0;
        if (!*ret_is_new)
                return true;

        g_clear_pointer(&halting->watch, watch_free);
        client->bus = sd_bus_close_unref(client->bus);
        return watch_new(client, &callbacks, halting, &halting->watch) == EXIT_SUCCESS;
}

/*
 * If btd is not on the bus, or leaves it meanwhile, stores a request. btd reads requests after it has got its name, and
 * before it answers any call. So a request is missed only by a btd that had the name before, and that can be called:
 * search for it again after each request.
 */
static int halt_token_for_sure(Halting *halting, const char *operand, bool *ret_left) {
        Client *client = halting->client;
        g_autofree char *directory = runtime_directory(client), *asked = NULL, *request = NULL;
        int status;

        *ret_left = false;
        for (;;) {
                bool is_new, connected = connect_bus(halting, &is_new);
                g_autofree char *daemon = connected ? client_find_daemon(client) : NULL;

                if (connected && !daemon && sd_bus_is_open(client->bus) <= 0)
                        continue;

                /* The names of connections begin again on another bus. */
                *ret_left = request && (!daemon || (!is_new && g_strcmp0(daemon, asked) == 0));
                if (*ret_left)
                        return EXIT_SUCCESS;

                status = daemon ? halt_token(halting, operand) : EXIT_NO_DAEMON;
                if (status != EXIT_NO_DAEMON)
                        break;
                if (!directory)
                        return connected && !daemon ? client_no_daemon(client) : EXIT_NO_DAEMON;

                g_free(asked);
                asked = g_steal_pointer(&daemon);
                g_clear_pointer(&request, g_free);
                status = leave_request(client, operand, directory, &request);
                if (status != EXIT_SUCCESS || !request)
                        return status;
        }

        if (request && status == EXIT_SUCCESS)
                (void) unlink(request);
        return status;
}

static int halt_by_token(Client *client, char **operands) {
        g_auto(Halting) halting = {
                .client = client,
                .runs = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
        };
        bool any_left = false;
        int status;

        for (char **operand = operands; *operand; operand++)
                if (target_is_run_id(*operand))
                        return report_usage("'--token' needs a tree, but this is a run: '%s'", *operand);

        for (char **operand = operands; *operand; operand++) {
                bool left;

                status = halt_token_for_sure(&halting, *operand, &left);
                if (status != EXIT_SUCCESS)
                        return status;
                any_left |= left;
        }

        if (any_left)
                client_say(client, "btd is not %s, it halts the runs that were started with the token",
                           halting.watch ? "running; when it starts" : "on the bus; when it is back");
        if (!options_has(&client->options, OPTION_WAIT) || !halting.watch || g_hash_table_size(halting.runs) == 0)
                return EXIT_SUCCESS;

        watch_wait_for_restart(halting.watch, true, false);
        return watch_wait(halting.watch);
}

int verb_halt(Client *client, char **operands) {
        if (options_has(&client->options, OPTION_TOKEN))
                return halt_by_token(client, operands);
        if (options_has(&client->options, OPTION_WAIT))
                return halt_and_wait(client, operands);

        return halt_all(client, operands);
}
