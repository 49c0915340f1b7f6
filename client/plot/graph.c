/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Draws the nodes of a tree as boxes from left to right, for btctl graph; or writes them for graphviz and Mermaid.
 *
 * The layout is the one of A. van der Ploeg, "Drawing non-layered tidy trees in linear time", Software: Practice and
 * Experience 44(12), 2014, with the axes exchanged: boxes have the size of their text, a child begins behind its
 * parent, and subtrees are as near to each other as their contours permit.
 *
 * If the picture would have too many boxes, subtrees are folded: in a run, first those in which nothing runs or has
 * failed, then any; the deepest first. If the root itself has too many children, the last ones are hidden. The text is
 * measured for wide letters, so that no usual font overflows a box.
 */

#include <string.h>

#include "basic/span.h"
#include "client/plot/graph.h"
#include "client/plot/plot.h"
#include "client/view/text.h"

#define MARGIN 16
#define HEAD 64
#define GAP_ACROSS 12
#define GAP_ALONG 36
#define LINE 16
#define PADDING 10
#define LINE_CHARS_MAX 44

typedef struct Box Box;

struct Box {
        const GraphNode *node;
        GPtrArray *lines;    /* of text */
        GPtrArray *children; /* of Box, borrowed */
        uint32_t hidden;     /* nodes that are folded */
        double along, across, length, breadth;
        /* van der Ploeg's: names are his, but for the axes. */
        double prelim, mod, shift, change, sum_left, sum_right;
        Box *thread_left, *thread_right, *extreme_left, *extreme_right;
};

/* The lowest ends of the siblings before, with the sibling's index. */
typedef struct Lowest {
        double end;
        guint index;
        struct Lowest *next;
} Lowest;

static Box *child_at(const Box *box, guint i) {
        return g_ptr_array_index(box->children, i);
}

static Box *last_child(const Box *box) {
        return child_at(box, box->children->len - 1);
}

static Box *next_left(const Box *box) {
        return box->children->len > 0 ? child_at(box, 0) : box->thread_left;
}

static Box *next_right(const Box *box) {
        return box->children->len > 0 ? last_child(box) : box->thread_right;
}

static double end_of(const Box *box) {
        return box->along + box->length + GAP_ALONG;
}

static void move_subtree(Box *box, guint i, guint from, double distance) {
        Box *child = child_at(box, i);

        child->mod += distance;
        child->sum_left += distance;
        child->sum_right += distance;
        if (from + 1 < i) {
                double part = distance / (i - from);

                child_at(box, from + 1)->shift += part;
                child->shift -= part;
                child->change -= distance - part;
        }
}

static void set_threads(Box *box, guint i, Box *before, double before_sum, Box *after, double after_sum) {
        Box *first = child_at(box, 0), *child = child_at(box, i), *previous = child_at(box, i - 1);

        if (!before && after) {
                double difference = after_sum - after->mod - first->sum_left;

                first->extreme_left->thread_left = after;
                first->extreme_left->mod += difference;
                first->extreme_left->prelim -= difference;
                first->extreme_left = child->extreme_left;
                first->sum_left = child->sum_left;
        } else if (before && !after) {
                double difference = before_sum - before->mod - child->sum_right;

                child->extreme_right->thread_right = before;
                child->extreme_right->mod += difference;
                child->extreme_right->prelim -= difference;
                child->extreme_right = previous->extreme_right;
                child->sum_right = previous->sum_right;
        }
}

static void separate(Box *box, guint i, const Lowest *lowest) {
        Box *before = child_at(box, i - 1), *after = child_at(box, i);
        double before_sum = before->mod, after_sum = after->mod;

        while (before && after) {
                double before_end = end_of(before), after_end = end_of(after), distance;

                if (before_end > lowest->end && lowest->next)
                        lowest = lowest->next;
                distance = before_sum + before->prelim + before->breadth + GAP_ACROSS - after_sum - after->prelim;
                if (distance > 0) {
                        after_sum += distance;
                        move_subtree(box, i, lowest->index, distance);
                }
                if (before_end <= after_end && (before = next_right(before)))
                        before_sum += before->mod;
                if (before_end >= after_end && (after = next_left(after)))
                        after_sum += after->mod;
        }

        set_threads(box, i, before, before_sum, after, after_sum);
}

