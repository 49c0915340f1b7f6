/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Finds runs by token. A run and its restarts have the same token, which was given at the first start. With it, a
 * client finds its runs again, halts only those, and can safely repeat a start. A token is not secret and grants no
 * permission.
 */

#include <glib/gstdio.h>

#include "basic/cleanup.h"
#include "basic/excerpt.h"
#include "basic/log.h"
#include "record/halt-request.h"
#include "run/start-check.h"
#include "runtime/manager-state.h"

#include <errno.h>
#include <string.h>

void outcome_clear(Outcome *outcome) {
        g_free(outcome->run);
        g_free(outcome->token);
        g_free(outcome->status);
        g_free(outcome->cause);
        *outcome = (Outcome){};
}

static Outcome outcome_of_run(const Manager *manager, const Run *run) {
        const char *tree = run_tree(run), *instance = run_instance(run);

        return (Outcome){
                .run = g_strdup(run_id(run)),
                .token = g_strdup(run_token(run)),
                .status = g_strdup(run_status_text(run)),
                .cause = g_strdup(run_cause(run)),
                .finished = run_finished(run),
                .followed =
                        run_finished(run) > 0 && restarts_find_due(manager->restarts, tree, instance, run_token(run)),
        };
}

static Outcome outcome_of_summary(const JournalSummary *summary) {
        return (Outcome){
                .run = g_strdup(summary->run),
                .token = g_strdup(summary->token),
                .status = g_strdup(summary->status),
                .cause = g_strdup(summary->cause),
                .finished = summary->finished,
        };
}

/* Looks in the listed runs, in the history and in the pending restarts. -ENOENT: not found. */
static int find_outcome(Manager *manager, const char *tree, const char *instance, const char *token,
                        Outcome *ret_outcome, char **ret_error) {
        const Run *run = runs_last(manager->runs, tree, instance);
        const char *due = restarts_find_due(manager->restarts, tree, instance, token);
        Archive *archive = journals_archive(manager->journals);
        const JournalSummary *summary;

        if (run && g_str_equal(run_token(run), token)) {
                *ret_outcome = outcome_of_run(manager, run);
                return 0;
        }
        if (!manager_history_is_read(manager, tree))
                return manager_not_yet("the history is being read; try again", ret_error);

        summary = archive ? archive_find_token(archive, tree, token) : NULL;
        if (summary && g_str_equal(summary->instance, instance))
                *ret_outcome = outcome_of_summary(summary);
        else if (due)
                *ret_outcome = (Outcome){ .run = g_strdup(due), .token = g_strdup(token) };
        else
                return -ENOENT;

        ret_outcome->followed = due;
        return 0;
}

int manager_find_outcome(Manager *manager, const char *tree, const char *instance, const char *token,
                         Outcome *ret_outcome, char **ret_error) {
        g_autofree char *shown = NULL;
        int r = find_outcome(manager, tree, instance, token, ret_outcome, ret_error);

        if (r != -ENOENT)
                return r;

        shown = excerpt(token, strlen(token));
        *ret_error = g_strdup_printf("no run of tree '%s' with the token '%s' is known", tree, shown);
        return MANAGER_NO_SUCH_RUN;
}

int manager_start_token(Manager *manager, const TokenStart *start, const Caller *who, bool *ret_begun,
                        Outcome *ret_outcome, char **ret_error) {
        Order order = {
                .instance = start->instance,
                .variables = start->variables,
                .starter = who->text,
                .uid = who->uid,
                .token = start->token,
        };
        Run *run = runs_last(manager->runs, start->tree, start->instance);
        int r;

        *ret_begun = false;
        r = manager_check_order(manager, &order, ret_error);
        if (r >= 0 && start->token)
                r = start_check_token(start->token, ret_error);
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
                r = manager_order_tree(manager, start->tree, &order, &run, ret_error);
                if (r < 0)
                        return r;
                *ret_begun = true;
        }

        *ret_outcome = outcome_of_run(manager, run);
        return 0;
}

static bool is_meant(const Run *run, const char *tree, const char *instance, const char *token) {
        return g_str_equal(run_tree(run), tree) && (!instance || g_str_equal(run_instance(run), instance)) &&
               g_str_equal(run_token(run), token);
}

int manager_halt_token(Manager *manager, const char *tree, const char *instance, const char *token, bool wait,
                       const Caller *who, GPtrArray **ret_halted, char **ret_error) {
        g_autoptr(GPtrArray) halted = g_ptr_array_new_with_free_func(g_free);
        g_autoptr(Cause) why = caller_cause(who, CAUSE_HALTED);
        const GPtrArray *runs = runs_list(manager->runs);
        int r;

        r = manager_check_there(manager, ret_error);
        if (r >= 0)
                r = start_check_token(token, ret_error);
        if (r < 0)
                return r;

        for (unsigned i = 0; i < runs->len; i++) {
                Run *run = runs->pdata[i];

                if (!is_meant(run, tree, instance, token))
                        continue;

                if (run_status(run) == STATUS_RUNNING) {
                        manager_halt(manager, run, why);
                        if (wait) {
                                waiters_add(manager->waiters, tree, run_instance(run), true, who->pid);
                                run_tell_awaited(run);
                        }
                        g_ptr_array_add(halted, g_strdup(run_id(run)));
                } else {
                        (void) manager_cancel_restart(manager, run, why);
                }
        }
        (void) restarts_cancel_token(manager->restarts, tree, instance, token);

        *ret_halted = g_steal_pointer(&halted);
        return 0;
}

void manager_halt_requested(Manager *manager, const char *meanwhile) {
        g_autoptr(GPtrArray) requests =
                manager->runtime_directory ? halt_requests_read(manager->runtime_directory) : NULL;

        for (unsigned i = 0; requests && i < requests->len; i++) {
                const HaltRequest *request = requests->pdata[i];
                g_autofree char *text = g_strdup_printf("UID %u, while btd was not %s", request->uid, meanwhile);
                const Caller who = { .uid = request->uid, .text = text };
                g_autoptr(GPtrArray) halted = NULL;
                g_autofree char *error = NULL;

                if (manager_halt_token(manager, request->tree, request->instance, request->token, false, &who, &halted,
                                       &error) < 0)
                        log_warning("%s: %s", request->path, error);
                g_unlink(request->path);
        }
}
