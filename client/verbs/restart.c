/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * btctl restart: halts runs, waits until they have finished, and starts them again with the same inputs.
 *
 * These are the calls of halt and start, so each needs its permission. What can keep a start from working is checked
 * before anything is halted, and a run that was halted but not started again is reported.
 */

#include <json-c/json.h>
#include <string.h>

#include "basic/cleanup.h"
#include "client/bus/target.h"
#include "client/verbs/start.h"
#include "client/verbs/variables.h"
#include "client/verbs/verbs.h"
#include "client/view/report.h"
#include "definition/declarations.h"
#include "record/record-header.h"

/* A run that is started; again, if it has an id. */
typedef struct Restarted {
        char *tree, *instance;
        char *id;        /* of the run whose inputs it gets; NULL: none */
        char *path;      /* its object */
        bool running;    /* that one must be halted */
        GPtrArray *sets; /* the variables of its start, as KEY=JSON */
} Restarted;

static void restarted_free(void *data) {
        Restarted *run = data;

        g_free(run->tree);
        g_free(run->instance);
        g_free(run->id);
        g_free(run->path);
        g_ptr_array_unref(run->sets);
        g_free(run);
}

static Restarted *restarted_new(const char *tree, const char *instance, const RunInfo *previous) {
        Restarted *run = g_new0(Restarted, 1);

        run->tree = g_strdup(tree);
        run->instance = g_strdup(instance);
        run->id = previous ? g_strdup(previous->id) : NULL;
        run->path = previous ? g_strdup(previous->path) : NULL;
        run->running = previous && !run_info_has_finished(previous);
        run->sets = g_ptr_array_new_with_free_func(g_free);
        return run;
}

static void drop_set(Restarted *run, const char *name, size_t length) {
        for (guint i = run->sets->len; i > 0; i--) {
                const char *set = g_ptr_array_index(run->sets, i - 1);

                if (strncmp(set, name, length) == 0 && set[length] == '=')
                        g_ptr_array_remove_index(run->sets, i - 1);
        }
}

static bool has_set(const GPtrArray *sets, const char *name) {
        for (guint i = 0; i < sets->len; i++)
                if (g_str_has_prefix(g_ptr_array_index(sets, i), name) &&
                    ((const char *) g_ptr_array_index(sets, i))[strlen(name)] == '=')
                        return true;

        return false;
}

static bool is_true(json_object *input, const char *key) {
        json_object *value;

        return json_object_object_get_ex(input, key, &value) && json_object_get_boolean(value);
}

/* NULL: the tree has no file. */
static int find_inputs(Client *client, const GPtrArray *trees, const char *name, json_object **ret_inputs) {
        TreeInfo *tree = tree_info_find(trees, name);
        int status = tree && !tree->inputs ? tree_info_complete(client, tree) : EXIT_SUCCESS;

        *ret_inputs = tree ? tree->inputs : NULL;
        return status;
}

/* A mistake must not cost the run. */
static int check_value(Client *client, json_object *inputs, const Restarted *run, const char *name,
                       json_object *value) {
        for (size_t i = 0; inputs && i < json_object_array_length(inputs); i++) {
                json_object *input = json_object_array_get_idx(inputs, i), *own, *type;
                Declaration declaration = { .name = name };
                g_autofree char *problem = NULL;

                if (!json_object_object_get_ex(input, "name", &own) || strcmp(json_object_get_string(own), name) != 0 ||
                    !json_object_object_get_ex(input, "type", &type))
                        continue;

                while (declaration.type < VARIABLE_TYPE_MAX_ - 1 &&
                       strcmp(variable_type_names[declaration.type], json_object_get_string(type)) != 0)
                        declaration.type++;
                if (declaration_check(&declaration, value, &problem) < 0)
                        return report_error("tree '%s': %s, so %s is not restarted", run->tree, problem, run->id);
                return EXIT_SUCCESS;
        }

        return client_call(client, NULL, run->path, BTD_RUN, "GetVariable", "s", name);
}

static int check_values(Client *client, const GPtrArray *trees, const Restarted *run) {
        g_autoptr(json_object) given = variables_to_json(client->options.sets);
        json_object *inputs;
        int status = find_inputs(client, trees, run->tree, &inputs);

        json_object_object_foreach(given, name, value) {
                if (status == EXIT_SUCCESS)
                        status = check_value(client, inputs, run, name, value);
        }
        return status;
}

/* The next run gets the last values of these, not those that the previous run has begun with; and btd does not show
 * secret ones, so they must be given again. */
