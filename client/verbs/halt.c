/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* btctl halt: halts runs, all runs of trees, or runs with a token; with --wait, waits until they have finished. */

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "client/bus/target.h"
#include "client/verbs/verbs.h"
#include "client/verbs/wait.h"
#include "definition/sources.h"
#include "record/halt-request.h"

/* btd does not list the run, or it has finished: then there is nothing to halt, which is success. If btd has recovered
 * the run by now, halts it. */
static int halt_finished(Client *client, const char *id) {
        g_autoptr(GPtrArray) runs = NULL, past = NULL;
        const RunInfo *run;
        int status;

        status = run_info_list(client, &runs);
        if (status != EXIT_SUCCESS)
                return status;

        run = target_choose_run(runs, id);
        if (run && !run_info_has_finished(run))
                return client_call(client, NULL, BTD_PATH, BTD_MANAGER, "HaltRun", "sa{sv}", id, 0);

        if (!run) {
                status = run_info_list_past(client, NULL, &past);
                if (status != EXIT_SUCCESS)
                        return status;
                run = target_choose_run(past, id);
        }
        if (!run)
                return target_report_no_run(client, id);

        client_say(client, "%s has already finished: %s", id, run->status);
        return EXIT_SUCCESS;
}

/* Halts the runs of a tree, of one instance of it, and with one token. ret_halted: their ids. ret_any: there was
 * something to halt, or a restart to cancel. */
static int halt_runs(Client *client, const char *tree, const char *instance, char ***ret_halted, bool *ret_any) {
        const char *token = client->options.values[OPTION_TOKEN];
        g_autoptr(sd_bus_message) message = NULL, reply = NULL;
        g_auto(GStrv) halted = NULL;
        unsigned cancelled;
        int status, r;

        status = client_message(client, BTD_PATH, BTD_MANAGER, "HaltTree", &message);
        if (status != EXIT_SUCCESS)
                return status;

        r = sd_bus_message_append(message, "s", tree);
        if (r >= 0)
                r = sd_bus_message_open_container(message, 'a', "{sv}");
        if (r >= 0 && token)
                r = sd_bus_message_append(message, "{sv}", "token", "s", token);
        if (r >= 0 && instance)
                r = sd_bus_message_append(message, "{sv}", "instance", "s", instance);
        if (r >= 0 && token && options_has(&client->options, OPTION_WAIT))
                r = sd_bus_message_append(message, "{sv}", "awaited", "b", 1);
        if (r >= 0)
                r = sd_bus_message_close_container(message);
        if (r < 0)
                return client_bad_message(r);

        status = client_send(client, message, &reply);
        if (status == EXIT_SUCCESS)
                status = client_read_strings(reply, &halted);
        if (status != EXIT_SUCCESS)
                return status;

        r = sd_bus_message_read(reply, "u", &cancelled);
        if (r < 0)
                return client_bad_message(r);

        *ret_any = *halted || cancelled > 0;
        *ret_halted = g_steal_pointer(&halted);
        return EXIT_SUCCESS;
}

static int halt(Client *client, const char *operand) {
        static const char *const expected[] = { BTD_NO_SUCH_RUN, BTD_NOT_RUNNING, NULL };
        g_autoptr(sd_bus_message) reply = NULL;
        g_autofree char *tree = NULL, *instance = NULL;
        g_auto(GStrv) halted = NULL;
        bool any = false;
        int status;

        if (target_is_run_id(operand)) {
                status = client_call_expecting(client, expected, &reply, BTD_PATH, BTD_MANAGER, "HaltRun", "sa{sv}",
                                               operand, 0);
                return status != EXIT_SUCCESS || reply ? status : halt_finished(client, operand);
        }

        target_split(operand, &tree, &instance);
        status = halt_runs(client, tree, instance, &halted, &any);
        if (status != EXIT_SUCCESS)
                return status;

        /* Nothing is running, so there is nothing to halt: success. */
        if (!any && instance)
                client_say(client, "tree '%s' is not running with the instance '%s'", tree, instance);
        else if (!any)
                client_say(client, "tree '%s' is not running", tree);

        return EXIT_SUCCESS;
}

/* The ends of the runs are watched before they are halted, so that none is missed; runs that could not be halted are
 * not waited for. */
static int halt_and_wait(Client *client, char **operands) {
        g_autoptr(Waiting) waiting = waiting_new(client, WAITING_HALTS);
        int status, result = EXIT_SUCCESS;

        status = waiting_connect(waiting, NULL);
        if (status != EXIT_SUCCESS)
                return status;

        for (char **operand = operands; *operand; operand++) {
                g_autoptr(GPtrArray) runs = NULL;

                status = run_info_list(client, &runs);
                if (status == EXIT_SUCCESS)
                        status = halt(client, *operand);
                for (guint i = 0; status == EXIT_SUCCESS && i < runs->len; i++) {
                        const RunInfo *run = g_ptr_array_index(runs, i);

                        if (!run_info_has_finished(run) && target_names(*operand, run))
                                waiting_add(waiting, *operand, run, NULL);
                }
                if (result == EXIT_SUCCESS)
                        result = status;
        }

        status = waiting_wait(waiting);
        return status != EXIT_SUCCESS ? status : result;
}

