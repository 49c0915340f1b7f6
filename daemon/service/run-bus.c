/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Implements the interface org.btd1.Run: the nodes of a run, its variables and causes, and its control by hand. Methods
 * that change a run are operations, so the caller is checked first. */

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/excerpt.h"
#include "basic/log.h"
#include "run/events.h"
#include "service/arguments.h"
#include "service/cause-bus.h"
#include "service/errors.h"
#include "service/object-path.h"
#include "service/property.h"
#include "service/run-bus.h"
#include "service/tree-bus.h"
#include "service/variables-bus.h"

/* How many nodes one call of GetSomeNodes may ask for. */
#define SOME_NODES_MAX 1000u

#define IN_PARTS "GetNodesFrom"

static Run *run_at(void *userdata, const char *path) {
        g_autofree char *id = NULL;

        if (sd_bus_path_decode(path, RUN_PREFIX, &id) <= 0)
                return NULL;

        return runs_get(published_manager(userdata)->runs, id);
}

int run_bus_find(sd_bus *bus, const char *path, const char *interface, void *userdata, void **ret_found,
                 sd_bus_error *ret_error) {
        if (!run_at(userdata, path))
                return 0;

        *ret_found = userdata;
        return 1;
}

int run_bus_refuse_past(const Published *published, sd_bus_message *message) {
        g_autofree char *id = NULL, *error = NULL;
        Run *run;

        if (sd_bus_path_decode(sd_bus_message_get_path(message), RUN_PREFIX, &id) <= 0 ||
            !manager_is_past(published_manager(published), id) ||
            manager_find_run(published_manager(published), id, &run, &error) >= 0)
                return 0;

        (void) sd_bus_reply_method_errorf(message, SD_BUS_ERROR_UNKNOWN_OBJECT, "%s", error);
        return 1;
}

int run_bus_enumerate(sd_bus *bus, const char *prefix, void *userdata, char ***ret_paths, sd_bus_error *ret_error) {
        const GPtrArray *runs = runs_list(published_manager(userdata)->runs);
        char **paths = g_new0(char *, runs->len + 1);

        for (unsigned i = 0; i < runs->len; i++)
                paths[i] = object_path_of_run(run_id(g_ptr_array_index(runs, i)));

        *ret_paths = paths;
        return 0;
}

Request run_bus_request(const Published *published, Permission permission, const char *id) {
        const Run *run = runs_get(published_manager(published)->runs, id);

        return (Request){ .permission = permission, .tree = run ? g_strdup(run_tree(run)) : NULL, .run = g_strdup(id) };
}

/* The caller frees the result. */
static char *run_id_of(sd_bus_message *message) {
        char *id = NULL;
        int r = sd_bus_path_decode(sd_bus_message_get_path(message), RUN_PREFIX, &id);

        g_assert(r >= 0);
        return id;
}

static int reply(sd_bus_message *message, int r, const char *error, sd_bus_error *ret_error) {
        return r < 0 ? error_from_manager(ret_error, r, error) : sd_bus_reply_method_return(message, NULL);
}

static int halt(sd_bus_message *message, const Caller *who, void *userdata, sd_bus_error *ret_error) {
        g_autofree char *id = run_id_of(message), *error = NULL;
        int r = arguments_read_options(message, &(CallOption){}, ret_error);

        if (r < 0)
                return r;

        r = manager_halt_run(published_manager(userdata), id, who, &error);
        return reply(message, r, error, ret_error);
}

static int control(sd_bus_message *message, const Caller *who, void *userdata, sd_bus_error *ret_error) {
        const char *member = sd_bus_message_get_member(message);
        g_autofree char *id = run_id_of(message), *error = NULL;
        int r;

        if (g_str_equal(member, "Pause"))
                r = manager_pause(published_manager(userdata), id, who, &error);
        else if (g_str_equal(member, "Resume"))
                r = manager_resume(published_manager(userdata), id, who, &error);
        else {
                g_assert(g_str_equal(member, "Step"));
                r = manager_step(published_manager(userdata), id, who, &error);
        }
        return reply(message, r, error, ret_error);
}