/* The depth of a tree is limited, see TREE_DEPTH_MAX. */
static void first_walk(Box *box) {
        Lowest *lowest = NULL;

        for (guint i = 0; i < box->children->len; i++) {
                Box *child = child_at(box, i);
                Lowest *added;
                double end;

                child->along = end_of(box);
                first_walk(child);
                end = end_of(i == 0 ? child->extreme_left : child->extreme_right);
                if (i > 0)
                        separate(box, i, lowest);

                while (lowest && end >= lowest->end) {
                        Lowest *next = lowest->next;

                        g_free(lowest);
                        lowest = next;
                }
                added = g_new(Lowest, 1);
                *added = (Lowest){ end, i, lowest };
                lowest = added;
        }
        while (lowest) {
                Lowest *next = lowest->next;

                g_free(lowest);
                lowest = next;
        }

        if (box->children->len > 0) {
                const Box *first = child_at(box, 0), *last = last_child(box);

                box->prelim =
                        (first->prelim + first->mod + last->mod + last->prelim + last->breadth) / 2 - box->breadth / 2;
                box->extreme_left = first->extreme_left;
                box->sum_left = first->sum_left;
                box->extreme_right = last->extreme_right;
                box->sum_right = last->sum_right;
        } else {
                box->extreme_left = box->extreme_right = box;
        }
}

static void second_walk(Box *box, double sum) {
        double distance = 0, spacing = 0;

        sum += box->mod;
        box->across = box->prelim + sum;
        for (guint i = 0; i < box->children->len; i++) {
                Box *child = child_at(box, i);

                distance += child->shift;
                spacing += distance + child->change;
                child->mod += spacing;
                second_walk(child, sum);
        }
}

static void add_line(GPtrArray *lines, const char *text) {
        g_ptr_array_add(lines, text_clean(text, false));
}

GPtrArray *graph_lines(const Graph *graph, const GraphNode *node) {
        static const Output plain = {};
        const NodeInfo *info = node->info;
        GPtrArray *lines = g_ptr_array_new_with_free_func(g_free);
        g_autofree char *suffix = g_strdup_printf(" (%s)", info->type);
        g_autoptr(GString) label = g_string_new(NULL);
        bool apart;

        /* "Camera (StartUnit)". After a long name, the type has a line of its own, so that it is not cut. */
        node_info_append_label(&plain, label, info->name, info->type, NULL, info->element);
        apart = g_utf8_strlen(label->str, -1) > LINE_CHARS_MAX && g_str_has_suffix(label->str, suffix);
        if (apart)
                g_string_truncate(label, label->len - strlen(suffix));
        add_line(lines, label->str);
        if (apart)
                add_line(lines, suffix + 1);

        if (info->title)
                add_line(lines, info->title);
        for (guint i = 0; node->notes && i < node->notes->len; i++)
                add_line(lines, g_ptr_array_index(node->notes, i));
        if (graph->is_run) {
                g_autofree char *span = span_format_rounded(info->duration),
                                *state = g_strdup_printf("%s, %s", info->status, span);

                add_line(lines, info->duration > 0 ? state : info->status);
                if (*info->detail)
                        add_line(lines, info->detail);
        }

        return lines;
}

static char *shorten(const char *text) {
        g_autofree char *start = NULL;

        if (g_utf8_strlen(text, -1) <= LINE_CHARS_MAX)
                return g_strdup(text);

        start = g_utf8_substring(text, 0, LINE_CHARS_MAX - 1);
        return g_strconcat(start, "…", NULL);
}

static double width_of(const char *text) {
        double width = 0;

        for (const char *c = text; *c; c = g_utf8_next_char(c)) {
                gunichar letter = g_utf8_get_char(c);

                if (g_unichar_iswide(letter))
                        width += 13;
                else if (letter > 127 || strchr("mwMW@%", (int) letter))
                        width += 12;
                else
                        width += strchr("iljft.,:;'|!()[] ", (int) letter) ? 5 : g_ascii_isupper(letter) ? 9 : 8;
        }

        return width;
}

