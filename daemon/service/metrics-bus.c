/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Implements metrics-bus.h. All samples of a metric stand together, so a metric of trees is made tree by tree, and the
 * text in as many pieces. Metrics and trees have a fixed order.
 *
 * node_exporter reads the same text as Prometheus' older format. Therefore only types that both formats have are used.
 */

#include <inttypes.h>

#include "basic/cleanup.h"
#include "basic/foreach.h"
#include "basic/log.h"
#include "runtime/statistics.h"
#include "service/metrics-bus.h"
#include "service/published.h"

/* A metric has either one sample for btd, or some for each tree. One that is just a number of the statistics has its
 * place there instead of a function; no number is at the beginning. */
typedef struct Metric {
        const char *name, *type, *unit, *help;
        void (*append)(GString *text, const char *name, const Published *published);
        void (*append_tree)(GString *text, const char *name, const TreeStatistics *tree);
        size_t total, of_tree; /* offset in Statistics or TreeStatistics; 0: none */
} Metric;

static const Statistics *statistics_of(const Published *published) {
        return published->manager->statistics;
}

static void append_seconds(GString *text, uint64_t usec) {
        g_string_append_printf(text, "%" PRIu64 ".%06" PRIu64 "\n", usec / G_USEC_PER_SEC, usec % G_USEC_PER_SEC);
}

static void append_label(GString *text, const char *name, const char *value) {
        bool first = text->len == 0 || text->str[text->len - 1] != ',';

        g_string_append_printf(text, "%s%s=\"", first ? "{" : "", name);
        for (; *value; value++)
                switch (*value) {
                case '\n':
                        g_string_append(text, "\\n");
                        break;
                case '"':
                case '\\':
                        g_string_append_c(text, '\\');
                        G_GNUC_FALLTHROUGH;
                default:
                        g_string_append_c(text, *value);
                }
        g_string_append(text, "\"");
}

static void append_number(GString *text, const char *name, const char *suffix, uint64_t number) {
        g_string_append_printf(text, "%s%s %" PRIu64 "\n", name, suffix, number);
}

/* NAME_total and NAME_created. */
static void append_counter(GString *text, const char *name, const Published *published, uint64_t number) {
        append_number(text, name, "_total", number);
        g_string_append_printf(text, "%s_created ", name);
        append_seconds(text, statistics_of(published)->since);
}

static void append_tree_label(GString *text, const char *name, const char *suffix, const TreeStatistics *tree) {
        g_string_append_printf(text, "%s%s", name, suffix);
        append_label(text, "tree", tree->tree);
}

static void append_tree_number(GString *text, const char *name, const char *suffix, const TreeStatistics *tree,
                               uint64_t number) {
        append_tree_label(text, name, suffix, tree);
        g_string_append_printf(text, "} %" PRIu64 "\n", number);
}

static void append_tree_created(GString *text, const char *name, const TreeStatistics *tree) {
        append_tree_label(text, name, "_created", tree);
        g_string_append(text, "} ");
        append_seconds(text, tree->since);
}

static void append_build(GString *text, const char *name, const Published *published) {
        g_string_append(text, name);
        append_label(text, "mode", published->info->mode);
        g_string_append_c(text, ',');
        append_label(text, "version", published->info->version);
        g_string_append(text, "} 1\n");
}

static void append_start_time(GString *text, const char *name, const Published *published) {
        g_string_append_printf(text, "%s ", name);
        append_seconds(text, statistics_of(published)->since);
}

static void append_trees(GString *text, const char *name, const Published *published) {
        g_autoptr(GPtrArray) trees = library_list(published->manager->library);
        static const char *const states[] = { "ok", "broken", "failed" };
        unsigned numbers[G_N_ELEMENTS(states)] = {};

        PTRS_FOREACH(const LibraryEntry, entry, trees) {
                bool good = diagnostics_count_errors(entry->diagnostics) == 0;

                numbers[good ? 0 : entry->definition ? 1 : 2]++;
        }
        for (unsigned i = 0; i < G_N_ELEMENTS(states); i++) {
                g_string_append(text, name);
                append_label(text, "state", states[i]);
                g_string_append_printf(text, "} %u\n", numbers[i]);
        }
}

static const Status results[] = { STATUS_SUCCESS, STATUS_FAILURE, STATUS_SKIPPED, STATUS_HALTED, STATUS_ERROR };

static void append_runs(GString *text, const char *name, const TreeStatistics *tree) {
        for (unsigned i = 0; i < G_N_ELEMENTS(results); i++) {
                append_tree_label(text, name, "_total", tree);
                g_string_append_c(text, ',');
                append_label(text, "result", status_to_string(results[i]));
                g_string_append_printf(text, "} %" PRIu64 "\n", tree->results[results[i]]);

                append_tree_label(text, name, "_created", tree);
                g_string_append_c(text, ',');
                append_label(text, "result", status_to_string(results[i]));
                g_string_append(text, "} ");
                append_seconds(text, tree->since);
        }
}

