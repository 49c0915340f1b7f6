/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Starts, halts and restarts runs. A finished run stays listed until another run of the same tree and instance is
 * started, or until too many runs have finished since.
 *
 * A run and its restarts have the same token, which was given at the first start. With it, a client finds its runs
 * again, halts only those, and can safely repeat a start. A token is not secret and grants no permission.
 */

#include <errno.h>
#include <glib/gstdio.h>
#include <inttypes.h>
#include <json-c/linkhash.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/excerpt.h"
#include "basic/foreach.h"
#include "basic/json-weight.h"
#include "basic/log.h"
#include "basic/sorted.h"
#include "basic/span.h"
#include "record/halt-request.h"
#include "run/instance.h"
#include "run/variables.h"
#include "runtime/manager-state.h"
#include "script/secrets.h"

/* So many digits of a checksum of inputs are kept: no two are the same by chance. */
#define INPUTS_DIGITS 32u
/* Longer than the name of any run. */
#define RUN_NAME_MAX 200u

/* If its user makes so many requests that they are not logged one by one, a run that succeeds is not, either. */
static bool tells_all(const Run *run) {
        const User *user = run_user(run);

        return !user || user->n_untold == 0;
}

static void log_finished(const Run *run) {
        LogSubject subject = { .tree = run_tree(run), .run = run_id(run), .cause = run_cause_chain(run) };
        g_autofree char *took = span_format_rounded(run_finished(run) - MIN(run_started(run), run_finished(run)));

        switch (run_status(run)) {
        case STATUS_SUCCESS:
                if (tells_all(run))
                        log_message(LOG_INFO, &subject, "succeeded after %s", took);
                break;
        case STATUS_FAILURE:
                log_message(LOG_WARNING, &subject, "failed after %s: %s", took, run_cause(run));
                break;
        case STATUS_UNFINISHED:
                log_message(LOG_WARNING, &subject, "unfinished after %s: %s", took, run_cause(run));
                break;
        case STATUS_ERROR:
                log_message(LOG_ERR, &subject, "ended with an error after %s: %s", took, run_cause(run));
                break;
        default:
                log_message(LOG_NOTICE, &subject, "%s after %s: %s", status_to_string(run_status(run)), took,
                            run_cause(run));
        }
}

static void on_run_changed(Run *run, void *userdata) {
        Manager *manager = userdata;

        manager_keep(manager, run);
        /* The record of a finished run does not change any more. */
        if (run_status(run) == STATUS_RUNNING)
                record_copies_change(record_store_copies(manager->records), run_id(run));
        TELL(manager, run_changed, run);
}

/* Was the run halted because btd stopped, this one or the one before? Then the next one starts its tree again, if that
 * is an autostart tree. */
static bool is_for_next(const Run *run) {
        const Cause *cause = run_cause_chain(run);
        json_object *stopping;

        return run_status(run) == STATUS_HALTED && cause && cause->facts &&
               json_object_object_get_ex(cause->facts, "stopping", &stopping) && json_object_get_boolean(stopping);
}

/* Only a user's own token is stored; other runs have the name of the first run of their series. */
static void note_token(const Manager *manager, const Run *run, const char *inputs) {
        g_auto(RunSummary) state = run_summary(run);

        /* Whether it is paused or halting is not stored. */
        g_free(state.status);
        state.status = g_strdup(status_to_string(run_status(run)));
        state.inputs = g_strdup(inputs);
        tokens_set(record_store_tokens(manager->records), &state, run_caller(run));
}

/* A copy whose members are sorted, since the members of an object have no order. */
static json_object *in_order(json_object *value) {
        g_autoptr(GPtrArray) names = g_ptr_array_new();
        json_object *copy;

        if (json_object_is_type(value, json_type_array)) {
                copy = json_object_new_array();
                for (size_t i = 0; i < json_object_array_length(value); i++)
                        json_object_array_add(copy, in_order(json_object_array_get_idx(value, i)));
                return copy;
        }
        if (!json_object_is_type(value, json_type_object))
                return json_object_get(value);

        copy = json_object_new_object();
        json_object_object_foreach(value, key, member) {
                (void) member;
                g_ptr_array_add(names, key);
        }
        g_ptr_array_sort(names, compare_texts);
        PTRS_FOREACH(const char, name, names)
                json_object_object_add(copy, name, in_order(json_object_object_get(value, name)));
        return copy;
}

/* The checksum is stored for long, and could be compared with those of guesses: so the values of secret inputs do not
 * count, or all if it is not known which are secret. */