static int set_breakpoint(sd_bus_message *message, const Caller *who, void *userdata, sd_bus_error *ret_error) {
        g_autofree char *id = run_id_of(message), *error = NULL;
        uint32_t node;
        int set, r;

        r = sd_bus_message_read(message, "ub", &node, &set);
        if (r < 0)
                return r;

        r = manager_set_breakpoint(published_manager(userdata), id, node, set, who, &error);
        return reply(message, r, error, ret_error);
}

static int force(sd_bus_message *message, const Caller *who, void *userdata, sd_bus_error *ret_error) {
        g_autofree char *id = run_id_of(message), *error = NULL;
        Status status = STATUS_SUCCESS;
        const char *word;
        uint32_t node;
        int r;

        r = sd_bus_message_read(message, "us", &node, &word);
        if (r < 0)
                return r;

        while (status <= STATUS_SKIPPED && !g_str_equal(status_to_string(status), word))
                status++;
        if (status > STATUS_SKIPPED) {
                g_autofree char *shown = excerpt(word, strlen(word));

                return sd_bus_error_setf(ret_error, ERROR_INVALID_ARGUMENT,
                                         "'%s' is not an outcome; give success, failure or skipped", shown);
        }

        r = manager_force(published_manager(userdata), id, node, status, who, &error);
        return reply(message, r, error, ret_error);
}

static int set_variables(sd_bus_message *message, const Caller *who, void *userdata, sd_bus_error *ret_error) {
        g_autofree char *id = run_id_of(message), *error = NULL;
        g_autoptr(json_object) values = NULL;
        int r;

        r = variables_bus_read(message, &published_manager(userdata)->limits, &values, ret_error);
        if (r < 0)
                return r;

        r = manager_set_variables(published_manager(userdata), id, values, who, &error);
        return reply(message, r, error, ret_error);
}

/* For methods that change a run. */
static int method_change(sd_bus_message *message, void *userdata, sd_bus_error *ret_error) {
        static const Change changes[] = {
                { "Halt", PERMISSION_HALT, halt },
                { "Pause", PERMISSION_CONTROL, control },
                { "Resume", PERMISSION_CONTROL, control },
                { "Step", PERMISSION_CONTROL, control },
                { "SetBreakpoint", PERMISSION_CONTROL, set_breakpoint },
                { "Force", PERMISSION_FORCE, force },
                { "SetVariables", PERMISSION_SET, set_variables },
                {},
        };
        const Change *change = change_of(changes, message);
        g_autofree char *id = NULL;

        if (sd_bus_path_decode(sd_bus_message_get_path(message), RUN_PREFIX, &id) <= 0)
                return -ENOENT;

        return published_authorize(userdata, message, run_bus_request(userdata, change->permission, id), change->run,
                                   ret_error);
}

int run_bus_append_node(sd_bus_message *message, const Tree *tree, NodeId node, const NodeReport *report,
                        const char *title) {
        const char *type = tree->nodes[node].type->name, *name = tree_node_name(tree, node);
        size_t size = NODE_SIZE_MIN + strlen(type) + strlen(name) + answer_text_size(title) +
                      answer_text_size(report->element) + answer_text_size(report->detail);
        int r = sd_bus_message_open_container(message, 'r', "uussstta{sv}");

        if (r >= 0)
                r = sd_bus_message_append(message, "uussstt", node, tree->nodes[node].parent, type, name, report->state,
                                          report->since, report->duration);
        if (r >= 0)
                r = sd_bus_message_open_container(message, 'a', "{sv}");
        if (r >= 0 && title)
                r = sd_bus_message_append(message, "{sv}", "title", "s", title);
        if (r >= 0 && report->element)
                r = sd_bus_message_append(message, "{sv}", "element", "s", report->element);
        if (r >= 0 && report->detail && *report->detail)
                r = sd_bus_message_append(message, "{sv}", "detail", "s", report->detail);
        if (r >= 0)
                r = sd_bus_message_close_container(message);
        if (r >= 0)
                r = sd_bus_message_close_container(message);
        return r < 0 ? r : (int) size;
}

