/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Makes the timeline of a recording, for btctl plot: status changes become bars, and actions of people become marks.
 * Also the scale, and which nodes are drawn. */

#include "client/plot/plot.h"
#include "basic/span.h"
#include "engine/types/types.h"

#define TICKS_MAX 10u
#define DAY (UINT64_C(24) * 3600 * G_USEC_PER_SEC)

typedef struct Plotter {
        Timeline *timeline;
        uint64_t begin, end; /* since the start of the run */
        Status status;       /* of the run, at the end of the log */
        char *why;
} Plotter;

static void plotter_clear(Plotter *plotter) {
        g_clear_pointer(&plotter->timeline, timeline_free);
        g_clear_pointer(&plotter->why, g_free);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Plotter, plotter_clear)

static void on_event(const RunEvent *event, void *userdata) {
        Plotter *plotter = userdata;
        uint64_t time = event->time - plotter->begin;

        plotter->end = event->time;
        if (event->node == NODE_NONE && event->status != STATUS_IDLE) {
                plotter->status = event->status;
                g_free(plotter->why);
                plotter->why = g_strdup(event->text);
        } else if (event->phase == PHASE_WAITING) {
                timeline_wait(plotter->timeline, event->node, time, event->text);
        } else if (event->phase == PHASE_HALTING) {
                timeline_halt(plotter->timeline, event->node, time);
        } else if (event->status != STATUS_IDLE) {
                timeline_change(plotter->timeline, event->node, event->status, time, event->text);
        } else if (event->node == NODE_NONE && !g_str_equal(event->what, "started")) {
                timeline_mark(plotter->timeline, time, event->what, event->text);
        }
        if (event->label)
                timeline_label(plotter->timeline, event->node, event->label);
}

char *plot_recording(const Recording *recording, PlotFormat format, char **ret_error) {
        g_auto(Plotter) plotter = {
                .timeline = timeline_new(definition_tree(recording->definition)),
                .begin = recording_begin(recording),
        };
        const RecordHeader *header = &recording->record->header;
        g_autofree char *span = NULL, *begin = NULL, *cut = NULL, *subtitle = NULL;
        PlotTitle title;

        if (recording_report(recording, UINT64_MAX, on_event, &plotter, ret_error) < 0)
                return NULL;

        plotter.timeline->begin = plotter.begin;
        timeline_finish(plotter.timeline, plotter.end - plotter.begin);

        /* "failure after 3.2s: Boot/LoadConfig: exited with status 3" */
        span = span_format_rounded(plotter.end);
        begin = span_format_rounded(plotter.begin);
        cut = plotter.begin > 0 ? g_strdup_printf(", drawn from %s on", begin) : g_strdup("");
        subtitle = g_strdup_printf("%s %s %s%s%s%s", status_to_string(plotter.status),
                                   plotter.status == STATUS_RUNNING ? "for" : "after", span, cut,
                                   plotter.why ? ": " : "", plotter.why ?: "");
        title = (PlotTitle){ header->run, subtitle, header->started + plotter.begin };
        return format(plotter.timeline, &title);
}

/* 1, 2 or 5 times a power of ten times this, if that is long enough and less than the limit; or 0. */
static uint64_t decimal_step(uint64_t unit, uint64_t total, uint64_t limit) {
        static const uint64_t factors[] = { 1, 2, 5 };

        for (uint64_t power = 1; power < limit / unit; power *= 10)
                for (size_t i = 0; i < G_N_ELEMENTS(factors); i++)
                        if (total / (factors[i] * power * unit) <= TICKS_MAX && factors[i] * power * unit < limit)
                                return factors[i] * power * unit;

        return 0;
}

static GDateTime *date_of(uint64_t time) {
        GDateTime *date = g_date_time_new_from_unix_local((gint64) (time / G_USEC_PER_SEC));

        if (!date)
                date = g_date_time_new_from_unix_utc(0);

        return date;
}

static void set_clock(Tick *tick, uint64_t time, uint64_t step) {
        g_autoptr(GDateTime) date = date_of(time);
        const char *format = "%H:%M:%S";
        unsigned rest = time % G_USEC_PER_SEC;
        g_autofree char *text = NULL;

        if (step >= DAY)
                format = "%m-%d %H:%M";
        text = g_date_time_format(date, format);
        if (step >= G_USEC_PER_SEC)
                g_snprintf(tick->clock, sizeof(tick->clock), "%s", text);
        else if (step >= 1000)
                g_snprintf(tick->clock, sizeof(tick->clock), "%s.%03u", text, rest / 1000);
        else
                g_snprintf(tick->clock, sizeof(tick->clock), "%s.%06u", text, rest);
}