char *manager_inputs(const Definition *definition, json_object *variables, const char *text) {
        bool known = definition && definition_tree(definition);
        const char *const *secrets = known ? definition_scope_info(definition, 0)->secrets : NULL;
        g_autoptr(GChecksum) checksum = g_checksum_new(G_CHECKSUM_SHA256);
        g_autoptr(json_object) given = variables ? in_order(variables) : json_object_new_object();

        json_object_object_foreach(given, name, value) {
                (void) value;
                if (!known || (secrets && g_strv_contains(secrets, name)))
                        json_object_object_add(given, name, NULL);
        }
        g_checksum_update(checksum, (const guchar *) json_object_to_json_string_ext(given, JSON_C_TO_STRING_PLAIN), -1);
        g_checksum_update(checksum, (const guchar *) (text ?: ""), -1);
        return g_strndup(g_checksum_get_string(checksum), INPUTS_DIGITS);
}

int manager_check_inputs(const Manager *manager, const char *tree, const char *instance, const char *token,
                         const char *inputs, char **ret_error) {
        g_auto(RunSummary) state = {};
        bool whole;

        if (!inputs || !tokens_find(record_store_tokens(manager->records), tree, instance, token, &state, &whole) ||
            !state.inputs || g_str_equal(state.inputs, inputs))
                return 0;

        *ret_error = g_strdup_printf("the token '%s' is that of %s, which was started with other inputs; give another "
                                     "token",
                                     token, state.run);
        return -EINVAL;
}

static bool has_token(const Manager *manager, const Run *run) {
        return tokens_has(record_store_tokens(manager->records), run_tree(run), run_instance(run), run_token(run));
}

void manager_recover_token(const Manager *manager, const Run *run, bool restart) {
        if (has_token(manager, run) || (!restart && !g_str_equal(run_token(run), run_id(run))))
                note_token(manager, run, NULL);
}

/* Tokens, restarts and autostarts are noted before the run record becomes that of a finished run: if btd is killed in
 * between, the next btd recovers the run, and notes them again. */
static void on_run_finished(Run *run, void *userdata) {
        Manager *manager = userdata;
        bool again = is_for_next(run), orders;
        g_autofree char *restart = NULL;

        log_finished(run);
        manager_keep(manager, run);
        kept_hurry(manager->kept);
        /* If a run ends by itself while btd stops and waits for others to halt, the next btd restarts it. */
        orders = !manager->stopping || (manager->leaving && run_status(run) != STATUS_HALTED);
        if (orders)
                restarts_consider(manager->restarts, run);
        /* As OnFailure= of systemd: only the last run of a series counts. */
        if (!restarts_find_due(manager->restarts, run_tree(run), run_instance(run), NULL))
                followers_finished(manager->followers, run, orders && !again);
        restart = orders ? manager_describe_restart(manager, run) : NULL;
        if (restart)
                log_message(LOG_NOTICE, &(LogSubject){ .tree = run_tree(run), .run = run_id(run) }, "%s", restart);
        autostarts_finished(manager->autostarts, run, again);
        if (has_token(manager, run))
                note_token(manager, run, NULL);

        statistics_finish(manager->statistics, run);
        run_end_record(run, manager->records);
        /* Half of the share stays for runs that have not finished. */
        if (run_user(run) && user_share(run_user(run), USE_VARIABLES) != UINT64_MAX)
                runs_make_room(manager->runs, run_user(run), user_share(run_user(run), USE_VARIABLES) / 2);
        runs_finished(manager->runs, run);
        TELL(manager, run_finished, run);
        manager_check_idle(manager);

        if (again && !manager->stopping && definition_header(run_definition(run))->autostart &&
            *run_instance(run) == '\0')
                autostarts_want(manager->autostarts, run_tree(run));
        manager_retry_soon(manager);
}

static void on_run_state_changed(Run *run, void *userdata) {
        Manager *manager = userdata;

        TELL(manager, run_state_changed, run);
}

/* Not logged for a run that has finished: its result is logged. */
static void on_run_ready(Run *run, void *userdata) {
        g_autofree char *took = span_format_rounded(run_ready(run) - MIN(run_started(run), run_ready(run)));
        Manager *manager = userdata;

        if (run_status(run) == STATUS_RUNNING)
                log_message(LOG_INFO, &(LogSubject){ .tree = run_tree(run), .run = run_id(run) }, "ready after %s",
                            took);
        TELL(manager, run_ready, run);
}

