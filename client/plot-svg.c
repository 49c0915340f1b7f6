/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Names on the left, indented as the tree is; bars by status on the right, those of the critical path underlined; what
 * people did to the run as lines across; a scale above and, since pictures get long, again and again. A bar's tooltip
 * says all there is to say about it. Nodes that never ran are left out, and so are bars that would only be drawn over
 * others of their kind.
 */

#include "basic/span.h"
#include "plot.h"

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
#define SCALE_STEPS 10u
#define SCALE_EVERY 50u  /* rows */
#define MARK_DISTANCE 90 /* of those that are named */
#define LEGEND_DISTANCE 76
/* Anything narrower could not be seen. */
#define BAR_WIDTH_MIN 1.5
#define CRITICAL_WIDTH_MIN 4.0

static const char style[] = "text{font:12px system-ui,sans-serif;fill:#24292f}"
                            ".t{font-size:18px;font-weight:600}.s,.d{fill:#57606a}.d{font-size:11px}"
                            ".g{stroke:#d8dee4}.g0{stroke:#57606a}.m{stroke:#8250df;stroke-dasharray:4 3}"
                            ".success{fill:#2da44e}.failure{fill:#cf222e}.error{fill:#82071e}.halted{fill:#8250df}"
                            ".skipped{fill:#afb8c1}.running{fill:#0969da}"
                            ".c{stroke:#bf8700;stroke-width:3;fill:none}.i{opacity:.4}";

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
                               "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
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

/* What the colours mean that there are. */
static void append_legend(const Picture *picture) {
        unsigned x = MARGIN + NAMES_WIDTH;
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

/* 1, 2 or 5 times a power of ten, so that there are at most SCALE_STEPS of them. */
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

/* Where there are many of them, not all are named. */
static void append_marks(const Picture *picture) {
        const GArray *marks = picture->timeline->marks;
        double named = 0;

        for (unsigned i = 0; i < marks->len; i++) {
                const Mark *mark = &g_array_index(marks, Mark, i);
                g_autofree char *time = span_format_rounded(mark->time);
                double x = x_of(picture->timeline, mark->time);

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

static double width_of(const Timeline *timeline, const Bar *bar) {
        return MAX(x_of(timeline, bar->end) - x_of(timeline, bar->begin), BAR_WIDTH_MIN);
}

static void append_bar(const Picture *picture, const Bar *bar) {
        g_autofree char *begin = span_format_rounded(bar->begin), *span = span_format_rounded(bar->end - bar->begin);
        const Timeline *timeline = picture->timeline;
        bool inner = !(timeline->tree->nodes[bar->node].flags & NODE_LEAF);
        GString *svg = picture->svg;

        g_string_append(svg, "<rect");
        append_number(svg, "x", x_of(timeline, bar->begin));
        append_number(svg, "width", width_of(timeline, bar));
        g_string_append_printf(svg, " y=\"%u\" height=\"%d\" class=\"%s%s\"><title>",
                               y_of(picture->rows[bar->node]) + 3, BAR_HEIGHT, status_to_string(bar->status),
                               inner ? " i" : "");
        append_escaped(svg, tree_node_name(timeline->tree, bar->node));
        g_string_append_printf(svg, ": %s, from %s for %s", status_to_string(bar->status), begin, span);
        if (bar->detail) {
                g_string_append(svg, ": ");
                append_escaped(svg, bar->detail);
        }
        g_string_append(svg, "</title></rect>\n");
}

/* Why it did not succeed, beside the last bar of a leaf. */
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

/* Of what was drawn in a row last. */
typedef struct Drawn {
        double end;
        Status status;
} Drawn;

static bool is_hidden(const Timeline *timeline, const Bar *bar, const Drawn *drawn) {
        double end = x_of(timeline, bar->begin) + width_of(timeline, bar);

        return drawn->status == bar->status && end < drawn->end + 0.5;
}

static void append_bars(const Picture *picture) {
        const Timeline *timeline = picture->timeline;
        g_autofree Drawn *drawn = g_new0(Drawn, timeline->tree->n_nodes);

        for (unsigned i = 0; i < timeline->bars->len; i++) {
                const Bar *bar = &g_array_index(timeline->bars, Bar, i);
                bool last = timeline->last[bar->node] == i;

                if (last || !is_hidden(timeline, bar, &drawn[bar->node])) {
                        append_bar(picture, bar);
                        drawn[bar->node].end = x_of(timeline, bar->begin) + width_of(timeline, bar);
                        drawn[bar->node].status = bar->status;
                }
                if (last)
                        append_detail(picture, bar);
        }
}

/* In one piece, below the bars. */
static void append_critical_path(const Picture *picture) {
        const Timeline *timeline = picture->timeline;
        char x[G_ASCII_DTOSTR_BUF_SIZE], width[G_ASCII_DTOSTR_BUF_SIZE];

        g_string_append(picture->svg, "<path class=\"c\" d=\"");
        for (unsigned i = 0; i < timeline->bars->len; i++) {
                const Bar *bar = &g_array_index(timeline->bars, Bar, i);
                double from, length;

                if (!bar->critical)
                        continue;
                from = x_of(timeline, bar->awaited);
                length = MAX(x_of(timeline, bar->end) - from, CRITICAL_WIDTH_MIN);
                g_string_append_printf(picture->svg, "M%s %uh%s", g_ascii_formatd(x, sizeof(x), "%.1f", from),
                                       y_of(picture->rows[bar->node]) + 3 + BAR_HEIGHT + 1,
                                       g_ascii_formatd(width, sizeof(width), "%.1f", length));
        }
        g_string_append(picture->svg, "\"/>\n");
}

/* The row of each node that has run; the number of rows. */
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
        append_legend(&picture);
        append_scale(&picture);
        for (NodeId node = 0; node < timeline->tree->n_nodes; node++)
                if (rows[node] != UINT_MAX)
                        append_name(&picture, node);
        append_bars(&picture);
        append_critical_path(&picture);
        append_marks(&picture);

        return g_string_free(g_string_append(picture.svg, "</svg>\n"), false);
}