GArray *plot_ticks(const Timeline *timeline, const PlotTitle *title) {
        static const uint64_t seconds[] = { 10, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 10800, 21600, 43200 };
        GArray *ticks = g_array_new(false, true, sizeof(Tick));
        uint64_t step = decimal_step(1, timeline->end, seconds[0] * G_USEC_PER_SEC), first;

        /* At most TICKS_MAX steps, of a length that clocks have. */
        for (size_t i = 0; step == 0 && i < G_N_ELEMENTS(seconds); i++)
                if (timeline->end / (seconds[i] * G_USEC_PER_SEC) <= TICKS_MAX)
                        step = seconds[i] * G_USEC_PER_SEC;
        if (step == 0)
                step = decimal_step(DAY, timeline->end, UINT64_MAX / 10);
        step = MAX(step, 1);

        first = (step - timeline->begin % step) % step;
        for (uint64_t time = first; time <= timeline->end; time += step) {
                g_autofree char *span = span_format_rounded(timeline->begin + time);
                Tick tick = { .share = timeline_share(timeline, time) };

                g_snprintf(tick.span, sizeof(tick.span), "%s", timeline->begin + time > 0 ? span : "0");
                /* Parts of a second are wide. */
                if (step >= G_USEC_PER_SEC || ticks->len % 2 == 0)
                        set_clock(&tick, title->started + time, step);
                g_array_append_val(ticks, tick);
        }

        return ticks;
}

char *plot_day(const PlotTitle *title) {
        g_autoptr(GDateTime) date = date_of(title->started);

        return g_date_time_format(date, "%Y-%m-%d %Z");
}

static const Bar *last_bar(const Timeline *timeline, NodeId node) {
        uint32_t last = timeline->last[node];

        return last == UINT32_MAX ? NULL : &g_array_index(timeline->bars, Bar, last);
}

const char *plot_detail(const Timeline *timeline, NodeId node) {
        const Bar *bar = last_bar(timeline, node);

        if (!bar || bar->status == STATUS_SUCCESS || !(timeline->tree->nodes[node].flags & NODE_LEAF))
                return NULL;

        return bar->detail;
}

bool plot_has_details(const Timeline *timeline, const uint32_t *places) {
        for (NodeId node = 0; node < timeline->tree->n_nodes; node++)
                if (places[node] == node && plot_detail(timeline, node))
                        return true;

        return false;
}

bool plot_is_even_copy(const Timeline *timeline, NodeId node) {
        const Node *nodes = timeline->tree->nodes;
        unsigned n = 0;

        while (node != 0 && nodes[nodes[node].parent].type != &for_each_type)
                node = nodes[node].parent;
        if (node == 0)
                return false;
        for (NodeId copy = nodes[node].parent + 1; copy < node; copy = nodes[copy].end)
                n++;

        return n % 2 == 1;
}

uint32_t *plot_fold(const Timeline *timeline, uint32_t max) {
        const Tree *tree = timeline->tree;
        g_autofree uint32_t *parents = g_new(uint32_t, tree->n_nodes);
        g_autofree bool *calm = g_new(bool, tree->n_nodes), *absent = g_new(bool, tree->n_nodes);

        for (NodeId node = 0; node < tree->n_nodes; node++) {
                const Bar *bar = last_bar(timeline, node);

                /* A damaged record may lack the bars of a parent. */
                parents[node] = node > 0 ? tree->nodes[node].parent : 0;
                if (node > 0 && absent[parents[node]])
                        parents[node] = parents[parents[node]];
                absent[node] = !bar;
                calm[node] = !bar || bar->status == STATUS_SUCCESS || bar->status == STATUS_SKIPPED;
        }

        return fold_nodes(parents, tree->n_nodes, calm, absent, max);
}

static void append_count(GString *text, unsigned n, const char *what) {
        if (n > 0)
                g_string_append_printf(text, ", %u %s", n, what);
}