/* title: NULL: none. */
static int append_node(sd_bus_message *message, const Run *run, NodeId node, const char *title) {
        NodeReport report;
        int r;

        run_node_report(run, node, &report);
        r = run_bus_append_node(message, definition_tree(run_definition(run)), node, &report, title);
        node_report_clear(&report);
        return r;
}

/* Titles never change, so they are not in NodesChanged. Elements do. */
static int append_titled_node(sd_bus_message *message, const Run *run, NodeId node) {
        g_autofree char *title = definition_title(run_definition(run), node);

        return append_node(message, run, node, title);
}

/* The run may have been removed since the call was made, or since the answer was begun. */
static int find_run(const Answer *answer, Run **ret_run, sd_bus_error *ret_error) {
        g_autofree char *error = NULL;
        int r = manager_find_run(published_manager(answer->userdata), answer->run, ret_run, &error);

        return r < 0 ? error_from_manager(ret_error, r, error) : 0;
}

static int begin(Answer *answer, sd_bus_error *ret_error) {
        Run *run;
        int r;

        if (sd_bus_path_decode(sd_bus_message_get_path(answer->question), RUN_PREFIX, &answer->run) <= 0)
                return -ENOENT;
        r = find_run(answer, &run, ret_error);
        if (r < 0)
                return r;

        answer->definition = definition_ref((Definition *) run_definition(run));
        return 0;
}

/* Appends the next node, with a function that returns the bytes that this takes. */
static int append_next(Answer *answer, int (*append)(sd_bus_message *message, const Run *run, NodeId node),
                       sd_bus_error *ret_error) {
        NodeId node = (NodeId) answer->next;
        Run *run;
        int r;

        if (node >= definition_tree(answer->definition)->n_nodes)
                return 0;

        answer->next++;
        r = find_run(answer, &run, ret_error);
        if (r >= 0)
                r = append(answer->reply, run, node);
        if (r < 0)
                return r;

        answer->size += (size_t) r;
        return 1;
}

static int append_next_node(Answer *answer, sd_bus_error *ret_error) {
        return append_next(answer, append_titled_node, ret_error);
}

/* Holds back signals about the nodes for this caller while the answer is made: the answer already contains an older
 * state of some nodes. */
static void hold_signals(const Answer *answer) {
        subscribers_hold(((const Published *) answer->userdata)->subscribers,
                         sd_bus_message_get_sender(answer->question), answer->run);
}

static int begin_nodes(Answer *answer, sd_bus_error *ret_error) {
        int r = begin(answer, ret_error);

        if (r < 0)
                return r;
        if (definition_tree(answer->definition)->n_nodes > ANSWER_SIZE_MAX / NODE_SIZE_MIN)
                return answer_refuse_size(answer, IN_PARTS, ret_error);

        hold_signals(answer);
        return 0;
}

static int begin_nodes_from(Answer *answer, sd_bus_error *ret_error) {
        int r = begin(answer, ret_error);

        if (r >= 0)
                hold_signals(answer);
        return r;
}

static void end_nodes(Answer *answer) {
        subscribers_release(((const Published *) answer->userdata)->subscribers);
}

ANSWER_METHOD(get_nodes, .array = RUN_NODE_SIGNATURE, .instead = IN_PARTS, .begin = begin_nodes,
              .append = append_next_node, .end = end_nodes)

ANSWER_METHOD(get_nodes_from, .array = RUN_NODE_SIGNATURE, .in_parts = true, .begin = begin_nodes_from,
              .append = append_next_node, .end = end_nodes)

