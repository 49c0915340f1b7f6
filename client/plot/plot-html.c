/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Writes pages for btctl graph and plot: the tree as boxes, and the timeline as rows.
 *
 * Both are made of details elements, so a browser folds them without a script, and with the keyboard, too. What the
 * pictures fold is folded at first. The pages are XML, too.
 */

#include "basic/foreach.h"
#include "basic/span.h"
#include "client/plot/graph.h"
#include "client/plot/plot.h"

#define INDENT 12
#define INDENT_MAX 16u
/* Browsers limit how deep elements may be. Deeper boxes are left out, deeper rows cannot be folded. */
#define DEPTH_MAX 100u

static const char style[] =
        ":root{color-scheme:light dark;--back:#fff;--text:#24292f;--dim:#57606a;--line:#d8dee4;--box:#f6f8fa;"
        "--edge:#8c959f}"
        "@media(prefers-color-scheme:dark){:root{--back:#0d1117;--text:#e6edf3;--dim:#9198a1;--line:#30363d;"
        "--box:#161b22;--edge:#656c76}}"
        "body{margin:16px;font:12px system-ui,sans-serif;background:var(--back);color:var(--text)}"
        "h1{font-size:18px;margin:0}h2{font-size:14px;margin:24px 0 8px}p{margin:4px 0;color:var(--dim)}"
        "summary{cursor:pointer;list-style:none}summary::-webkit-details-marker{display:none}"
        "summary:focus-visible{outline:2px solid " COLOUR_RUNNING "}"
        "small{display:none;color:var(--dim);margin-left:6px;font-size:11px}details:not([open])>summary "
        "small,div>.name>small,div.box>small{display:inline}" STATUS_STYLE BARS_STYLE
        /* The timeline. */
        ".legend span{display:inline-block;margin-right:14px}.legend svg{vertical-align:-2px;margin-right:4px}"
        ".plot{position:relative;min-width:800px}"
        ".row,.lines{display:grid;grid-template-columns:minmax(180px,22%) 1fr minmax(180px,22%);column-gap:8px}"
        ".plain .row,.plain .lines{grid-template-columns:minmax(180px,22%) 1fr 24px}"
        ".row{height:18px;line-height:18px;position:relative}.row:hover,.copy{background:rgba(127,127,127,.1)}"
        ".scale{height:46px;position:sticky;top:0;z-index:2;background:var(--back)!important;margin-bottom:4px}"
        ".scale,.why{font-size:11px;color:var(--dim)}.scale div{position:relative;line-height:15px}"
        ".scale b{position:absolute;font-weight:normal;white-space:nowrap;text-align:center;transform:translateX(-50%)}"
        ".name,.why{overflow:hidden;white-space:nowrap;text-overflow:ellipsis}"
        ".name::before{content:\"\";display:inline-block;width:14px}"
        "summary>.name::before{content:\"\\25b8\"}details[open]>summary>.name::before{content:\"\\25be\"}"
        ".row svg{width:100%;height:18px;overflow:visible}"
        ".lines{position:absolute;left:0;right:0;top:46px;bottom:0;pointer-events:none}.lines div{position:relative}"
        ".lines i{position:absolute;top:0;bottom:0;border-left:1px solid var(--line)}"
        ".lines .m{border-left:1px dashed " COLOUR_HALTED ";top:-31px;pointer-events:auto;width:5px}"
        /* The tree. */
        ".tree{overflow-x:auto;padding:4px}.node{display:flex;align-items:center;position:relative}"
        ".box{border:1.5px solid currentColor;border-radius:2px;background:var(--box);flex:none;"
        "max-width:360px;padding:4px 10px;overflow-wrap:anywhere}div.box{border-radius:8px}.box b,.box "
        "span{display:block}"
        ".box b{color:var(--text)}.box span{color:var(--dim)}.box small{margin:0}"
        "summary>b::before{content:\"\\25be  \"}details:not([open])>summary>b::before{content:\"\\25b8  \"}"
        ".SubTree{border-width:3px}.ForEach{border-style:dashed}.idle{color:var(--edge)}"
        ".halting{color:" COLOUR_HALTED "}.waiting,.paused{color:" COLOUR_WAITING "}"
        ".kids{display:flex;flex-direction:column;gap:10px;padding-left:36px;position:relative}"
        "details:not([open])+.kids{display:none}"
        ".kids::before,.kids>.node::before,.kids>.node::after{content:\"\";position:absolute;"
        "border:0 solid var(--edge)}"
        ".kids::before{left:0;top:50%;width:18px;border-top-width:1px}"
        ".kids>.node::before{left:-18px;top:50%;width:18px;border-top-width:1px}"
        ".kids>.node::after{left:-18px;top:-5px;bottom:-5px;border-left-width:1px}"
        ".kids>.node:first-child::after{top:50%}.kids>.node:last-child::after{bottom:calc(50% - 1px)}";

