/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* btctl stats: numbers about many runs, from their run records: of all trees, or of the nodes of one tree. */

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "basic/cleanup.h"
#include "basic/foreach.h"
#include "basic/span.h"
#include "client/bus/target.h"
#include "client/files.h"
#include "client/plot/timeline.h"
#include "client/recording/record-files.h"
#include "client/recording/tree-stats.h"
#include "client/verbs/verbs.h"
#include "client/view/style.h"

/* How many nodes, and how many causes of one node, are listed. */
#define NODES_LISTED 5u
#define CAUSES_LISTED 2u
#define DAMAGED_LISTED 3u
/* A node is slower if its median has grown by this factor, and by this time. */
#define SLOWER_PERCENT 150u
#define SLOWER_USEC 1000u

/* The runs of one tree. */
typedef struct Summary {
        const char *tree;
        unsigned n;
        unsigned success, failure, skipped, halted, error, damaged, unfinished;
        GArray *durations; /* uint64_t, microseconds; without those of halted runs */
} Summary;

static void summary_free(void *data) {
        Summary *summary = data;

        g_array_unref(summary->durations);
        g_free(summary);
}

static Summary *summary_new(const char *tree) {
        Summary *summary = g_new0(Summary, 1);

        summary->tree = tree;
        summary->durations = g_array_new(false, false, sizeof(uint64_t));
        return summary;
}

static void summary_add(Summary *summary, const RunInfo *run) {
        const struct {
                const char *status;
                unsigned *count;
                bool is_timed;
        } rows[] = {
                { "success", &summary->success, true },        { "failure", &summary->failure, true },
                { "skipped", &summary->skipped, true },        { "error", &summary->error, true },
                { "halted", &summary->halted, false },         { "damaged", &summary->damaged, false },
                { "unfinished", &summary->unfinished, false },
        };
        uint64_t duration = run_info_duration(run);

        summary->n++;
        for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
                if (!g_str_equal(run->status, rows[i].status))
                        continue;

                (*rows[i].count)++;
                if (rows[i].is_timed)
                        g_array_append_val(summary->durations, duration);
        }
}

/* "1.23s"; "-": it was never measured, or takes no time. */
static char *span_or_none(const GArray *durations, unsigned percent) {
        return durations_percentile(durations, 100) > 0 ? span_format_rounded(durations_percentile(durations, percent))
                                                        : g_strdup("-");
}

static void add_number(json_object *json, const char *key, uint64_t number) {
        json_object_object_add(json, key, json_object_new_uint64(number));
}

static void add_text(json_object *json, const char *key, const char *text) {
        json_object_object_add(json, key, json_object_new_string(text));
}

static void add_durations(json_object *json, const GArray *durations) {
        if (durations->len == 0)
                return;

        add_number(json, "median_usec", durations_percentile(durations, 50));
        add_number(json, "percentile95_usec", durations_percentile(durations, 95));
        add_number(json, "longest_usec", durations_percentile(durations, 100));
}

static json_object *summary_to_json(const Summary *summary) {
        json_object *json = json_object_new_object();

        add_text(json, "tree", summary->tree);
        add_number(json, "runs", summary->n);
        add_number(json, "success", summary->success);
        add_number(json, "failure", summary->failure);
        add_number(json, "skipped", summary->skipped);
        add_number(json, "halted", summary->halted);
        add_number(json, "error", summary->error);
        add_number(json, "unfinished", summary->unfinished);
        add_number(json, "damaged", summary->damaged);
        add_durations(json, summary->durations);
        return json;
}

/* Numbers are aligned at their ends. */
static void append_cell(const Output *output, GString *line, Style style, int width, const char *text) {
        output_appendf(output, line, style, "%*s  ", width, text);
}

static void append_count(const Output *output, GString *line, Style style, int width, uint64_t number) {
        g_autofree char *text = g_strdup_printf("%" PRIu64, number);

        append_cell(output, line, number > 0 ? style : STYLE_DIM, width, text);
}

static void append_durations(const Output *output, GString *line, const GArray *durations) {
        static const unsigned percents[] = { 50, 95, 100 };

        for (size_t i = 0; i < G_N_ELEMENTS(percents); i++) {
                g_autofree char *span = span_or_none(durations, percents[i]);

                append_cell(output, line, STYLE_PLAIN, 9, span);
        }
}