static int refuse_node(uint32_t node, uint32_t n_nodes, sd_bus_error *ret_error) {
        return sd_bus_error_setf(ret_error, ERROR_INVALID_ARGUMENT,
                                 "there is no node %" PRIu32 "; the nodes are 0 to %" PRIu32, node, n_nodes - 1);
}

/* For views that show a part of a large run: so few nodes are answered at once. */
static int method_get_some_nodes(sd_bus_message *message, void *userdata, sd_bus_error *ret_error) {
        const Run *run = run_at(userdata, sd_bus_message_get_path(message));
        uint32_t n_nodes = definition_tree(run_definition(run))->n_nodes;
        g_autoptr(sd_bus_message) reply = NULL;
        const uint32_t *nodes;
        size_t size;
        int r;

        r = sd_bus_message_read_array(message, SD_BUS_TYPE_UINT32, (const void **) &nodes, &size);
        if (r < 0)
                return r;
        if (size / sizeof(*nodes) > SOME_NODES_MAX)
                return sd_bus_error_setf(ret_error, ERROR_INVALID_ARGUMENT,
                                         "these are %zu nodes, but the limit is %u; GetNodes returns all",
                                         size / sizeof(*nodes), SOME_NODES_MAX);

        r = sd_bus_message_new_method_return(message, &reply);
        if (r >= 0)
                r = sd_bus_message_open_container(reply, 'a', RUN_NODE_SIGNATURE);
        for (size_t i = 0; r >= 0 && i < size / sizeof(*nodes); i++)
                r = nodes[i] < n_nodes ? append_titled_node(reply, run, nodes[i])
                                       : refuse_node(nodes[i], n_nodes, ret_error);
        if (r >= 0)
                r = sd_bus_message_close_container(reply);
        return r < 0 ? r : sd_bus_message_send(reply);
}

static int begin_variables(Answer *answer, sd_bus_error *ret_error) {
        g_autoptr(json_object) variables = NULL;
        Run *run = NULL;
        int r = begin(answer, ret_error);

        if (r >= 0)
                r = find_run(answer, &run, ret_error);
        if (r < 0)
                return r;

        variables = blackboard_to_json(run_blackboard(run));
        answer->writer = variable_writer_new(variables, true);
        return 0;
}

ANSWER_METHOD(get_variables, .instead = "GetVariable", .begin = begin_variables, .append = variables_bus_append)

/* ret_value is borrowed. */
static int find_variable(sd_bus_message *message, void *userdata, json_object **ret_value, sd_bus_error *ret_error) {
        Run *run = run_at(userdata, sd_bus_message_get_path(message));
        const char *key;
        int r = run ? error_from_message(ret_error, sd_bus_message_read(message, "s", &key)) : -ENOENT;

        if (r < 0)
                return r;
        if (!blackboard_get(run_blackboard(run), key, ret_value)) {
                g_autofree char *shown = excerpt(key, strlen(key));

                return sd_bus_error_setf(ret_error, ERROR_NO_SUCH_VARIABLE, "%s has no variable '%s'", run_id(run),
                                         shown);
        }

        return sd_bus_message_rewind(message, true);
}

static int begin_variable(Answer *answer, sd_bus_error *ret_error) {
        json_object *value;
        int r = begin(answer, ret_error);

        if (r >= 0)
                r = find_variable(answer->question, answer->userdata, &value, ret_error);
        if (r >= 0)
                answer->writer = variable_writer_new(value, false);
        return r;
}

/* An unknown name is not queued, because it can be long. */
static int method_get_variable(sd_bus_message *message, void *userdata, sd_bus_error *ret_error) {
        static const AnswerKind kind = { .instead = "GetRecord",
                                         .begin = begin_variable,
                                         .append = variables_bus_append };
        json_object *value;
        int r = find_variable(message, userdata, &value, ret_error);

        return r < 0 ? r : published_answer(userdata, message, &kind, ret_error);
}

/* Defines the getter of a property: its value is an expression of the run. */
#define RUN_PROPERTY(name, type, value) PROPERTY_GET(name, type, const Run *run = run_at(userdata, path), value)

