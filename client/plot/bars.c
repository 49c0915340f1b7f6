/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Draws the bars of a timeline as elements of SVG, for the pictures and the pages of btctl plot.
 *
 * A row has the width BARS_WIDTH and is stretched to that of the window. So there is no text in it: details are in the
 * tooltips of the bars.
 */

#include "basic/foreach.h"
#include "basic/span.h"
#include "client/plot/plot.h"
#include "client/view/text.h"

/* More bars than this share tooltips. */
#define BARS_MAX 2500u
/* Bars that are nearer cannot be distinguished, */
#define BAR_NEARNESS 0.5
/* and narrower ones cannot be seen. */
#define BAR_WIDTH_MIN 1.5
#define CRITICAL_WIDTH_MIN 4.0
#define BAR_TOP 3
#define CRITICAL_PATH "critical path: the run waited for these"
/* A line is drawn between bars that are at least so wide. */
#define SEPARATED_WIDTH_MIN 8.0

typedef struct Drawing {
        const Timeline *timeline;
        GString **rows; /* of each node; NULL: it has none */
        const unsigned *tops;
} Drawing;

/* Bars of one node that are too near to each other to be distinguished are drawn as one. */
typedef struct BarCluster {
        NodeId node;
        uint64_t begin, end;
        unsigned n;      /* how many bars */
        Status status;   /* the worst of the bars */
        bool wide;       /* the first bar is wide enough to be distinguished */
        const Bar *last; /* borrowed from the timeline */
} BarCluster;

static const unsigned badness[STATUS_MAX_] = {
        [STATUS_SKIPPED] = 1, [STATUS_SUCCESS] = 2, [STATUS_HALTED] = 3, [STATUS_FAILURE] = 4, [STATUS_ERROR] = 5,
};

static gint compare_clusters(gconstpointer a, gconstpointer b) {
        const BarCluster *first = a, *second = b;

        if (first->node != second->node)
                return first->node < second->node ? -1 : 1;
        if (first->status != second->status)
                return first->status < second->status ? -1 : 1;

        return (first->last > second->last) - (first->last < second->last);
}

/* Returns an array of BarCluster, by node, status and time. Bars that end within fewer microseconds than nearness are
 * near to each other. One pass, with the last cluster of each node open. */
static GArray *bar_clusters_new(const Timeline *timeline, uint64_t nearness) {
        g_autofree BarCluster *open = g_new0(BarCluster, timeline->tree->n_nodes);
        GArray *clusters = g_array_new(false, false, sizeof(BarCluster));

        for (unsigned i = 0; i < timeline->bars->len; i++) {
                const Bar *bar = &g_array_index(timeline->bars, Bar, i);
                BarCluster *cluster = &open[bar->node];
                bool near = cluster->n > 0 && bar->status != STATUS_RUNNING && bar->end - cluster->end < nearness;

                /* A bar that is wide enough keeps its own colour. */
                if (near && (bar->status == cluster->status || !cluster->wide)) {
                        cluster->end = bar->end;
                        cluster->n++;
                        cluster->last = bar;
                        if (badness[bar->status] > badness[cluster->status])
                                cluster->status = bar->status;
                        continue;
                }

                if (cluster->n > 0)
                        g_array_append_val(clusters, *cluster);
                *cluster = (BarCluster){
                        .node = bar->node,
                        .begin = bar->begin,
                        .end = bar->end,
                        .n = 1,
                        .status = bar->status,
                        .wide = bar->end - bar->begin >= nearness,
                        .last = bar,
                };
        }

        for (NodeId node = 0; node < timeline->tree->n_nodes; node++)
                if (open[node].n > 0)
                        g_array_append_val(clusters, open[node]);

        g_array_sort(clusters, compare_clusters);
        return clusters;
}

static void append_tenths(GString *text, long tenths) {
        g_string_append_printf(text, tenths % 10 ? "%ld.%ld" : "%ld", tenths / 10, tenths % 10);
}

/* All lines but the first are relative to the end of the one before, and rounded to a tenth, so that errors do not add
 * up. */
