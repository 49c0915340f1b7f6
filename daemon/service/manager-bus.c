/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Implements the interface org.btd1.Manager: lists trees and runs, starts, halts, reloads. */

#include <assert.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/excerpt.h"
#include "basic/log.h"
#include "definition/sources.h"
#include "service/arguments.h"
#include "service/errors.h"
#include "service/events-bus.h"
#include "service/history-bus.h"
#include "service/manager-bus.h"
#include "service/metrics-bus.h"
#include "service/object-path.h"
#include "service/property.h"
#include "service/run-bus.h"
#include "service/tree-bus.h"
#include "service/variables-bus.h"

static int start_tree(sd_bus_message *message, const Caller *who, void *userdata, sd_bus_error *ret_error) {
        const char *tree;
        int r = sd_bus_message_read(message, "s", &tree);

        return r < 0 ? r : tree_bus_start(userdata, message, tree, who, ret_error);
}

static int retry_tree(sd_bus_message *message, const Caller *who, void *userdata, sd_bus_error *ret_error) {
        const char *tree;
        int r = sd_bus_message_read(message, "s", &tree);

        return r < 0 ? r : tree_bus_retry(userdata, message, tree, ret_error);
}

static void on_text_started(const RunSummary *outcome, bool begun, int r, const char *text, void *userdata) {
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        Operation *operation = userdata;

        r = outcome ? tree_bus_reply_started(operation_message(operation), outcome, begun)
                    : error_from_manager(&error, r, text);
        operation_end(operation, r, &error);
}

static int start_text(Operation *operation, sd_bus_message *message, const Caller *who, void *userdata,
                      sd_bus_error *ret_error) {
        g_autoptr(json_object) variables = NULL;
        TreeStart wanted = {};
        const CallOption options[] = { { "token", "s", &wanted.token }, {} };
        g_autofree char *error = NULL;
        TextStart *start;
        const char *text;
        int r;

        r = sd_bus_message_read(message, "ss", &wanted.tree, &text);
        if (r >= 0)
                r = variables_bus_read(message, &published_manager(userdata)->limits, &variables, ret_error);
        if (r >= 0)
                r = arguments_read_options(message, options, ret_error);
        if (r < 0)
                return r;
        wanted.variables = variables;
        r = manager_start_text(published_manager(userdata), &wanted, text, who, on_text_started, operation, &start,
                               &error);
        if (r < 0)
                return error_from_manager(ret_error, r, error);

        operation_waits(operation, start, (GDestroyNotify) text_start_drop);
        return 0;
}

static int halt_tree(sd_bus_message *message, const Caller *who, void *userdata, sd_bus_error *ret_error) {
        const char *tree;
        int r = sd_bus_message_read(message, "s", &tree);

        return r < 0 ? r : tree_bus_halt(userdata, message, tree, who, ret_error);
}

static int halt_run(sd_bus_message *message, const Caller *who, void *userdata, sd_bus_error *ret_error) {
        g_autofree char *error = NULL;
        const char *id;
        int r;

        r = sd_bus_message_read(message, "s", &id);
        if (r >= 0)
                r = arguments_read_options(message, &(CallOption){}, ret_error);
        if (r < 0)
                return r;
        r = manager_halt_run(published_manager(userdata), id, who, &error);
        if (r < 0)
                return error_from_manager(ret_error, r, error);

        return sd_bus_reply_method_return(message, NULL);
}

static int read_kept_place(sd_bus_message *message, const char **ret_instance, sd_bus_error *ret_error) {
        *ret_instance = "";
        return arguments_read_options(message, (const CallOption[]){ { "instance", "s", ret_instance }, {} },
                                      ret_error);
}

static int append_texts(sd_bus_message *message, const GPtrArray *texts) {
        int r = sd_bus_message_open_container(message, 'a', "s");

        for (unsigned i = 0; r >= 0 && i < texts->len; i++)
                r = sd_bus_message_append(message, "s", g_ptr_array_index(texts, i));

        return r < 0 ? r : sd_bus_message_close_container(message);
}

static int reply_texts(sd_bus_message *message, const GPtrArray *messages) {
        g_autoptr(sd_bus_message) reply = NULL;
        int r;

        r = sd_bus_message_new_method_return(message, &reply);
        if (r >= 0)
                r = append_texts(reply, messages);

        return r < 0 ? r : sd_bus_message_send(reply);
}