RUN_PROPERTY(id, "s", run_id(run))
RUN_PROPERTY(tree, "s", run_tree(run))
RUN_PROPERTY(instance, "s", run_instance(run))
RUN_PROPERTY(token, "s", run_token(run))
RUN_PROPERTY(started_by, "s", run_starter(run))
RUN_PROPERTY(owner, "u", run_caller(run))
RUN_PROPERTY(hash, "s", definition_hash(run_definition(run)))
RUN_PROPERTY(started, "t", run_started(run))
RUN_PROPERTY(started_monotonic, "t", run_time_monotonic(run, run_started(run)))
RUN_PROPERTY(ready, "t", run_ready(run))
RUN_PROPERTY(ready_monotonic, "t", run_time_monotonic(run, run_ready(run)))
RUN_PROPERTY(finished, "t", run_finished(run))
RUN_PROPERTY(finished_monotonic, "t", run_time_monotonic(run, run_finished(run)))
RUN_PROPERTY(status, "s", run_status_text(run))
RUN_PROPERTY(cause, "s", run_cause(run))
RUN_PROPERTY(last_event, "t", run_n_events(run))
RUN_PROPERTY(durable, "b", (int) run_is_durable(run))
RUN_PROPERTY(not_durable_reason, "s", run_not_durable(run))
RUN_PROPERTY(ticks, "t", run_counts(run)->ticks)
RUN_PROPERTY(changes, "t", run_counts(run)->inputs)
RUN_PROPERTY(action_starts, "t", run_counts(run)->action_starts)
RUN_PROPERTY(action_restarts, "t", run_counts(run)->action_restarts)

/* The tree of a text has no file, and is no object. */
PROPERTY_GETTER(tree_path) {
        const Run *run = run_at(userdata, path);
        g_autofree char *tree_path = object_path_of_tree(run_tree(run));

        return sd_bus_message_append(reply, "o", definition_file(run_definition(run), 0) ? tree_path : "/");
}

/* A run continues with the tree that it was started with. */
PROPERTY_GETTER(tree_changed) {
        const Run *run = run_at(userdata, path);
        const LibraryEntry *entry = manager_tree(published_manager(userdata), run_tree(run));
        bool changed = entry && entry->definition &&
                       strcmp(definition_hash(entry->definition), definition_hash(run_definition(run))) != 0;

        return sd_bus_message_append(reply, "b", changed);
}

PROPERTY_GETTER(restart) {
        g_autofree char *text = manager_describe_restart(published_manager(userdata), run_at(userdata, path));

        return sd_bus_message_append(reply, "s", text);
}

PROPERTY_GETTER(cause_chain) {
        return cause_bus_append_run(reply, run_at(userdata, path));
}

static int append_node_ids(sd_bus_message *message, const GArray *nodes) {
        return sd_bus_message_append_array(message, SD_BUS_TYPE_UINT32, nodes ? nodes->data : NULL,
                                           nodes ? nodes->len * sizeof(NodeId) : 0);
}

PROPERTY_GETTER(breakpoints) {
        return append_node_ids(reply, run_breakpoints(run_at(userdata, path)));
}

PROPERTY_GETTER(paused_before) {
        return append_node_ids(reply, run_stops(run_at(userdata, path)));
}

static int method_get_cause_chain(sd_bus_message *message, void *userdata, sd_bus_error *ret_error) {
        const Run *run = run_at(userdata, sd_bus_message_get_path(message));
        uint32_t n_nodes = definition_tree(run_definition(run))->n_nodes, node;
        g_autoptr(sd_bus_message) reply = NULL;
        int r;

        r = sd_bus_message_read(message, "u", &node);
        if (r < 0)
                return r;
        if (node >= n_nodes)
                return refuse_node(node, n_nodes, ret_error);

        r = sd_bus_message_new_method_return(message, &reply);
        if (r >= 0)
                r = cause_bus_append_node(reply, run, node);

        return r < 0 ? r : sd_bus_message_send(reply);
}

