/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* How the bus sees the manager: what trees and runs there are, starting, halting, reloading. */

#include "service/manager-bus.h"
#include "basic/cleanup.h"
#include "basic/log.h"
#include "service/errors.h"
#include "service/history-bus.h"
#include "service/object-path.h"
#include "service/run-bus.h"
#include "service/tree-bus.h"
#include "service/variables-bus.h"

static int start_tree(sd_bus_message *message, const Caller *who, void *userdata, sd_bus_error *ret_error) {
        const char *tree;
        int r;

        r = sd_bus_message_read(message, "s", &tree);
        if (r < 0)
                return r;

        return tree_bus_start(userdata, message, tree, who, ret_error);
}

static int start_text(sd_bus_message *message, const Caller *who, void *userdata, sd_bus_error *ret_error) {
        g_autoptr(json_object) variables = NULL;
        g_autofree char *error = NULL, *path = NULL;
        const char *name, *text;
        Run *run;
        int r;

        r = sd_bus_message_read(message, "ss", &name, &text);
        if (r < 0)
                return r;
        r = variables_bus_read(message, &variables, ret_error);
        if (r < 0)
                return r;
        r = manager_start_text(published_manager(userdata), name, text, variables, who, &run, &error);
        if (r < 0)
                return error_from_manager(ret_error, r, error);

        path = object_path_of_run(run_id(run));
        return sd_bus_reply_method_return(message, "so", run_id(run), path);
}

static int halt_tree(sd_bus_message *message, const Caller *who, void *userdata, sd_bus_error *ret_error) {
        const char *tree;
        int r;

        r = sd_bus_message_read(message, "s", &tree);
        if (r < 0)
                return r;

        return tree_bus_halt(userdata, message, tree, who, ret_error);
}

static int halt_run(sd_bus_message *message, const Caller *who, void *userdata, sd_bus_error *ret_error) {
        g_autofree char *error = NULL;
        const char *id;
        int r;

        r = sd_bus_message_read(message, "s", &id);
        if (r < 0)
                return r;
        r = manager_halt_run(published_manager(userdata), id, who, &error);
        if (r < 0)
                return error_from_manager(ret_error, r, error);

        return sd_bus_reply_method_return(message, NULL);
}

static int append_texts(sd_bus_message *message, const GPtrArray *texts) {
        int r = sd_bus_message_open_container(message, 'a', "s");

        for (unsigned i = 0; r >= 0 && i < texts->len; i++)
                r = sd_bus_message_append(message, "s", g_ptr_array_index(texts, i));

        return r < 0 ? r : sd_bus_message_close_container(message);
}

static int reload(sd_bus_message *message, const Caller *who, void *userdata, sd_bus_error *ret_error) {
        g_autoptr(GPtrArray) errors = NULL;
        g_autoptr(sd_bus_message) reply = NULL;
        int r;

        if (manager_is_stopping(published_manager(userdata)))
                return sd_bus_error_set(ret_error, ERROR_STOPPING, "the daemon is stopping and loads nothing any more");

        errors = manager_reload(published_manager(userdata));
        r = sd_bus_message_new_method_return(message, &reply);
        if (r < 0)
                return r;
        r = append_texts(reply, errors);
        if (r < 0)
                return r;

        return sd_bus_message_send(reply);
}

/* Longer than that of any tree or run. */
#define NAME_MAX_PEEKED 200u

/* The name that the message begins with, which is still to be read. What is too long to be one is not kept in full. */
static char *peek_name(sd_bus_message *message) {
        const char *name = NULL;

        (void) sd_bus_message_read(message, "s", &name);
        (void) sd_bus_message_rewind(message, true);
        return g_strndup(name, NAME_MAX_PEEKED);
}

static int method_start_tree(sd_bus_message *message, void *userdata, sd_bus_error *ret_error) {
        return published_authorize(userdata, message, (Deed){ PERMISSION_START, .tree = peek_name(message) },
                                   start_tree, ret_error);
}

