/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* How the bus sees a run: what became of its nodes, its variables, halting it. */

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/excerpt.h"
#include "basic/log.h"
#include "runtime/run-control.h"
#include "runtime/run-journal.h"
#include "service/cause-bus.h"
#include "service/errors.h"
#include "service/object-path.h"
#include "service/run-bus.h"
#include "service/run-control-bus.h"
#include "service/title-bus.h"
#include "service/variables-bus.h"

/* index, parent, type, name, status, since, duration, detail */
#define NODE_SIGNATURE "(uussstts)"

static Run *run_at(void *userdata, const char *path) {
        g_autofree char *id = NULL;

        if (sd_bus_path_decode(path, RUN_PREFIX, &id) <= 0)
                return NULL;

        return manager_run(published_manager(userdata), id);
}

int run_bus_find(sd_bus *bus, const char *path, const char *interface, void *userdata, void **ret_found,
                 sd_bus_error *ret_error) {
        if (!run_at(userdata, path))
                return 0;

        *ret_found = userdata;
        return 1;
}

int run_bus_enumerate(sd_bus *bus, const char *prefix, void *userdata, char ***ret_paths, sd_bus_error *ret_error) {
        const GPtrArray *runs = manager_runs(published_manager(userdata));
        char **paths = g_new0(char *, runs->len + 1);

        for (unsigned i = 0; i < runs->len; i++)
                paths[i] = object_path_of_run(run_id(g_ptr_array_index(runs, i)));

        *ret_paths = paths;
        return 0;
}

Deed run_bus_deed(const Published *published, Permission permission, const char *id) {
        const Run *run = manager_run(published_manager(published), id);

        return (Deed){ .permission = permission, .tree = run ? g_strdup(run_tree(run)) : NULL, .run = g_strdup(id) };
}

int run_bus_authorize(const Published *published, sd_bus_message *message, Permission permission,
                      OperationRun operation, sd_bus_error *ret_error) {
        g_autofree char *id = NULL;

        if (sd_bus_path_decode(sd_bus_message_get_path(message), RUN_PREFIX, &id) <= 0)
                return -ENOENT;

        return published_authorize(published, message, run_bus_deed(published, permission, id), operation, ret_error);
}

static int halt(sd_bus_message *message, const Caller *who, void *userdata, sd_bus_error *ret_error) {
        g_autofree char *id = NULL, *error = NULL;
        int r;

        if (sd_bus_path_decode(sd_bus_message_get_path(message), RUN_PREFIX, &id) <= 0)
                return -ENOENT;

        r = manager_halt_run(published_manager(userdata), id, who, &error);
        if (r < 0)
                return error_from_manager(ret_error, r, error);

        return sd_bus_reply_method_return(message, NULL);
}

static int method_halt(sd_bus_message *message, void *userdata, sd_bus_error *ret_error) {
        return run_bus_authorize(userdata, message, PERMISSION_HALT, halt, ret_error);
}

static int append_node(sd_bus_message *message, const Run *run, NodeId node) {
        const Tree *tree = definition_tree(run_definition(run));
        g_autofree char *detail = NULL;
        NodeReport report;

        run_node_report(run, node, &report);
        detail = report.detail;
        return sd_bus_message_append(message, NODE_SIGNATURE, node, tree->nodes[node].parent,
                                     tree->nodes[node].type->name, tree_node_name(tree, node),
                                     status_to_string(report.status), report.since, report.duration, detail);
}

static int append_all_nodes(sd_bus_message *message, const Run *run) {
        int r = 0;

        for (NodeId node = 0; r >= 0 && node < definition_tree(run_definition(run))->n_nodes; node++)
                r = append_node(message, run, node);

        return r;
}

/* NULL: all. */
static int append_nodes(sd_bus_message *message, const Run *run, const GArray *nodes) {
        int r = sd_bus_message_open_container(message, 'a', NODE_SIGNATURE);

        if (r >= 0 && !nodes)
                r = append_all_nodes(message, run);
        for (unsigned i = 0; r >= 0 && nodes && i < nodes->len; i++)
                r = append_node(message, run, g_array_index(nodes, NodeId, i));

        return r < 0 ? r : sd_bus_message_close_container(message);
}

