/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Draws the timeline of a run as SVG, for btctl plot.
 *
 * Names stand on the left, indented as in the tree; bars on the right, coloured by status, those of the critical path
 * underlined. What people did to the run is drawn as lines across. The scale is on top, and repeated since pictures get
 * long: the time since the start, and the time of day. A bar's tooltip has all details. Nodes that never ran are left
 * out.
 *
 * All columns are shares of the width. As an image the picture has a fixed size; a browser that shows the file itself
 * makes it as wide as its window, with a line of script, and stretches the bars but not the text.
 */

#include <string.h>

#include "basic/foreach.h"
#include "basic/span.h"
#include "client/plot/plot.h"

#define MARGIN 16
#define HEAD 98
#define INDENT 10
#define INDENT_MAX 12
#define NAME_CHARS_MAX 36
#define DETAIL_CHARS_MAX 52
/* The width of an image, and the smallest one in a browser. */
#define WIDTH 1692
#define WIDTH_MIN 1300
/* Percents of the width; the second one: if bars have texts beside them. */
#define BARS_LEFT 21
#define BARS_SHARE 76
#define BARS_SHARE_DETAILS 56
#define LEGEND_LEFT 356u
#define TITLE_CHAR_WIDTH 12u
#define SCALE_EVERY 50u /* rows */
/* Between labels of marks, as a share of the timeline. */
#define MARK_DISTANCE 0.1
#define MARK_NEARNESS 0.0005
#define LEGEND_DISTANCE 76

static const char style[] = SVG_STYLE BARS_STYLE
        ".d{fill:#57606a;font-size:11px}.k{font-size:11px}.g{stroke:#d8dee4}.g0{stroke:#57606a}"
        ".k,.s{paint-order:stroke;stroke:#fff;stroke-width:3px}"
        ".m{stroke:" COLOUR_HALTED ";stroke-dasharray:4 3}.copy{fill:#808080;opacity:.08}"
        "@media(prefers-color-scheme:dark){.d{fill:#9198a1}.g{stroke:#30363d}.k,.s{stroke:#0d1117}}";

static const char script[] = "<script>{const r=document.documentElement;if(r.localName==\"svg\"){"
                             "r.removeAttribute(\"viewBox\");r.setAttribute(\"width\",\"100%\");"
                             "r.style.minWidth=\"" G_STRINGIFY(WIDTH_MIN) "px\"}}</script>\n";

typedef struct Picture {
        GString *svg;
        const Timeline *timeline;
        unsigned *rows; /* of each node; UINT_MAX: it is left out */
        unsigned n_rows;
        int share; /* of the width, that the bars have */
} Picture;

static unsigned y_of(unsigned row) {
        return HEAD + (row + row / SCALE_EVERY) * BARS_ROW;
}

static unsigned bottom_of(const Picture *picture) {
        return picture->n_rows > 0 ? y_of(picture->n_rows - 1) + BARS_ROW : HEAD;
}

static unsigned height_of(const Picture *picture) {
        return bottom_of(picture) + MARGIN;
}

static void append_x(const Picture *picture, const char *attribute, double share) {
        svg_append_number(picture->svg, attribute, BARS_LEFT + share * picture->share, "%");
}

static void append_head(const Picture *picture, const PlotTitle *title) {
        unsigned height = height_of(picture);

        g_string_append_printf(picture->svg,
                               "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%u\" "
                               "viewBox=\"0 0 %d %u\">\n<style>%s</style>\n%s"
                               "<rect class=\"p\" width=\"100%%\" height=\"100%%\"/>\n%s",
                               WIDTH, height, WIDTH, height, style, script, BARS_STRIPES);
        g_string_append_printf(picture->svg, "<text class=\"t\" x=\"%d\" y=\"24\">", MARGIN);
        svg_append(picture->svg, title->run);
        g_string_append_printf(picture->svg, "</text>\n<text class=\"s\" x=\"%d\" y=\"44\">", MARGIN);
        svg_append(picture->svg, title->subtitle);
        g_string_append(picture->svg, "</text>\n");
}