static void box_clear(Box *box) {
        g_ptr_array_unref(box->lines);
        g_ptr_array_unref(box->children);
}

uint32_t *graph_fold(const Graph *graph, uint32_t max) {
        static const char *const calm_statuses[] = { "success", "skipped", "idle", NULL };
        g_autofree uint32_t *parents = g_new(uint32_t, graph->n_nodes);
        g_autofree bool *calm = graph->is_run ? g_new(bool, graph->n_nodes) : NULL;

        for (uint32_t i = 0; i < graph->n_nodes; i++) {
                const NodeInfo *info = graph->nodes[i].info;

                parents[i] = info->parent;
                if (calm)
                        calm[i] = g_strv_contains(calm_statuses, info->status);
        }

        return fold_nodes(parents, graph->n_nodes, calm, NULL, max);
}

/* All boxes that are drawn, in depth-first order. They refer to each other, so the array has room for all of them from
 * the start. */
static GArray *boxes_new(const Graph *graph) {
        GArray *boxes = g_array_sized_new(false, true, sizeof(Box), graph->n_nodes);
        g_autofree uint32_t *places = graph_fold(graph, PICTURE_NODES_MAX);
        g_autofree guint *indices = g_new(guint, graph->n_nodes); /* of the boxes of nodes */

        g_array_set_clear_func(boxes, (GDestroyNotify) box_clear);

        for (uint32_t i = 0; i < graph->n_nodes; i++) {
                const NodeInfo *info = graph->nodes[i].info;
                Box *box;

                if (places[i] != i) {
                        g_array_index(boxes, Box, indices[places[i]]).hidden++;
                        continue;
                }

                indices[i] = boxes->len;
                g_array_set_size(boxes, boxes->len + 1);
                box = &g_array_index(boxes, Box, indices[i]);
                box->node = &graph->nodes[i];
                box->lines = graph_lines(graph, box->node);
                box->children = g_ptr_array_new();
                if (i > 0)
                        g_ptr_array_add(g_array_index(boxes, Box, indices[info->parent]).children, box);
        }

        for (guint i = 0; i < boxes->len; i++) {
                Box *box = &g_array_index(boxes, Box, i);

                if (box->hidden > 0)
                        g_ptr_array_add(box->lines, g_strdup_printf("+%u more", box->hidden));
                for (guint k = 0; k < box->lines->len; k++) {
                        g_autofree char *line = shorten(g_ptr_array_index(box->lines, k));

                        box->length = MAX(box->length, width_of(line) + 2 * PADDING);
                }
                box->breadth = box->lines->len * LINE + PADDING;
        }

        return boxes;
}

static const char style[] = SVG_STYLE ".n{font-weight:600}.e{fill:none;stroke:#8c959f}rect{color:#8c959f}"
                                      ".x{fill:#f6f8fa;stroke:currentColor;stroke-width:1.5}"
                                      ".halting{color:" COLOUR_HALTED "}.waiting,.paused{color:" COLOUR_WAITING "}"
                                      ".SubTree{stroke-width:3}.ForEach{stroke-dasharray:6 3}"
                                      "@media(prefers-color-scheme:dark){.x{fill:#161b22}}";

/* Draws the lines from a box to its children as one path, because lines that cover each other look thicker. */
static void append_edges(GString *svg, const Box *box, double top) {
        int from = (int) (box->along + box->length) + MARGIN, y = (int) (box->across - top + box->breadth / 2) + HEAD;

        if (box->children->len == 0)
                return;

        g_string_append_printf(svg, "<path class=\"e\" d=\"M%d %dh%d", from, y, GAP_ALONG / 2);
        for (guint i = 0; i < box->children->len; i++) {
                const Box *child = child_at(box, i);

                g_string_append_printf(svg, "M%d %dV%dH%d", from + GAP_ALONG / 2, y,
                                       (int) (child->across - top + child->breadth / 2) + HEAD,
                                       (int) child->along + MARGIN);
        }
        g_string_append(svg, "\"/>\n");
}