void svg_path_add(SvgPath *path, double x, double width, unsigned y) {
        long begin = MAX((long) (x * 10 + 0.5), path->end), end = MAX((long) ((x + width) * 10 + 0.5), begin + 1);
        bool first = !path->text;

        if (first)
                path->text = g_string_new(NULL);

        g_string_append_c(path->text, first ? 'M' : 'm');
        append_tenths(path->text, begin - path->end);
        g_string_append_printf(path->text, " %uh", first ? y : 0);
        append_tenths(path->text, end - begin);
        path->end = end;
}

double timeline_share(const Timeline *timeline, uint64_t time) {
        return timeline->end > 0 ? (double) time / (double) timeline->end : 0;
}

static double x_of(const Timeline *timeline, uint64_t time) {
        return timeline_share(timeline, time) * BARS_WIDTH;
}

/* XML forbids most control characters, also as references. */
void svg_append(GString *svg, const char *text) {
        g_autofree char *clean = text_clean(text, false), *escaped = g_markup_escape_text(clean, -1);

        g_string_append(svg, escaped);
}

void svg_append_shortened(GString *svg, const char *text, glong n_max) {
        g_autofree char *start = NULL;

        if (g_utf8_strlen(text, -1) <= n_max) {
                svg_append(svg, text);
                return;
        }

        start = g_utf8_substring(text, 0, n_max - 1);
        svg_append(svg, start);
        g_string_append(svg, "…");
}

/* Independent of the locale. */
void svg_append_number(GString *svg, const char *attribute, double value, const char *unit) {
        char number[G_ASCII_DTOSTR_BUF_SIZE];

        g_string_append_printf(svg, " %s=\"%s%s\"", attribute, g_ascii_formatd(number, sizeof(number), "%.1f", value),
                               unit);
}

/* The elements tell the executions below a ForEach apart. */
static const char *name_of(const Drawing *drawing, const Bar *bar) {
        return bar->label ?: tree_node_name(drawing->timeline->tree, bar->node);
}

/* "Fetch: failure, from 1s for 2s: exited with status 1", "Fetch: 40 times, from 1s for 20s; last: failure: ..." */
static void append_title(const Drawing *drawing, GString *svg, const BarCluster *cluster) {
        g_autofree char *begin = span_format_rounded(drawing->timeline->begin + cluster->begin),
                        *span = span_format_rounded(cluster->end - cluster->begin);
        const char *status = status_to_string(cluster->last->status);

        g_string_append(svg, "<title>");
        svg_append(svg, cluster->n == 1 ? name_of(drawing, cluster->last)
                                        : tree_node_name(drawing->timeline->tree, cluster->node));
        if (cluster->n > 1)
                g_string_append_printf(svg, ": %u times, from %s for %s; last: %s", cluster->n, begin, span, status);
        else
                g_string_append_printf(svg, ": %s, from %s for %s", status, begin, span);
        if (cluster->n == 1 && cluster->last->halting < cluster->last->end) {
                g_autofree char *halting = span_format_rounded(cluster->last->end - cluster->last->halting);

                g_string_append_printf(svg, ", the last %s halting", halting);
        }
        if (cluster->last->detail) {
                g_string_append(svg, ": ");
                svg_append(svg, cluster->last->detail);
        }
        g_string_append(svg, "</title>");
}

static double width_of(const Timeline *timeline, const BarCluster *cluster) {
        return MAX(x_of(timeline, cluster->end) - x_of(timeline, cluster->begin), BAR_WIDTH_MIN);
}

static void append_class(const Drawing *drawing, GString *svg, const char *kind, const BarCluster *cluster) {
        bool inner = !(drawing->timeline->tree->nodes[cluster->node].flags & NODE_LEAF);

        g_string_append_printf(svg, " class=\"%s%s%s\">", kind, status_to_string(cluster->status), inner ? " i" : "");
}