static void print_summaries(const Output *output, const GPtrArray *summaries) {
        g_autoptr(GString) line = g_string_new(NULL);

        output_appendf(output, line, STYLE_BOLD, "%6s  %7s  %6s  %6s  %9s  %9s  %9s  %s", "RUNS", "SUCCESS", "FAILED",
                       "HALTED", "MEDIAN", "95%", "LONGEST", "TREE");
        output_print_line(output, line);
        for (guint i = 0; i < summaries->len; i++) {
                const Summary *summary = summaries->pdata[i];

                append_count(output, line, STYLE_PLAIN, 6, summary->n);
                append_count(output, line, STYLE_PLAIN, 7, summary->success);
                append_count(output, line, STYLE_RED, 6, summary->failure + summary->error);
                append_count(output, line, STYLE_PLAIN, 6, summary->halted);
                append_durations(output, line, summary->durations);
                output_append(output, line, STYLE_PLAIN, summary->tree);
                output_print_line(output, line);
        }
}

static gint compare_trees(gconstpointer a, gconstpointer b) {
        const Summary *first = *(const Summary *const *) a, *second = *(const Summary *const *) b;

        return strcmp(first->tree, second->tree);
}

static int show_trees(Client *client, const GPtrArray *runs) {
        g_autoptr(GPtrArray) summaries = g_ptr_array_new_with_free_func(summary_free);
        g_autoptr(GHashTable) by_tree = g_hash_table_new(g_str_hash, g_str_equal);

        for (guint i = 0; i < runs->len; i++) {
                const RunInfo *run = runs->pdata[i];
                Summary *summary = g_hash_table_lookup(by_tree, run->tree);

                if (!summary) {
                        summary = summary_new(run->tree);
                        g_ptr_array_add(summaries, summary);
                        g_hash_table_insert(by_tree, run->tree, summary);
                }
                summary_add(summary, run);
        }
        g_ptr_array_sort(summaries, compare_trees);

        if (client->output.json) {
                json_object *json = json_object_new_array();

                for (guint i = 0; i < summaries->len; i++)
                        json_object_array_add(json, summary_to_json(summaries->pdata[i]));
                output_print_json(json);
        } else if (summaries->len > 0) {
                print_summaries(&client->output, summaries);
        } else if (!options_want_none(&client->options)) {
                client_say(client, "no run has finished in this time");
        }

        return EXIT_SUCCESS;
}

/* One node on the critical path of the typical run. */
typedef struct Awaited {
        NodeId node;
        uint64_t first, time;
        unsigned times;
} Awaited;

/* The numbers that are printed about the runs of one tree. */
typedef struct Report {
        Summary *summary;
        TreeStats *stats;
        GPtrArray *damaged;     /* "boot.3: why" */
        const RunInfo *typical; /* or NULL */
        Recording *recording;   /* of that run, or NULL */
        GArray *awaited;        /* Awaited, in order of time */
        uint64_t first, last;   /* when the first and the last run were started */
} Report;

static void report_clear(Report *report) {
        g_clear_pointer(&report->summary, summary_free);
        g_clear_pointer(&report->stats, tree_stats_free);
        g_clear_pointer(&report->damaged, g_ptr_array_unref);
        g_clear_pointer(&report->recording, recording_free);
        g_clear_pointer(&report->awaited, g_array_unref);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Report, report_clear)

static void on_event(const RunEvent *event, void *userdata) {
        Timeline *timeline = userdata;

        if (event->node != NODE_NONE && event->status != STATUS_IDLE)
                timeline_change(timeline, event->node, event->status, event->time, NULL);
}

/* A parent starts before its children, and bars are in the order of the starts. */
static bool has_critical_child(const Timeline *timeline, unsigned index) {
        const Bar *bar = &g_array_index(timeline->bars, Bar, index);

        for (unsigned i = index + 1; i < timeline->bars->len; i++) {
                const Bar *other = &g_array_index(timeline->bars, Bar, i);

                if (other->begin > bar->end)
                        break;
                if (other->critical && timeline->tree->nodes[other->node].parent == bar->node &&
                    other->begin >= bar->begin && other->end <= bar->end)
                        return true;
        }

        return false;
}