/* Explains the colours that are used, at the right of the title. */
static void append_legend(const Picture *picture, const PlotTitle *title) {
        unsigned x = MAX(LEGEND_LEFT, MARGIN + (unsigned) strlen(title->run) * TITLE_CHAR_WIDTH);
        g_autoptr(GPtrArray) names = timeline_legend(picture->timeline);

        g_string_append(picture->svg, "<g class=\"bars\">");
        for (unsigned i = 0; i < names->len; i++) {
                svg_append_key(picture->svg, names->pdata[i], x, 10);
                g_string_append_printf(picture->svg, "<text class=\"s\" x=\"%u\" y=\"20\">%s</text>\n", x + 16,
                                       (const char *) names->pdata[i]);
                x += LEGEND_DISTANCE;
        }
        g_string_append(picture->svg, "</g>\n");
}

static void append_line(const Picture *picture, const char *class, double share, unsigned top, unsigned bottom) {
        g_string_append_printf(picture->svg, "<line class=\"%s\"", class);
        append_x(picture, "x1", share);
        append_x(picture, "x2", share);
        g_string_append_printf(picture->svg, " y1=\"%u\" y2=\"%u\"", top, bottom);
}

static void append_label(const Picture *picture, const char *class, double share, unsigned y, const char *text) {
        g_string_append_printf(picture->svg, "<text class=\"%s\" text-anchor=\"middle\"", class);
        append_x(picture, "x", share);
        g_string_append_printf(picture->svg, " y=\"%u\">%s</text>\n", y, text);
}

static void append_scale(const Picture *picture, const GArray *ticks, const PlotTitle *title) {
        g_autofree char *day = plot_day(title);
        GString *svg = picture->svg;

        g_string_append_printf(svg, "<text class=\"k s\" x=\"%d\" y=\"%d\">%s</text>\n", MARGIN, HEAD - 22, day);
        g_string_append_printf(svg, "<text class=\"k s\" x=\"%d\" y=\"%d\">since the start</text>\n", MARGIN, HEAD - 8);
        for (unsigned i = 0; i < ticks->len; i++) {
                const Tick *tick = &g_array_index(ticks, Tick, i);

                append_label(picture, "k s", tick->share, HEAD - 22, tick->clock);
                append_label(picture, "s", tick->share, HEAD - 8, tick->span);
                for (unsigned row = SCALE_EVERY; row < picture->n_rows; row += SCALE_EVERY)
                        append_label(picture, "s", tick->share, y_of(row) - 5, tick->span);
        }
}

/* If marks are close together, not all get a label. */
static void append_marks(const Picture *picture) {
        const GArray *marks = picture->timeline->marks;
        double named = -1, drawn = -1;
        const char *what = NULL; /* the last mark drawn */

        for (unsigned i = 0; i < marks->len; i++) {
                const Mark *mark = &g_array_index(marks, Mark, i);
                g_autofree char *time = span_format_rounded(picture->timeline->begin + mark->time);
                double x = timeline_share(picture->timeline, mark->time);

                if (what && g_str_equal(mark->what, what) && x < drawn + MARK_NEARNESS)
                        continue;
                what = mark->what;
                drawn = x;
                append_line(picture, "m", x, HEAD - 35, bottom_of(picture));
                g_string_append_printf(picture->svg, "><title>%s, at %s", mark->what, time);
                if (mark->detail) {
                        g_string_append(picture->svg, ": ");
                        svg_append(picture->svg, mark->detail);
                }
                g_string_append(picture->svg, "</title></line>\n");
                if (x < named + MARK_DISTANCE)
                        continue;
                append_label(picture, "s", x, HEAD - 38, mark->what);
                named = x;
        }
}

/* Names are clipped to their column, because the width of letters is not known. Those of every other copy in a ForEach
 * are on a band, as their bars are. */