static int forget_kept(sd_bus_message *message, const Caller *who, void *userdata, sd_bus_error *ret_error) {
        g_autoptr(GPtrArray) forgotten = NULL;
        g_autofree char *error = NULL;
        const char *tree, *instance;
        g_auto(GStrv) names = NULL;
        int r;

        r = sd_bus_message_read(message, "s", &tree);
        if (r >= 0)
                r = sd_bus_message_read_strv(message, &names);
        if (r >= 0)
                r = read_kept_place(message, &instance, ret_error);
        if (r < 0)
                return r;
        r = manager_forget_kept(published_manager(userdata), tree, instance,
                                names ? (const char *const *) names : (const char *const[]){ NULL }, who, &forgotten,
                                &error);
        if (r < 0)
                return error_from_manager(ret_error, r, error);

        return reply_texts(message, forgotten);
}

static int refuse_reload(sd_bus_error *ret_error) {
        return sd_bus_error_set(ret_error, ERROR_STOPPING, "btd is stopping and loads nothing any more");
}

static void on_reloaded(const GPtrArray *messages, void *userdata) {
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        Operation *operation = userdata;
        int r = messages ? reply_texts(operation_message(operation), messages) : refuse_reload(&error);

        operation_end(operation, r, &error);
}

static int reload(Operation *operation, sd_bus_message *message, const Caller *who, void *userdata,
                  sd_bus_error *ret_error) {
        Manager *manager = published_manager(userdata);
        int r = arguments_read_options(message, &(CallOption){}, ret_error);

        if (r < 0)
                return r;
        if (manager->stopping)
                return refuse_reload(ret_error);

        operation_waits(operation, manager_reload(manager, on_reloaded, operation),
                        (GDestroyNotify) manager_reload_drop);
        return 0;
}

/* Longer than the name of any tree or run. */
#define NAME_MAX_PEEKED 200u

/* Returns the first string argument without consuming it. A string that is too long to be a name is cut, and one that
 * sd-bus does not read, because of a character such as U+FFFE, is empty. */
static char *peek_name(sd_bus_message *message) {
        const char *name = NULL;

        (void) sd_bus_message_read(message, "s", &name);
        (void) sd_bus_message_rewind(message, true);
        return g_strndup(name ?: "", NAME_MAX_PEEKED);
}

static int method_start_text(sd_bus_message *message, void *userdata, sd_bus_error *ret_error) {
        return operation_start_long(((const Published *) userdata)->operations, message,
                                    (Request){ PERMISSION_LOAD, .tree = peek_name(message) }, start_text, ret_error);
}

static int method_halt_run(sd_bus_message *message, void *userdata, sd_bus_error *ret_error) {
        g_autofree char *id = peek_name(message);

        return published_authorize(userdata, message, run_bus_request(userdata, PERMISSION_HALT, id), halt_run,
                                   ret_error);
}

/* For methods that change something of the tree that they name. */
static int method_change_tree(sd_bus_message *message, void *userdata, sd_bus_error *ret_error) {
        static const Change changes[] = {
                { "StartTree", PERMISSION_START, start_tree },
                { "RetryTree", PERMISSION_START, retry_tree },
                { "HaltTree", PERMISSION_HALT, halt_tree },
                { "ForgetKept", PERMISSION_SET, forget_kept },
                {},
        };
        const Change *change = change_of(changes, message);

        return published_authorize(userdata, message, (Request){ change->permission, .tree = peek_name(message) },
                                   change->run, ret_error);
}

static int method_reload(sd_bus_message *message, void *userdata, sd_bus_error *ret_error) {
        return operation_start_long(((const Published *) userdata)->operations, message, (Request){ PERMISSION_RELOAD },
                                    reload, ret_error);
}

/* The bytes of the keys of a dictionary in a list, and of its numbers, about. */
#define RECORD_SIZE 300u
/* Bytes of a description in a list. The property of the tree has more of it. */
#define DESCRIPTION_MAX 1000u

static int begin_trees(Answer *answer, sd_bus_error *ret_error) {
        Manager *manager = published_manager(answer->userdata);
        g_autoptr(GPtrArray) entries = library_list(manager->library);

        answer->names = g_ptr_array_new_full(entries->len, g_free);
        for (unsigned i = 0; i < entries->len; i++)
                g_ptr_array_add(answer->names, g_strdup(((const LibraryEntry *) g_ptr_array_index(entries, i))->name));
        g_ptr_array_extend_and_steal(answer->names, manager_missing_trees(manager));
        return 0;
}