static int method_get_nodes(sd_bus_message *message, void *userdata, sd_bus_error *ret_error) {
        g_autoptr(sd_bus_message) reply = NULL;
        int r;

        r = sd_bus_message_new_method_return(message, &reply);
        if (r < 0)
                return r;
        r = append_nodes(reply, run_at(userdata, sd_bus_message_get_path(message)), NULL);
        if (r < 0)
                return r;

        return sd_bus_message_send(reply);
}

static int method_get_titles(sd_bus_message *message, void *userdata, sd_bus_error *ret_error) {
        return title_bus_reply(message, run_definition(run_at(userdata, sd_bus_message_get_path(message))));
}

static int method_get_variables(sd_bus_message *message, void *userdata, sd_bus_error *ret_error) {
        Run *run = run_at(userdata, sd_bus_message_get_path(message));
        g_autoptr(json_object) variables = blackboard_to_json(run_blackboard(run));
        g_autoptr(sd_bus_message) reply = NULL;
        int r;

        r = sd_bus_message_new_method_return(message, &reply);
        if (r < 0)
                return r;
        r = variables_bus_append(reply, variables);
        if (r < 0)
                return r;

        return sd_bus_message_send(reply);
}

static int method_get_variable(sd_bus_message *message, void *userdata, sd_bus_error *ret_error) {
        Run *run = run_at(userdata, sd_bus_message_get_path(message));
        g_autoptr(sd_bus_message) reply = NULL;
        json_object *value;
        const char *key;
        int r;

        r = sd_bus_message_read(message, "s", &key);
        if (r < 0)
                return r;
        if (!blackboard_get(run_blackboard(run), key, &value)) {
                g_autofree char *shown = excerpt(key, strlen(key));

                return sd_bus_error_setf(ret_error, ERROR_NO_SUCH_VARIABLE, "%s has no variable '%s'", run_id(run),
                                         shown);
        }

        r = sd_bus_message_new_method_return(message, &reply);
        if (r < 0)
                return r;
        r = variables_bus_append_value(reply, value);
        if (r < 0)
                return r;

        return sd_bus_message_send(reply);
}

static int property_get_nodes(sd_bus *bus, const char *path, const char *interface, const char *property,
                              sd_bus_message *reply, void *userdata, sd_bus_error *ret_error) {
        const Run *run = run_at(userdata, path);
        const GArray *nodes = g_str_equal(property, "StandsBefore") ? run_stops(run) : run_breakpoints(run);

        return sd_bus_message_append_array(reply, SD_BUS_TYPE_UINT32, nodes ? nodes->data : NULL,
                                           nodes ? nodes->len * sizeof(NodeId) : 0);
}

static int property_get_text(sd_bus *bus, const char *path, const char *interface, const char *property,
                             sd_bus_message *reply, void *userdata, sd_bus_error *ret_error) {
        static const struct {
                const char *property;
                const char *(*get)(const Run *run);
        } texts[] = {
                { "Id", run_id },
                { "Tree", run_tree },
                { "Instance", run_instance },
                { "Status", run_status_text },
                { "Cause", run_cause },
                { "NotDurable", run_not_durable },
        };
        const Run *run = run_at(userdata, path);

        for (size_t i = 0; i < G_N_ELEMENTS(texts); i++)
                if (g_str_equal(texts[i].property, property))
                        return sd_bus_message_append(reply, "s", texts[i].get(run));

        return -ENOENT;
}

static int property_get_restart(sd_bus *bus, const char *path, const char *interface, const char *property,
                                sd_bus_message *reply, void *userdata, sd_bus_error *ret_error) {
        g_autofree char *text = manager_describe_restart(published_manager(userdata), run_at(userdata, path));

        return sd_bus_message_append(reply, "s", text);
}

static int property_get_tree_path(sd_bus *bus, const char *path, const char *interface, const char *property,
                                  sd_bus_message *reply, void *userdata, sd_bus_error *ret_error) {
        g_autofree char *tree_path = object_path_of_tree(run_tree(run_at(userdata, path)));

        return sd_bus_message_append(reply, "o", tree_path);
}

static int property_get_hash(sd_bus *bus, const char *path, const char *interface, const char *property,
                             sd_bus_message *reply, void *userdata, sd_bus_error *ret_error) {
        return sd_bus_message_append(reply, "s", definition_hash(run_definition(run_at(userdata, path))));
}

