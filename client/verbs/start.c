/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* btctl start and run: start trees and, with --wait or --follow, wait until the run and its restarts have finished. */

#include <json-c/linkhash.h>
#include <stdio.h>
#include <string.h>

#include "basic/cleanup.h"
#include "client/bus/target.h"
#include "client/files.h"
#include "client/verbs/start.h"
#include "client/verbs/variables.h"
#include "client/verbs/verbs.h"
#include "client/verbs/wait.h"
#include "definition/sources.h"
#include "run/instance.h"

typedef struct Started {
        Client *client;
        bool waits; /* the caller waits for the run, here or elsewhere */
        const GPtrArray *sets;
        const RunTaken *taken; /* NULL: nothing is taken over */
        char *tree, *instance;
        char *text;      /* of the tree file; NULL: btd has the tree */
        char *id, *path; /* NULL: not started yet */
        char *token;     /* of this run and its restarts */
        bool begun;      /* this call has started it */
        bool again;      /* it is another caller's run, and is halting: start again when it has finished */
        uint64_t since;  /* CLOCK_REALTIME µs */
} Started;

static void started_clear(Started *started) {
        g_clear_pointer(&started->tree, g_free);
        g_clear_pointer(&started->instance, g_free);
        g_clear_pointer(&started->text, g_free);
        g_clear_pointer(&started->id, g_free);
        g_clear_pointer(&started->path, g_free);
        g_clear_pointer(&started->token, g_free);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Started, started_clear)

static bool has(const Started *started, OptionId option) {
        return options_has(&started->client->options, option);
}

/* btd takes the values as JSON text. */
static int append_taken(const RunTaken *taken, sd_bus_message *message) {
        g_autoptr(GPtrArray) state = g_ptr_array_new_with_free_func(g_free);
        int r;

        json_object_object_foreach(taken->variables, name, value) {
                const char *json = json_object_to_json_string_ext(value, JSON_C_TO_STRING_PLAIN);

                g_ptr_array_add(state, g_strconcat(name, "=", json, NULL));
        }
        r = sd_bus_message_append(message, "ss", taken->run, taken->hash);
        if (r >= 0)
                r = sd_bus_message_append_array(message, 'u', taken->nodes->data, taken->nodes->len * sizeof(NodeId));
        return r < 0 ? r : variables_append(message, state);
}

static int append_options(const Started *started, sd_bus_message *message) {
        const char *token = started->client->options.values[OPTION_TOKEN];
        /* In a unit, btd must know which unit waits for the run. */
        bool awaited = started->waits && !started->text && !started->taken &&
                       (has(started, OPTION_ATTACH) || has(started, OPTION_TOKEN) || g_getenv("INVOCATION_ID"));
        int r;

        r = sd_bus_message_open_container(message, 'a', "{sv}");
        if (r >= 0 && *started->instance)
                r = sd_bus_message_append(message, "{sv}", "instance", "s", started->instance);
        if (r >= 0 && has(started, OPTION_ATTACH))
                r = sd_bus_message_append(message, "{sv}", "attach", "b", true);
        if (r >= 0 && has(started, OPTION_REPLACE))
                r = sd_bus_message_append(message, "{sv}", "replace", "b", true);
        if (r >= 0 && token)
                r = sd_bus_message_append(message, "{sv}", "token", "s", token);
        if (r >= 0 && awaited)
                r = sd_bus_message_append(message, "{sv}", "awaited", "b", true);

        return r < 0 ? r : sd_bus_message_close_container(message);
}