/* A tree without a file has no object. It waits to be started, or it was removed after the list was begun. */
static int append_missing_tree(Answer *answer, const char *name) {
        Manager *manager = published_manager(answer->userdata);
        g_autofree char *waiting = manager_describe_waiting(manager, name),
                        *autostart = manager_describe_autostart(manager, name);

        if (!manager_tree_waits(manager, name))
                return 0;

        answer->size += RECORD_SIZE + strlen(name) + answer_text_size(waiting);
        return sd_bus_message_append(answer->reply, "a{sv}", 5, "name", "s", name, "autostart", "b", autostart != NULL,
                                     "file_state", "s", "", "state", "s", "no file", "waiting", "s", waiting);
}

/* Skips trees that are gone since the list was begun. append_run() does the same. */
static int append_tree(Answer *answer, sd_bus_error *ret_error) {
        Manager *manager = published_manager(answer->userdata);
        const LibraryEntry *entry;
        g_autofree char *path = NULL, *waiting = NULL, *description = NULL;
        const Definition *definition;
        const char *name;
        int r;

        if (answer->next == answer->names->len)
                return 0;

        name = g_ptr_array_index(answer->names, answer->next++);
        entry = manager_tree(manager, name);
        if (!entry) {
                r = append_missing_tree(answer, name);
                return r < 0 ? r : 1;
        }

        definition = entry->definition;
        path = object_path_of_tree(entry->name);
        waiting = manager_describe_waiting(manager, entry->name);
        description = text_cut(definition ? definition_header(definition)->description ?: "" : "", DESCRIPTION_MAX);
        answer->size += RECORD_SIZE + 2 * strlen(path) + strlen(description) + answer_text_size(waiting);
        r = sd_bus_message_append(
                answer->reply, "a{sv}", 7, "name", "s", entry->name, "path", "o", path, "description", "s", description,
                "autostart", "b", definition && definition_header(definition)->autostart, "file_state", "s",
                definition_file_state(definition), "state", "s", tree_bus_state(entry), "waiting", "s", waiting);
        return r < 0 ? r : 1;
}

ANSWER_METHOD(list_trees, .array = "a{sv}", .instead = "GetTree", .begin = begin_trees, .append = append_tree)

static int begin_runs(Answer *answer, sd_bus_error *ret_error) {
        const GPtrArray *runs = runs_list(published_manager(answer->userdata)->runs);

        answer->names = g_ptr_array_new_full(runs->len, g_free);
        for (unsigned i = 0; i < runs->len; i++)
                g_ptr_array_add(answer->names, g_strdup(run_id(g_ptr_array_index(runs, i))));
        return 0;
}

static int append_run(Answer *answer, sd_bus_error *ret_error) {
        Manager *manager = published_manager(answer->userdata);
        g_autofree char *path = NULL, *restart = NULL;
        const Run *run;
        int r;

        if (answer->next == answer->names->len)
                return 0;

        run = runs_get(manager->runs, g_ptr_array_index(answer->names, answer->next++));
        if (!run)
                return 1;

        path = object_path_of_run(run_id(run));
        restart = manager_describe_restart(manager, run);
        answer->size += RECORD_SIZE + 3 * strlen(path) + answer_text_size(run_cause(run)) + answer_text_size(restart);
        r = sd_bus_message_append(answer->reply, "a{sv}", 11, "id", "s", run_id(run), "path", "o", path, "tree", "s",
                                  run_tree(run), "instance", "s", run_instance(run), "token", "s", run_token(run),
                                  "status", "s", run_status_text(run), "started", "t", run_started(run), "ready", "t",
                                  run_ready(run), "finished", "t", run_finished(run), "cause", "s", run_cause(run),
                                  "restart", "s", restart);
        return r < 0 ? r : 1;
}

ANSWER_METHOD(list_runs, .array = "a{sv}", .instead = "GetRun", .begin = begin_runs, .append = append_run)

/* The bytes of what a user uses, about. */
#define USER_SIZE 600u