static void add_awaited(GArray *awaited, const Bar *bar) {
        for (unsigned i = 0; i < awaited->len; i++) {
                Awaited *it = &g_array_index(awaited, Awaited, i);

                if (it->node != bar->node)
                        continue;

                it->times++;
                it->time += bar->end - bar->awaited;
                return;
        }

        g_array_append_vals(awaited,
                            &(Awaited){
                                    .node = bar->node,
                                    .first = bar->begin,
                                    .time = bar->end - bar->awaited,
                                    .times = 1,
                            },
                            1);
}

static gint compare_durations(gconstpointer a, gconstpointer b) {
        uint64_t x = run_info_duration(*(const RunInfo *const *) a), y = run_info_duration(*(const RunInfo *const *) b);

        return (x > y) - (x < y);
}

static int find_typical(Client *client, const RecordFiles *files, const GPtrArray *runs, Report *report) {
        g_autoptr(GPtrArray) good = g_ptr_array_new(), bad = g_ptr_array_new();
        GPtrArray *more;
        g_autoptr(Timeline) timeline = NULL;
        g_autoptr(GByteArray) text = NULL;
        g_autofree char *error = NULL;
        const RunInfo *run;
        int status;

        /* The run of median duration, among those that succeeded or those that failed, whichever are more. */
        PTRS_FOREACH(RunInfo, it, runs) {
                if (g_str_equal(it->status, "success"))
                        g_ptr_array_add(good, it);
                else if (g_str_equal(it->status, "failure"))
                        g_ptr_array_add(bad, it);
        }
        more = good->len >= bad->len ? good : bad;
        if (more->len == 0)
                return EXIT_SUCCESS;
        g_ptr_array_sort(more, compare_durations);
        run = more->pdata[(more->len - 1) / 2];

        status = recording_read(client, files, run->id, &text, &error);
        if (status != EXIT_SUCCESS || !text)
                return status;
        if (recording_new(run->id, (const char *) text->data, text->len, node_type_tables, &report->recording, &error) <
            0)
                return EXIT_SUCCESS;

        timeline = timeline_new(definition_tree(report->recording->definition));
        if (recording_report(report->recording, UINT64_MAX, on_event, timeline, &error) < 0)
                return EXIT_SUCCESS;

        timeline_finish(timeline, recording_length(report->recording));
        for (unsigned i = 0; i < timeline->bars->len; i++) {
                const Bar *bar = &g_array_index(timeline->bars, Bar, i);

                if (bar->critical && bar->end > bar->awaited && !has_critical_child(timeline, i))
                        add_awaited(report->awaited, bar);
        }
        report->typical = run;
        return EXIT_SUCCESS;
}

/* A run record that has been removed since the list was made is no loss. */
static int read_runs(Client *client, const RecordFiles *files, const GPtrArray *runs, Report *report) {
        g_autoptr(GPtrArray) read = g_ptr_array_new();

        for (guint i = 0; i < runs->len && !output_is_lost(); i++) {
                RunInfo *run = runs->pdata[i];
                g_autoptr(GByteArray) text = NULL;
                g_autofree char *error = NULL;
                int status = recording_read(client, files, run->id, &text, &error), r = 0;

                if (status != EXIT_SUCCESS)
                        return status;
                if (!text && !error)
                        continue;

                if (text)
                        r = tree_stats_add(report->stats, (const char *) text->data, text->len, &error);
                if (!text || r < 0) {
                        g_ptr_array_add(report->damaged, g_strdup_printf("%s: %s", run->id, error));
                        continue;
                }

                if (report->first == 0)
                        report->first = run->started;
                report->last = run->started;
                summary_add(report->summary, run);
                g_ptr_array_add(read, run);
        }

        tree_stats_finish(report->stats);
        return find_typical(client, files, read, report);
}

static gint compare_failures(gconstpointer a, gconstpointer b) {
        const NodeStats *first = *(const NodeStats *const *) a, *second = *(const NodeStats *const *) b;

        return first->failures != second->failures
                       ? (first->failures < second->failures) - (first->failures > second->failures)
                       : (first->order > second->order) - (first->order < second->order);
}

/* How much longer the last executions took than the first; 0: they are not slower. */
static uint64_t slower_by(const NodeStats *node, uint64_t *ret_before, uint64_t *ret_after) {
        if (!durations_trend(node->durations, ret_before, ret_after) || *ret_after < *ret_before + SLOWER_USEC ||
            *ret_after * 100 < *ret_before * SLOWER_PERCENT)
                return 0;

        return *ret_after - *ret_before;
}