/* The bounds are numbers with at most two decimals. The counts of a histogram are cumulative. */
static void append_durations(GString *text, const char *name, const TreeStatistics *tree) {
        uint64_t count = 0;

        for (unsigned i = 0; i <= DURATION_BOUNDS; i++) {
                g_autofree char *bound =
                        i == DURATION_BOUNDS ? g_strdup("+Inf")
                                             : g_strdup_printf("%" PRIu64 ".%s", duration_bounds[i] / G_USEC_PER_SEC,
                                                               duration_bounds[i] == 10000    ? "01"
                                                               : duration_bounds[i] == 50000  ? "05"
                                                               : duration_bounds[i] == 100000 ? "1"
                                                               : duration_bounds[i] == 500000 ? "5"
                                                                                              : "0");

                count += tree->durations[i];
                append_tree_label(text, name, "_bucket", tree);
                g_string_append_c(text, ',');
                append_label(text, "le", bound);
                g_string_append_printf(text, "} %" PRIu64 "\n", count);
        }

        append_tree_number(text, name, "_count", tree, count);
        append_tree_label(text, name, "_sum", tree);
        g_string_append(text, "} ");
        append_seconds(text, tree->duration_sum);
        append_tree_created(text, name, tree);
}

static void append_states(GString *text, const char *name, const Published *published) {
        const GPtrArray *runs = runs_list(published->manager->runs);
        static const char *const states[] = { "running", "paused", "halting" };
        unsigned numbers[G_N_ELEMENTS(states)] = {};

        PTRS_FOREACH(const Run, run, runs)
                if (run_status(run) == STATUS_RUNNING)
                        numbers[run_halting(run) ? 2 : run_paused(run) ? 1 : 0]++;
        for (unsigned i = 0; i < G_N_ELEMENTS(states); i++) {
                g_string_append(text, name);
                append_label(text, "state", states[i]);
                g_string_append_printf(text, "} %u\n", numbers[i]);
        }
}

static void append_lock_waiters(GString *text, const char *name, const Published *published) {
        const GPtrArray *runs = runs_list(published->manager->runs);
        uint64_t number = 0;

        for (unsigned i = 0; i < runs->len; i++)
                if (run_status(runs->pdata[i]) == STATUS_RUNNING)
                        number += run_n_lock_waiters(runs->pdata[i]);
        append_number(text, name, "", number);
}

static void append_pending_restarts(GString *text, const char *name, const Published *published) {
        append_number(text, name, "", restarts_count(published->manager->restarts));
}

static void append_history_runs(GString *text, const char *name, const Published *published) {
        const Archive *archive = record_store_archive(published->manager->records);

        append_number(text, name, "", archive ? archive_count(archive) : 0);
}

static void append_history_size(GString *text, const char *name, const Published *published) {
        const Archive *archive = record_store_archive(published->manager->records);

        append_number(text, name, "", archive ? archive_bytes(archive) : 0);
}

static void append_dropped(GString *text, const char *name, const Published *published) {
        append_counter(text, name, published, log_n_dropped());
}

static void append_late(GString *text, const char *name, const Published *published) {
        g_autofree char *late = manager_disk(published->manager);

        append_number(text, name, "", late != NULL);
}

/* Of each user and resource: what is used, or the share, if the user has one. */
static void append_usage(GString *text, const char *name, const Published *published, bool shares) {
        g_autoptr(GPtrArray) users = manager_list_users(published->manager);

        PTRS_FOREACH(const User, user, users) {
                for (Usage use = 0; use < USE_MAX_; use++) {
                        uint64_t number = shares ? user_share(user, use) : user->used[use];

                        if (number == UINT64_MAX)
                                continue;
                        g_string_append_printf(text, "%s{uid=\"%" PRIu32 "\",resource=\"%s\"} %" PRIu64 "\n", name,
                                               user->uid, use_names[use], number);
                }
        }
}

static void append_used(GString *text, const char *name, const Published *published) {
        append_usage(text, name, published, false);
}

static void append_shares(GString *text, const char *name, const Published *published) {
        append_usage(text, name, published, true);
}

static void append_refused(GString *text, const char *name, const Published *published) {
        g_autoptr(GPtrArray) users = manager_list_users(published->manager);

        PTRS_FOREACH(const User, user, users) {
                g_string_append_printf(text,
                                       "%s_total{uid=\"%" PRIu32 "\"} %" PRIu64 "\n%s_created{uid=\"%" PRIu32 "\"} ",
                                       name, user->uid, user->refused, name, user->uid);
                append_seconds(text, statistics_of(published)->since);
        }
}