/* The elements that are open, by the nodes behind them. */
static void close_before(GString *html, GArray *ends, uint32_t node, const char *tag) {
        while (ends->len > 0 && g_array_index(ends, uint32_t, ends->len - 1) <= node) {
                g_string_append(html, tag);
                g_array_set_size(ends, ends->len - 1);
        }
}

static void append_percent(GString *html, const char *tag, double share) {
        char number[G_ASCII_DTOSTR_BUF_SIZE];

        g_string_append_printf(html, "<%s style=\"left:%s%%\"", tag,
                               g_ascii_formatd(number, sizeof(number), "%.2f", share * 100));
}

static void append_scale(GString *html, const Timeline *timeline, const PlotTitle *title, const GArray *ticks) {
        g_autofree char *day = plot_day(title);
        double named = -1;

        g_string_append_printf(
                html, "<div class=\"row scale\"><div><br/>%s<br/>since the start</div><div aria-hidden=\"true\">", day);
        for (unsigned i = 0; i < timeline->marks->len; i++) {
                const Mark *mark = &g_array_index(timeline->marks, Mark, i);
                double share = timeline_share(timeline, mark->time);

                if (share < named + 0.1)
                        continue;
                named = share;
                append_percent(html, "b", share);
                g_string_append_printf(html, ">%s</b>", mark->what);
        }
        for (unsigned i = 0; i < ticks->len; i++) {
                const Tick *tick = &g_array_index(ticks, Tick, i);

                append_percent(html, "b", tick->share);
                g_string_append_printf(html, "><br/>%s<br/>%s</b>", tick->clock, tick->span);
        }
        g_string_append(html, "</div></div>\n");
}

static void append_lines(GString *html, const Timeline *timeline, const GArray *ticks) {
        const char *what = NULL;
        double drawn = -1;

        g_string_append(html, "<div class=\"lines\"><div></div><div>");
        for (unsigned i = 0; i < ticks->len; i++) {
                append_percent(html, "i", g_array_index(ticks, Tick, i).share);
                g_string_append(html, "></i>");
        }
        for (unsigned i = 0; i < timeline->marks->len; i++) {
                const Mark *mark = &g_array_index(timeline->marks, Mark, i);
                g_autofree char *time = span_format_rounded(timeline->begin + mark->time);
                double share = timeline_share(timeline, mark->time);

                if (what && g_str_equal(mark->what, what) && share < drawn + 0.0005)
                        continue;
                what = mark->what;
                drawn = share;
                append_percent(html, "i class=\"m\"", share);
                g_string_append_printf(html, " title=\"%s, at %s", mark->what, time);
                if (mark->detail) {
                        g_string_append(html, ": ");
                        svg_append(html, mark->detail);
                }
                g_string_append(html, "\"></i>");
        }
        g_string_append(html, "</div></div>\n");
}