static gint compare_slower(gconstpointer a, gconstpointer b) {
        uint64_t before, after, x = slower_by(*(const NodeStats *const *) a, &before, &after),
                                y = slower_by(*(const NodeStats *const *) b, &before, &after);

        return (x < y) - (x > y);
}

/* The nodes that fail, most failures first; or those that have become slower. */
static GPtrArray *choose_nodes(const TreeStats *stats, bool slower) {
        GPtrArray *nodes = g_ptr_array_new();

        for (guint i = 0; i < stats->nodes->len; i++) {
                const NodeStats *node = stats->nodes->pdata[i];
                uint64_t before, after;

                if (slower ? slower_by(node, &before, &after) > 0 : node->failures > 0)
                        g_ptr_array_add(nodes, stats->nodes->pdata[i]);
        }

        g_ptr_array_sort(nodes, slower ? compare_slower : compare_failures);
        return nodes;
}

typedef struct CauseCount {
        const char *text;
        unsigned n;
} CauseCount;

static gint compare_causes(gconstpointer a, gconstpointer b) {
        const CauseCount *first = a, *second = b;

        return first->n != second->n ? (first->n < second->n) - (first->n > second->n)
                                     : strcmp(first->text, second->text);
}

static GArray *causes_of(const NodeStats *node) {
        GArray *causes = g_array_new(false, false, sizeof(CauseCount));
        GHashTableIter iter;
        void *text, *n;

        g_hash_table_iter_init(&iter, node->causes);
        while (g_hash_table_iter_next(&iter, &text, &n))
                g_array_append_vals(causes, &(CauseCount){ text, GPOINTER_TO_UINT(n) }, 1);
        g_array_sort(causes, compare_causes);
        return causes;
}

static json_object *node_to_json(const NodeStats *node) {
        json_object *json = json_object_new_object(), *causes = json_object_new_array();
        g_autoptr(GArray) sorted = causes_of(node);
        uint64_t before, after;

        add_text(json, "path", node->path);
        add_number(json, "runs", node->runs);
        add_number(json, "executions", node_stats_executions(node));
        for (Status status = STATUS_SUCCESS; status < STATUS_NODE_MAX_; status++)
                add_number(json, status_to_string(status), node->results[status]);
        add_number(json, "retries", node->retries);
        add_durations(json, node->durations);
        if (durations_trend(node->durations, &before, &after)) {
                add_number(json, "first_third_median_usec", before);
                add_number(json, "last_third_median_usec", after);
        }
        for (unsigned i = 0; i < sorted->len; i++) {
                const CauseCount *cause = &g_array_index(sorted, CauseCount, i);
                json_object *row = json_object_new_object();

                add_text(row, "text", cause->text);
                add_number(row, "count", cause->n);
                json_object_array_add(causes, row);
        }
        json_object_object_add(json, "causes", causes);
        return json;
}

static json_object *typical_to_json(const Report *report) {
        json_object *json = json_object_new_object(), *path = json_object_new_array();

        add_text(json, "run", report->typical->id);
        add_text(json, "status", report->typical->status);
        add_number(json, "duration_usec", run_info_duration(report->typical));
        for (unsigned i = 0; i < report->awaited->len; i++) {
                const Awaited *it = &g_array_index(report->awaited, Awaited, i);
                g_autofree char *name = tree_node_path(definition_tree(report->recording->definition), it->node);
                json_object *row = json_object_new_object();

                add_text(row, "path", name);
                add_number(row, "executions", it->times);
                add_number(row, "awaited_usec", it->time);
                json_object_array_add(path, row);
        }
        json_object_object_add(json, "critical_path", path);
        return json;
}

static json_object *report_to_json(const Report *report) {
        json_object *json = summary_to_json(report->summary), *nodes = json_object_new_array(),
                    *damaged = json_object_new_array();

        for (guint i = 0; i < report->stats->nodes->len; i++)
                json_object_array_add(nodes, node_to_json(report->stats->nodes->pdata[i]));
        for (guint i = 0; i < report->damaged->len; i++)
                json_object_array_add(damaged, json_object_new_string(report->damaged->pdata[i]));
        add_number(json, "damaged", report->damaged->len);
        json_object_object_add(json, "damaged_records", damaged);
        add_number(json, "versions", g_hash_table_size(report->stats->versions));
        json_object_object_add(json, "nodes", nodes);
        if (report->typical)
                json_object_object_add(json, "typical_run", typical_to_json(report));
        return json;
}