/* A run goes on with the tree that it was started with. */
static int property_get_tree_changed(sd_bus *bus, const char *path, const char *interface, const char *property,
                                     sd_bus_message *reply, void *userdata, sd_bus_error *ret_error) {
        const Run *run = run_at(userdata, path);
        const LibraryEntry *entry = manager_tree(published_manager(userdata), run_tree(run));
        bool changed = entry && entry->definition &&
                       strcmp(definition_hash(entry->definition), definition_hash(run_definition(run))) != 0;

        return sd_bus_message_append(reply, "b", changed);
}

static int property_get_started(sd_bus *bus, const char *path, const char *interface, const char *property,
                                sd_bus_message *reply, void *userdata, sd_bus_error *ret_error) {
        return sd_bus_message_append(reply, "t", run_started(run_at(userdata, path)));
}

static int property_get_finished(sd_bus *bus, const char *path, const char *interface, const char *property,
                                 sd_bus_message *reply, void *userdata, sd_bus_error *ret_error) {
        return sd_bus_message_append(reply, "t", run_finished(run_at(userdata, path)));
}

static int property_get_durable(sd_bus *bus, const char *path, const char *interface, const char *property,
                                sd_bus_message *reply, void *userdata, sd_bus_error *ret_error) {
        return sd_bus_message_append(reply, "b", (int) run_is_durable(run_at(userdata, path)));
}

static int property_get_cause_chain(sd_bus *bus, const char *path, const char *interface, const char *property,
                                    sd_bus_message *reply, void *userdata, sd_bus_error *ret_error) {
        return cause_bus_append_run(reply, run_at(userdata, path));
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
                return sd_bus_error_setf(ret_error, ERROR_INVALID_ARGUMENT,
                                         "there is no node %" PRIu32 "; the nodes are 0 to %" PRIu32, node,
                                         n_nodes - 1);

        r = sd_bus_message_new_method_return(message, &reply);
        if (r < 0)
                return r;
        r = cause_bus_append_node(reply, run, node);
        if (r < 0)
                return r;

        return sd_bus_message_send(reply);
}

static int method_get_causes(sd_bus_message *message, void *userdata, sd_bus_error *ret_error) {
        g_autoptr(sd_bus_message) reply = NULL;
        int r;

        r = sd_bus_message_new_method_return(message, &reply);
        if (r < 0)
                return r;
        r = cause_bus_append_all(reply, run_at(userdata, sd_bus_message_get_path(message)));
        if (r < 0)
                return r;

        return sd_bus_message_send(reply);
}

