/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Implements finished-runs.h. A run is forgotten when the bus has replied to a call that was sent after its signal: the
 * bus handles messages in order, so it has passed the signal on.
 */

#include <assert.h>

#include "basic/cleanup.h"
#include "service/finished-runs.h"
#include "service/manager-bus.h"
#include "service/object-path.h"

/* The oldest are forgotten if btd is off the bus for so many runs. */
#define WAITING_MAX 4096u

/* The bus is asked once for all runs that finish in this time, in microseconds. */
#define ASK_USEC 1000000u

struct FinishedRuns {
        Timers *timers;
        Manager *manager;
        sd_bus *bus;          /* NULL: btd does not have its name */
        GQueue waiting;       /* RunSummary: perhaps not received, in the order of their ends */
        GHashTable *lost;     /* id -> cause: nothing else knows them */
        unsigned n_sent;      /* how many of them were sent on this bus */
        unsigned n_asked;     /* how many of them are received when the reply comes */
        sd_bus_slot *receipt; /* of the call; NULL: there is none */
        Timer *due;           /* the next call; NULL: none is needed, or there is one */
};

static void drop(FinishedRuns *finished, unsigned n) {
        assert(n <= finished->waiting.length);

        for (unsigned i = 0; i < n; i++) {
                RunSummary *outcome = g_queue_pop_head(&finished->waiting);

                run_summary_clear(outcome);
                g_free(outcome);
        }
        finished->n_sent -= MIN(n, finished->n_sent);
        finished->n_asked -= MIN(n, finished->n_asked);
}

/* Takes the contents of the outcome. */
static void add(FinishedRuns *finished, RunSummary outcome) {
        g_queue_push_tail(&finished->waiting, g_memdup2(&outcome, sizeof(outcome)));
        if (finished->waiting.length > WAITING_MAX)
                drop(finished, 1);
}

static void on_run_finished(Run *run, void *userdata) {
        RunSummary outcome = run_summary(run);

        /* Thousands may wait, and nobody asks for these. */
        g_clear_pointer(&outcome.tree, g_free);
        g_clear_pointer(&outcome.instance, g_free);
        g_clear_pointer(&outcome.token, g_free);
        add(userdata, outcome);
}

static RunSummary outcome_of_lost(const char *id, const char *cause) {
        return (RunSummary){ .run = g_strdup(id), .status = g_strdup(STATUS_LOST), .cause = g_strdup(cause) };
}

/* There are no other signals about this run. */
static void on_run_lost(const char *id, const char *cause, void *userdata) {
        FinishedRuns *finished = userdata;

        g_hash_table_replace(finished->lost, g_strdup(id), g_strdup(cause));
        add(finished, outcome_of_lost(id, cause));
        finished_runs_send(finished);
}

static const ManagerObserver observer = { .run_finished = on_run_finished, .run_lost = on_run_lost };

FinishedRuns *finished_runs_new(Timers *timers, Manager *manager) {
        FinishedRuns *finished = g_new0(FinishedRuns, 1);

        finished->lost = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
        finished->timers = timers;
        finished->manager = manager;
        manager_observe(manager, &observer, finished);
        return finished;
}

void finished_runs_free(FinishedRuns *finished) {
        finished_runs_close(finished);
        manager_unobserve(finished->manager, &observer, finished);
        drop(finished, finished->waiting.length);
        g_hash_table_unref(finished->lost);
        g_free(finished);
}

static void plan(FinishedRuns *finished);

static int on_receipt(sd_bus_message *reply, void *userdata, sd_bus_error *unused) {
        FinishedRuns *finished = userdata;

        g_clear_pointer(&finished->receipt, sd_bus_slot_unref);
        /* If the connection is lost, all of them are sent again. */
        if (sd_bus_message_is_method_error(reply, NULL) > 0)
                return 0;

        drop(finished, finished->n_asked);
        plan(finished);
        return 0;
}

static void on_due(void *userdata) {
        FinishedRuns *finished = userdata;

        g_clear_pointer(&finished->due, timer_free);
        finished->n_asked = finished->n_sent;
        (void) sd_bus_call_method_async(finished->bus, &finished->receipt, "org.freedesktop.DBus",
                                        "/org/freedesktop/DBus", "org.freedesktop.DBus", "GetId", on_receipt, finished,
                                        NULL);
}

static void plan(FinishedRuns *finished) {
        if (finished->n_sent > 0 && !finished->receipt && !finished->due)
                finished->due = timer_new(finished->timers, ASK_USEC, on_due, finished);
}

void finished_runs_send(FinishedRuns *finished) {
        if (!finished->bus)
                return;

        for (GList *link = g_queue_peek_nth_link(&finished->waiting, finished->n_sent); link; link = link->next) {
                const RunSummary *outcome = link->data;
                g_autofree char *path = object_path_of_run(outcome->run);

                manager_bus_emit(finished->bus, "RunFinished", "soss", outcome->run, path, outcome->status,
                                 outcome->cause);
                finished->n_sent++;
        }
        plan(finished);
}

bool finished_runs_find(const FinishedRuns *finished, const char *id, RunSummary *ret_outcome) {
        const char *cause = g_hash_table_lookup(finished->lost, id);

        if (cause)
                *ret_outcome = outcome_of_lost(id, cause);
        for (const GList *link = finished->waiting.tail; !cause && link; link = link->prev) {
                const RunSummary *outcome = link->data;

                if (!g_str_equal(outcome->run, id))
                        continue;

                *ret_outcome = run_summary_copy(outcome);
                return true;
        }

        return cause;
}

void finished_runs_open(FinishedRuns *finished, sd_bus *bus) {
        finished_runs_close(finished);
        finished->bus = bus;
        finished_runs_send(finished);
}

void finished_runs_close(FinishedRuns *finished) {
        g_clear_pointer(&finished->due, timer_free);
        g_clear_pointer(&finished->receipt, sd_bus_slot_unref);
        finished->n_sent = finished->n_asked = 0;
        finished->bus = NULL;
}