static void add_part(GString *text, unsigned n, const char *what) {
        if (n > 0)
                g_string_append_printf(text, "%s%u %s", text->len > 0 ? ", " : "", n, what);
}

static void print_head(const Output *output, const Report *report) {
        const Summary *summary = report->summary;
        g_autofree char *first = time_format_date(report->first), *last = time_format_date(report->last),
                        *median = span_or_none(summary->durations, 50), *most = span_or_none(summary->durations, 95),
                        *longest = span_or_none(summary->durations, 100);
        g_autoptr(GString) line = g_string_new(NULL), results = g_string_new(NULL);

        output_appendf(output, line, STYLE_BOLD, "%s", summary->tree);
        output_appendf(output, line, STYLE_PLAIN, ": %u run%s, from %s to %s", summary->n, summary->n == 1 ? "" : "s",
                       first, last);
        output_print_line(output, line);

        add_part(results, summary->success, "success");
        add_part(results, summary->failure, "failure");
        add_part(results, summary->skipped, "skipped");
        add_part(results, summary->halted, "halted");
        add_part(results, summary->error, "error");
        add_part(results, summary->unfinished, "unfinished");
        output_appendf(output, line, STYLE_PLAIN, "%s; median %s, 95%% %s, longest %s", results->str, median, most,
                       longest);
        output_print_line(output, line);
        if (g_hash_table_size(report->stats->versions) > 1) {
                output_appendf(output, line, STYLE_PLAIN, "%u versions of the tree; nodes are matched by their paths",
                               g_hash_table_size(report->stats->versions));
                output_print_line(output, line);
        }
}

static void print_nodes(const Output *output, const GPtrArray *nodes) {
        g_autoptr(GString) line = g_string_new(NULL);

        puts("");
        output_appendf(output, line, STYLE_BOLD, "%6s  %6s  %7s  %9s  %9s  %9s  %s", "RAN", "FAILED", "RETRIES",
                       "MEDIAN", "95%", "LONGEST", "NODE");
        output_print_line(output, line);
        for (guint i = 0; i < nodes->len; i++) {
                const NodeStats *node = nodes->pdata[i];

                append_count(output, line, STYLE_PLAIN, 6, node_stats_executions(node));
                append_count(output, line, STYLE_RED, 6, node->results[STATUS_FAILURE] + node->results[STATUS_ERROR]);
                append_count(output, line, STYLE_YELLOW, 7, node->retries);
                append_durations(output, line, node->durations);
                output_appendf(output, line, STYLE_PLAIN, "%*s%s", (int) (2 * node->depth), "", node->name);
                output_print_line(output, line);
        }
}

static void print_heading(const Output *output, const char *text) {
        g_autoptr(GString) line = g_string_new(NULL);

        puts("");
        output_append(output, line, STYLE_BOLD, text);
        output_print_line(output, line);
}

static void print_failures(const Output *output, const TreeStats *stats) {
        g_autoptr(GPtrArray) nodes = choose_nodes(stats, false);
        g_autoptr(GString) line = g_string_new(NULL);

        if (nodes->len == 0)
                return;

        print_heading(output, "Fails most");
        for (guint i = 0; i < MIN(nodes->len, NODES_LISTED); i++) {
                const NodeStats *node = nodes->pdata[i];
                g_autoptr(GArray) causes = causes_of(node);

                output_appendf(output, line, STYLE_PLAIN, "  %s: %" PRIu64 " of %" PRIu64 " times", node->path,
                               node->failures, node_stats_executions(node));
                output_print_line(output, line);
                for (unsigned k = 0; k < MIN(causes->len, CAUSES_LISTED); k++) {
                        const CauseCount *cause = &g_array_index(causes, CauseCount, k);

                        output_appendf(output, line, STYLE_PLAIN, "%8u  %s", cause->n, cause->text);
                        output_print_line(output, line);
                }
                if (causes->len > CAUSES_LISTED) {
                        output_appendf(output, line, STYLE_DIM, "          and %u other causes",
                                       causes->len - CAUSES_LISTED);
                        output_print_line(output, line);
                }
        }
}

