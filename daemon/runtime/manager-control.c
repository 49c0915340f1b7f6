/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Controls runs by hand for a caller. Checks whether the request makes sense, and logs it with the caller. */

#include <errno.h>
#include <inttypes.h>
#include <json-c/linkhash.h>
#include <string.h>

#include "basic/excerpt.h"
#include "basic/json-weight.h"
#include "basic/log.h"
#include "runtime/manager-state.h"

/* How many of the set variables a message names. */
#define VALUES_SHOWN 5u

static void G_GNUC_PRINTF(3, 4) tell(const Run *run, const Caller *who, const char *format, ...) {
        g_autofree char *text = NULL;
        va_list args;

        va_start(args, format);
        text = g_strdup_vprintf(format, args);
        va_end(args);

        log_message(LOG_NOTICE, &(LogSubject){ .tree = run_tree(run), .run = run_id(run) }, "%s by %s", text,
                    who->text);
}

static int find_running(Manager *manager, const char *id, Run **ret_run, char **ret_error) {
        Run *run;
        int r = manager_check_there(manager, ret_error);

        if (r >= 0)
                r = manager_find_run(manager, id, &run, ret_error);
        if (r < 0)
                return r;

        if (run_status(run) != STATUS_RUNNING || run_halting(run)) {
                *ret_error = run_halting(run) ? g_strdup_printf("run '%s' is being halted", run_id(run))
                                              : g_strdup_printf("run '%s' is not running any more: %s", run_id(run),
                                                                status_to_string(run_status(run)));
                return MANAGER_NOT_RUNNING;
        }

        *ret_run = run;
        return 0;
}

static int find_paused(Manager *manager, const char *id, Run **ret_run, char **ret_error) {
        int r = find_running(manager, id, ret_run, ret_error);

        if (r < 0 || run_paused(*ret_run))
                return r;

        *ret_error = g_strdup_printf("run '%s' is not paused; pause it first", run_id(*ret_run));
        return MANAGER_NOT_PAUSED;
}

static int find_node(Manager *manager, const char *id, NodeId node, Run **ret_run, char **ret_error) {
        int r = find_running(manager, id, ret_run, ret_error);
        uint32_t n_nodes;

        if (r < 0)
                return r;

        n_nodes = definition_tree(run_definition(*ret_run))->n_nodes;
        if (node < n_nodes)
                return 0;

        *ret_error = g_strdup_printf("run '%s' has no node %" PRIu32 "; its nodes are 0 to %" PRIu32, run_id(*ret_run),
                                     node, n_nodes - 1);
        return -EINVAL;
}

static char *path_of(const Run *run, NodeId node) {
        return tree_node_path(definition_tree(run_definition(run)), node);
}

int manager_pause(Manager *manager, const char *id, const Caller *who, char **ret_error) {
        Run *run;
        int r = find_running(manager, id, &run, ret_error);

        if (r < 0)
                return r;

        tell(run, who, "paused");
        run_pause(run, who->text);
        return 0;
}

int manager_resume(Manager *manager, const char *id, const Caller *who, char **ret_error) {
        Run *run;
        int r = find_paused(manager, id, &run, ret_error);

        if (r < 0)
                return r;

        tell(run, who, "resumed");
        run_resume(run, who->text);
        return 0;
}

int manager_step(Manager *manager, const char *id, const Caller *who, char **ret_error) {
        Run *run;
        int r = find_paused(manager, id, &run, ret_error);

        if (r < 0)
                return r;

        if (!run_step(run, who->text)) {
                *ret_error =
                        g_strdup_printf("run '%s' is waiting, so there is nothing to step; 'btctl status' shows what "
                                        "it waits for",
                                        run_id(run));
                return MANAGER_NOTHING_HAPPENED;
        }

        tell(run, who, "stepped");
        return 0;
}

int manager_set_breakpoint(Manager *manager, const char *id, NodeId node, bool set, const Caller *who,
                           char **ret_error) {
        g_autofree char *path = NULL;
        Run *run;
        int r = find_node(manager, id, node, &run, ret_error);

        if (r < 0)
                return r;

        path = path_of(run, node);
        tell(run, who, "a breakpoint at %s was %s", path, set ? "set" : "cleared");
        run_set_breakpoint(run, node, set, who->text);
        return 0;
}

int manager_force(Manager *manager, const char *id, NodeId node, Status status, const Caller *who, char **ret_error) {
        g_autofree char *path = NULL;
        Run *run;
        int r = find_node(manager, id, node, &run, ret_error);

        if (r < 0)
                return r;

        if (status != STATUS_SUCCESS && status != STATUS_FAILURE && status != STATUS_SKIPPED) {
                *ret_error = g_strdup("a node can be forced to success, failure or skipped");
                return -EINVAL;
        }

        path = path_of(run, node);
        tell(run, who, "%s was forced to %s", path, status_to_string(status));
        run_force(run, node, status, caller_cause(who, CAUSE_FORCED));
        return 0;
}

/* Formats like 'n=1, text="It was a dark and...", and 3 more'. */
static char *describe_values(json_object *values) {
        unsigned n = json_object_object_length(values), i = 0;
        GString *text = g_string_new(NULL);

        json_object_object_foreach(values, name, value) {
                const char *json = json_object_to_json_string_ext(value, JSON_C_TO_STRING_NOSLASHESCAPE);
                g_autofree char *shown = NULL;

                if (i++ == VALUES_SHOWN)
                        break;

                shown = excerpt(json, strlen(json));
                g_string_append_printf(text, "%s%s=%s", i > 1 ? ", " : "", name, shown);
        }

        if (n > VALUES_SHOWN)
                g_string_append_printf(text, ", and %u more", n - VALUES_SHOWN);
        return g_string_free(text, false);
}

int manager_set_variables(Manager *manager, const char *id, json_object *values, const Caller *who, char **ret_error) {
        g_autofree char *text = NULL;
        Run *run;
        int r = find_running(manager, id, &run, ret_error);

        /* To set nothing is no event. */
        if (r < 0 || json_object_object_length(values) == 0)
                return r;

        runs_make_room(manager->runs, run_user(run), json_weight(values));
        r = run_set_values(run, values, who->text, ret_error);
        if (r < 0)
                return r;

        manager_keep(manager, run);
        text = describe_values(values);
        tell(run, who, "variables set: %s", text);
        return 0;
}
