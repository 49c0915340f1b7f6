/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Draws the timeline of a run as SVG, for btctl plot.
 *
 * Names stand on the left, indented as in the tree; bars on the right, coloured by status, those of the critical path
 * underlined. What people did to the run is drawn as lines across. The scale is on top, and repeated since pictures get
 * long. A bar's tooltip has all details. Nodes that never ran are left out.
 */

#include <string.h>

#include "basic/span.h"
#include "client/plot/plot.h"
#include "client/plot/timeline.h"

#define MARGIN 16
#define HEAD 84
#define ROW 18
#define BAR_HEIGHT 12
#define INDENT 10
#define INDENT_MAX 12
#define NAME_CHARS_MAX 36
#define NAMES_WIDTH 340
#define BARS_WIDTH 900
#define DETAIL_WIDTH 420
#define DETAIL_CHARS_MAX 64
#define WIDTH (MARGIN + NAMES_WIDTH + BARS_WIDTH + DETAIL_WIDTH + MARGIN)
#define TITLE_CHAR_WIDTH 12u
#define SCALE_STEPS 10u
#define SCALE_EVERY 50u  /* rows */
#define MARK_DISTANCE 90 /* between labels */
#define LEGEND_DISTANCE 76
/* More bars than this share tooltips. */
#define BARS_MAX 2500u
/* In pixels: bars that are nearer cannot be distinguished, */
#define BAR_NEARNESS 0.5
/* and narrower ones cannot be seen. */
#define BAR_WIDTH_MIN 1.5
#define CRITICAL_WIDTH_MIN 4.0

static const char style[] = "text{font:12px system-ui,sans-serif;fill:#24292f}"
                            ".t{font-size:18px;font-weight:600}.s,.d{fill:#57606a}.d{font-size:11px}"
                            ".g{stroke:#d8dee4}.g0{stroke:#57606a}.m{stroke:#8250df;stroke-dasharray:4 3}"
                            ".success{color:#2da44e}.failure{color:#cf222e}.error{color:#82071e}.halted{color:#8250df}"
                            ".skipped{color:#afb8c1}.running{color:#0969da}"
                            ".c{stroke:#bf8700;stroke-width:3;fill:none}"
                            "rect{fill:currentColor}.b{stroke:currentColor;stroke-width:12;fill:none}.i{opacity:.4}";

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

/* A bar that is wide enough keeps its own colour. */
static bool cluster_takes(const BarCluster *cluster, const Bar *bar, uint64_t nearness) {
        return cluster->n > 0 && bar->status != STATUS_RUNNING && bar->end - cluster->end < nearness &&
               (bar->status == cluster->status || !cluster->wide);
}