/* Bars of a node with the same status, and with one tooltip. */
static void append_group(const Drawing *drawing, const BarCluster *clusters, unsigned n) {
        const Timeline *timeline = drawing->timeline;
        BarCluster all = clusters[0];
        GString *svg = drawing->rows[all.node];
        SvgPath path = {};

        for (unsigned i = 0; i < n; i++) {
                svg_path_add(&path, x_of(timeline, clusters[i].begin), width_of(timeline, &clusters[i]),
                             drawing->tops[all.node] + BAR_TOP + BAR_HEIGHT / 2);
                if (i > 0)
                        all.n += clusters[i].n;
        }
        all.end = clusters[n - 1].end;
        all.last = clusters[n - 1].last;

        g_string_append_printf(svg, "<path d=\"%s\"", path.text->str);
        append_class(drawing, svg, "b ", &all);
        append_title(drawing, svg, &all);
        g_string_append(svg, "</path>\n");
        g_string_free(path.text, true);
}

/* If there are too many bars, they share tooltips, because the picture would get too large. */
static void append_bars(const Drawing *drawing) {
        const Timeline *timeline = drawing->timeline;
        uint64_t nearness = (uint64_t) ((double) timeline->end / BARS_WIDTH * BAR_NEARNESS);
        g_autoptr(GArray) clusters = bar_clusters_new(timeline, nearness);
        bool many = clusters->len > BARS_MAX;

        for (unsigned i = 0, n; i < clusters->len; i += n) {
                const BarCluster *cluster = &g_array_index(clusters, BarCluster, i);
                GString *svg = drawing->rows[cluster->node];

                for (n = 1; many && i + n < clusters->len; n++)
                        if (cluster[n].node != cluster->node || cluster[n].status != cluster->status)
                                break;
                if (!svg)
                        continue;
                if (n > 1) {
                        append_group(drawing, cluster, n);
                        continue;
                }

                g_string_append(svg, "<rect");
                svg_append_number(svg, "x", x_of(timeline, cluster->begin), "");
                svg_append_number(svg, "width", width_of(timeline, cluster), "");
                g_string_append_printf(svg, " y=\"%u\" height=\"%d\"", drawing->tops[cluster->node] + BAR_TOP,
                                       BAR_HEIGHT);
                append_class(drawing, svg, "", cluster);
                append_title(drawing, svg, cluster);
                g_string_append(svg, "</rect>\n");
        }
}

static void append_part(const Drawing *drawing, const Bar *bar, const char *class, double x, double width) {
        GString *svg = drawing->rows[bar->node];

        g_string_append_printf(svg, "<rect class=\"%s\"", class);
        svg_append_number(svg, "x", x, "");
        svg_append_number(svg, "width", width, "");
        g_string_append_printf(svg, " y=\"%u\" height=\"%d\"", drawing->tops[bar->node] + BAR_TOP, BAR_HEIGHT);
}

/* "Fetch: waiting for the lock 'disk', from 1s for 2s" */
static void append_wait(const Drawing *drawing, const Bar *bar, double x, double width) {
        g_autofree char *from = span_format_rounded(drawing->timeline->begin + bar->waiting),
                        *span = span_format_rounded(bar->begin - bar->waiting);
        GString *svg = drawing->rows[bar->node];

        append_part(drawing, bar, "waiting", x, width);
        g_string_append(svg, "><title>");
        svg_append(svg, name_of(drawing, bar));
        g_string_append(svg, ": waiting");
        if (bar->awaits) {
                g_string_append_c(svg, ' ');
                svg_append(svg, bar->awaits);
        }
        g_string_append_printf(svg, ", from %s for %s</title></rect>\n", from, span);
}

/* Draws the times before nodes began, and those in which they were halting; and a line between two bars that follow
 * each other at once, such as those of two elements of a ForEach. Parts that are too narrow to be distinguished are
 * left out. */