/* Sets the run from the reply. */
static int read_started(Started *started, sd_bus_message *reply) {
        const char *id, *path, *token = "", *status = "", *mine = started->client->options.values[OPTION_TOKEN];
        int begun = true;
        const RecordField fields[] = {
                { "started", "b", &begun },
                { "token", "s", &token },
                { "status", "s", &status },
                {},
        };
        int r;

        r = sd_bus_message_read(reply, "so", &id, &path);
        if (r >= 0)
                r = client_read_record(reply, fields);
        if (r < 0)
                return client_bad_message(r);

        g_free(started->id);
        g_free(started->path);
        g_free(started->token);
        started->id = g_strdup(id);
        started->path = g_strdup(path);
        started->token = g_strdup(token);
        started->begun = begun;
        /* Another caller's run that is halting does not count. */
        started->again = !begun && g_strcmp0(mine, token) != 0 && strcmp(status, "halting") == 0;
        started->since = (uint64_t) g_get_real_time();
        return EXIT_SUCCESS;
}

/* Starts the run, or attaches to one. With a token, or to attach, this can be repeated safely. */
static int start_or_attach(Started *started) {
        g_autoptr(sd_bus_message) message = NULL, reply = NULL;
        Client *client = started->client;
        int status, r;

        status = client_message(client, BTD_PATH, BTD_MANAGER,
                                started->text    ? "StartText"
                                : started->taken ? "RetryTree"
                                                 : "StartTree",
                                &message);
        if (status != EXIT_SUCCESS)
                return status;

        r = sd_bus_message_append(message, "s", started->tree);
        if (r >= 0 && started->text)
                r = sd_bus_message_append(message, "s", started->text);
        if (r >= 0)
                r = variables_append(message, started->sets);
        if (r >= 0 && started->taken)
                r = append_taken(started->taken, message);
        if (r >= 0)
                r = append_options(started, message);
        if (r < 0)
                return client_bad_message(r);

        status = client_send(client, message, &reply);
        if (status == EXIT_SUCCESS)
                status = read_started(started, reply);
        else if (status == EXIT_NO_DAEMON)
                g_clear_pointer(&started->id, g_free);
        if (status != EXIT_SUCCESS || started->begun)
                return status;

        (void) client_try_get(started->client, started->path, "Started", 't', &started->since);
        if (started->sets->len > 0)
                report_error("%s was started before; --set has no effect on it", started->id);
        return EXIT_SUCCESS;
}

/* Borrowed. */
static RunInfo started_info(const Started *started) {
        return (RunInfo){
                .id = started->id,
                .path = started->path,
                .tree = started->tree,
                .instance = started->instance,
                .started = started->since,
        };
}

/* Runs that follow by 'restart' have the same token. NULL: btctl waits for this run only. */
static const char *started_token(const Started *started) {
        return has(started, OPTION_ONCE) ? NULL : started->token;
}

static int start_for_waiting(Waiting *waiting, void *userdata) {
        Started *started = userdata;
        int status = start_or_attach(started);
        RunInfo run;

        if (status != EXIT_SUCCESS)
                return status;

        run = started_info(started);
        waiting_add_started(waiting, &run, started_token(started), started->begun, started->again);
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
                report_error("%s cannot be read: %s", path, g_strerror(-r));
                return EXIT_FAILURE;
        }
        if (!g_utf8_validate_len(started->text, length, NULL)) {
                report_error("%s is not text in UTF-8", path);
                return EXIT_FAILURE;
        }

        started->tree = g_steal_pointer(&base);
        started->instance = g_strdup("");
        return EXIT_SUCCESS;
}

int start_check_options(const Client *client) {
        const Options *options = &client->options;

        if (options_has(options, OPTION_ONCE) && !options_has(options, OPTION_WAIT) &&
            !options_has(options, OPTION_FOLLOW))
                return report_usage("'--once' needs --wait or --follow");
        if (options_has(options, OPTION_ATTACH) && options_has(options, OPTION_REPLACE))
                return report_usage("--attach and --replace cannot be given together");

        return variables_check("--set ", options->sets);
}