static int drop_kept(Client *client, const GPtrArray *trees, Restarted *run) {
        json_object *inputs;
        int status = find_inputs(client, trees, run->tree, &inputs);

        if (status != EXIT_SUCCESS || run->sets->len == 0)
                return status;

        for (size_t i = 0; inputs && i < json_object_array_length(inputs); i++) {
                json_object *input = json_object_array_get_idx(inputs, i), *key;
                const char *name;

                if (!json_object_object_get_ex(input, "name", &key))
                        continue;
                name = json_object_get_string(key);
                if (is_true(input, "kept"))
                        drop_set(run, name, strlen(name));
                if (is_true(input, "secret") && has_set(run->sets, name) && !has_set(client->options.sets, name))
                        return report_error("the input '%s' of '%s' is secret, so its value is not stored; give it "
                                            "with --set",
                                            name, run->tree);
        }

        return EXIT_SUCCESS;
}

/* Gets the variables that the previous run was started with, and those that are given now instead. */
static int get_inputs(Client *client, const GPtrArray *trees, Restarted *run) {
        int status = run->id ? variables_read_given(client, run->id, run->sets) : EXIT_SUCCESS;

        if (status == EXIT_SUCCESS)
                status = drop_kept(client, trees, run);
        if (status != EXIT_SUCCESS)
                return status;

        for (guint i = 0; i < client->options.sets->len; i++) {
                const char *set = g_ptr_array_index(client->options.sets, i);

                drop_set(run, set, strcspn(set, "="));
                g_ptr_array_add(run->sets, g_strdup(set));
        }

        return EXIT_SUCCESS;
}

/* A tree that cannot be started must not be halted. */
static int check_tree(Client *client, const GPtrArray *trees, const Restarted *run) {
        const TreeInfo *tree = tree_info_find(trees, run->tree);

        if (tree && strcmp(tree->state, "failed") == 0 && run->running)
                return report_error("tree '%s' has errors, so %s is not restarted; see 'btctl status %s'", run->tree,
                                    run->id, run->tree);
        if (tree && strcmp(tree->state, "no file") != 0)
                return EXIT_SUCCESS;

        if (run->running)
                return report_error("tree '%s' has no file, so %s is not restarted; use 'btctl run'", run->tree,
                                    run->id);
        return client_call(client, NULL, BTD_PATH, BTD_MANAGER, "GetTree", "s", run->tree);
}

/* An earlier operand has named the same run, or starts the same one. */
static bool is_added(const GPtrArray *restarted, const Restarted *run) {
        for (guint i = 0; i < restarted->len; i++) {
                const Restarted *other = g_ptr_array_index(restarted, i);

                if (run->id ? g_strcmp0(run->id, other->id) == 0
                            : !other->id && strcmp(run->tree, other->tree) == 0 &&
                                      strcmp(run->instance, other->instance) == 0)
                        return true;
        }

        return false;
}

/* Adds the runs that the operand names: a run that is named, or all that are running of a tree or an instance; if there
 * is none, a new one. Nothing is added if one of them cannot be restarted. */
static int add_operand(Client *client, const char *operand, const GPtrArray *runs, const GPtrArray *trees,
                       GPtrArray *restarted) {
        g_autoptr(GPtrArray) own = g_ptr_array_new_with_free_func(restarted_free);
        g_autofree char *tree = NULL, *instance = NULL;
        int status;

        if (target_is_run_id(operand)) {
                const RunInfo *found = target_choose_run(runs, operand);
                g_autoptr(RunInfo) past = NULL;

                if (!found)
                        found = past = waiting_find_past(client, operand);
                if (!found)
                        return target_report_no_run(client, operand);
                g_ptr_array_add(own, restarted_new(found->tree, found->instance, found));
        } else {
                target_split(operand, &tree, &instance);
                for (guint i = 0; i < runs->len; i++) {
                        const RunInfo *run = g_ptr_array_index(runs, i);

                        if (target_names(operand, run) && !run_info_has_finished(run))
                                g_ptr_array_add(own, restarted_new(tree, run->instance, run));
                }
                if (own->len == 0)
                        g_ptr_array_add(own, restarted_new(tree, instance ?: "", NULL));
        }

        for (guint i = 0; i < own->len; i++) {
                Restarted *run = g_ptr_array_index(own, i);

                status = check_tree(client, trees, run);
                if (status == EXIT_SUCCESS && run->running)
                        status = check_values(client, trees, run);
                if (status == EXIT_SUCCESS)
                        status = get_inputs(client, trees, run);
                if (status != EXIT_SUCCESS)
                        return status;
        }

        tree_info_warn(client, ((const Restarted *) g_ptr_array_index(own, 0))->tree);
        for (guint i = own->len; i > 0; i--)
                if (is_added(restarted, g_ptr_array_index(own, i - 1)))
                        g_ptr_array_remove_index(own, i - 1);
        g_ptr_array_extend_and_steal(restarted, g_steal_pointer(&own));
        return EXIT_SUCCESS;
}