char **plot_held(const Timeline *timeline, const uint32_t *places) {
        const Node *nodes = timeline->tree->nodes;
        NodeId n_nodes = timeline->tree->n_nodes;
        unsigned(*counts)[STATUS_NODE_MAX_] = g_malloc0_n(n_nodes, sizeof(*counts));
        char **held = g_new0(char *, n_nodes + 1);

        for (NodeId node = n_nodes; node-- > 1;) {
                NodeId holder = places ? places[node] : nodes[node].parent;

                if (!last_bar(timeline, node) || holder == node || holder == UINT32_MAX)
                        continue;
                counts[holder][last_bar(timeline, node)->status]++;
                for (Status status = 0; !places && status < STATUS_NODE_MAX_; status++)
                        counts[holder][status] += counts[node][status];
        }

        for (NodeId node = 0; node < n_nodes; node++) {
                GString *text = g_string_new(NULL);
                unsigned n = 0;

                for (Status status = 0; status < STATUS_NODE_MAX_; status++)
                        n += counts[node][status];
                if (n > 0)
                        g_string_append_printf(text, "+%u", n);
                append_count(text, counts[node][STATUS_FAILURE] + counts[node][STATUS_ERROR], "failed");
                append_count(text, counts[node][STATUS_HALTED], "halted");
                append_count(text, counts[node][STATUS_RUNNING], "running");
                held[node] = g_string_free(text, false);
        }

        g_free(counts);
        return held;
}

/* Folds the nodes of each depth, from the deepest on. Returns how many nodes are drawn then. */
static uint32_t fold_levels(const GPtrArray *levels, const bool *calm, const uint32_t *n_children, uint32_t n,
                            uint32_t max, bool *folded) {
        for (guint depth = levels->len; depth-- > 1 && n > max;) {
                const GArray *level = g_ptr_array_index(levels, depth);

                for (guint k = 0; k < level->len && n > max; k++) {
                        uint32_t i = g_array_index(level, uint32_t, k);

                        if (folded[i] || n_children[i] == 0 || (calm && !calm[i]))
                                continue;
                        folded[i] = true;
                        n -= n_children[i];
                }
        }

        return n;
}

/* One pass for each depth, so the time is that of the number of nodes times the depth at which enough is folded. */
uint32_t *fold_nodes(const uint32_t *parents, uint32_t n_nodes, bool *calm, const bool *absent, uint32_t max) {
        g_autofree uint32_t *depths = g_new0(uint32_t, n_nodes), *n_children = g_new0(uint32_t, n_nodes);
        g_autofree bool *folded = g_new0(bool, n_nodes), *held = g_new0(bool, n_nodes);
        g_autoptr(GPtrArray) levels = g_ptr_array_new_with_free_func((GDestroyNotify) g_array_unref);
        uint32_t *places = g_new(uint32_t, n_nodes), n = 0;

        for (uint32_t i = 0; i < n_nodes; i++) {
                if (absent && absent[i])
                        continue;
                n++;
                if (i > 0) {
                        depths[i] = depths[parents[i]] + 1;
                        n_children[parents[i]]++;
                }
                while (levels->len <= depths[i])
                        g_ptr_array_add(levels, g_array_new(false, false, sizeof(uint32_t)));
                g_array_append_val(g_ptr_array_index(levels, depths[i]), i);
        }
        for (uint32_t i = n_nodes; calm && i-- > 1;)
                calm[parents[i]] &= calm[i];

        if (calm)
                n = fold_levels(levels, calm, n_children, n, max, folded);
        n = fold_levels(levels, NULL, n_children, n, max, folded);
        /* Then only the root and its children are left. */
        for (unsigned any = calm ? 0 : 1; any < 2; any++)
                for (uint32_t i = n_nodes; i-- > 1 && n > max;)
                        if (parents[i] == 0 && !(absent && absent[i]) && !held[i] && (any || calm[i])) {
                                held[i] = true;
                                n--;
                        }

        for (uint32_t i = 0; i < n_nodes; i++) {
                uint32_t parent = i > 0 ? parents[i] : 0;

                if (absent && absent[i])
                        places[i] = UINT32_MAX;
                else if (i == 0 || (places[parent] == parent && !folded[parent] && !held[i]))
                        places[i] = i;
                else
                        places[i] = places[parent];
        }

        return places;
}