/* Starts the tree, and waits if asked to. waiting: waits for this run together with others; NULL: none. */
static int start(Started *started, Waiting *waiting) {
        const Client *client = started->client;
        int status;

        started->waits = has(started, OPTION_WAIT) || has(started, OPTION_FOLLOW);
        if (started->waits && !waiting)
                return waiting_start(started->client, has(started, OPTION_FOLLOW) ? WAITING_EVENTS : WAITING_RESULTS,
                                     start_for_waiting, started);

        status = start_or_attach(started);
        if (status != EXIT_SUCCESS)
                return status;

        if (waiting) {
                const RunInfo run = started_info(started);

                waiting_add(waiting, started->id, &run, started_token(started));
        } else if (client->output.json) {
                json_object *json = json_object_new_object();

                json_object_object_add(json, "id", json_object_new_string(started->id));
                json_object_object_add(json, "tree", json_object_new_string(started->tree));
                json_object_object_add(json, "instance", json_object_new_string(started->instance));
                output_print_json(json);
        } else {
                puts(started->id);
        }
        return EXIT_SUCCESS;
}

int start_tree(Client *client, const char *tree, const char *instance, const GPtrArray *sets, const RunTaken *taken,
               Waiting *waiting, bool *ret_started) {
        g_auto(Started) started = {
                .client = client,
                .tree = g_strdup(tree),
                .instance = g_strdup(instance),
                .sets = sets,
                .taken = taken,
        };

        int status = start(&started, waiting);

        *ret_started = started.id;
        return status;
}

/* "name=eth0" is an attempt to set a variable. */
static int check_operands(const Client *client, char **operands) {
        static const OptionId single[] = { OPTION_FOLLOW, OPTION_ATTACH };

        for (char **operand = operands; *operand; operand++)
                if ((*operand)[strcspn(*operand, "@=")] == '=')
                        return report_usage("'%s' is unexpected; set a variable with --set KEY=JSON", *operand);

        for (size_t i = 0; operands[1] && i < G_N_ELEMENTS(single); i++)
                if (options_has(&client->options, single[i]))
                        return report_usage("'--%s' takes one tree: '%s' is unexpected", option_table[single[i]].name,
                                            operands[1]);

        return EXIT_SUCCESS;
}

/* "boot@eth0" is short for "boot --instance=eth0". */
static int start_operand(Client *client, const char *operand, Waiting *waiting) {
        const char *option = client->options.values[OPTION_INSTANCE];
        g_autofree char *tree = NULL, *instance = NULL, *name = option ? instance_name(option, true) : NULL;
        bool started;

        target_split(operand, &tree, &instance);
        if (instance && option)
                return report_usage("the instance is given twice: '%s' and --instance=%s", operand, option);

        tree_info_warn(client, tree);
        return start_tree(client, tree, instance ?: name ?: "", client->options.sets, NULL, waiting, &started);
}

/* A tree that cannot be started does not keep the others from starting; the first failure is the result. */
int verb_start(Client *client, char **operands) {
        bool waits = operands[1] && options_has(&client->options, OPTION_WAIT);
        g_autoptr(Waiting) waiting = waits ? waiting_new(client, WAITING_RESULTS) : NULL;
        int status, result = check_operands(client, operands);

        if (result == EXIT_SUCCESS)
                result = start_check_options(client);
        if (result == EXIT_SUCCESS && waiting)
                result = waiting_connect(waiting, NULL);
        if (result != EXIT_SUCCESS)
                return result;

        for (char **operand = operands; *operand; operand++) {
                status = start_operand(client, *operand, waiting);
                if (result == EXIT_SUCCESS)
                        result = status;
        }

        status = waiting ? waiting_wait(waiting) : EXIT_SUCCESS;
        return status > EXIT_SIGNAL || result == EXIT_SUCCESS ? status : result;
}

int verb_run(Client *client, char **operands) {
        g_auto(Started) started = { .client = client, .sets = client->options.sets };
        int status = start_check_options(client);

        if (status == EXIT_SUCCESS)
                status = read_text(&started, operands[0]);
        return status == EXIT_SUCCESS ? start(&started, NULL) : status;
}