static int append_next_cause(Answer *answer, sd_bus_error *ret_error) {
        return append_next(answer, cause_bus_append_cause, ret_error);
}

ANSWER_METHOD(get_causes, .array = "a{sv}", .instead = "GetCausesFrom", .begin = begin, .append = append_next_cause)

ANSWER_METHOD(get_causes_from, .array = "a{sv}", .in_parts = true, .begin = begin, .append = append_next_cause)

/* ListRuns has its own list: append_run() in manager-bus.c. */
static const Property properties[] = {
        { "Id", "s", property_get_id, CHANGES_NEVER },
        { "Tree", "s", property_get_tree, CHANGES_NEVER },
        { "TreePath", "o", property_get_tree_path, CHANGES_NEVER },
        { "Instance", "s", property_get_instance, CHANGES_NEVER },
        { "Token", "s", property_get_token, CHANGES_NEVER },
        { "StartedBy", "s", property_get_started_by, CHANGES_NEVER },
        { "Owner", "u", property_get_owner, CHANGES_NEVER },
        { "Hash", "s", property_get_hash, CHANGES_NEVER },
        { "TreeChanged", "b", property_get_tree_changed, CHANGES_SILENTLY },
        { "Started", "t", property_get_started, CHANGES_NEVER },
        { "StartedMonotonic", "t", property_get_started_monotonic, CHANGES_NEVER },
        { "Ready", "t", property_get_ready, ON_RUN_READY | ON_RUN_FINISHED },
        { "ReadyMonotonic", "t", property_get_ready_monotonic, ON_RUN_READY | ON_RUN_FINISHED },
        { "Finished", "t", property_get_finished, ON_RUN_FINISHED },
        { "FinishedMonotonic", "t", property_get_finished_monotonic, ON_RUN_FINISHED },
        { "Status", "s", property_get_status, ON_RUN_STATE | ON_RUN_HALTING | ON_RUN_FINISHED },
        { "Cause", "s", property_get_cause, ON_RUN_HALTING | ON_RUN_FINISHED },
        /* The text contains the remaining time, so it changes all the time. */
        { "Restart", "s", property_get_restart, WITHOUT_VALUE | ON_RUN_FINISHED | ON_RESTART },
        { "CauseChain", "aa{sv}", property_get_cause_chain, ON_RUN_HALTING | ON_RUN_FINISHED },
        { "Breakpoints", "au", property_get_breakpoints, ON_RUN_STATE },
        { "PausedBefore", "au", property_get_paused_before, ON_RUN_STATE },
        { "LastEvent", "t", property_get_last_event, CHANGES_SILENTLY },
        { "Durable", "b", property_get_durable, ON_RUN_STATE },
        { "NotDurableReason", "s", property_get_not_durable_reason, ON_RUN_STATE },
        { "Ticks", "t", property_get_ticks, CHANGES_SILENTLY },
        { "Changes", "t", property_get_changes, CHANGES_SILENTLY },
        { "ActionStarts", "t", property_get_action_starts, CHANGES_SILENTLY },
        { "ActionRestarts", "t", property_get_action_restarts, CHANGES_SILENTLY },
        {},
};