static int begin_users(Answer *answer, sd_bus_error *ret_error) {
        int r = arguments_read_options(answer->question, &(CallOption){}, ret_error);

        if (r >= 0)
                answer->data = manager_list_users(published_manager(answer->userdata));
        return r;
}

/* An entry with a dictionary of numbers: what the user uses, or the shares. */
static int append_numbers(sd_bus_message *message, const char *key, const User *user, bool shares) {
        int r = sd_bus_message_open_container(message, 'e', "sv");

        if (r >= 0)
                r = sd_bus_message_append(message, "s", key);
        if (r >= 0)
                r = sd_bus_message_open_container(message, 'v', "a{st}");
        if (r >= 0)
                r = sd_bus_message_open_container(message, 'a', "{st}");
        for (Usage use = 0; r >= 0 && use < USE_MAX_; use++) {
                uint64_t share = user_share(user, use);

                if (!shares || share != UINT64_MAX)
                        r = sd_bus_message_append(message, "{st}", use_names[use], shares ? share : user->used[use]);
        }
        for (unsigned i = 0; r >= 0 && i < 3; i++)
                r = sd_bus_message_close_container(message);
        return r;
}

static int append_user(Answer *answer, sd_bus_error *ret_error) {
        const GPtrArray *users = answer->data;
        const User *user = answer->next < users->len ? users->pdata[answer->next++] : NULL;
        int r;

        if (!user)
                return 0;

        answer->size += USER_SIZE;
        r = sd_bus_message_open_container(answer->reply, 'a', "{sv}");
        if (r >= 0)
                r = sd_bus_message_append(answer->reply, "{sv}{sv}", "uid", "u", user->uid, "refused", "t",
                                          user->refused);
        if (r >= 0)
                r = append_numbers(answer->reply, "used", user, false);
        if (r >= 0)
                r = append_numbers(answer->reply, "shares", user, true);
        if (r >= 0)
                r = sd_bus_message_close_container(answer->reply);
        return r < 0 ? r : 1;
}

static void end_users(Answer *answer) {
        g_ptr_array_unref(answer->data);
}

ANSWER_METHOD(list_users, .array = "a{sv}", .instead = "GetMetrics", .begin = begin_users, .append = append_user,
              .end = end_users)

static int method_get_tree(sd_bus_message *message, void *userdata, sd_bus_error *ret_error) {
        g_autofree char *error = NULL, *path = NULL;
        const LibraryEntry *entry;
        const char *name;
        int r;

        r = error_from_message(ret_error, sd_bus_message_read(message, "s", &name));
        if (r < 0)
                return r;
        r = manager_find_tree(published_manager(userdata), name, &entry, &error);
        if (r < 0)
                return error_from_manager(ret_error, r, error);

        path = object_path_of_tree(entry->name);
        return sd_bus_reply_method_return(message, "o", path);
}

/* Answers a question about a name. One that is too long to be kept is answered at once: it cannot name anything. */
static int answer_about_name(const Published *published, sd_bus_message *message, const AnswerKind *kind,
                             sd_bus_error *ret_error) {
        Answer answer = { .question = message, .userdata = (void *) published };
        g_autoptr(sd_bus_message) reply = NULL;
        int r;

        if (!arguments_are_long(message))
                return published_answer(published, message, kind, ret_error);

        r = sd_bus_message_new_method_return(message, &reply);
        answer.reply = reply;
        if (r >= 0)
                r = kind->append(&answer, ret_error);
        if (r == ANSWER_WAITS)
                return published_answer(published, message, kind, ret_error);
        return r < 0 ? r : sd_bus_message_send(reply);
}

/* As ANSWER_METHOD, for a question about a name. */
#define NAME_METHOD(name, ...)                                                                                         \
        static int method_##name(sd_bus_message *message, void *userdata, sd_bus_error *ret_error) {                   \
                static const AnswerKind kind = { __VA_ARGS__ };                                                        \
                                                                                                                       \
                return answer_about_name(userdata, message, &kind, ret_error);                                         \
        }

static int append_run_path(Answer *answer, sd_bus_error *ret_error) {
        g_autofree char *error = NULL, *path = NULL;
        const char *id;
        Run *run;
        int r;

        r = sd_bus_message_read(answer->question, "s", &id);
        if (r < 0)
                return r;
        r = manager_find_run(published_manager(answer->userdata), id, &run, &error);
        if (r < 0)
                return error_from_manager(ret_error, r, error);

        path = object_path_of_run(run_id(run));
        return MIN(sd_bus_message_append(answer->reply, "o", path), 0);
}