const RunCallbacks manager_run_callbacks = {
        .state_changed = on_run_state_changed,
        .changed = on_run_changed,
        .ready = on_run_ready,
        .finished = on_run_finished,
};

/* A tree that the library does not have was given as text. */
static int refuse_second(const Manager *manager, const Run *run, char **ret_error) {
        const char *instance = run_instance(run), *how = run_halting(run) ? "halting" : "running",
                   *other = library_get(manager->library, run_tree(run)) ? "instance" : "name";

        *ret_error = *instance ? g_strdup_printf("instance '%s' of tree '%s' is already %s as %s", instance,
                                                 run_tree(run), how, run_id(run))
                               : g_strdup_printf("tree '%s' is already %s as %s; give another %s to run it twice",
                                                 run_tree(run), how, run_id(run), other);
        return MANAGER_ALREADY_RUNNING;
}

/* Finished runs that are still listed use room, too, but never prevent a start. A pending restart is a run of its user
 * that comes back, so it always finds its place. */
static int check_limits(const Manager *manager, const Order *order, uint64_t bytes, char **ret_error) {
        unsigned max = manager->limits.max[LIMIT_RUNS], own = manager->limits.max[LIMIT_RUNS_OF_A_CALLER], pending;
        User *user = users_get(manager->services->users, order->uid);
        uint64_t pending_bytes;

        if (runs_n_running(manager->runs) >= max) {
                *ret_error = g_strdup_printf("the limit 'runs' (%u) is reached; halt a run first", max);
                return MANAGER_LIMIT;
        }
        if (!limits_bind(order->uid))
                return 0;

        pending = restarts_of_user(manager->restarts, order->uid, order->tree, order->instance, &pending_bytes);
        if (runs_n_running_of(manager->runs, order->uid) + pending >= own) {
                *ret_error = pending > 0 ? g_strdup_printf("the limit 'runs-of-a-caller' (%u) is reached, with %u "
                                                           "pending restart%s; halt one of your runs first",
                                                           own, pending, pending == 1 ? "" : "s")
                                         : g_strdup_printf("the limit 'runs-of-a-caller' (%u) is reached; halt one of "
                                                           "your runs first",
                                                           own);
                return MANAGER_LIMIT;
        }

        if (!user)
                return 0;

        runs_count(manager->runs, manager->services->users);
        runs_make_room(manager->runs, user, pending_bytes + bytes);
        if (!user_has_room(user, USE_VARIABLES, pending_bytes + bytes))
                *ret_error = user_full_text(user, USE_VARIABLES);
        else if (!user_has_room(user, USE_RECORDS, bytes))
                *ret_error = user_full_text(user, USE_RECORDS);

        return *ret_error ? MANAGER_LIMIT : 0;
}

static int not_yet(const char *text, char **ret_error) {
        *ret_error = g_strdup(text);
        return MANAGER_NOT_YET;
}

int manager_check_order(const Manager *manager, const Order *order, char **ret_error) {
        if (manager->stopping) {
                *ret_error = g_strdup("btd is stopping and starts nothing any more");
                return MANAGER_STOPPING;
        }

        if (ticker_is_held(manager->ticker))
                return not_yet("btd asks systemd whether the machine goes down; try again", ret_error);

        return run_check_start(order->instance, order->variables, ret_error);
}

/* Includes the initial variables of the tree. */
static int check_variables(const Definition *definition, const Order *order, uint64_t *ret_bytes, char **ret_error) {
        g_autoptr(json_object) variables = variables_initial(definition);
        json_object *given[] = { order->variables, order->taken ? order->taken->variables : NULL };

        for (size_t i = 0; i < G_N_ELEMENTS(given); i++)
                if (given[i]) {
                        json_object_object_foreach(given[i], key, value)
                                json_object_object_add(variables, key, json_object_get(value));
                }

        *ret_bytes = json_weight(variables);
        if (*ret_bytes <= blackboard_bytes_max(definition_limits(definition)))
                return 0;

        *ret_error = blackboard_full_text(definition_limits(definition));
        return MANAGER_LIMIT;
}

/* If the last run number was lost, runs with higher numbers, or files of them, may exist: skip those. NULL: no number
 * is reserved yet. */
static char *next_id(Manager *manager, const char *tree) {
        while (run_counter_has(manager->counter, tree)) {
                g_autofree char *id = g_strdup_printf("%s.%" PRIu64, tree, run_counter_next(manager->counter, tree));

                if (!runs_get(manager->runs, id) && !record_store_have(manager->records, id))
                        return g_steal_pointer(&id);
        }

        return NULL;
}