static int method_start_text(sd_bus_message *message, void *userdata, sd_bus_error *ret_error) {
        return published_authorize(userdata, message, (Deed){ PERMISSION_LOAD, .tree = peek_name(message) }, start_text,
                                   ret_error);
}

static int method_halt_tree(sd_bus_message *message, void *userdata, sd_bus_error *ret_error) {
        return published_authorize(userdata, message, (Deed){ PERMISSION_HALT, .tree = peek_name(message) }, halt_tree,
                                   ret_error);
}

static int method_halt_run(sd_bus_message *message, void *userdata, sd_bus_error *ret_error) {
        g_autofree char *id = peek_name(message);

        return published_authorize(userdata, message, run_bus_deed(userdata, PERMISSION_HALT, id), halt_run, ret_error);
}

static int method_reload(sd_bus_message *message, void *userdata, sd_bus_error *ret_error) {
        return published_authorize(userdata, message, (Deed){ PERMISSION_RELOAD }, reload, ret_error);
}

static int append_tree(sd_bus_message *reply, const LibraryEntry *entry) {
        const Definition *definition = entry->definition;
        g_autofree char *path = object_path_of_tree(entry->name);

        return sd_bus_message_append(reply, "(sosbs)", entry->name, path,
                                     definition ? definition_description(definition) : NULL,
                                     definition && definition_autostart(definition), tree_bus_state(entry));
}

static int append_trees(sd_bus_message *reply, const GPtrArray *entries) {
        int r = sd_bus_message_open_container(reply, 'a', "(sosbs)");

        for (unsigned i = 0; r >= 0 && i < entries->len; i++)
                r = append_tree(reply, g_ptr_array_index(entries, i));

        return r < 0 ? r : sd_bus_message_close_container(reply);
}

static int method_list_trees(sd_bus_message *message, void *userdata, sd_bus_error *ret_error) {
        g_autoptr(GPtrArray) entries = manager_trees(published_manager(userdata));
        g_autoptr(sd_bus_message) reply = NULL;
        int r;

        r = sd_bus_message_new_method_return(message, &reply);
        if (r < 0)
                return r;
        r = append_trees(reply, entries);
        if (r < 0)
                return r;

        return sd_bus_message_send(reply);
}

static int append_run(sd_bus_message *reply, Manager *manager, const Run *run) {
        g_autofree char *path = object_path_of_run(run_id(run)), *restart = manager_describe_restart(manager, run);

        return sd_bus_message_append(reply, "(sosssttss)", run_id(run), path, run_tree(run), run_instance(run),
                                     run_status_text(run), run_started(run), run_finished(run), run_cause(run),
                                     restart);
}

static int append_runs(sd_bus_message *reply, Manager *manager) {
        const GPtrArray *runs = manager_runs(manager);
        int r = sd_bus_message_open_container(reply, 'a', "(sosssttss)");

        for (unsigned i = 0; r >= 0 && i < runs->len; i++)
                r = append_run(reply, manager, g_ptr_array_index(runs, i));

        return r < 0 ? r : sd_bus_message_close_container(reply);
}

static int list_runs(sd_bus_message *message, void *userdata, sd_bus_error *ret_error) {
        g_autoptr(sd_bus_message) reply = NULL;
        int r;

        r = sd_bus_message_new_method_return(message, &reply);
        if (r < 0)
                return r;
        r = append_runs(reply, published_manager(userdata));
        if (r < 0)
                return r;

        return sd_bus_message_send(reply);
}

static int method_list_runs(sd_bus_message *message, void *userdata, sd_bus_error *ret_error) {
        return published_answer(userdata, message, list_runs, ret_error);
}