NAME_METHOD(get_run, .append = append_run_path)

static int begin_kept(Answer *answer, sd_bus_error *ret_error) {
        g_autoptr(json_object) values = NULL;
        g_autofree char *error = NULL;
        const char *tree, *instance;
        int r;

        r = sd_bus_message_read(answer->question, "s", &tree);
        if (r >= 0)
                r = read_kept_place(answer->question, &instance, ret_error);
        if (r < 0)
                return r;
        r = manager_get_kept(published_manager(answer->userdata), tree, instance, &values, &error);
        if (r < 0)
                return error_from_manager(ret_error, r, error);

        answer->writer = variable_writer_new(values, true);
        return 0;
}

static int method_get_kept(sd_bus_message *message, void *userdata, sd_bus_error *ret_error) {
        static const AnswerKind kind = { .begin = begin_kept, .append = variables_bus_append };
        Answer refused = { .question = message, .userdata = userdata };
        int r;

        if (!arguments_are_long(message))
                return published_answer(userdata, message, &kind, ret_error);

        r = begin_kept(&refused, ret_error);
        assert(r < 0);
        return r;
}

static int append_outcome(Answer *answer, const RunSummary *outcome) {
        g_autofree char *path = object_path_of_run(outcome->run);
        sd_bus_message *message = answer->reply;
        int r;

        r = sd_bus_message_open_container(message, 'a', "{sv}");
        if (r >= 0)
                r = sd_bus_message_append(message, "{sv}{sv}{sv}{sv}{sv}{sv}", "id", "s", outcome->run, "path", "o",
                                          path, "status", "s", outcome->status, "finished", "t", outcome->finished,
                                          "cause", "s", outcome->cause, "restarting", "b", (int) outcome->restarting);
        if (r >= 0 && outcome->outputs) {
                answer->size += blackboard_bytes_of(outcome->outputs);
                r = variables_bus_append_entry(message, "outputs", outcome->outputs);
        }
        if (r >= 0 && outcome->n_more_outputs > 0)
                r = sd_bus_message_append(message, "{sv}", "more_outputs", "u", outcome->n_more_outputs);
        answer->size += answer_text_size(outcome->cause);

        return r < 0 ? r : sd_bus_message_close_container(message);
}

/* Finds the run that has the token. Returns what AnswerKind.append() returns. */
static int find_outcome(Answer *answer, RunSummary *ret_outcome, sd_bus_error *ret_error) {
        const char *tree, *token, *instance = "";
        const CallOption options[] = { { "instance", "s", &instance }, {} };
        g_autofree char *error = NULL;
        int r;

        (void) sd_bus_message_rewind(answer->question, true);
        r = sd_bus_message_read(answer->question, "ss", &tree, &token);
        if (r >= 0)
                r = arguments_read_options(answer->question, options, ret_error);
        if (r < 0)
                return r;

        r = manager_find_outcome(published_manager(answer->userdata), tree, instance, token, ret_outcome, &error);
        if (r == MANAGER_NOT_YET)
                return ANSWER_WAITS;
        return r < 0 ? error_from_manager(ret_error, r, error) : 0;
}

static int append_found_outcome(Answer *answer, sd_bus_error *ret_error) {
        g_auto(RunSummary) outcome = {};
        int r = find_outcome(answer, &outcome, ret_error);

        return r != 0 ? r : append_outcome(answer, &outcome);
}

/* The end of a run that is still listed, and running, is not there yet. */
static bool has_ended(const Answer *answer, const RunSummary *outcome) {
        const Run *run = runs_get(published_manager(answer->userdata)->runs, outcome->run);

        return run ? run_finished(run) > 0 : outcome->status != NULL;
}

static int append_end(Answer *answer, sd_bus_error *ret_error) {
        g_auto(RunSummary) outcome = {};
        int r = find_outcome(answer, &outcome, ret_error);

        if (r != 0)
                return r;

        return outcome.restarting || !has_ended(answer, &outcome) ? ANSWER_WAITS : append_outcome(answer, &outcome);
}