static Run *make_run(Manager *manager, const char *id, Definition *definition, const Order *order) {
        Run *run = run_new(id, order->tree, order->instance, definition, &manager->run_services, &manager_run_callbacks,
                           manager);

        run_set_caller(run, order->uid);
        run_set_token(run, order->token);
        if (order->variables)
                run_give(run, order->variables);

        run_begin_record(run, manager->records, order->starter ?: RUN_RESTART);
        runs_add(manager->runs, run);
        return run;
}

/* A client that repeats the start of a run has read "***" for its secrets, and must not give that back. */
static int check_secrets(const Definition *definition, json_object *variables, char **ret_error) {
        const ScopeInfo *scope = definition_scope_info(definition, 0);

        for (const char *const *name = scope->secrets; name && *name; name++) {
                json_object *value = NULL;
                g_autoptr(json_object) sealed = NULL;

                json_object_object_get_ex(variables, *name, &value);
                sealed = secret_seal(json_object_get(value));
                if (!sealed || secret_value(sealed))
                        continue;

                *ret_error =
                        g_strdup_printf("the input '%s' is secret, so its value is not stored; give it again", *name);
                return -EINVAL;
        }

        return 0;
}

/* The nodes are known by their numbers, which another tree gives to other nodes. */
static int check_taken(const Definition *definition, const RunTaken *taken, char **ret_error) {
        const Tree *tree = definition_tree(definition);
        size_t length = strlen(taken->run);
        NodeId last = NODE_NONE;

        if (length > RUN_NAME_MAX || strspn(taken->run, G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS "_-.") < length) {
                g_autofree char *shown = excerpt(taken->run, length);

                *ret_error = g_strdup_printf("'%s' is not the name of a run", shown);
                return -EINVAL;
        }
        ARRAY_FOREACH(const NodeId, node, taken->nodes) {
                if (*node >= tree->n_nodes || (last != NODE_NONE && *node <= last)) {
                        *ret_error = g_strdup_printf("node %u is not there, or does not follow the one before", *node);
                        return -EINVAL;
                }
                last = *node;
        }
        if (!g_str_equal(taken->hash, definition_hash(definition))) {
                *ret_error = g_strdup("it has changed meanwhile; try again");
                return -EINVAL;
        }

        return run_check_start("", taken->variables, ret_error) < 0
                       ? -EINVAL
                       : definition_check_set(definition, taken->variables, ret_error);
}

int manager_carry_out(Manager *manager, Definition *definition, const Order *given, Run **ret_run, char **ret_error) {
        g_autoptr(json_object) variables = manager_add_kept(manager, definition, given);
        const char *tree = given->tree;
        Order whole = *given, *order = &whole;
        Run *run, *before = runs_last(manager->runs, tree, order->instance);
        g_autofree char *id = NULL, *error = NULL;
        uint64_t bytes;
        int r;

        if (variables)
                whole.variables = variables;
        r = check_variables(definition, order, &bytes, ret_error);
        if (r < 0)
                return r;
        r = definition_check_start(definition, order->variables, &error);
        if (r >= 0)
                r = check_secrets(definition, order->variables, &error);
        if (r >= 0 && order->taken)
                r = check_taken(definition, order->taken, &error);
        if (r < 0) {
                /* Names the tree, because the caller may start several. */
                *ret_error = g_strdup_printf("tree '%s': %s", tree, error);
                return r;
        }
        if (before && run_status(before) == STATUS_RUNNING)
                return refuse_second(manager, before, ret_error);
        r = check_limits(manager, order, bytes, ret_error);
        if (r < 0)
                return r;
        if (record_store_are_kept(manager->records) && !definition_files_are_ready(definition)) {
                manager_write_files(manager, definition);
                return not_yet("the run record is being prepared; try again", ret_error);
        }
        /* Room may have been made. */
        before = runs_last(manager->runs, tree, order->instance);
        id = next_id(manager, tree);
        if (!id)
                return not_yet("the disk has not reserved a number for the run yet; try again", ret_error);

        if (before)
                runs_remove(manager->runs, before);

        run = make_run(manager, id, definition, order);
        statistics_begin(manager->statistics, run, !order->starter);
        TELL(manager, run_starting, run);
        /* Start and announce the run only after its run record is written. Then it replaces what was pending. */
        run_start(run, order->taken);
        if (order->token && (order->starter || has_token(manager, run)))
                note_token(manager, run, order->inputs);
        if (order->starter) {
                restarts_replace(manager->restarts, tree, order->instance);
                followers_prune(manager->followers);
        }
        if (*order->instance == '\0')
                (void) autostarts_begun(manager->autostarts, tree, run_id(run),
                                        definition_header(definition)->autostart);
        if (tells_all(run))
                log_message(LOG_INFO, &(LogSubject){ .tree = tree, .run = run_id(run) }, "%s%s%s",
                            order->starter ? "started" : "restarted", *order->instance ? " as instance " : "",
                            order->instance);
        TELL(manager, run_added, run);
        TELL(manager, run_new, run);
        *ret_run = run;
        return 0;
}