static void append_names(const Picture *picture, char **held) {
        const Timeline *timeline = picture->timeline;
        GString *svg = picture->svg;

        for (NodeId node = 0; node < timeline->tree->n_nodes; node++)
                if (picture->rows[node] != UINT_MAX && plot_is_even_copy(timeline, node))
                        g_string_append_printf(svg, "<rect class=\"copy\" width=\"100%%\" y=\"%u\" height=\"%d\"/>\n",
                                               y_of(picture->rows[node]), BARS_ROW);

        g_string_append_printf(svg,
                               "<clipPath id=\"names\"><rect width=\"%d%%\" height=\"100%%\"/></clipPath>\n"
                               "<g clip-path=\"url(#names)\">\n",
                               BARS_LEFT);
        for (NodeId node = 0; node < timeline->tree->n_nodes; node++) {
                unsigned depth = MIN(timeline->tree->nodes[node].depth, INDENT_MAX);
                glong room = NAME_CHARS_MAX - (glong) depth - (glong) strlen(held[node]);

                if (picture->rows[node] == UINT_MAX)
                        continue;

                g_string_append_printf(svg, "<text x=\"%u\" y=\"%u\">", MARGIN + depth * INDENT,
                                       y_of(picture->rows[node]) + 13);
                svg_append_shortened(svg, tree_node_name(timeline->tree, node), MAX(room, 12));
                if (*held[node])
                        g_string_append_printf(svg, "<tspan class=\"d\" dx=\"6\">%s</tspan>", held[node]);
                g_string_append(svg, "</text>\n");
        }
        g_string_append(svg, "</g>\n");
}

static void append_bars(const Picture *picture) {
        const Timeline *timeline = picture->timeline;
        g_autofree unsigned *tops = g_new0(unsigned, timeline->tree->n_nodes);
        g_autofree GString **rows = g_new0(GString *, timeline->tree->n_nodes);

        for (NodeId node = 0; node < timeline->tree->n_nodes; node++)
                if (picture->rows[node] != UINT_MAX) {
                        rows[node] = picture->svg;
                        tops[node] = y_of(picture->rows[node]);
                }

        g_string_append_printf(picture->svg,
                               "<svg class=\"bars\" x=\"%d%%\" width=\"%d%%\" height=\"%u\" viewBox=\"0 0 %d %u\" "
                               "preserveAspectRatio=\"none\" overflow=\"visible\">\n",
                               BARS_LEFT, picture->share, height_of(picture), BARS_WIDTH, height_of(picture));
        timeline_draw(timeline, rows, tops);
        g_string_append(picture->svg, "</svg>\n");
}

/* Writes why leaves did not succeed, beside their last bars. */
static void append_details(const Picture *picture) {
        const Timeline *timeline = picture->timeline;

        for (NodeId node = 0; node < timeline->tree->n_nodes; node++) {
                const char *detail = picture->rows[node] != UINT_MAX ? plot_detail(timeline, node) : NULL;

                if (!detail)
                        continue;
                g_string_append(picture->svg, "<text class=\"d\" dx=\"6\"");
                append_x(picture, "x",
                         timeline_share(timeline, g_array_index(timeline->bars, Bar, timeline->last[node]).end));
                g_string_append_printf(picture->svg, " y=\"%u\">", y_of(picture->rows[node]) + 13);
                svg_append_shortened(picture->svg, detail, DETAIL_CHARS_MAX);
                g_string_append(picture->svg, "</text>\n");
        }
}

char *plot_svg(const Timeline *timeline, const PlotTitle *title) {
        g_autofree unsigned *rows = g_new(unsigned, timeline->tree->n_nodes);
        g_autofree uint32_t *places = plot_fold(timeline, PICTURE_NODES_MAX);
        g_auto(GStrv) held = plot_held(timeline, places);
        g_autoptr(GArray) ticks = plot_ticks(timeline, title);
        Picture picture = {
                .svg = g_string_new(NULL),
                .timeline = timeline,
                .rows = rows,
                .share = plot_has_details(timeline, places) ? BARS_SHARE_DETAILS : BARS_SHARE,
        };

        for (NodeId node = 0; node < timeline->tree->n_nodes; node++)
                rows[node] = places[node] == node ? picture.n_rows++ : UINT_MAX;

        append_head(&picture, title);
        append_legend(&picture, title);
        append_names(&picture, held);
        ARRAY_FOREACH(const Tick, tick, ticks) {
                append_line(&picture, tick->share > 0 ? "g" : "g0", tick->share, HEAD - 4, bottom_of(&picture));
                g_string_append(picture.svg, "/>\n");
        }
        append_bars(&picture);
        append_marks(&picture);
        append_scale(&picture, ticks, title);
        append_details(&picture);

        return g_string_free(g_string_append(picture.svg, "</svg>\n"), false);
}