/* A run that has just finished may have been replaced by the next one already, and btd may have no history. */
static int append_end_of_run(Answer *answer, sd_bus_error *ret_error) {
        const Published *published = answer->userdata;
        g_auto(RunSummary) outcome = {};
        g_autofree char *error = NULL;
        const char *id;
        int r;

        (void) sd_bus_message_rewind(answer->question, true);
        r = sd_bus_message_read(answer->question, "s", &id);
        if (r >= 0)
                r = arguments_read_options(answer->question, &(CallOption){}, ret_error);
        if (r < 0)
                return r;

        r = manager_find_outcome_of_run(published->manager, id, &outcome, &error);
        if (r == MANAGER_NO_SUCH_RUN && finished_runs_find(published->finished, id, &outcome))
                r = 0;
        if (r == MANAGER_NOT_YET || (r == 0 && !has_ended(answer, &outcome)))
                return ANSWER_WAITS;
        return r < 0 ? error_from_manager(ret_error, r, error) : append_outcome(answer, &outcome);
}

NAME_METHOD(get_outcome, .append = append_found_outcome)

NAME_METHOD(wait, .append = append_end, .is_wait = true)

NAME_METHOD(wait_run, .append = append_end_of_run, .is_wait = true)

static int method_subscribe(sd_bus_message *message, void *userdata, sd_bus_error *ret_error) {
        return subscribers_add(((const Published *) userdata)->subscribers, &(Subscription){ SUBSCRIBED_NODES },
                               message, ret_error);
}

static int method_subscribe_events(sd_bus_message *message, void *userdata, sd_bus_error *ret_error) {
        return subscribers_add(((const Published *) userdata)->subscribers, &(Subscription){ SUBSCRIBED_EVENTS },
                               message, ret_error);
}

/* Without nodes and events, both are meant. */
static int read_subscription(sd_bus_message *message, Subscription *ret_subscription, sd_bus_error *ret_error) {
        Subscription read = {};
        int nodes = false, events = false, r;
        const CallOption options[] = { { "nodes", "b", &nodes },
                                       { "events", "b", &events },
                                       { "tree", "s", &read.tree },
                                       { "run", "s", &read.run },
                                       {} };

        r = arguments_read_options(message, options, ret_error);
        if (r < 0)
                return r;
        if (read.tree && read.run)
                return sd_bus_error_set(ret_error, ERROR_INVALID_ARGUMENT,
                                        "'tree' and 'run' exclude each other; give one of them");
        /* btd keeps the name. */
        if (read.tree && !tree_name_valid(read.tree))
                return sd_bus_error_setf(ret_error, ERROR_INVALID_ARGUMENT,
                                         "the name of a tree consists of letters, digits, '_' and '-', %u at most",
                                         TREE_NAME_MAX);

        read.what = (nodes || !events ? SUBSCRIBED_NODES : 0) | (events || !nodes ? SUBSCRIBED_EVENTS : 0);
        *ret_subscription = read;
        return 0;
}

static int method_subscribe_to(sd_bus_message *message, void *userdata, sd_bus_error *ret_error) {
        const Published *published = userdata;
        g_autofree char *error = NULL;
        Subscription wanted = {};
        Run *run;
        int r;

        r = read_subscription(message, &wanted, ret_error);
        if (r < 0)
                return r;
        /* A tree may come later. */
        r = wanted.run ? manager_find_run(published->manager, wanted.run, &run, &error) : 0;
        if (r < 0)
                return error_from_manager(ret_error, r, error);

        return subscribers_add(published->subscribers, &wanted, message, ret_error);
}

static int method_unsubscribe_from(sd_bus_message *message, void *userdata, sd_bus_error *ret_error) {
        Subscription unwanted = {};
        int r = read_subscription(message, &unwanted, ret_error);

        if (r < 0)
                return r;
        subscribers_end(((const Published *) userdata)->subscribers, sd_bus_message_get_sender(message), &unwanted);
        return sd_bus_reply_method_return(message, NULL);
}

static int method_unsubscribe(sd_bus_message *message, void *userdata, sd_bus_error *ret_error) {
        subscribers_remove(((const Published *) userdata)->subscribers, sd_bus_message_get_sender(message));
        return sd_bus_reply_method_return(message, NULL);
}

#define MANAGER_PROPERTY(name, type, value)                                                                            \
        PROPERTY_GET(name, type, G_GNUC_UNUSED const Published *published = userdata, value)