static void print_slower(const Output *output, const TreeStats *stats) {
        g_autoptr(GPtrArray) nodes = choose_nodes(stats, true);
        g_autoptr(GString) line = g_string_new(NULL);

        if (nodes->len == 0)
                return;

        print_heading(output, "Has become slower (medians of the first and of the last third)");
        for (guint i = 0; i < MIN(nodes->len, NODES_LISTED); i++) {
                const NodeStats *node = nodes->pdata[i];
                uint64_t before, after;

                if (slower_by(node, &before, &after) > 0) {
                        g_autofree char *was = span_format_rounded(before), *is = span_format_rounded(after);

                        output_appendf(output, line, STYLE_PLAIN, "  %s: %s, then %s", node->path, was, is);
                        output_print_line(output, line);
                }
        }
}

static void print_typical(const Output *output, const Report *report) {
        const RunInfo *run = report->typical;
        g_autoptr(GString) line = g_string_new(NULL);
        g_autofree char *span = NULL, *heading = NULL;
        uint64_t length = run ? run_info_duration(run) : 0;

        if (!run || report->awaited->len == 0)
                return;

        span = span_format_rounded(length);
        heading = g_strdup_printf("Critical path of %s, the run of median duration (%s after %s)", run->id, run->status,
                                  span);
        print_heading(output, heading);
        for (unsigned i = 0; i < report->awaited->len; i++) {
                const Awaited *it = &g_array_index(report->awaited, Awaited, i);
                g_autofree char *name = tree_node_path(definition_tree(report->recording->definition), it->node),
                                *time = span_format_rounded(it->time);

                /* Nodes that took less than one percent of the time are left out. */
                if (it->time * 100 < length)
                        continue;
                output_appendf(output, line, STYLE_PLAIN, "  %9s  %3" PRIu64 "%%  %s", time,
                               length > 0 ? MIN(it->time * 100 / length, 100) : 0, name);
                if (it->times > 1)
                        output_appendf(output, line, STYLE_DIM, " (%u times)", it->times);
                output_print_line(output, line);
        }
}

static void tell_damaged(const Report *report) {
        unsigned n = report->damaged->len;
        g_autofree char *more = NULL;

        if (n == 0)
                return;

        (void) report_error("%u run record%s cannot be read and %s left out:", n, n == 1 ? "" : "s",
                            n == 1 ? "is" : "are");
        for (unsigned i = 0; i < MIN(n, DAMAGED_LISTED); i++) {
                g_autofree char *line = g_strconcat("  ", report->damaged->pdata[i], NULL);

                report_line(line);
        }
        if (n > DAMAGED_LISTED) {
                more = g_strdup_printf("  and %u more", n - DAMAGED_LISTED);
                report_line(more);
        }
}

static int show_tree(Client *client, const RecordFiles *files, const char *operand, const GPtrArray *runs) {
        g_autofree char *tree = NULL, *instance = NULL;
        g_auto(Report) report = {
                .stats = tree_stats_new(),
                .damaged = g_ptr_array_new_with_free_func(g_free),
                .awaited = g_array_new(false, false, sizeof(Awaited)),
        };
        int status;

        target_split(operand, &tree, &instance);
        report.summary = summary_new(tree);
        status = read_runs(client, files, runs, &report);
        if (status != EXIT_SUCCESS)
                return status;

        tell_damaged(&report);
        if (client->output.json) {
                output_print_json(report_to_json(&report));
                return EXIT_SUCCESS;
        }
        if (report.summary->n == 0) {
                if (!options_want_none(&client->options))
                        client_say(client, "no run of '%s' has finished in this time", operand);
                return EXIT_SUCCESS;
        }

        print_head(&client->output, &report);
        print_nodes(&client->output, report.stats->nodes);
        print_failures(&client->output, report.stats);
        print_slower(&client->output, report.stats);
        print_typical(&client->output, &report);
        return EXIT_SUCCESS;
}

int verb_stats(Client *client, char **operands) {
        g_autoptr(RecordFiles) files = NULL;
        g_autoptr(GPtrArray) runs = NULL;
        int status = record_files_select(client, operands[0], &files, &runs, NULL);

        if (status != EXIT_SUCCESS)
                return status;

        return operands[0] ? show_tree(client, files, operands[0], runs) : show_trees(client, runs);
}