static int find_definition(Manager *manager, const char *tree, Definition **ret_definition, char **ret_error) {
        g_autofree char *error = NULL;
        const LibraryEntry *entry;
        int r = manager_find_tree(manager, tree, &entry, ret_error);

        if (r < 0)
                return r;
        if (!entry->definition) {
                error = diagnostics_format_error(entry->diagnostics);
                *ret_error = g_strdup_printf("tree '%s' has errors; correct its file, then reload: %s", entry->name,
                                             error ?: entry->path);
                return MANAGER_TREE_BROKEN;
        }

        *ret_definition = entry->definition;
        return 0;
}

static int order_tree(Manager *manager, const Order *order, Run **ret_run, char **ret_error) {
        Definition *definition;
        int r = manager_check_order(manager, order, ret_error);

        if (r >= 0)
                r = find_definition(manager, order->tree, &definition, ret_error);
        return r < 0 ? r : manager_carry_out(manager, definition, order, ret_run, ret_error);
}

int manager_start(Manager *manager, const char *tree, const char *instance, json_object *variables, const char *starter,
                  Run **ret_run, char **ret_error) {
        Order order = { .tree = tree, .instance = instance, .variables = variables, .starter = starter };

        return order_tree(manager, &order, ret_run, ret_error);
}

/* Whatever stands in its way may pass: a limit, a file that is missing in the middle of an upgrade. */
static bool on_restart_due(const Order *restart, char **ret_why, void *userdata) {
        g_autofree char *error = NULL;
        Manager *manager = userdata;
        Run *run;
        int r = order_tree(manager, restart, &run, &error);

        if (r < 0 && r != MANAGER_NOT_YET && r != MANAGER_STOPPING)
                *ret_why = g_steal_pointer(&error);
        return r >= 0;
}

static void on_restart_changed(const char *tree, const char *instance, void *userdata) {
        Manager *manager = userdata;
        Run *run = runs_last(manager->runs, tree, instance);

        if (run && run_status(run) != STATUS_RUNNING)
                TELL(manager, restart_changed, run);
        TELL(manager, waiting_changed, tree);
}

static void on_restart_dropped(const char *run, const char *tree, const char *instance, void *userdata) {
        Manager *manager = userdata;

        on_restart_changed(tree, instance, manager);
        followers_prune(manager->followers);
        TELL(manager, restart_dropped, run, tree, instance);
}

const RestartsCallbacks manager_restarts_callbacks = {
        .due = on_restart_due,
        .changed = on_restart_changed,
        .dropped = on_restart_dropped,
};

char *manager_describe_restart(Manager *manager, const Run *run) {
        g_autofree char *restart = restarts_describe(manager->restarts, run_tree(run), run_instance(run)),
                        *followers = followers_describe(manager->followers, run_id(run));

        return restart && followers ? g_strdup_printf("%s; %s", restart, followers)
               : restart            ? g_steal_pointer(&restart)
                                    : g_steal_pointer(&followers);
}

void manager_halt(Manager *manager, Run *run, Cause *why) {
        run_halt(run, cause_ref(why));
        TELL(manager, run_halting, run);
}

int manager_check_there(const Manager *manager, char **ret_error) {
        if (!manager->abandoned)
                return 0;

        *ret_error = g_strdup("btd has stopped; the next btd recovers its runs");
        return MANAGER_STOPPING;
}