static void cluster_begin(BarCluster *cluster, const Bar *bar, uint64_t nearness) {
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

static void cluster_extend(BarCluster *cluster, const Bar *bar) {
        cluster->end = bar->end;
        cluster->n++;
        cluster->last = bar;
        if (badness[bar->status] > badness[cluster->status])
                cluster->status = bar->status;
}

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

                if (cluster_takes(cluster, bar, nearness)) {
                        cluster_extend(cluster, bar);
                        continue;
                }
                if (cluster->n > 0)
                        g_array_append_val(clusters, *cluster);
                cluster_begin(cluster, bar, nearness);
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

typedef struct Picture {
        GString *svg;
        const Timeline *timeline;
        unsigned *rows; /* of each node; UINT_MAX: it is left out */
        unsigned n_rows;
} Picture;

static void append_escaped(GString *svg, const char *text) {
        g_autofree char *escaped = g_markup_escape_text(text, -1);

        g_string_append(svg, escaped);
}

static void append_shortened(GString *svg, const char *text, glong n_max) {
        g_autofree char *start = NULL;

        if (g_utf8_strlen(text, -1) <= n_max) {
                append_escaped(svg, text);
                return;
        }

        start = g_utf8_substring(text, 0, n_max - 1);
        append_escaped(svg, start);
        g_string_append(svg, "…");
}

static double x_of(const Timeline *timeline, uint64_t time) {
        double total = timeline->end > 0 ? (double) timeline->end : 1;

        return MARGIN + NAMES_WIDTH + (double) time / total * BARS_WIDTH;
}

/* Independent of the locale. */
static void append_number(GString *svg, const char *attribute, double value) {
        char number[G_ASCII_DTOSTR_BUF_SIZE];

        g_string_append_printf(svg, " %s=\"%s\"", attribute, g_ascii_formatd(number, sizeof(number), "%.1f", value));
}

static unsigned y_of(unsigned row) {
        return HEAD + (row + row / SCALE_EVERY) * ROW;
}

static unsigned bottom_of(const Picture *picture) {
        return picture->n_rows > 0 ? y_of(picture->n_rows - 1) + ROW : HEAD;
}

static void append_head(const Picture *picture, const PlotTitle *title) {
        unsigned height = bottom_of(picture) + MARGIN;

        g_string_append_printf(picture->svg,
                               "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%u\" "
                               "viewBox=\"0 0 %d %u\">\n<style>%s</style>\n"
                               "<rect width=\"100%%\" height=\"100%%\" style=\"fill:#fff\"/>\n",
                               WIDTH, height, WIDTH, height, style);
        g_string_append_printf(picture->svg, "<text class=\"t\" x=\"%d\" y=\"24\">", MARGIN);
        append_escaped(picture->svg, title->run);
        g_string_append_printf(picture->svg, "</text>\n<text class=\"s\" x=\"%d\" y=\"42\">", MARGIN);
        append_escaped(picture->svg, title->subtitle);
        g_string_append(picture->svg, "</text>\n");
}

static bool has_status(const Timeline *timeline, Status status) {
        for (unsigned i = 0; i < timeline->bars->len; i++)
                if (g_array_index(timeline->bars, Bar, i).status == status)
                        return true;

        return false;
}

static void append_key(GString *svg, unsigned x, const char *key, const char *name) {
        g_string_append_printf(svg, "%s<text class=\"s\" x=\"%u\" y=\"20\">%s</text>\n", key, x + 16, name);
}

/* Explains the colours that are used, at the right of the title. */
static void append_legend(const Picture *picture, const PlotTitle *title) {
        unsigned x = MARGIN + MAX(NAMES_WIDTH, (unsigned) strlen(title->run) * TITLE_CHAR_WIDTH);
        g_autofree char *path = NULL;

        for (Status status = STATUS_RUNNING; status < STATUS_MAX_; status++) {
                g_autofree char *key = NULL;

                if (!has_status(picture->timeline, status))
                        continue;

                key = g_strdup_printf("<rect class=\"%s\" x=\"%u\" y=\"10\" width=\"12\" height=\"%d\"/>",
                                      status_to_string(status), x, BAR_HEIGHT);
                append_key(picture->svg, x, key, status_to_string(status));
                x += LEGEND_DISTANCE;
        }

        path = g_strdup_printf("<path class=\"c\" d=\"M%u 20h12\"/>", x);
        append_key(picture->svg, x, path, "critical path: what the run waited for");
}

/* 1, 2 or 5 times a power of ten, so that the scale has at most SCALE_STEPS steps. */
static uint64_t scale_step(uint64_t total) {
        static const uint64_t factors[] = { 1, 2, 5 };

        for (uint64_t power = 1; power < UINT64_MAX / 10; power *= 10)
                for (size_t i = 0; i < G_N_ELEMENTS(factors); i++)
                        if (total / (factors[i] * power) <= SCALE_STEPS)
                                return factors[i] * power;

        return total;
}

static void append_line(GString *svg, const char *class, double x, unsigned top, unsigned bottom) {
        g_string_append_printf(svg, "<line class=\"%s\"", class);
        append_number(svg, "x1", x);
        append_number(svg, "x2", x);
        g_string_append_printf(svg, " y1=\"%u\" y2=\"%u\"", top, bottom);
}

static void append_label(GString *svg, double x, unsigned y, const char *text) {
        g_string_append(svg, "<text class=\"s\" text-anchor=\"middle\"");
        append_number(svg, "x", x);
        g_string_append_printf(svg, " y=\"%u\">%s</text>\n", y, text);
}

static void append_scale(const Picture *picture) {
        const Timeline *timeline = picture->timeline;
        uint64_t step = scale_step(timeline->end);

        for (uint64_t time = 0; time <= timeline->end; time += step) {
                g_autofree char *span = time > 0 ? span_format_rounded(time) : g_strdup("0");
                double x = x_of(timeline, time);

                append_line(picture->svg, time > 0 ? "g" : "g0", x, HEAD - 4, bottom_of(picture));
                g_string_append(picture->svg, "/>");
                append_label(picture->svg, x, HEAD - 8, span);
                for (unsigned row = SCALE_EVERY; row < picture->n_rows; row += SCALE_EVERY)
                        append_label(picture->svg, x, y_of(row) - 5, span);
        }
}

/* If marks are close together, not all get a label. */
static void append_marks(const Picture *picture) {
        const GArray *marks = picture->timeline->marks;
        double named = 0, drawn = 0;
        const char *what = NULL; /* the last mark drawn */

        for (unsigned i = 0; i < marks->len; i++) {
                const Mark *mark = &g_array_index(marks, Mark, i);
                g_autofree char *time = span_format_rounded(mark->time);
                double x = x_of(picture->timeline, mark->time);

                if (what && g_str_equal(mark->what, what) && x < drawn + BAR_NEARNESS)
                        continue;
                what = mark->what;
                drawn = x;
                append_line(picture->svg, "m", x, HEAD - 22, bottom_of(picture));
                g_string_append_printf(picture->svg, "><title>%s, at %s", mark->what, time);
                if (mark->detail) {
                        g_string_append(picture->svg, ": ");
                        append_escaped(picture->svg, mark->detail);
                }
                g_string_append(picture->svg, "</title></line>\n");
                if (x < named + MARK_DISTANCE)
                        continue;
                append_label(picture->svg, x, HEAD - 26, mark->what);
                named = x;
        }
}

static void append_name(const Picture *picture, NodeId node) {
        const Tree *tree = picture->timeline->tree;
        unsigned depth = MIN(tree->nodes[node].depth, INDENT_MAX);

        g_string_append_printf(picture->svg, "<text x=\"%u\" y=\"%u\">", MARGIN + depth * INDENT,
                               y_of(picture->rows[node]) + 13);
        append_shortened(picture->svg, tree_node_name(tree, node), NAME_CHARS_MAX - depth);
        g_string_append(picture->svg, "</text>\n");
}

/* Names are clipped to their column, because the width of letters is not known. */
static void append_names(const Picture *picture) {
        g_string_append_printf(picture->svg,
                               "<clipPath id=\"names\"><rect width=\"%d\" height=\"100%%\"/></clipPath>\n"
                               "<g clip-path=\"url(#names)\">\n",
                               MARGIN + NAMES_WIDTH - 4);
        for (NodeId node = 0; node < picture->timeline->tree->n_nodes; node++)
                if (picture->rows[node] != UINT_MAX)
                        append_name(picture, node);
        g_string_append(picture->svg, "</g>\n");
}

/* "Fetch: failure, from 1s for 2s: exited with status 1", "Fetch: 40 times, from 1s for 20s; last: failure: ..." */
static void append_title(const Picture *picture, const BarCluster *cluster) {
        g_autofree char *begin = span_format_rounded(cluster->begin),
                        *span = span_format_rounded(cluster->end - cluster->begin);
        const char *status = status_to_string(cluster->last->status);
        GString *svg = picture->svg;

        g_string_append(svg, "<title>");
        append_escaped(svg, tree_node_name(picture->timeline->tree, cluster->node));
        if (cluster->n > 1)
                g_string_append_printf(svg, ": %u times, from %s for %s; last: %s", cluster->n, begin, span, status);
        else
                g_string_append_printf(svg, ": %s, from %s for %s", status, begin, span);
        if (cluster->last->detail) {
                g_string_append(svg, ": ");
                append_escaped(svg, cluster->last->detail);
        }
        g_string_append(svg, "</title>");
}

static double width_of(const Timeline *timeline, const BarCluster *cluster) {
        return MAX(x_of(timeline, cluster->end) - x_of(timeline, cluster->begin), BAR_WIDTH_MIN);
}

static void append_class(const Picture *picture, const char *kind, const BarCluster *cluster) {
        bool inner = !(picture->timeline->tree->nodes[cluster->node].flags & NODE_LEAF);

        g_string_append_printf(picture->svg, " class=\"%s%s%s\">", kind, status_to_string(cluster->status),
                               inner ? " i" : "");
}

static void append_bar(const Picture *picture, const BarCluster *cluster) {
        const Timeline *timeline = picture->timeline;

        g_string_append(picture->svg, "<rect");
        append_number(picture->svg, "x", x_of(timeline, cluster->begin));
        append_number(picture->svg, "width", width_of(timeline, cluster));
        g_string_append_printf(picture->svg, " y=\"%u\" height=\"%d\"", y_of(picture->rows[cluster->node]) + 3,
                               BAR_HEIGHT);
        append_class(picture, "", cluster);
        append_title(picture, cluster);
        g_string_append(picture->svg, "</rect>\n");
}

/* Bars of a node with the same status, and with one tooltip. */
static void append_group(const Picture *picture, const BarCluster *clusters, unsigned n) {
        const Timeline *timeline = picture->timeline;
        BarCluster all = clusters[0];
        SvgPath path = {};

        for (unsigned i = 0; i < n; i++) {
                svg_path_add(&path, x_of(timeline, clusters[i].begin), width_of(timeline, &clusters[i]),
                             y_of(picture->rows[all.node]) + 3 + BAR_HEIGHT / 2);
                if (i > 0)
                        all.n += clusters[i].n;
        }
        all.end = clusters[n - 1].end;
        all.last = clusters[n - 1].last;

        g_string_append_printf(picture->svg, "<path d=\"%s\"", path.text->str);
        append_class(picture, "b ", &all);
        append_title(picture, &all);
        g_string_append(picture->svg, "</path>\n");
        g_string_free(path.text, true);
}

/* Writes why a leaf did not succeed, beside its last bar. */
static void append_detail(const Picture *picture, const Bar *bar) {
        const Timeline *timeline = picture->timeline;

        if (!bar->detail || bar->status == STATUS_SUCCESS || !(timeline->tree->nodes[bar->node].flags & NODE_LEAF))
                return;

        g_string_append(picture->svg, "<text class=\"d\"");
        append_number(picture->svg, "x", x_of(timeline, bar->end) + 6);
        g_string_append_printf(picture->svg, " y=\"%u\">", y_of(picture->rows[bar->node]) + 13);
        append_shortened(picture->svg, bar->detail, DETAIL_CHARS_MAX);
        g_string_append(picture->svg, "</text>\n");
}

/* The number of clusters with the same node and status, from the first on. */
static unsigned group_length(const GArray *clusters, unsigned first) {
        const BarCluster *one = &g_array_index(clusters, BarCluster, first), *other = one;
        unsigned n = 0;

        while (first + n < clusters->len && other->node == one->node && other->status == one->status)
                other = &one[++n];

        return n;
}

/* If there are too many bars, they share tooltips, because the picture would get too large. */
static void append_bars(const Picture *picture) {
        const Timeline *timeline = picture->timeline;
        uint64_t nearness = (uint64_t) ((double) timeline->end / BARS_WIDTH * BAR_NEARNESS);
        g_autoptr(GArray) clusters = bar_clusters_new(timeline, nearness);
        bool many = clusters->len > BARS_MAX;

        for (unsigned i = 0, n; i < clusters->len; i += n) {
                const BarCluster *cluster = &g_array_index(clusters, BarCluster, i);

                n = many ? group_length(clusters, i) : 1;
                if (n > 1)
                        append_group(picture, cluster, n);
                else
                        append_bar(picture, cluster);
        }

        for (NodeId node = 0; node < timeline->tree->n_nodes; node++)
                if (picture->rows[node] != UINT_MAX)
                        append_detail(picture, &g_array_index(timeline->bars, Bar, timeline->last[node]));
}

/* Draws the critical path below the bars, in one piece between gaps. */
static void append_critical_path(const Picture *picture) {
        const Timeline *timeline = picture->timeline;
        g_autofree SvgPath *rows = g_new0(SvgPath, timeline->tree->n_nodes);

        for (unsigned i = 0; i < timeline->bars->len; i++) {
                const Bar *bar = &g_array_index(timeline->bars, Bar, i);
                double begin = x_of(timeline, bar->awaited), drawn = (double) rows[bar->node].end / 10,
                       end = MAX(x_of(timeline, bar->end), begin + CRITICAL_WIDTH_MIN);

                if (bar->critical && end >= drawn + BAR_NEARNESS)
                        svg_path_add(&rows[bar->node], MAX(begin, drawn), end - MAX(begin, drawn),
                                     y_of(picture->rows[bar->node]) + 3 + BAR_HEIGHT + 1);
        }

        g_string_append(picture->svg, "<path class=\"c\" d=\"");
        for (NodeId node = 0; node < timeline->tree->n_nodes; node++)
                if (rows[node].text) {
                        g_string_append(picture->svg, rows[node].text->str);
                        g_string_free(rows[node].text, true);
                }
        g_string_append(picture->svg, "\"/>\n");
}

/* Sets the row of each node that has run; returns the number of rows. */
static unsigned number_rows(const Timeline *timeline, unsigned *rows) {
        unsigned n = 0;

        for (NodeId node = 0; node < timeline->tree->n_nodes; node++)
                rows[node] = timeline->last[node] != UINT32_MAX ? n++ : UINT_MAX;

        return n;
}

char *plot_svg(const Timeline *timeline, const PlotTitle *title) {
        g_autofree unsigned *rows = g_new(unsigned, timeline->tree->n_nodes);
        const Picture picture = {
                .svg = g_string_new(NULL),
                .timeline = timeline,
                .rows = rows,
                .n_rows = number_rows(timeline, rows),
        };

        append_head(&picture, title);
        append_legend(&picture, title);
        append_scale(&picture);
        append_names(&picture);
        append_bars(&picture);
        append_critical_path(&picture);
        append_marks(&picture);

        return g_string_free(g_string_append(picture.svg, "</svg>\n"), false);
}