/* Halts those that are running. A run that cannot be halted is not started again, so it is removed. */
static int halt_all(Client *client, GPtrArray *restarted) {
        static const char *const expected[] = { BTD_NOT_RUNNING, NULL };
        g_autoptr(Waiting) waiting = waiting_new(client, WAITING_QUIETLY);
        int status, result = EXIT_SUCCESS;

        status = waiting_connect(waiting, NULL);
        if (status != EXIT_SUCCESS)
                return status;

        for (guint i = 0; i < restarted->len;) {
                const Restarted *run = g_ptr_array_index(restarted, i);
                const RunInfo info = { .id = run->id, .instance = run->instance, .tree = run->tree };

                /* A run may finish by itself meanwhile. */
                if (run->running)
                        status = client_call_expecting(client, expected, NULL, BTD_PATH, BTD_MANAGER, "HaltRun",
                                                       "sa{sv}", run->id, 0);
                else
                        status = EXIT_SUCCESS;
                if (status != EXIT_SUCCESS) {
                        result = status;
                        g_ptr_array_remove_index(restarted, i);
                        continue;
                }
                if (run->running)
                        waiting_add(waiting, run->id, &info, NULL);
                i++;
        }

        status = waiting_wait(waiting);
        for (guint i = 0; status != EXIT_SUCCESS && i < restarted->len; i++) {
                const Restarted *run = g_ptr_array_index(restarted, i);

                report_error("'%s' is not started%s", run->id ?: run->tree, run->running ? " again" : "");
        }
        if (status != EXIT_SUCCESS)
                g_ptr_array_set_size(restarted, 0);

        return status != EXIT_SUCCESS ? status : result;
}

static int start_all(Client *client, const GPtrArray *restarted) {
        bool waits = restarted->len > 1 && options_has(&client->options, OPTION_WAIT);
        g_autoptr(Waiting) waiting = waits ? waiting_new(client, WAITING_RESULTS) : NULL;
        int status, result = EXIT_SUCCESS;

        status = waiting ? waiting_connect(waiting, NULL) : EXIT_SUCCESS;
        if (status != EXIT_SUCCESS)
                return status;

        for (guint i = 0; i < restarted->len; i++) {
                const Restarted *run = g_ptr_array_index(restarted, i);
                bool started = false;

                status = start_tree(client, run->tree, run->instance, run->sets, NULL, waiting, &started);
                if (!started && run->running)
                        report_error("%s was halted, but was not started again", run->id);
                if (result == EXIT_SUCCESS)
                        result = status;
        }

        status = waiting ? waiting_wait(waiting) : EXIT_SUCCESS;
        return status > EXIT_SIGNAL || result == EXIT_SUCCESS ? status : result;
}

/* An operand that cannot be restarted does not keep the others from being restarted. */
int verb_restart(Client *client, char **operands) {
        g_autoptr(GPtrArray) restarted = g_ptr_array_new_with_free_func(restarted_free);
        g_autoptr(GPtrArray) runs = NULL, trees = NULL;
        int status, result;

        result = start_check_options(client);
        if (result == EXIT_SUCCESS)
                result = run_info_list(client, &runs);
        if (result == EXIT_SUCCESS)
                result = tree_info_list(client, &trees);
        if (result != EXIT_SUCCESS)
                return result;

        for (char **operand = operands; *operand; operand++) {
                status = add_operand(client, *operand, runs, trees, restarted);
                if (result == EXIT_SUCCESS)
                        result = status;
        }
        if (restarted->len > 1 && options_has(&client->options, OPTION_FOLLOW))
                return report_usage("'--follow' takes one run, but the operands name %u runs", restarted->len);

        status = restarted->len > 0 ? halt_all(client, restarted) : EXIT_SUCCESS;
        if (result == EXIT_SUCCESS || status > EXIT_SIGNAL)
                result = status;
        status = start_all(client, restarted);
        return status > EXIT_SIGNAL || result == EXIT_SUCCESS ? status : result;
}