MANAGER_PROPERTY(version, "s", published->info->version)
MANAGER_PROPERTY(mode, "s", published->info->mode)
MANAGER_PROPERTY(n_trees, "u", library_count(published->manager->library))
MANAGER_PROPERTY(n_running, "u", runs_n_running(published->manager->runs))
MANAGER_PROPERTY(status, "s", published->manager->stopping ? "stopping" : published->open ? "running" : "starting")
MANAGER_PROPERTY(need_reload, "b", (int) library_needs_reload(published->manager->library, NULL))
MANAGER_PROPERTY(lost_log_messages, "t", log_n_dropped())

PROPERTY_GETTER(tree_directories) {
        return sd_bus_message_append_strv(reply, (char **) ((const Published *) userdata)->info->tree_path);
}

PROPERTY_GETTER(disk) {
        g_autofree char *late = manager_disk(published_manager(userdata));

        return sd_bus_message_append(reply, "s", late);
}

static const Property properties[] = {
        { "Version", "s", property_get_version, CHANGES_NEVER },
        { "Mode", "s", property_get_mode, CHANGES_NEVER },
        { "TreeDirectories", "as", property_get_tree_directories, CHANGES_NEVER },
        { "NTrees", "u", property_get_n_trees, ON_TREE_ADDED | ON_TREE_REMOVED },
        { "NRunning", "u", property_get_n_running, ON_RUN_ADDED | ON_RUN_FINISHED },
        { "Status", "s", property_get_status, ON_STATUS },
        { "Disk", "s", property_get_disk, ON_DISK },
        { "NeedReload", "b", property_get_need_reload, CHANGES_SILENTLY },
        { "LostLogMessages", "t", property_get_lost_log_messages, CHANGES_SILENTLY },
        {},
};