int manager_halt_run(Manager *manager, const char *id, const Caller *who, char **ret_error) {
        g_autoptr(Cause) why = caller_cause(who, CAUSE_HALTED);
        Run *run;
        int r = manager_check_there(manager, ret_error);

        if (r < 0)
                return r;
        /* The run that a restart follows may not be listed any more. */
        if (restarts_cancel(manager->restarts, &(RestartChoice){ .run = id }, why->text) +
                    followers_cancel(manager->followers, id, NULL, NULL) >
            0)
                return 0;

        r = manager_find_run(manager, id, &run, ret_error);
        if (r < 0)
                return r;

        if (run_status(run) != STATUS_RUNNING) {
                *ret_error = g_strdup_printf("run '%s' is not running any more: %s", run_id(run),
                                             status_to_string(run_status(run)));
                return MANAGER_NOT_RUNNING;
        }

        manager_halt(manager, run, why);
        return 0;
}

int manager_halt_tree(Manager *manager, const TreeHalt *halt, const Caller *who, GPtrArray **ret_halted,
                      unsigned *ret_cancelled, char **ret_error) {
        g_autoptr(GPtrArray) halted = g_ptr_array_new_with_free_func(g_free);
        g_autoptr(Cause) why = caller_cause(who, CAUSE_HALTED);
        const GPtrArray *runs = runs_list(manager->runs);
        const LibraryEntry *entry;
        unsigned cancelled;
        int r;

        r = manager_check_there(manager, ret_error);
        if (r >= 0 && halt->instance)
                r = instance_check(halt->instance, ret_error);
        if (r >= 0 && halt->token)
                r = run_check_token(halt->token, ret_error);
        if (r < 0)
                return r;

        for (unsigned i = 0; i < runs->len; i++) {
                Run *run = runs->pdata[i];

                if (run_status(run) != STATUS_RUNNING || !g_str_equal(run_tree(run), halt->tree) ||
                    (halt->instance && !g_str_equal(run_instance(run), halt->instance)) ||
                    (halt->token && !g_str_equal(run_token(run), halt->token)))
                        continue;

                manager_halt(manager, run, why);
                if (halt->wait) {
                        waiters_add(manager->waiters, halt->tree, run_instance(run), true, who->pid);
                        run_tell_awaited(run);
                }
                g_ptr_array_add(halted, g_strdup(run_id(run)));
        }
        cancelled = restarts_cancel(
                manager->restarts,
                &(RestartChoice){ .tree = halt->tree, .instance = halt->instance, .token = halt->token }, why->text);
        if (!halt->token)
                cancelled += followers_cancel(manager->followers, NULL, halt->tree, halt->instance);
        if (!halt->token && (!halt->instance || *halt->instance == '\0'))
                cancelled += autostarts_drop(manager->autostarts, halt->tree);

        /* A removed tree can still have runs. */
        r = halted->len + cancelled > 0 || halt->token ? 0 : manager_find_tree(manager, halt->tree, &entry, ret_error);
        if (r < 0)
                return r;

        *ret_halted = g_steal_pointer(&halted);
        *ret_cancelled = cancelled;
        return 0;
}

void manager_halt_requested(Manager *manager, const char *meanwhile) {
        g_autoptr(GPtrArray) requests =
                manager->runtime_directory ? halt_requests_read(manager->runtime_directory) : NULL;

        for (unsigned i = 0; requests && i < requests->len; i++) {
                const HaltRequest *request = requests->pdata[i];
                g_autofree char *text = g_strdup_printf("UID %u, while btd was not %s", request->uid, meanwhile);
                const TreeHalt halt = { request->tree, request->instance, request->token, false };
                const Caller who = { .uid = request->uid, .text = text };
                g_autoptr(GPtrArray) halted = NULL;
                g_autofree char *error = NULL;
                unsigned cancelled;

                if (manager_halt_tree(manager, &halt, &who, &halted, &cancelled, &error) < 0)
                        log_warning("%s: %s", request->path, error);
                g_unlink(request->path);
        }
}

RunSummary manager_outcome_of(const Manager *manager, const Run *run) {
        RunSummary outcome = run_summary(run);

        outcome.restarting = outcome.finished > 0 &&
                             restarts_find_due(manager->restarts, outcome.tree, outcome.instance, outcome.token);
        return outcome;
}

/* Looks in the listed runs, in the index of tokens, in the pending restarts, and in the history: that one is asked
 * about what does not fit the index, and for runs whose token is the name of the first run of their series. -ENOENT:
 * not found. */