static void append_box(GString *svg, const Box *box, double top) {
        const NodeInfo *info = box->node->info;
        int x = (int) (box->along + MARGIN), y = (int) (box->across - top + HEAD);
        bool leaf = box->children->len == 0 && box->hidden == 0;

        append_edges(svg, box, top);
        g_string_append(svg, "<g><title>");
        for (guint i = 0; i < box->lines->len; i++) {
                svg_append(svg, g_ptr_array_index(box->lines, i));
                g_string_append_c(svg, '\n');
        }
        g_string_append(svg, "</title><rect class=\"x ");
        svg_append(svg, info->status);
        g_string_append_c(svg, ' ');
        svg_append(svg, info->type);
        g_string_append_printf(svg, "\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"%d\"/>\n", x, y,
                               (int) box->length, (int) box->breadth, leaf ? 8 : 2);
        for (guint i = 0; i < box->lines->len; i++) {
                g_autofree char *line = shorten(g_ptr_array_index(box->lines, i));

                g_string_append_printf(svg, "<text class=\"%c\" x=\"%d\" y=\"%d\">", i == 0 ? 'n' : 's', x + PADDING,
                                       y + LINE * (int) (i + 1));
                svg_append(svg, line);
                g_string_append(svg, "</text>\n");
        }
        g_string_append(svg, "</g>\n");
}

char *graph_svg(const Graph *graph) {
        g_autoptr(GArray) boxes = boxes_new(graph);
        guint n_hidden = graph->n_nodes - boxes->len;
        g_autofree char *hidden = g_strdup_printf("%s%u of %u nodes are hidden", *graph->subtitle ? "; " : "", n_hidden,
                                                  graph->n_nodes),
                        *subtitle = g_strconcat(graph->subtitle, n_hidden > 0 ? hidden : "", NULL);
        double top = 0, bottom = 0, right = MAX(width_of(graph->title) * 2, width_of(subtitle));
        GString *svg = g_string_new(NULL);
        int width, height;

        first_walk(&g_array_index(boxes, Box, 0));
        second_walk(&g_array_index(boxes, Box, 0), 0);
        for (guint i = 0; i < boxes->len; i++) {
                const Box *box = &g_array_index(boxes, Box, i);

                top = i == 0 ? box->across : MIN(top, box->across);
                bottom = i == 0 ? box->across + box->breadth : MAX(bottom, box->across + box->breadth);
                right = MAX(right, box->along + box->length);
        }

        width = (int) right + 2 * MARGIN;
        height = (int) (bottom - top) + HEAD + MARGIN;
        g_string_append_printf(svg,
                               "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
                               "viewBox=\"0 0 %d %d\" role=\"img\" aria-labelledby=\"title desc\">\n"
                               "<title id=\"title\">",
                               width, height, width, height);
        svg_append(svg, graph->title);
        g_string_append_printf(svg, "</title><desc id=\"desc\">A behavior tree with %u node%s. ", graph->n_nodes,
                               graph->n_nodes == 1 ? "" : "s");
        svg_append(svg, subtitle);
        g_string_append_printf(svg,
                               "</desc>\n<style>%s</style>\n<rect class=\"p\" width=\"100%%\" height=\"100%%\"/>\n"
                               "<text class=\"t\" x=\"%d\" y=\"26\">",
                               style, MARGIN);
        svg_append(svg, graph->title);
        g_string_append_printf(svg, "</text>\n<text class=\"s\" x=\"%d\" y=\"46\">", MARGIN);
        svg_append(svg, subtitle);
        g_string_append(svg, "</text>\n");
        for (guint i = 0; i < boxes->len; i++)
                append_box(svg, &g_array_index(boxes, Box, i), top);

        return g_string_free(g_string_append(svg, "</svg>\n"), false);
}

static const struct {
        const char *status, *colour;
} colours[] = {
        { "success", COLOUR_SUCCESS }, { "failure", COLOUR_FAILURE }, { "error", COLOUR_ERROR },
        { "halted", COLOUR_HALTED },   { "halting", COLOUR_HALTED },  { "skipped", COLOUR_SKIPPED },
        { "running", COLOUR_RUNNING }, { "waiting", COLOUR_WAITING }, { "paused", COLOUR_WAITING },
};