/* Sorted by subject. A counter has no "_total" here. */
static const Metric metrics[] = {
        { "btd_build_info", "gauge", NULL, "Version and mode of btd; always 1", .append = append_build },
        { "btd_start_time_seconds", "gauge", "seconds", "When btd was started, since the epoch",
          .append = append_start_time },
        { "btd_trees", "gauge", NULL, "Trees by state, as in 'btctl list'", .append = append_trees },
        { "btd_runs", "counter", NULL, "Finished runs by tree and result", .append_tree = append_runs },
        { "btd_runs_started", "counter", NULL, "Started runs by tree, with restarts",
          .of_tree = offsetof(TreeStatistics, started) },
        { "btd_run_restarts", "counter", NULL, "Runs that were started by 'restart'",
          .of_tree = offsetof(TreeStatistics, restarted) },
        { "btd_run_duration_seconds", "histogram", "seconds", "Duration of finished runs by tree",
          .append_tree = append_durations },
        { "btd_active_runs", "gauge", NULL, "Runs that have not finished, by tree",
          .of_tree = offsetof(TreeStatistics, active) },
        { "btd_active_runs_state", "gauge", NULL, "Runs that have not finished, by state", .append = append_states },
        { "btd_lock_waiters", "gauge", NULL, "Nodes that wait for a lock", .append = append_lock_waiters },
        { "btd_pending_restarts", "gauge", NULL, "Restarts of runs that are due later",
          .append = append_pending_restarts },
        { "btd_ticks", "counter", NULL, "Ticks of all runs", .total = offsetof(Statistics, totals.ticks) },
        { "btd_changes", "counter", NULL, "Changes that happened to all runs",
          .total = offsetof(Statistics, totals.inputs) },
        { "btd_action_starts", "counter", NULL, "Actions that runs have started",
          .total = offsetof(Statistics, totals.action_starts) },
        { "btd_action_restarts", "counter", NULL, "Actions that had been started in the same run before",
          .total = offsetof(Statistics, totals.action_restarts) },
        { "btd_run_records", "counter", NULL, "Finished runs with a run record", .total = offsetof(Statistics, kept) },
        { "btd_run_records_lost", "counter", NULL, "Finished runs without a run record",
          .total = offsetof(Statistics, lost) },
        { "btd_history_runs", "gauge", NULL, "Run records in the history", .append = append_history_runs },
        { "btd_history_bytes", "gauge", "bytes", "Size of the history", .append = append_history_size },
        { "btd_user_used", "gauge", NULL, "What each user uses, by resource", .append = append_used },
        { "btd_user_share", "gauge", NULL, "How much each user may use, by resource", .append = append_shares },
        { "btd_user_refused", "counter", NULL, "Refused requests of each user", .append = append_refused },
        { "btd_log_messages_dropped", "counter", NULL, "Log messages that were lost because nobody read them",
          .append = append_dropped },
        { "btd_disk_late", "gauge", NULL, "1 if the disk has not answered for more than a second, else 0",
          .append = append_late },
};

/* The text so far, and the next piece of it. */
typedef struct MetricsText {
        GString *text;
        unsigned metric, tree;
} MetricsText;

static int begin(Answer *answer, sd_bus_error *ret_error) {
        MetricsText *it = g_new0(MetricsText, 1);

        it->text = g_string_new(NULL);
        answer->data = it;
        return 0;
}

static void append_of_tree(GString *text, const Metric *metric, const TreeStatistics *tree) {
        bool counter = g_str_equal(metric->type, "counter");

        if (metric->append_tree) {
                metric->append_tree(text, metric->name, tree);
                return;
        }

        append_tree_number(text, metric->name, counter ? "_total" : "", tree,
                           G_STRUCT_MEMBER(uint64_t, tree, metric->of_tree));
        if (counter)
                append_tree_created(text, metric->name, tree);
}

static int append(Answer *answer, sd_bus_error *ret_error) {
        MetricsText *it = answer->data;
        const Published *published = answer->userdata;
        const GPtrArray *trees = statistics_of(published)->trees;
        const Metric *metric = &metrics[it->metric];

        if (it->metric == G_N_ELEMENTS(metrics))
                return answer_append_text(answer, it->text->str, it->text->len);

        if (it->tree == 0) {
                g_string_append_printf(it->text, "# TYPE %s %s\n", metric->name, metric->type);
                if (metric->unit)
                        g_string_append_printf(it->text, "# UNIT %s %s\n", metric->name, metric->unit);
                g_string_append_printf(it->text, "# HELP %s %s\n", metric->name, metric->help);
        }
        if (metric->append)
                metric->append(it->text, metric->name, published);
        else if (metric->total)
                append_counter(it->text, metric->name, published,
                               G_STRUCT_MEMBER(uint64_t, statistics_of(published), metric->total));
        else if (it->tree < trees->len)
                append_of_tree(it->text, metric, trees->pdata[it->tree++]);

        if (metric->append || metric->total || it->tree == trees->len) {
                it->metric++;
                it->tree = 0;
        }
        if (it->metric == G_N_ELEMENTS(metrics))
                g_string_append(it->text, "# EOF\n");
        return 1;
}

static void end(Answer *answer) {
        MetricsText *it = answer->data;

        g_string_free(it->text, TRUE);
        g_free(it);
}

int metrics_bus_get(sd_bus_message *message, void *userdata, sd_bus_error *ret_error) {
        static const AnswerKind kind = {
                .instead = "ListRuns and ListHistory", .begin = begin, .append = append, .end = end
        };

        return published_answer(userdata, message, &kind, ret_error);
}