static void append_row(GString *html, const Timeline *timeline, NodeId node, const char *tag, const GString *bars,
                       const char *held) {
        const char *detail = plot_detail(timeline, node);
        const Bar *bar = &g_array_index(timeline->bars, Bar, timeline->last[node]);
        g_autofree char *begin = span_format_rounded(timeline->begin + bar->begin),
                        *span = span_format_rounded(bar->end - bar->begin);

        g_string_append_printf(html, "<%s class=\"row%s\"><span class=\"name\" style=\"padding-left:%upx\">", tag,
                               plot_is_even_copy(timeline, node) ? " copy" : "",
                               MIN(timeline->tree->nodes[node].depth, INDENT_MAX) * INDENT);
        svg_append(html, tree_node_name(timeline->tree, node));
        if (*held)
                g_string_append_printf(html, "<small>%s</small>", held);
        g_string_append_printf(html,
                               "</span><svg class=\"bars\" viewBox=\"0 0 %d %d\" preserveAspectRatio=\"none\" "
                               "role=\"img\" aria-label=\"",
                               BARS_WIDTH, BARS_ROW);
        /* For screen readers. */
        g_string_append_printf(html, "%s, from %s for %s", status_to_string(bar->status), begin, span);
        g_string_append_printf(html, "\">\n%s</svg><span class=\"why\"", bars->str);
        if (detail) {
                g_string_append(html, " title=\"");
                svg_append(html, detail);
                g_string_append(html, "\">");
                svg_append(html, detail);
        } else {
                g_string_append_c(html, '>');
        }
        g_string_append_printf(html, "</span></%s>\n", tag);
}

/* places: of the rows in the page; small: of those that are not folded at first. */
static void append_rows(GString *html, const Timeline *timeline, GString **bars, const uint32_t *places,
                        const uint32_t *small) {
        const Node *nodes = timeline->tree->nodes;
        g_autoptr(GArray) ends = g_array_new(false, false, sizeof(uint32_t));
        g_auto(GStrv) held = plot_held(timeline, NULL), folded = plot_held(timeline, small);

        for (NodeId node = 0; node < timeline->tree->n_nodes; node++) {
                bool inner = false;

                if (places[node] != node)
                        continue;
                close_before(html, ends, node, "</details>\n");
                for (NodeId child = node + 1; child < nodes[node].end && !inner; child = nodes[child].end)
                        inner = places[child] == child;
                if (!inner || nodes[node].depth >= DEPTH_MAX) {
                        append_row(html, timeline, node, "div", bars[node], inner ? "" : held[node]);
                        continue;
                }
                g_string_append(html, node == 0 || !*folded[node] ? "<details open=\"\">" : "<details>");
                append_row(html, timeline, node, "summary", bars[node], held[node]);
                g_array_append_val(ends, nodes[node].end);
        }
        close_before(html, ends, UINT32_MAX, "</details>\n");
}

char *plot_html(const Timeline *timeline, const PlotTitle *title) {
        NodeId n_nodes = timeline->tree->n_nodes;
        g_autofree uint32_t *places = plot_fold(timeline, PAGE_NODES_MAX),
                            *small = plot_fold(timeline, PICTURE_NODES_MAX);
        g_autofree unsigned *tops = g_new0(unsigned, n_nodes);
        g_autofree GString **bars = g_new0(GString *, n_nodes);
        g_autoptr(GArray) ticks = plot_ticks(timeline, title);
        g_autoptr(GPtrArray) names = NULL;
        GString *html = g_string_new("<svg width=\"0\" height=\"0\" style=\"position:absolute\" "
                                     "aria-hidden=\"true\">" BARS_STRIPES "</svg>\n");

        for (NodeId node = 0; node < n_nodes; node++)
                if (places[node] == node)
                        bars[node] = g_string_new(NULL);
        timeline_draw(timeline, bars, tops);

        names = timeline_legend(timeline);
        g_string_append(html, "<p class=\"legend\">");
        PTRS_FOREACH(const char, name, names) {
                g_string_append(html, "<span><svg class=\"bars\" width=\"12\" height=\"12\" aria-hidden=\"true\">");
                svg_append_key(html, name, 0, 0);
                g_string_append_printf(html, "</svg>%s</span>", name);
        }
        g_string_append(html, "</p>\n");

        g_string_append_printf(html, "<div class=\"plot%s\">\n", plot_has_details(timeline, places) ? "" : " plain");
        append_lines(html, timeline, ticks);
        append_scale(html, timeline, title, ticks);
        append_rows(html, timeline, bars, places, small);
        g_string_append(html, "</div>\n");

        for (NodeId node = 0; node < n_nodes; node++)
                if (bars[node])
                        g_string_free(bars[node], true);
        return g_string_free(html, false);
}