static int find_outcome(Manager *manager, const char *tree, const char *instance, const char *token,
                        RunSummary *ret_outcome, char **ret_error) {
        const Run *run = runs_last(manager->runs, tree, instance);
        const char *due = restarts_find_due(manager->restarts, tree, instance, token);
        size_t length = strlen(tree);
        bool known, whole = true, named = strncmp(token, tree, length) == 0 && token[length] == '.';
        Archive *archive = record_store_archive(manager->records);
        g_auto(RunSummary) state = {};
        const RunSummary *past = NULL;

        if (run && g_str_equal(run_token(run), token)) {
                *ret_outcome = manager_outcome_of(manager, run);
                return 0;
        }

        known = tokens_find(record_store_tokens(manager->records), tree, instance, token, &state, &whole);
        if (archive && (known ? !whole && archive_has(archive, state.run) : named)) {
                if (!manager_history_is_read(manager, tree))
                        return not_yet("the history is being read; try again", ret_error);
                past = known ? archive_get(archive, state.run) : archive_find_token(archive, tree, instance, token);
        }

        if (known && !past)
                past = &state;
        if (past)
                *ret_outcome = run_summary_copy(past);
        else if (due)
                *ret_outcome = (RunSummary){ .run = g_strdup(due), .token = g_strdup(token) };
        else
                return -ENOENT;

        ret_outcome->restarting = due;
        return 0;
}

int manager_find_outcome(Manager *manager, const char *tree, const char *instance, const char *token,
                         RunSummary *ret_outcome, char **ret_error) {
        g_autofree char *shown = NULL;
        int r = find_outcome(manager, tree, instance, token, ret_outcome, ret_error);

        if (r != -ENOENT)
                return r;

        shown = excerpt(token, strlen(token));
        *ret_error = g_strdup_printf("no run of tree '%s' with the token '%s' is known", tree, shown);
        return MANAGER_NO_SUCH_RUN;
}

char *manager_describe_missing(const Manager *manager, const char *id) {
        const char *dot = strrchr(id, '.');
        g_autofree char *tree = dot ? g_strndup(id, (size_t) (dot - id)) : NULL;
        uint64_t number;

        if (!tree || !record_store_archive(manager->records) ||
            !g_ascii_string_to_unsigned(dot + 1, 10, 1, UINT64_MAX, &number, NULL) ||
            number > run_counter_last(manager->counter, tree))
                return record_store_no_such(id);

        return g_strdup_printf("run '%s' is not in the history any more; 'btctl history' shows the runs that are", id);
}

int manager_find_outcome_of_run(Manager *manager, const char *id, RunSummary *ret_outcome, char **ret_error) {
        Archive *archive = record_store_archive(manager->records);
        const Run *run = runs_get(manager->runs, id);

        if (!run && archive && archive_has(archive, id) && !manager_history_is_read(manager, NULL))
                return not_yet("the history is being read; try again", ret_error);

        if (run) {
                *ret_outcome = manager_outcome_of(manager, run);
                return 0;
        }
        if (archive && archive_has(archive, id)) {
                *ret_outcome = run_summary_copy(archive_get(archive, id));
                return 0;
        }

        *ret_error = manager_describe_missing(manager, id);
        return MANAGER_NO_SUCH_RUN;
}

/* Halts the run that is in the way of the order. */
static int replace(Manager *manager, Run *old, const Order *order, const Caller *who, Run **ret_run, char **ret_error) {
        g_autoptr(Cause) why = caller_cause(who, CAUSE_HALTED);

        if (!run_halting(old))
                manager_halt(manager, old, why);
        /* A halt can be complete at once. */
        if (run_status(old) == STATUS_RUNNING)
                return not_yet("the run that is replaced has not ended yet; try again", ret_error);

        return order_tree(manager, order, ret_run, ret_error);
}