static int method_get_tree(sd_bus_message *message, void *userdata, sd_bus_error *ret_error) {
        g_autofree char *error = NULL, *path = NULL;
        const LibraryEntry *entry;
        const char *name;
        int r;

        r = sd_bus_message_read(message, "s", &name);
        if (r < 0)
                return r;
        r = manager_find_tree(published_manager(userdata), name, &entry, &error);
        if (r < 0)
                return error_from_manager(ret_error, r, error);

        path = object_path_of_tree(entry->name);
        return sd_bus_reply_method_return(message, "o", path);
}

static int get_run(sd_bus_message *message, void *userdata, sd_bus_error *ret_error) {
        g_autofree char *error = NULL, *path = NULL;
        const char *id;
        Run *run;
        int r;

        r = sd_bus_message_read(message, "s", &id);
        if (r < 0)
                return r;
        r = manager_find_run(published_manager(userdata), id, &run, &error);
        if (r < 0)
                return error_from_manager(ret_error, r, error);

        path = object_path_of_run(run_id(run));
        return sd_bus_reply_method_return(message, "o", path);
}

static int method_get_run(sd_bus_message *message, void *userdata, sd_bus_error *ret_error) {
        return published_answer(userdata, message, get_run, ret_error);
}

static int method_subscribe(sd_bus_message *message, void *userdata, sd_bus_error *ret_error) {
        return published_subscribe(userdata, message, ret_error);
}

static int method_unsubscribe(sd_bus_message *message, void *userdata, sd_bus_error *ret_error) {
        published_unsubscribe(userdata, sd_bus_message_get_sender(message));
        return sd_bus_reply_method_return(message, NULL);
}

static int property_get_version(sd_bus *bus, const char *path, const char *interface, const char *property,
                                sd_bus_message *reply, void *userdata, sd_bus_error *ret_error) {
        return sd_bus_message_append(reply, "s", published_info(userdata)->version);
}

static int property_get_mode(sd_bus *bus, const char *path, const char *interface, const char *property,
                             sd_bus_message *reply, void *userdata, sd_bus_error *ret_error) {
        return sd_bus_message_append(reply, "s", published_info(userdata)->mode);
}

static int property_get_tree_path(sd_bus *bus, const char *path, const char *interface, const char *property,
                                  sd_bus_message *reply, void *userdata, sd_bus_error *ret_error) {
        return sd_bus_message_append_strv(reply, (char **) published_info(userdata)->tree_path);
}

static int property_get_n_trees(sd_bus *bus, const char *path, const char *interface, const char *property,
                                sd_bus_message *reply, void *userdata, sd_bus_error *ret_error) {
        g_autoptr(GPtrArray) entries = manager_trees(published_manager(userdata));

        return sd_bus_message_append(reply, "u", entries->len);
}

static int property_get_n_running(sd_bus *bus, const char *path, const char *interface, const char *property,
                                  sd_bus_message *reply, void *userdata, sd_bus_error *ret_error) {
        return sd_bus_message_append(reply, "u", manager_n_running(published_manager(userdata)));
}

static int property_get_status(sd_bus *bus, const char *path, const char *interface, const char *property,
                               sd_bus_message *reply, void *userdata, sd_bus_error *ret_error) {
        return sd_bus_message_append(reply, "s", published_status(userdata));
}