static const sd_bus_vtable methods[] = {
        SD_BUS_VTABLE_START(0),

        SD_BUS_METHOD_WITH_ARGS("StartTree", SD_BUS_ARGS("s", tree, "a{sv}", variables, "a{sv}", options),
                                SD_BUS_RESULT("s", id, "o", run, "a{sv}", details), method_change_tree,
                                SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_ARGS("RetryTree",
                                SD_BUS_ARGS("s", tree, "a{sv}", variables, "s", run, "s", hash, "au", nodes, "a{sv}",
                                            state, "a{sv}", options),
                                SD_BUS_RESULT("s", id, "o", run, "a{sv}", details), method_change_tree,
                                SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_ARGS("StartText", SD_BUS_ARGS("s", name, "s", text, "a{sv}", variables, "a{sv}", options),
                                SD_BUS_RESULT("s", id, "o", run, "a{sv}", details), method_start_text,
                                SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_ARGS("HaltTree", SD_BUS_ARGS("s", tree, "a{sv}", options),
                                SD_BUS_RESULT("as", halted, "u", cancelled), method_change_tree,
                                SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_ARGS("HaltRun", SD_BUS_ARGS("s", id, "a{sv}", options), SD_BUS_NO_RESULT, method_halt_run,
                                SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_ARGS("Reload", SD_BUS_ARGS("a{sv}", options), SD_BUS_RESULT("as", errors), method_reload,
                                SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_ARGS("ListTrees", SD_BUS_NO_ARGS, SD_BUS_RESULT("aa{sv}", trees), method_list_trees,
                                SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_ARGS("ListRuns", SD_BUS_NO_ARGS, SD_BUS_RESULT("aa{sv}", runs), method_list_runs,
                                SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_ARGS("GetTree", SD_BUS_ARGS("s", tree), SD_BUS_RESULT("o", path), method_get_tree,
                                SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_ARGS("GetRun", SD_BUS_ARGS("s", id), SD_BUS_RESULT("o", path), method_get_run,
                                SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_ARGS("GetOutcome", SD_BUS_ARGS("s", tree, "s", token, "a{sv}", options),
                                SD_BUS_RESULT("a{sv}", outcome), method_get_outcome, SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_ARGS("Wait", SD_BUS_ARGS("s", tree, "s", token, "a{sv}", options),
                                SD_BUS_RESULT("a{sv}", outcome), method_wait, SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_ARGS("WaitRun", SD_BUS_ARGS("s", id, "a{sv}", options), SD_BUS_RESULT("a{sv}", outcome),
                                method_wait_run, SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_ARGS("ListHistory", SD_BUS_ARGS("a{sv}", options), SD_BUS_RESULT("aa{sv}", runs),
                                history_bus_list, SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_ARGS("GetRecord", SD_BUS_ARGS("s", id, "t", offset), SD_BUS_RESULT("ay", part),
                                history_bus_get_record, SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_ARGS("GetEvents", SD_BUS_ARGS("s", id, "t", after), SD_BUS_RESULT("aa{sv}", events),
                                events_bus_get, SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_ARGS("GetNodes", SD_BUS_ARGS("s", id, "t", event, "a{sv}", options),
                                SD_BUS_RESULT("a" RUN_NODE_SIGNATURE, nodes, "a{sv}", moment), events_bus_get_nodes,
                                SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_ARGS("GetVariables", SD_BUS_ARGS("s", id, "t", event, "a{sv}", options),
                                SD_BUS_RESULT("a{sv}", variables), events_bus_get_variables,
                                SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_ARGS("GetKept", SD_BUS_ARGS("s", tree, "a{sv}", options), SD_BUS_RESULT("a{sv}", variables),
                                method_get_kept, SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_ARGS("ForgetKept", SD_BUS_ARGS("s", tree, "as", names, "a{sv}", options),
                                SD_BUS_RESULT("as", forgotten), method_change_tree, SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_ARGS("GetMetrics", SD_BUS_NO_ARGS, SD_BUS_RESULT("s", text), metrics_bus_get,
                                SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_ARGS("ListUsers", SD_BUS_ARGS("a{sv}", options), SD_BUS_RESULT("aa{sv}", users),
                                method_list_users, SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_ARGS("Subscribe", SD_BUS_NO_ARGS, SD_BUS_NO_RESULT, method_subscribe,
                                SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_ARGS("SubscribeEvents", SD_BUS_NO_ARGS, SD_BUS_NO_RESULT, method_subscribe_events,
                                SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_ARGS("SubscribeTo", SD_BUS_ARGS("a{sv}", options), SD_BUS_NO_RESULT, method_subscribe_to,
                                SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_ARGS("UnsubscribeFrom", SD_BUS_ARGS("a{sv}", options), SD_BUS_NO_RESULT,
                                method_unsubscribe_from, SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_ARGS("Unsubscribe", SD_BUS_NO_ARGS, SD_BUS_NO_RESULT, method_unsubscribe,
                                SD_BUS_VTABLE_UNPRIVILEGED),

        SD_BUS_SIGNAL_WITH_ARGS("RunNew", SD_BUS_ARGS("s", id, "o", run), 0),
        SD_BUS_SIGNAL_WITH_ARGS("RunReady", SD_BUS_ARGS("s", id, "o", run), 0),
        SD_BUS_SIGNAL_WITH_ARGS("RunFinished", SD_BUS_ARGS("s", id, "o", run, "s", status, "s", cause), 0),
        SD_BUS_SIGNAL_WITH_ARGS("RestartDropped", SD_BUS_ARGS("s", id, "s", tree, "s", instance), 0),
        SD_BUS_SIGNAL_WITH_ARGS("Reloading", SD_BUS_NO_ARGS, 0),
        SD_BUS_SIGNAL_WITH_ARGS("Reloaded", SD_BUS_ARGS("as", errors), 0),

        SD_BUS_VTABLE_END,
};

const ObjectKind manager_kind = {
        .interface = MANAGER_INTERFACE,
        .properties = properties,
        .methods = methods,
};

void manager_bus_emit(sd_bus *bus, const char *member, const char *types, ...) {
        va_list values;
        int r;

        va_start(values, types);
        r = sd_bus_emit_signalv(bus, SERVICE_PATH, MANAGER_INTERFACE, member, types, values);
        va_end(values);
        if (r < 0)
                log_debug("the signal %s could not be sent: %s", member, g_strerror(-r));
}

void manager_bus_emit_reloaded(sd_bus *bus, const GPtrArray *messages) {
        g_autoptr(sd_bus_message) signal = NULL;
        int r;

        r = sd_bus_message_new_signal(bus, &signal, SERVICE_PATH, MANAGER_INTERFACE, "Reloaded");
        if (r >= 0)
                r = append_texts(signal, messages);
        if (r >= 0)
                r = sd_bus_send(bus, signal, NULL);
        if (r < 0)
                log_debug("the signal Reloaded could not be sent: %s", g_strerror(-r));
}