int manager_start_tree(Manager *manager, const TreeStart *start, const Caller *who, bool *ret_begun,
                       RunSummary *ret_outcome, char **ret_error) {
        Order order = {
                .tree = start->tree,
                .instance = start->instance,
                .variables = start->variables,
                .starter = who->text,
                .uid = who->uid,
                .token = start->token,
                .taken = start->taken,
        };
        Run *run = runs_last(manager->runs, start->tree, start->instance);
        const LibraryEntry *entry = library_get(manager->library, start->tree);
        /* If the tree is not there, nobody knows which of its inputs are secret. */
        g_autofree char *inputs = start->token && entry && entry->definition
                                          ? manager_inputs(entry->definition, start->variables, NULL)
                                          : NULL;
        int r;

        *ret_begun = false;
        order.inputs = inputs;
        r = manager_check_order(manager, &order, ret_error);
        if (r >= 0 && start->token)
                r = run_check_token(start->token, ret_error);
        if (r >= 0 && start->token)
                r = manager_check_inputs(manager, start->tree, start->instance, start->token, inputs, ret_error);
        if (r < 0)
                return r;

        if (start->wait) {
                waiters_add(manager->waiters, start->tree, start->instance, false, who->pid);
                if (run && run_status(run) == STATUS_RUNNING)
                        run_tell_awaited(run);
        }
        r = start->token ? find_outcome(manager, start->tree, start->instance, start->token, ret_outcome, ret_error)
                         : -ENOENT;
        if (r != -ENOENT)
                return r;
        if (!start->attach || !run || run_status(run) != STATUS_RUNNING) {
                r = order_tree(manager, &order, &run, ret_error);
                /* Nothing else is wrong with the order, so it is worth a halt. */
                if (r == MANAGER_ALREADY_RUNNING && start->replace) {
                        g_clear_pointer(ret_error, g_free);
                        r = replace(manager, run, &order, who, &run, ret_error);
                }
                if (r < 0)
                        return r;
                *ret_begun = true;
        }

        *ret_outcome = manager_outcome_of(manager, run);
        return 0;
}

/* The tree that starts a unit for on_finished. A btd without StartUnit has none. */
static int find_follower(Manager *manager, const char *tree, Definition **ret_definition, char **ret_error) {
        static const char text[] = "{ \"btd\": 1, \"description\": \"Starts a unit after a run\", "
                                   "\"inputs\": { \"" FOLLOWER_UNIT "\": \"string\" }, "
                                   "\"root\": { \"type\": \"StartUnit\", \"unit\": \"{" FOLLOWER_UNIT "}\" } }";
        const DefinitionSources sources = { .limits = &manager->limits };
        g_autoptr(Diagnostics) diagnostics = NULL;

        if (!g_str_equal(tree, FOLLOWER_TREE))
                return find_definition(manager, tree, ret_definition, ret_error);

        if (!manager->unit_starter) {
                int r;

                diagnostics = diagnostics_new(FOLLOWER_TREE);
                r = definition_load_text(text, strlen(text), manager->tables, &sources, diagnostics,
                                         &manager->unit_starter);
                if (r < 0) {
                        *ret_error = diagnostics_format_error(diagnostics);
                        return r;
                }
        }
        *ret_definition = manager->unit_starter;
        return 0;
}

/* As for a restart, whatever stands in its way may pass. A tree that is running needs no second start. */
static bool on_follower_start(const Order *order, char **ret_run, char **ret_why, void *userdata) {
        g_autofree char *error = NULL;
        g_auto(RunSummary) outcome = {};
        Definition *definition;
        Manager *manager = userdata;
        Run *run = NULL;
        int r;

        r = manager_check_order(manager, order, &error);
        if (r >= 0) {
                r = find_outcome(manager, order->tree, order->instance, order->token, &outcome, &error);
                if (r >= 0) {
                        *ret_run = g_strdup(outcome.run);
                        return true;
                }
        }
        if (r == -ENOENT)
                r = find_follower(manager, order->tree, &definition, &error);
        if (r >= 0)
                r = manager_carry_out(manager, definition, order, &run, &error);
        if (r >= 0)
                *ret_run = g_strdup(run_id(run));
        else if (r == MANAGER_ALREADY_RUNNING)
                log_message(LOG_NOTICE, &(LogSubject){ .tree = order->tree }, "%s: %s", order->starter, error);
        else if (r != MANAGER_NOT_YET && r != MANAGER_STOPPING)
                *ret_why = g_steal_pointer(&error);
        return r >= 0 || r == MANAGER_ALREADY_RUNNING;
}

static bool is_follower_live(const char *tree, const char *instance, const char *token, void *userdata) {
        const Manager *manager = userdata;
        const Run *run = runs_last(manager->runs, tree, instance);

        return (run && run_status(run) == STATUS_RUNNING && g_str_equal(run_token(run), token)) ||
               restarts_find_due(manager->restarts, tree, instance, token);
}

static void on_follower_changed(const char *id, const char *tree, void *userdata) {
        Manager *manager = userdata;
        Run *run = runs_get(manager->runs, id);

        if (run)
                TELL(manager, restart_changed, run);
        TELL(manager, waiting_changed, tree);
}

const FollowersCallbacks manager_followers_callbacks = {
        .start = on_follower_start,
        .is_live = is_follower_live,
        .changed = on_follower_changed,
};