const sd_bus_vtable manager_vtable[] = {
        SD_BUS_VTABLE_START(0),

        SD_BUS_PROPERTY("Version", "s", property_get_version, 0, SD_BUS_VTABLE_PROPERTY_CONST),
        SD_BUS_PROPERTY("Mode", "s", property_get_mode, 0, SD_BUS_VTABLE_PROPERTY_CONST),
        SD_BUS_PROPERTY("TreePath", "as", property_get_tree_path, 0, SD_BUS_VTABLE_PROPERTY_CONST),
        SD_BUS_PROPERTY("NTrees", "u", property_get_n_trees, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
        SD_BUS_PROPERTY("NRunning", "u", property_get_n_running, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
        SD_BUS_PROPERTY("Status", "s", property_get_status, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),

        SD_BUS_METHOD_WITH_ARGS("StartTree", SD_BUS_ARGS("s", tree, "s", instance, "a{ss}", variables),
                                SD_BUS_RESULT("s", id, "o", run), method_start_tree, SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_ARGS("StartText", SD_BUS_ARGS("s", name, "s", text, "a{ss}", variables),
                                SD_BUS_RESULT("s", id, "o", run), method_start_text, SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_ARGS("HaltTree", SD_BUS_ARGS("s", tree), SD_BUS_RESULT("u", count), method_halt_tree,
                                SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_ARGS("HaltRun", SD_BUS_ARGS("s", id), SD_BUS_NO_RESULT, method_halt_run,
                                SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_ARGS("Reload", SD_BUS_NO_ARGS, SD_BUS_RESULT("as", errors), method_reload,
                                SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_ARGS("ListTrees", SD_BUS_NO_ARGS, SD_BUS_RESULT("a(sosbs)", trees), method_list_trees,
                                SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_ARGS("ListRuns", SD_BUS_NO_ARGS, SD_BUS_RESULT("a(sosssttss)", runs), method_list_runs,
                                SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_ARGS("GetTree", SD_BUS_ARGS("s", tree), SD_BUS_RESULT("o", path), method_get_tree,
                                SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_ARGS("GetRun", SD_BUS_ARGS("s", id), SD_BUS_RESULT("o", path), method_get_run,
                                SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_ARGS("ListHistory", SD_BUS_ARGS("s", tree), SD_BUS_RESULT("a(sssstts)", runs),
                                history_bus_list, SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_ARGS("GetJournal", SD_BUS_ARGS("s", id, "t", offset), SD_BUS_RESULT("ay", text),
                                history_bus_get_journal, SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_ARGS("Subscribe", SD_BUS_NO_ARGS, SD_BUS_NO_RESULT, method_subscribe,
                                SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_ARGS("Unsubscribe", SD_BUS_NO_ARGS, SD_BUS_NO_RESULT, method_unsubscribe,
                                SD_BUS_VTABLE_UNPRIVILEGED),

        SD_BUS_SIGNAL_WITH_ARGS("RunNew", SD_BUS_ARGS("s", id, "o", run), 0),
        SD_BUS_SIGNAL_WITH_ARGS("RunFinished", SD_BUS_ARGS("s", id, "o", run, "s", status, "s", cause), 0),
        SD_BUS_SIGNAL_WITH_ARGS("Reloaded", SD_BUS_ARGS("as", errors), 0),

        SD_BUS_VTABLE_END,
};

static void check_emitted(const char *name, int r) {
        if (r < 0)
                log_debug("the signal %s could not be sent: %s", name, g_strerror(-r));
}

void manager_bus_emit_run_new(sd_bus *bus, const Run *run) {
        g_autofree char *path = object_path_of_run(run_id(run));

        check_emitted("RunNew",
                      sd_bus_emit_signal(bus, SERVICE_PATH, MANAGER_INTERFACE, "RunNew", "so", run_id(run), path));
}

void manager_bus_emit_run_finished(sd_bus *bus, const Run *run) {
        g_autofree char *path = object_path_of_run(run_id(run));

        check_emitted("RunFinished", sd_bus_emit_signal(bus, SERVICE_PATH, MANAGER_INTERFACE, "RunFinished", "soss",
                                                        run_id(run), path, run_status_text(run), run_cause(run)));
}

static int emit_reloaded(sd_bus *bus, const GPtrArray *messages) {
        g_autoptr(sd_bus_message) signal = NULL;
        int r;

        r = sd_bus_message_new_signal(bus, &signal, SERVICE_PATH, MANAGER_INTERFACE, "Reloaded");
        if (r < 0)
                return r;
        r = append_texts(signal, messages);
        if (r < 0)
                return r;

        return sd_bus_send(bus, signal, NULL);
}

void manager_bus_emit_reloaded(sd_bus *bus, const GPtrArray *messages) {
        check_emitted("Reloaded", emit_reloaded(bus, messages));
}