/* Stores a request for the next btd that is on the bus. ret_path: the request's file. */
static int leave_request(const Client *client, const char *operand, const char *directory, char **ret_path) {
        const char *token = client->options.values[OPTION_TOKEN];
        g_autofree char *tree = NULL, *instance = NULL;
        int r;

        target_split(operand, &tree, &instance);
        if (!tree_name_valid(tree))
                return report_usage("'%s' cannot be the name of a tree; it consists of letters, digits, '_' and '-', "
                                    "%u at most",
                                    tree, TREE_NAME_MAX);
        if (!token_valid(token))
                return report_usage("'%s' cannot be a token; it consists of letters, digits, '_', '.' and '-', %u at "
                                    "most",
                                    token, TOKEN_MAX);

        r = halt_request_write(directory, tree, instance, token, ret_path);
        /* If the directory does not exist, no btd has run since the boot, so there is nothing to halt. */
        if (r < 0 && r != -ENOENT)
                return report_error("btd is not running, and the request cannot be stored in %s/halts: %s", directory,
                                    g_strerror(-r));

        return EXIT_SUCCESS;
}

/* Halts the runs with the token, and adds them to the runs to wait for. */
static int halt_token(Waiting *waiting, Client *client, const char *operand) {
        g_autofree char *tree = NULL, *instance = NULL;
        g_auto(GStrv) halted = NULL;
        bool any;
        int status;

        target_split(operand, &tree, &instance);
        status = halt_runs(client, tree, instance, &halted, &any);
        for (char **id = halted; id && *id; id++)
                waiting_add_id(waiting, operand, *id);

        return status;
}

/*
 * If btd is not on the bus, or leaves it meanwhile, stores a request. btd reads requests after it has got its name, and
 * before it answers any call. So a request is missed only by a btd that had the name before, and that can be called:
 * search for it again after each request.
 */
static int halt_token_for_sure(Waiting *waiting, Client *client, const char *operand, bool *ret_left) {
        const Options *options = &client->options;
        g_autofree char *directory = NULL, *asked = NULL, *request = NULL;
        int status;

        /* The runtime directory, where btd reads requests; that of another machine or bus is not known. */
        if (options_has(options, OPTION_USER))
                directory = g_build_filename(g_get_user_runtime_dir(), "btd", NULL);
        else if (!options_has(options, OPTION_ADDRESS) && !options_has(options, OPTION_HOST) &&
                 !options_has(options, OPTION_MACHINE))
                directory = g_strdup("/run/btd");

        *ret_left = false;
        for (;;) {
                bool is_new, connected = waiting_connect(waiting, &is_new) == EXIT_SUCCESS;
                g_autofree char *daemon = connected ? client_find_daemon(client) : NULL;

                if (connected && !daemon && sd_bus_is_open(client->bus) <= 0)
                        continue;

                /* The names of connections begin again on another bus. */
                *ret_left = request && (!daemon || (!is_new && g_strcmp0(daemon, asked) == 0));
                if (*ret_left)
                        return EXIT_SUCCESS;

                status = daemon ? halt_token(waiting, client, operand) : EXIT_NO_DAEMON;
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
        g_autoptr(Waiting) waiting = waiting_new(client, WAITING_HALTS);
        bool any_left = false;
        int status;

        for (char **operand = operands; *operand; operand++)
                if (target_is_run_id(*operand))
                        return report_usage("'--token' needs a tree, but this is a run: '%s'", *operand);

        for (char **operand = operands; *operand; operand++) {
                bool left;

                status = halt_token_for_sure(waiting, client, *operand, &left);
                if (status != EXIT_SUCCESS)
                        return status;
                any_left |= left;
        }

        if (any_left)
                client_say(client, "btd is not %s, it halts the runs that were started with the token",
                           waiting_is_connected(waiting) ? "running; when it starts" : "on the bus; when it is back");

        return options_has(&client->options, OPTION_WAIT) ? waiting_wait(waiting) : EXIT_SUCCESS;
}

/* An operand that fails does not keep the others from being halted; the first failure is the result. */
int verb_halt(Client *client, char **operands) {
        int result = EXIT_SUCCESS;

        if (options_has(&client->options, OPTION_TOKEN))
                return halt_by_token(client, operands);
        if (options_has(&client->options, OPTION_WAIT))
                return halt_and_wait(client, operands);

        for (char **operand = operands; *operand; operand++) {
                int status = halt(client, *operand);

                if (result == EXIT_SUCCESS)
                        result = status;
        }
        return result;
}