/* In a string of graphviz a backslash begins an escape, and entities of HTML are expanded. */
static void append_dot_text(GString *text, const char *words) {
        for (const char *c = words; *c; c++)
                if (*c == '"' || *c == '\\')
                        g_string_append_printf(text, "\\%c", *c);
                else if (*c == '&')
                        g_string_append(text, "&amp;");
                else
                        g_string_append_c(text, *c);
}

/* Mermaid has no escapes in strings, but entities: "#" and the number of a character. It mistakes some texts with ':'
 * for styles, also in strings. */
static void append_mermaid_text(GString *text, const char *words) {
        for (const char *c = words; *c; c++)
                if ((unsigned char) *c > 127 || g_ascii_isalnum(*c) || strchr(" ,./()-+=_", *c))
                        g_string_append_c(text, *c);
                else
                        g_string_append_printf(text, "#%d;", *c);
}

static void append_lines(GString *text, const GPtrArray *lines, const char *separator,
                         void (*append)(GString *text, const char *words)) {
        for (guint i = 0; i < lines->len; i++) {
                g_autofree char *line = shorten(g_ptr_array_index(lines, i));

                g_string_append(text, i > 0 ? separator : "");
                append(text, line);
        }
}

static void append_dot_node(GString *text, const Graph *graph, uint32_t index) {
        const GraphNode *node = &graph->nodes[index];
        g_autoptr(GPtrArray) lines = graph_lines(graph, node);

        g_string_append_printf(text, "  n%u [label=\"", index);
        append_lines(text, lines, "\\n", append_dot_text);
        g_string_append(text, "\", tooltip=\"");
        for (guint i = 0; i < lines->len; i++) {
                g_string_append(text, i > 0 ? "\\n" : "");
                append_dot_text(text, g_ptr_array_index(lines, i));
        }
        g_string_append_c(text, '"');
        for (size_t i = 0; i < G_N_ELEMENTS(colours); i++)
                if (g_str_equal(node->info->status, colours[i].status))
                        g_string_append_printf(text, ", color=\"%s\"", colours[i].colour);
        g_string_append(text, "];\n");
        if (index > 0)
                g_string_append_printf(text, "  n%u -> n%u;\n", node->info->parent, index);
}

char *graph_dot(const Graph *graph) {
        GString *text = g_string_new("digraph {\n  rankdir=LR; ordering=out; labelloc=t;\n"
                                     "  node [shape=box, fontname=\"sans-serif\"];\n  label=\"");

        append_dot_text(text, graph->title);
        g_string_append(text, "\\n");
        append_dot_text(text, graph->subtitle);
        g_string_append(text, "\";\n");
        for (uint32_t i = 0; i < graph->n_nodes; i++)
                append_dot_node(text, graph, i);

        return g_string_free(g_string_append(text, "}\n"), false);
}

char *graph_mermaid(const Graph *graph) {
        GString *text = g_string_new("flowchart LR\n");

        for (size_t i = 0; graph->is_run && i < G_N_ELEMENTS(colours); i++)
                g_string_append_printf(text, "  classDef %s stroke:%s,stroke-width:2px\n", colours[i].status,
                                       colours[i].colour);
        for (uint32_t i = 0; i < graph->n_nodes; i++) {
                const NodeInfo *info = graph->nodes[i].info;
                g_autoptr(GPtrArray) lines = graph_lines(graph, &graph->nodes[i]);

                g_string_append_printf(text, "  n%u[\"", i);
                append_lines(text, lines, "<br>", append_mermaid_text);
                g_string_append(text, "\"]");
                /* A node without a status has no class, because Mermaid knows only the classes that are defined. */
                for (size_t k = 0; k < G_N_ELEMENTS(colours); k++)
                        if (g_str_equal(info->status, colours[k].status))
                                g_string_append_printf(text, ":::%s", colours[k].status);
                g_string_append_c(text, '\n');
                if (i > 0)
                        g_string_append_printf(text, "  n%u --> n%u\n", info->parent, i);
        }

        return g_string_free(text, false);
}