static const sd_bus_vtable methods[] = {
        SD_BUS_VTABLE_START(0),

        SD_BUS_METHOD_WITH_ARGS("Halt", SD_BUS_ARGS("a{sv}", options), SD_BUS_NO_RESULT, method_change,
                                SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_ARGS("GetNodes", SD_BUS_NO_ARGS, SD_BUS_RESULT("a" RUN_NODE_SIGNATURE, nodes),
                                method_get_nodes, SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_ARGS("GetNodesFrom", SD_BUS_ARGS("u", first), SD_BUS_RESULT("a" RUN_NODE_SIGNATURE, nodes),
                                method_get_nodes_from, SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_ARGS("GetSomeNodes", SD_BUS_ARGS("au", indices),
                                SD_BUS_RESULT("a" RUN_NODE_SIGNATURE, nodes), method_get_some_nodes,
                                SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_ARGS("GetCauseChain", SD_BUS_ARGS("u", node), SD_BUS_RESULT("aa{sv}", chain),
                                method_get_cause_chain, SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_ARGS("GetCauses", SD_BUS_NO_ARGS, SD_BUS_RESULT("aa{sv}", causes), method_get_causes,
                                SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_ARGS("GetCausesFrom", SD_BUS_ARGS("u", first), SD_BUS_RESULT("aa{sv}", causes),
                                method_get_causes_from, SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_ARGS("GetVariables", SD_BUS_NO_ARGS, SD_BUS_RESULT("a{sv}", variables), method_get_variables,
                                SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_ARGS("GetVariable", SD_BUS_ARGS("s", name), SD_BUS_RESULT("v", value), method_get_variable,
                                SD_BUS_VTABLE_UNPRIVILEGED),

        SD_BUS_METHOD_WITH_ARGS("SetVariables", SD_BUS_ARGS("a{sv}", variables), SD_BUS_NO_RESULT, method_change,
                                SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_ARGS("Pause", SD_BUS_NO_ARGS, SD_BUS_NO_RESULT, method_change, SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_ARGS("Resume", SD_BUS_NO_ARGS, SD_BUS_NO_RESULT, method_change, SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_ARGS("Step", SD_BUS_NO_ARGS, SD_BUS_NO_RESULT, method_change, SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_ARGS("SetBreakpoint", SD_BUS_ARGS("u", node, "b", set), SD_BUS_NO_RESULT, method_change,
                                SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_ARGS("Force", SD_BUS_ARGS("u", node, "s", status), SD_BUS_NO_RESULT, method_change,
                                SD_BUS_VTABLE_UNPRIVILEGED),

        SD_BUS_SIGNAL_WITH_ARGS("NodesChanged", SD_BUS_ARGS("a" RUN_NODE_SIGNATURE, nodes), 0),
        SD_BUS_SIGNAL_WITH_ARGS("Events", SD_BUS_ARGS("t", last, "aa{sv}", events), 0),
        SD_BUS_SIGNAL_WITH_ARGS("Ended", SD_BUS_ARGS("s", status, "s", cause), 0),

        SD_BUS_VTABLE_END,
};

const ObjectKind run_kind = {
        .interface = RUN_INTERFACE,
        .properties = properties,
        .methods = methods,
};

static void check_emitted(const Run *run, int r) {
        if (r < 0)
                log_message(LOG_DEBUG, &(LogSubject){ .tree = run_tree(run), .run = run_id(run) },
                            "a signal could not be sent: %s", g_strerror(-r));
}

void run_bus_tell_nodes(sd_bus *bus, const char *destination, const Run *run, const GArray *nodes) {
        g_autofree char *path = object_path_of_run(run_id(run));
        g_autoptr(sd_bus_message) signal = NULL;
        int r;

        r = sd_bus_message_new_signal(bus, &signal, path, RUN_INTERFACE, "NodesChanged");
        if (r >= 0)
                r = sd_bus_message_set_destination(signal, destination);
        if (r >= 0)
                r = sd_bus_message_open_container(signal, 'a', RUN_NODE_SIGNATURE);
        for (unsigned i = 0; r >= 0 && i < nodes->len; i++)
                r = append_node(signal, run, g_array_index(nodes, NodeId, i), NULL);
        if (r >= 0)
                r = sd_bus_message_close_container(signal);
        if (r >= 0)
                r = sd_bus_send(bus, signal, NULL);
        check_emitted(run, r);
}

void run_bus_emit_finished(sd_bus *bus, const Run *run) {
        g_autofree char *path = object_path_of_run(run_id(run));

        check_emitted(
                run, sd_bus_emit_signal(bus, path, RUN_INTERFACE, "Ended", "ss", run_status_text(run), run_cause(run)));
}
