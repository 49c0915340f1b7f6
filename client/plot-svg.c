/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Names on the left, indented as the tree is; bars by status on the right, those of the critical path with an outline;
 * a scale above. A bar's tooltip says all there is to say about it. Nodes that never ran are left out.
 */

#include <inttypes.h>

#include "moment.h"
#include "plot.h"

#define MARGIN 16
#define HEAD 64
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

static const char style[] = "text{font:12px system-ui,sans-serif;fill:#24292f}"
                            ".t{font-size:18px;font-weight:600}.s,.d{fill:#57606a}.d{font-size:11px}"
                            ".g{stroke:#d8dee4}.g0{stroke:#57606a}"
                            ".success{fill:#2da44e}.failure{fill:#cf222e}.error{fill:#82071e}.halted{fill:#8250df}"
                            ".skipped{fill:#afb8c1}.running{fill:#0969da}"
                            ".c{stroke:#bf8700;stroke-width:2}.i{opacity:.45}";

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

static void append_title(GString *svg, const PlotTitle *title) {
        g_string_append_printf(svg, "<text class=\"t\" x=\"%d\" y=\"24\">", MARGIN);
        append_escaped(svg, title->run);
        g_string_append_printf(svg, "</text>\n<text class=\"s\" x=\"%d\" y=\"42\">", MARGIN);
        append_escaped(svg, title->subtitle);
        g_string_append(svg, "</text>\n");
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

static void append_scale(GString *svg, const Timeline *timeline, unsigned n_rows) {
        uint64_t step = scale_step(timeline->end);
        int bottom = HEAD + (int) n_rows * ROW;

        for (uint64_t time = 0; time <= timeline->end; time += step) {
                g_autofree char *span = time > 0 ? moment_format_span(time) : g_strdup("0");
                double x = x_of(timeline, time);

                g_string_append(svg, "<line");
                append_number(svg, "x1", x);
                append_number(svg, "x2", x);
                g_string_append_printf(svg,
                                       " y1=\"%d\" y2=\"%d\" class=\"%s\"/><text class=\"s\" text-anchor=\"middle\"",
                                       HEAD - 4, bottom, time > 0 ? "g" : "g0");
                append_number(svg, "x", x);
                g_string_append_printf(svg, " y=\"%d\">%s</text>\n", HEAD - 8, span);
        }
}

static void append_name(GString *svg, const Tree *tree, NodeId node, unsigned row) {
        unsigned depth = MIN(tree->nodes[node].depth, INDENT_MAX);

        g_string_append_printf(svg, "<text x=\"%u\" y=\"%u\">", MARGIN + depth * INDENT, HEAD + row * ROW + 13);
        append_shortened(svg, tree_node_name(tree, node), NAME_CHARS_MAX - depth);
        g_string_append(svg, "</text>\n");
}

static void append_bar(GString *svg, const Timeline *timeline, const Bar *bar, unsigned row) {
        g_autofree char *begin = moment_format_span(bar->begin), *span = moment_format_span(bar->end - bar->begin);
        double x = x_of(timeline, bar->begin), width = x_of(timeline, bar->end) - x;
        bool inner = !(timeline->tree->nodes[bar->node].flags & NODE_LEAF);

        g_string_append(svg, "<rect");
        append_number(svg, "x", x);
        append_number(svg, "width", MAX(width, 1.5));
        g_string_append_printf(svg, " y=\"%u\" height=\"%d\" class=\"%s%s%s\"><title>", HEAD + row * ROW + 3,
                               BAR_HEIGHT, status_to_string(bar->status), inner ? " i" : "", bar->critical ? " c" : "");
        append_escaped(svg, tree_node_name(timeline->tree, bar->node));
        g_string_append_printf(svg, ": %s, from %s for %s", status_to_string(bar->status), begin, span);
        if (bar->detail) {
                g_string_append(svg, ": ");
                append_escaped(svg, bar->detail);
        }
        g_string_append(svg, "</title></rect>\n");
}

/* Why it did not succeed, beside the last bar of a leaf. */
static void append_detail(GString *svg, const Timeline *timeline, const Bar *bar, unsigned row) {
        if (!bar->detail || bar->status == STATUS_SUCCESS || !(timeline->tree->nodes[bar->node].flags & NODE_LEAF))
                return;

        g_string_append(svg, "<text class=\"d\"");
        append_number(svg, "x", x_of(timeline, bar->end) + 6);
        g_string_append_printf(svg, " y=\"%u\">", HEAD + row * ROW + 13);
        append_shortened(svg, bar->detail, DETAIL_CHARS_MAX);
        g_string_append(svg, "</text>\n");
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
        unsigned n_rows = number_rows(timeline, rows);
        int height = HEAD + (int) n_rows * ROW + MARGIN;
        GString *svg = g_string_new(NULL);

        g_string_append_printf(svg,
                               "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d "
                               "%d\">\n<style>%s</style>\n<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
                               WIDTH, height, WIDTH, height, style);
        append_title(svg, title);
        append_scale(svg, timeline, n_rows);

        for (NodeId node = 0; node < timeline->tree->n_nodes; node++)
                if (rows[node] != UINT_MAX)
                        append_name(svg, timeline->tree, node, rows[node]);
        for (unsigned i = 0; i < timeline->bars->len; i++) {
                const Bar *bar = &g_array_index(timeline->bars, Bar, i);

                append_bar(svg, timeline, bar, rows[bar->node]);
                if (timeline->last[bar->node] == i)
                        append_detail(svg, timeline, bar, rows[bar->node]);
        }

        return g_string_free(g_string_append(svg, "</svg>\n"), false);
}
