/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Restarts count against the limit while they are no older than its interval, and the pause before the next one grows
 * with them. A tree that has reached its limit stays as it is until somebody starts it.
 */

#include <inttypes.h>

#include "basic/cleanup.h"
#include "basic/span.h"
#include "journal/detail.h"
#include "runtime/restarts.h"

struct Restarts {
        Timers *timers;
        char *(*due)(const char *tree, const char *instance, json_object *variables, void *userdata);
        void *userdata;
        GHashTable *by_key; /* of Restart */
};

/* Of one instance of a tree. */
typedef struct Restart {
        Restarts *restarts;
        char *tree, *instance;
        json_object *variables; /* it was started with, or NULL */
        int64_t burst;          /* the limit, as the last run had it */
        GArray *times;          /* of int64_t: when the last ones were decided on, CLOCK_MONOTONIC */
        Timer *timer;           /* until it is due; NULL: none follows */
        char *given_up;         /* why none follows though one should, or NULL */
} Restart;

static void restart_free(Restart *restart) {
        timer_free(restart->timer);
        json_object_put(restart->variables);
        g_array_unref(restart->times);
        g_free(restart->tree);
        g_free(restart->instance);
        g_free(restart->given_up);
        g_free(restart);
}

Restarts *restarts_new(Timers *timers,
                       char *(*due)(const char *tree, const char *instance, json_object *variables, void *userdata),
                       void *userdata) {
        Restarts *restarts = g_new(Restarts, 1);

        *restarts = (Restarts){
                .timers = timers,
                .due = due,
                .userdata = userdata,
                .by_key = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify) restart_free),
        };
        return restarts;
}

void restarts_free(Restarts *restarts) {
        if (!restarts)
                return;

        g_hash_table_unref(restarts->by_key);
        g_free(restarts);
}

/* Neither of them can have a slash. */
static char *key_of(const char *tree, const char *instance) {
        return g_strconcat(tree, "/", instance, NULL);
}

static Restart *find(const Restarts *restarts, const char *tree, const char *instance) {
        g_autofree char *key = key_of(tree, instance);

        return g_hash_table_lookup(restarts->by_key, key);
}

static void drop(Restarts *restarts, const char *tree, const char *instance) {
        g_autofree char *key = key_of(tree, instance);

        g_hash_table_remove(restarts->by_key, key);
}

static Restart *get(Restarts *restarts, const Run *run) {
        Restart *restart = find(restarts, run_tree(run), run_instance(run));

        if (!restart) {
                restart = g_new0(Restart, 1);
                restart->restarts = restarts;
                restart->tree = g_strdup(run_tree(run));
                restart->instance = g_strdup(run_instance(run));
                restart->times = g_array_new(FALSE, FALSE, sizeof(int64_t));
                g_hash_table_insert(restarts->by_key, key_of(restart->tree, restart->instance), restart);
        }

        return restart;
}

/* It counts as one that is to come until the new run is there. */
static void on_due(void *userdata) {
        Restart *restart = userdata;
        const Restarts *restarts = restart->restarts;

        restart->given_up = restarts->due(restart->tree, restart->instance, restart->variables, restarts->userdata);
        g_clear_pointer(&restart->timer, timer_free);
}

static bool is_wanted(const RestartPolicy *policy, Status status) {
        switch (status) {
        case STATUS_FAILURE:
        case STATUS_ERROR:
                return policy->when != RESTART_NO;
        case STATUS_SUCCESS:
        case STATUS_SKIPPED:
                return policy->when == RESTART_ALWAYS;
        default:
                return false;
        }
}

static void forget_old(GArray *times, int64_t now, uint64_t interval) {
        unsigned n = 0;

        while (n < times->len && (uint64_t) (now - g_array_index(times, int64_t, n)) >= interval)
                n++;

        if (n > 0)
                g_array_remove_range(times, 0, n);
}

static void schedule(Restart *restart, const RestartPolicy *policy, int64_t now) {
        uint64_t pause;

        g_array_append_val(restart->times, now);
        pause = backoff_pause(policy->backoff, restart->times->len, g_random_double());
        restart->timer = timer_new(restart->restarts->timers, pause, on_due, restart);
}

static void give_up(Restart *restart, const RestartLimit *limit) {
        g_autofree char *span = span_format(limit->interval);

        restart->given_up =
                g_strdup_printf("it was restarted %" PRIi64 " times within %s, which is the limit", limit->burst, span);
}

void restarts_consider(Restarts *restarts, const Run *run) {
        const RestartPolicy *policy = definition_restart(run_definition(run));
        int64_t now = g_get_monotonic_time();
        json_object *variables;
        Restart *restart;

        if (!is_wanted(policy, run_status(run))) {
                drop(restarts, run_tree(run), run_instance(run));
                return;
        }

        restart = get(restarts, run);
        variables = json_object_get(run_given(run));
        json_object_put(restart->variables);
        restart->variables = variables;
        restart->burst = policy->limit->burst;

        forget_old(restart->times, now, policy->limit->interval);
        if (restart->times->len < restart->burst)
                schedule(restart, policy, now);
        else
                give_up(restart, policy->limit);
}

bool restarts_cancel(Restarts *restarts, const char *tree, const char *instance) {
        const Restart *restart = find(restarts, tree, instance);
        bool due = restart && restart->timer;

        drop(restarts, tree, instance);
        return due;
}

unsigned restarts_cancel_all(Restarts *restarts, const char *tree) {
        unsigned count = 0;
        GHashTableIter iter;
        void *value;

        g_hash_table_iter_init(&iter, restarts->by_key);
        while (g_hash_table_iter_next(&iter, NULL, &value)) {
                const Restart *restart = value;

                if (tree && !g_str_equal(restart->tree, tree))
                        continue;

                count += restart->timer ? 1 : 0;
                g_hash_table_iter_remove(&iter);
        }

        return count;
}

void restarts_forget(Restarts *restarts, const char *tree, const char *instance) {
        const Restart *restart = find(restarts, tree, instance);

        if (restart && !restart->timer)
                drop(restarts, tree, instance);
}

char *restarts_describe(const Restarts *restarts, const char *tree, const char *instance) {
        const Restart *restart = find(restarts, tree, instance);
        uint64_t now = (uint64_t) g_get_monotonic_time(), deadline;
        g_autofree char *span = NULL;

        if (!restart || (!restart->timer && !restart->given_up))
                return NULL;
        if (restart->given_up)
                return g_strdup_printf("not restarted: %s", restart->given_up);

        deadline = timer_deadline(restart->timer);
        span = detail_span(deadline > now ? deadline - now : 0);
        return g_strdup_printf("restarts in %s (attempt %u of %" PRIi64 ")", span, restart->times->len, restart->burst);
}