const sd_bus_vtable run_vtable[] = {
        SD_BUS_VTABLE_START(0),

        SD_BUS_PROPERTY("Id", "s", property_get_text, 0, SD_BUS_VTABLE_PROPERTY_CONST),
        SD_BUS_PROPERTY("Tree", "s", property_get_text, 0, SD_BUS_VTABLE_PROPERTY_CONST),
        SD_BUS_PROPERTY("TreePath", "o", property_get_tree_path, 0, SD_BUS_VTABLE_PROPERTY_CONST),
        SD_BUS_PROPERTY("Instance", "s", property_get_text, 0, SD_BUS_VTABLE_PROPERTY_CONST),
        SD_BUS_PROPERTY("Hash", "s", property_get_hash, 0, SD_BUS_VTABLE_PROPERTY_CONST),
        SD_BUS_PROPERTY("TreeChanged", "b", property_get_tree_changed, 0, 0),
        SD_BUS_PROPERTY("Started", "t", property_get_started, 0, SD_BUS_VTABLE_PROPERTY_CONST),
        SD_BUS_PROPERTY("Finished", "t", property_get_finished, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
        SD_BUS_PROPERTY("Status", "s", property_get_text, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
        SD_BUS_PROPERTY("Cause", "s", property_get_text, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
        /* Says how long it still takes, so it is never quite the same. */
        SD_BUS_PROPERTY("Restart", "s", property_get_restart, 0, SD_BUS_VTABLE_PROPERTY_EMITS_INVALIDATION),
        SD_BUS_PROPERTY("CauseChain", "aa{sv}", property_get_cause_chain, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),

        SD_BUS_PROPERTY("Breakpoints", "au", property_get_nodes, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
        SD_BUS_PROPERTY("StandsBefore", "au", property_get_nodes, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
        SD_BUS_PROPERTY("Durable", "b", property_get_durable, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
        SD_BUS_PROPERTY("NotDurable", "s", property_get_text, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),

        SD_BUS_METHOD_WITH_ARGS("Halt", SD_BUS_NO_ARGS, SD_BUS_NO_RESULT, method_halt, SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_ARGS("GetNodes", SD_BUS_NO_ARGS, SD_BUS_RESULT("a" NODE_SIGNATURE, nodes), method_get_nodes,
                                SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_ARGS("GetTitles", SD_BUS_NO_ARGS, SD_BUS_RESULT("a{us}", titles), method_get_titles,
                                SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_ARGS("GetCauseChain", SD_BUS_ARGS("u", node), SD_BUS_RESULT("aa{sv}", chain),
                                method_get_cause_chain, SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_ARGS("GetCauses", SD_BUS_NO_ARGS, SD_BUS_RESULT("a" CAUSE_SIGNATURE, causes),
                                method_get_causes, SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_ARGS("GetVariables", SD_BUS_NO_ARGS, SD_BUS_RESULT("a{ss}", variables), method_get_variables,
                                SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_ARGS("GetVariable", SD_BUS_ARGS("s", name), SD_BUS_RESULT("s", value), method_get_variable,
                                SD_BUS_VTABLE_UNPRIVILEGED),

        SD_BUS_METHOD_WITH_ARGS("SetVariables", SD_BUS_ARGS("a{ss}", variables), SD_BUS_NO_RESULT,
                                run_control_method_set_variables, SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_ARGS("Pause", SD_BUS_NO_ARGS, SD_BUS_NO_RESULT, run_control_method_pause,
                                SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_ARGS("Resume", SD_BUS_NO_ARGS, SD_BUS_NO_RESULT, run_control_method_resume,
                                SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_ARGS("Step", SD_BUS_NO_ARGS, SD_BUS_NO_RESULT, run_control_method_step,
                                SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_ARGS("SetBreakpoint", SD_BUS_ARGS("u", node, "b", set), SD_BUS_NO_RESULT,
                                run_control_method_set_breakpoint, SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_ARGS("Force", SD_BUS_ARGS("u", node, "s", status), SD_BUS_NO_RESULT,
                                run_control_method_force, SD_BUS_VTABLE_UNPRIVILEGED),

        SD_BUS_SIGNAL_WITH_ARGS("NodesChanged", SD_BUS_ARGS("a" NODE_SIGNATURE, nodes), 0),
        SD_BUS_SIGNAL_WITH_ARGS("Finished", SD_BUS_ARGS("s", status, "s", cause), 0),

        SD_BUS_VTABLE_END,
};

static int tell_nodes(sd_bus *bus, const char *destination, const Run *run, const GArray *nodes) {
        g_autofree char *path = object_path_of_run(run_id(run));
        g_autoptr(sd_bus_message) signal = NULL;
        int r;

        r = sd_bus_message_new_signal(bus, &signal, path, RUN_INTERFACE, "NodesChanged");
        if (r >= 0)
                r = sd_bus_message_set_destination(signal, destination);
        if (r >= 0)
                r = append_nodes(signal, run, nodes);

        return r < 0 ? r : sd_bus_send(bus, signal, NULL);
}

static void check_emitted(const Run *run, int r) {
        if (r < 0)
                log_message(LOG_DEBUG, &(LogSubject){ .tree = run_tree(run), .run = run_id(run) },
                            "a signal could not be sent: %s", g_strerror(-r));
}

void run_bus_tell_nodes(sd_bus *bus, const char *destination, const Run *run, const GArray *nodes) {
        check_emitted(run, tell_nodes(bus, destination, run, nodes));
}

void run_bus_emit_finished(sd_bus *bus, const Run *run) {
        g_autofree char *path = object_path_of_run(run_id(run));

        check_emitted(run, sd_bus_emit_signal(bus, path, RUN_INTERFACE, "Finished", "ss", run_status_text(run),
                                              run_cause(run)));
}