/* A box; more: how many nodes below it are folded, or would be. */
static void append_box(GString *html, const Graph *graph, uint32_t node, const char *open, const char *close,
                       uint32_t more) {
        const NodeInfo *info = graph->nodes[node].info;
        g_autoptr(GPtrArray) lines = graph_lines(graph, &graph->nodes[node]);

        g_string_append_printf(html, "<div class=\"node\"><%s class=\"box ", open);
        svg_append(html, info->status);
        g_string_append_c(html, ' ');
        svg_append(html, info->type);
        g_string_append(html, close);
        for (guint i = 0; i < lines->len; i++) {
                g_string_append(html, i == 0 ? "<b>" : "<span>");
                svg_append(html, lines->pdata[i]);
                g_string_append(html, i == 0 ? "</b>" : "</span>");
        }
        if (more > 0)
                g_string_append_printf(html, "<small>+%u more</small>", more);
}

static void append_boxes(GString *html, const Graph *graph) {
        g_autofree uint32_t *places = graph_fold(graph, PAGE_NODES_MAX), *small = graph_fold(graph, PICTURE_NODES_MAX),
                            *ends = g_new(uint32_t, graph->n_nodes);
        g_autofree unsigned *depths = g_new0(unsigned, graph->n_nodes);
        g_autofree bool *inner = g_new0(bool, graph->n_nodes), *folded = g_new0(bool, graph->n_nodes);
        g_autoptr(GArray) open = g_array_new(false, false, sizeof(uint32_t));

        for (uint32_t i = 0; i < graph->n_nodes; i++) {
                uint32_t parent = i > 0 ? graph->nodes[i].info->parent : 0;

                ends[i] = i + 1;
                depths[i] = i > 0 ? depths[parent] + 1 : 0;
                if (depths[i] > DEPTH_MAX)
                        places[i] = places[parent];
                inner[parent] |= i > 0 && places[i] == i;
                folded[small[i]] |= small[i] != i;
        }
        for (uint32_t i = graph->n_nodes; i-- > 1;) {
                uint32_t parent = graph->nodes[i].info->parent;

                ends[parent] = MAX(ends[parent], ends[i]);
        }

        for (uint32_t i = 0; i < graph->n_nodes; i++) {
                uint32_t more = ends[i] - i - 1;

                if (places[i] != i)
                        continue;
                close_before(html, open, i, "</div></div>\n");
                if (!inner[i]) {
                        append_box(html, graph, i, "div", "\">", more);
                        g_string_append(html, "</div></div>\n");
                        continue;
                }
                append_box(html, graph, i, "details", i == 0 || !folded[i] ? "\" open=\"\"><summary>" : "\"><summary>",
                           more);
                g_string_append(html, "</summary></details><div class=\"kids\">\n");
                g_array_append_val(open, ends[i]);
        }
        close_before(html, open, UINT32_MAX, "</div></div>\n");
}

char *graph_html(const Graph *graph) {
        GString *html = g_string_new("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n<meta "
                                     "name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n<title>");

        svg_append(html, graph->title);
        g_string_append_printf(html, "</title>\n<style>%s</style>\n</head>\n<body>\n<h1>", style);
        svg_append(html, graph->title);
        g_string_append(html, "</h1>\n<p>");
        svg_append(html, graph->subtitle);
        g_string_append(html, "</p>\n");
        if (graph->timeline)
                g_string_append_printf(html, "<h2>Timeline</h2>\n%s<h2>Tree</h2>\n", graph->timeline);
        g_string_append(html, "<div class=\"tree\">\n");
        append_boxes(html, graph);
        g_string_append(html, "</div>\n</body>\n</html>\n");
        return g_string_free(html, false);
}