static void append_parts(const Drawing *drawing) {
        const Timeline *timeline = drawing->timeline;
        g_autofree double *ends = g_new(double, timeline->tree->n_nodes); /* of wide bars */

        for (NodeId node = 0; node < timeline->tree->n_nodes; node++)
                ends[node] = -BARS_WIDTH;

        for (unsigned i = 0; i < timeline->bars->len; i++) {
                const Bar *bar = &g_array_index(timeline->bars, Bar, i);
                GString *svg = drawing->rows[bar->node];
                double waiting = x_of(timeline, bar->waiting), begin = x_of(timeline, bar->begin),
                       halting = x_of(timeline, bar->halting), end = x_of(timeline, bar->end);

                if (!svg)
                        continue;
                if (end - begin >= SEPARATED_WIDTH_MIN) {
                        if (begin - ends[bar->node] < BAR_WIDTH_MIN) {
                                append_part(drawing, bar, "gap", begin - 0.5, 1);
                                g_string_append(svg, "/>\n");
                        }
                        ends[bar->node] = end;
                }
                if (begin - waiting >= BAR_WIDTH_MIN)
                        append_wait(drawing, bar, waiting, begin - waiting);
                if (end - halting < BAR_WIDTH_MIN)
                        continue;
                append_part(drawing, bar, "halting", halting, end - halting);
                g_string_append(svg, "/>\n");
        }
}

/* Draws the critical path below the bars, in one piece between gaps. */
static void append_critical_path(const Drawing *drawing) {
        const Timeline *timeline = drawing->timeline;
        g_autofree SvgPath *paths = g_new0(SvgPath, timeline->tree->n_nodes);

        for (unsigned i = 0; i < timeline->bars->len; i++) {
                const Bar *bar = &g_array_index(timeline->bars, Bar, i);
                double begin = x_of(timeline, bar->awaited), drawn = (double) paths[bar->node].end / 10,
                       end = MAX(x_of(timeline, bar->end), begin + CRITICAL_WIDTH_MIN);

                if (drawing->rows[bar->node] && bar->critical && end >= drawn + BAR_NEARNESS)
                        svg_path_add(&paths[bar->node], MAX(begin, drawn), end - MAX(begin, drawn),
                                     drawing->tops[bar->node] + BAR_TOP + BAR_HEIGHT + 1);
        }

        for (NodeId node = 0; node < timeline->tree->n_nodes; node++)
                if (paths[node].text) {
                        g_string_append_printf(drawing->rows[node], "<path class=\"c\" d=\"%s\"/>\n",
                                               paths[node].text->str);
                        g_string_free(paths[node].text, true);
                }
}

void timeline_draw(const Timeline *timeline, GString **rows, const unsigned *tops) {
        const Drawing drawing = { timeline, rows, tops };

        append_bars(&drawing);
        append_parts(&drawing);
        append_critical_path(&drawing);
}

GPtrArray *timeline_legend(const Timeline *timeline) {
        GPtrArray *names = g_ptr_array_new();
        bool statuses[STATUS_MAX_] = {}, halted = false, waited = false;

        ARRAY_FOREACH(const Bar, bar, timeline->bars) {
                statuses[bar->status] = true;
                halted |= bar->halting < bar->end;
                waited |= bar->waiting < bar->begin;
        }

        for (Status status = STATUS_RUNNING; status < STATUS_MAX_; status++)
                if (statuses[status])
                        g_ptr_array_add(names, (char *) status_to_string(status));
        if (halted)
                g_ptr_array_add(names, (char *) "halting");
        if (waited)
                g_ptr_array_add(names, (char *) "waiting");
        g_ptr_array_add(names, (char *) CRITICAL_PATH);
        return names;
}

static void append_sample(GString *svg, const char *class, unsigned x, unsigned y) {
        g_string_append_printf(svg, "<rect class=\"%s\" x=\"%u\" y=\"%u\" width=\"12\" height=\"%d\"/>", class, x, y,
                               BAR_HEIGHT);
}

void svg_append_key(GString *svg, const char *name, unsigned x, unsigned y) {
        if (g_str_equal(name, CRITICAL_PATH)) {
                g_string_append_printf(svg, "<path class=\"c\" d=\"M%u %uh12\"/>", x, y + 10);
                return;
        }

        if (g_str_equal(name, "halting"))
                append_sample(svg, "halted", x, y);
        append_sample(svg, name, x, y);
}
