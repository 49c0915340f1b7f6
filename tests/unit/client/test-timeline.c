/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tests timelines of runs, and their pictures. */

#include <json-c/json_tokener.h>
#include <string.h>

#include "basic/cleanup.h"
#include "client/plot/plot.h"
#include "engine/types/types.h"

#define SECOND UINT64_C(1000000)

static const NodeType leaf_type = { .name = "Action", .class = NODE_ACTION };
/* The only parameter of a ParallelAll. */
static const int64_t max_failures = 0;
/* Boot: Sequence [A, Load: ParallelAll [B, C], Try: Fallback [D <1>, E]] */
static Tree *tree_example(void) {
        g_autoptr(TreeBuilder) builder = tree_builder_new(0);

        tree_builder_open(builder, &sequence_type, "Boot", NULL);
        tree_builder_open(builder, &leaf_type, "A", NULL);
        tree_builder_close(builder);
        tree_builder_open(builder, &parallel_all_type, "Load", &max_failures);
        tree_builder_open(builder, &leaf_type, "B", NULL);
        tree_builder_close(builder);
        tree_builder_open(builder, &leaf_type, "C", NULL);
        tree_builder_close(builder);
        tree_builder_close(builder);
        tree_builder_open(builder, &fallback_type, "Try", NULL);
        tree_builder_open(builder, &leaf_type, "D <1>", NULL);
        tree_builder_close(builder);
        tree_builder_open(builder, &leaf_type, "E", NULL);
        tree_builder_close(builder);
        tree_builder_close(builder);
        tree_builder_close(builder);
        return tree_builder_finish(builder);
}

enum {
        BOOT,
        A,
        LOAD,
        B,
        C,
        TRY,
        D,
        E
};

static const PlotTitle title = { .run = "boot.3", .subtitle = "running for 10s", .started = 1700000000000000 };

static Timeline *timeline_example(const Tree *tree) {
        Timeline *timeline = timeline_new(tree);

        timeline_change(timeline, BOOT, STATUS_RUNNING, 0, NULL);
        timeline_change(timeline, A, STATUS_RUNNING, 0, NULL);
        timeline_change(timeline, A, STATUS_SUCCESS, 2 * SECOND, NULL);
        timeline_change(timeline, LOAD, STATUS_RUNNING, 2 * SECOND, NULL);
        timeline_change(timeline, B, STATUS_RUNNING, 2 * SECOND, NULL);
        timeline_change(timeline, C, STATUS_RUNNING, 2 * SECOND, NULL);
        timeline_change(timeline, C, STATUS_SUCCESS, 3 * SECOND, NULL);
        timeline_change(timeline, B, STATUS_SUCCESS, 5 * SECOND, NULL);
        timeline_change(timeline, LOAD, STATUS_SUCCESS, 5 * SECOND, NULL);
        timeline_change(timeline, TRY, STATUS_RUNNING, 5 * SECOND, NULL);
        timeline_change(timeline, D, STATUS_RUNNING, 5 * SECOND, NULL);
        timeline_change(timeline, D, STATUS_FAILURE, 6 * SECOND, "exited with status 3 & more");
        timeline_change(timeline, E, STATUS_RUNNING, 6 * SECOND, NULL);
        timeline_finish(timeline, 10 * SECOND);
        return timeline;
}

static const Bar *bar_of(const Timeline *timeline, NodeId node) {
        g_assert_cmpuint(timeline->last[node], !=, UINT32_MAX);
        return &g_array_index(timeline->bars, Bar, timeline->last[node]);
}

static void test_bars(void) {
        g_autoptr(Tree) tree = tree_example();
        g_autoptr(Timeline) timeline = timeline_example(tree);

        g_assert_cmpuint(timeline->bars->len, ==, 8);
        g_assert_cmpuint(bar_of(timeline, D)->begin, ==, 5 * SECOND);
        g_assert_cmpuint(bar_of(timeline, D)->end, ==, 6 * SECOND);
        g_assert_cmpint(bar_of(timeline, D)->status, ==, STATUS_FAILURE);
        g_assert_cmpstr(bar_of(timeline, D)->detail, ==, "exited with status 3 & more");
        /* A node that has not ended is drawn up to the end. */
        g_assert_cmpint(bar_of(timeline, E)->status, ==, STATUS_RUNNING);
        g_assert_cmpuint(bar_of(timeline, E)->end, ==, 10 * SECOND);
        g_assert_cmpuint(bar_of(timeline, BOOT)->end, ==, 10 * SECOND);
}

static void test_critical_path(void) {
        static const NodeId waited_for[] = { BOOT, A, LOAD, B, TRY, D, E };
        g_autoptr(Tree) tree = tree_example();
        g_autoptr(Timeline) timeline = timeline_example(tree);

        for (size_t i = 0; i < G_N_ELEMENTS(waited_for); i++)
                g_assert_true(bar_of(timeline, waited_for[i])->critical);
        g_assert_false(bar_of(timeline, C)->critical);
}

/* C decided Load; after that, Load waited only for B to stop. */
static void test_critical_path_past_what_was_stopped(void) {
        static const uint64_t stops[] = { 3 * SECOND, 5 * SECOND };
        g_autoptr(Tree) tree = tree_example();

        for (size_t i = 0; i < G_N_ELEMENTS(stops); i++) {
                g_autoptr(Timeline) timeline = timeline_new(tree);

                timeline_change(timeline, BOOT, STATUS_RUNNING, 0, NULL);
                timeline_change(timeline, LOAD, STATUS_RUNNING, SECOND, NULL);
                timeline_change(timeline, B, STATUS_RUNNING, SECOND, NULL);
                timeline_change(timeline, C, STATUS_RUNNING, 2 * SECOND, NULL);
                timeline_change(timeline, C, STATUS_FAILURE, 3 * SECOND, NULL);
                timeline_change(timeline, B, STATUS_HALTED, stops[i], NULL);
                timeline_change(timeline, LOAD, STATUS_FAILURE, stops[i], NULL);
                timeline_change(timeline, BOOT, STATUS_FAILURE, stops[i], NULL);
                timeline_finish(timeline, stops[i]);

                g_assert_true(bar_of(timeline, LOAD)->critical);
                g_assert_true(bar_of(timeline, C)->critical);
                g_assert_cmpuint(bar_of(timeline, C)->awaited, ==, 2 * SECOND);
                g_assert_cmpint(bar_of(timeline, B)->critical, ==, stops[i] > 3 * SECOND);
        }
}

static void test_critical_path_of_what_is_slow_to_stop(void) {
        g_autoptr(Tree) tree = tree_example();
        g_autoptr(Timeline) timeline = timeline_new(tree);
        g_autofree char *svg = NULL;

        timeline_change(timeline, BOOT, STATUS_RUNNING, 0, NULL);
        timeline_change(timeline, A, STATUS_RUNNING, 0, NULL);
        timeline_change(timeline, LOAD, STATUS_RUNNING, 0, NULL);
        timeline_change(timeline, B, STATUS_RUNNING, 0, NULL);
        timeline_change(timeline, C, STATUS_RUNNING, 0, NULL);
        timeline_change(timeline, C, STATUS_SUCCESS, SECOND, NULL);
        timeline_change(timeline, A, STATUS_FAILURE, 3 * SECOND, NULL);
        timeline_change(timeline, B, STATUS_HALTED, 4 * SECOND, NULL);
        timeline_change(timeline, LOAD, STATUS_HALTED, 4 * SECOND, NULL);
        timeline_change(timeline, BOOT, STATUS_FAILURE, 4 * SECOND, NULL);
        timeline_finish(timeline, 4 * SECOND);

        /* From the end of A on, also inside. */
        g_assert_cmpuint(bar_of(timeline, A)->awaited, ==, 0);
        g_assert_cmpuint(bar_of(timeline, LOAD)->awaited, ==, 3 * SECOND);
        g_assert_true(bar_of(timeline, B)->critical);
        g_assert_cmpuint(bar_of(timeline, B)->awaited, ==, 3 * SECOND);
        g_assert_false(bar_of(timeline, C)->critical);

        /* 900 are four seconds. */
        svg = plot_svg(timeline, &title);
        g_assert_nonnull(strstr(svg, "h225\"/>"));
}

static void assert_well_formed(const char *svg) {
        static const GMarkupParser parser;
        GMarkupParseContext *context = g_markup_parse_context_new(&parser, 0, NULL, NULL);
        g_autoptr(GError) error = NULL;

        g_markup_parse_context_parse(context, svg, -1, &error);
        g_assert_no_error(error);
        g_markup_parse_context_end_parse(context, &error);
        g_assert_no_error(error);
        g_markup_parse_context_free(context);
}

/* A: runs up to 3s, of which it is halting for 2s; then B, which waited for it since 1s. */
static Timeline *timeline_of_halt(const Tree *tree) {
        Timeline *timeline = timeline_new(tree);

        timeline_change(timeline, BOOT, STATUS_RUNNING, 0, NULL);
        timeline_change(timeline, A, STATUS_RUNNING, 0, NULL);
        timeline_halt(timeline, A, SECOND);
        timeline_wait(timeline, D, SECOND, "for A to stop");
        timeline_wait(timeline, D, 2 * SECOND, "for the lock 'disk'");
        timeline_wait(timeline, E, 2 * SECOND, "for <A> to stop");
        timeline_change(timeline, A, STATUS_HALTED, 3 * SECOND, "stopped by Boot");
        timeline_change(timeline, D, STATUS_RUNNING, 3 * SECOND, NULL);
        timeline_change(timeline, D, STATUS_SUCCESS, 5 * SECOND, NULL);
        timeline_halt(timeline, BOOT, 5 * SECOND);
        timeline_finish(timeline, 6 * SECOND);
        return timeline;
}

static void test_halting_and_waiting(void) {
        g_autoptr(Tree) tree = tree_example();
        g_autoptr(Timeline) timeline = timeline_of_halt(tree);
        g_autofree char *svg = plot_svg(timeline, &title), *trace = plot_trace(timeline, &title);

        g_assert_cmpuint(bar_of(timeline, A)->halting, ==, SECOND);
        g_assert_cmpuint(bar_of(timeline, A)->end, ==, 3 * SECOND);
        g_assert_cmpuint(bar_of(timeline, D)->waiting, ==, SECOND);
        g_assert_cmpuint(bar_of(timeline, D)->begin, ==, 3 * SECOND);
        g_assert_cmpuint(bar_of(timeline, D)->halting, ==, 5 * SECOND);
        /* Those that have not ended. */
        g_assert_cmpuint(bar_of(timeline, E)->begin, ==, 6 * SECOND);
        g_assert_cmpuint(bar_of(timeline, BOOT)->halting, ==, 5 * SECOND);
        g_assert_cmpuint(bar_of(timeline, BOOT)->end, ==, 6 * SECOND);

        /* 150 are a second. */
        assert_well_formed(svg);
        g_assert_nonnull(strstr(svg, "<title>A: halted, from 0s for 3s, the last 2s halting: stopped by Boot</title>"));
        g_assert_nonnull(strstr(svg, "<rect class=\"halting\" x=\"150.0\" width=\"300.0\""));
        g_assert_nonnull(strstr(svg, "<title>D &lt;1&gt;: waiting for A to stop, from 1s for 2s</title>"));
        g_assert_nonnull(strstr(svg, "<rect class=\"waiting\" x=\"150.0\" width=\"300.0\""));
        g_assert_nonnull(strstr(svg, "<title>E: waiting for &lt;A&gt; to stop, from 2s for 4s</title>"));
        g_assert_nonnull(strstr(svg, ">halting</text>"));
        g_assert_nonnull(strstr(svg, ">waiting</text>"));
        g_assert_nonnull(strstr(trace, "\"name\":\"halting\",\"cat\":\"halting\",\"ph\":\"X\","
                                       "\"ts\":1700000001000000,\"dur\":2000000"));
        g_assert_nonnull(strstr(trace, "\"args\":{\"for\":\"for A to stop\"}"));
}

/* A lock of another run: while the node waits for it, that is what the run waits for. */
static void test_critical_path_while_waiting(void) {
        g_autoptr(Tree) tree = tree_example();
        g_autoptr(Timeline) timeline = timeline_new(tree);

        timeline_change(timeline, BOOT, STATUS_RUNNING, 0, NULL);
        timeline_change(timeline, A, STATUS_RUNNING, 0, NULL);
        timeline_change(timeline, A, STATUS_SUCCESS, SECOND, NULL);
        timeline_wait(timeline, LOAD, SECOND, "for the lock 'disk'");
        timeline_change(timeline, LOAD, STATUS_RUNNING, 3 * SECOND, NULL);
        timeline_change(timeline, LOAD, STATUS_SUCCESS, 4 * SECOND, NULL);
        timeline_change(timeline, BOOT, STATUS_SUCCESS, 4 * SECOND, NULL);
        timeline_finish(timeline, 4 * SECOND);
        g_assert_cmpuint(bar_of(timeline, LOAD)->awaited, ==, SECOND);
        g_assert_true(bar_of(timeline, A)->critical);
}

static void test_started_again(void) {
        g_autoptr(Tree) tree = tree_example();
        g_autoptr(Timeline) timeline = timeline_new(tree);

        for (uint64_t round = 0; round < 3; round++) {
                timeline_change(timeline, A, STATUS_RUNNING, round * SECOND, NULL);
                timeline_change(timeline, A, STATUS_FAILURE, round * SECOND + 1, NULL);
        }
        /* A node that completes at once is never reported as running. */
        timeline_change(timeline, A, STATUS_SUCCESS, 3 * SECOND, NULL);
        timeline_finish(timeline, 3 * SECOND);
        g_assert_cmpuint(timeline->bars->len, ==, 4);
        g_assert_cmpuint(bar_of(timeline, A)->begin, ==, 3 * SECOND);
        g_assert_cmpuint(bar_of(timeline, A)->end, ==, 3 * SECOND);
}

static void test_picture(void) {
        g_autoptr(Tree) tree = tree_example();
        g_autoptr(Timeline) timeline = timeline_example(tree);
        g_autofree char *svg = plot_svg(timeline, &title);

        assert_well_formed(svg);
        g_assert_nonnull(strstr(svg, "D &lt;1&gt;: failure, from 5s for 1s: exited with status 3 &amp; more"));
        g_assert_nonnull(strstr(svg, "running for 10s"));
}

/* Bars leave room for texts at their right only if there are some. */
static void test_width(void) {
        g_autoptr(Tree) tree = tree_example();
        g_autoptr(Timeline) with = timeline_example(tree), without = timeline_new(tree);
        g_autofree char *svg = plot_svg(with, &title), *html = plot_html(with, &title), *wide = NULL, *plain = NULL;

        timeline_change(without, BOOT, STATUS_RUNNING, 0, NULL);
        timeline_change(without, A, STATUS_RUNNING, 0, NULL);
        timeline_finish(without, SECOND);
        wide = plot_svg(without, &title);
        plain = plot_html(without, &title);
        g_assert_nonnull(strstr(svg, " x=\"21%\" width=\"56%\""));
        g_assert_nonnull(strstr(wide, " x=\"21%\" width=\"76%\""));
        g_assert_nonnull(strstr(html, "<div class=\"plot\">"));
        g_assert_nonnull(strstr(plain, "<div class=\"plot plain\">"));
}

/* A long title moves the legend, and names of nodes are clipped before the bars. */
static void test_long_names(void) {
        const PlotTitle longer = { .run = "a-tree-with-a-name-of-some-forty-letters.1", .subtitle = "", .started = 0 };
        g_autoptr(Tree) tree = tree_example();
        g_autoptr(Timeline) timeline = timeline_example(tree);
        g_autofree char *svg = plot_svg(timeline, &longer), *shorter = plot_svg(timeline, &title);

        g_assert_nonnull(strstr(svg, "<rect class=\"running\" x=\"520\" y=\"10\""));
        g_assert_nonnull(strstr(shorter, "<rect class=\"running\" x=\"356\" y=\"10\""));
        g_assert_nonnull(strstr(svg, "<clipPath id=\"names\"><rect width=\"21%\" height=\"100%\"/></clipPath>\n"
                                     "<g clip-path=\"url(#names)\">\n<text x=\"16\" y=\"111\">Boot</text>\n"));
}

static void test_trace(void) {
        g_autoptr(Tree) tree = tree_example();
        g_autoptr(Timeline) timeline = timeline_example(tree);
        g_autofree char *text = plot_trace(timeline, &title);
        g_autoptr(json_object) trace = json_tokener_parse(text);
        json_object *events, *last, *value;

        g_assert_true(json_object_object_get_ex(trace, "traceEvents", &events));
        /* The process; a name and a position for each node; the bars. */
        g_assert_cmpuint(json_object_array_length(events), ==, 1 + 2 * 8 + 8);
        last = json_object_array_get_idx(events, 24);
        g_assert_true(json_object_object_get_ex(last, "name", &value));
        g_assert_cmpstr(json_object_get_string(value), ==, "E");
        g_assert_true(json_object_object_get_ex(last, "dur", &value));
        g_assert_cmpuint(json_object_get_uint64(value), ==, 4 * SECOND);
}

static unsigned count(const char *svg, const char *what) {
        unsigned n = 0;

        for (const char *p = svg; (p = strstr(p, what)); p++)
                n++;

        return n;
}

static Tree *thousand_leaves(void) {
        g_autoptr(TreeBuilder) builder = tree_builder_new(0);

        tree_builder_open(builder, &sequence_type, NULL, NULL);
        for (unsigned i = 1; i < 1000; i++) {
                tree_builder_open(builder, &leaf_type, "A leaf with a name of its own", NULL);
                tree_builder_close(builder);
        }
        tree_builder_close(builder);
        return tree_builder_finish(builder);
}

/* Of a thousand nodes, those that have failed are drawn, and the first ones. */
static void test_large(void) {
        g_autoptr(Tree) tree = thousand_leaves();
        g_autoptr(Timeline) timeline = timeline_new(tree);
        g_autofree char *svg = NULL, *html = NULL;

        timeline_change(timeline, 0, STATUS_RUNNING, 0, NULL);
        for (NodeId node = 1; node < 1000; node++) {
                timeline_change(timeline, node, STATUS_RUNNING, node * SECOND, NULL);
                timeline_change(timeline, node, node % 7 ? STATUS_SUCCESS : STATUS_FAILURE, (node + 1) * SECOND,
                                "it says why it has come to this");
        }
        timeline_change(timeline, 0, STATUS_SUCCESS, 1000 * SECOND, NULL);
        timeline_finish(timeline, 1000 * SECOND);
        svg = plot_svg(timeline, &title);
        assert_well_formed(svg);
        g_assert_cmpuint(strlen(svg), <, 100 * 1024);
        g_assert_nonnull(strstr(svg, ">Sequence<tspan class=\"d\" dx=\"6\">+800</tspan></text>"));
        g_assert_nonnull(strstr(svg, ">A leaf with a name of its own: success, from 1min 6s for 1s"));
        g_assert_null(strstr(svg, ">A leaf with a name of its own: success, from 1min 7s for 1s"));

        /* A page has all of them, and the rows below the root are open. */
        html = plot_html(timeline, &title);
        g_assert_cmpuint(count(html, "<div class=\"row\">"), ==, 999);
        g_assert_cmpuint(count(html, "<details"), ==, 1);
        g_assert_nonnull(strstr(html, "<details open=\"\"><summary class=\"row\"><span class=\"name\" "
                                      "style=\"padding-left:0px\">Sequence<small>+999, 142 failed</small></span>"));
        g_assert_nonnull(strstr(html, "aria-label=\"failure, from 16min 34s for 1s\""));
}

/* A thousand nodes, each with many bars. */
static void test_rounds(void) {
        g_autoptr(Tree) tree = thousand_leaves();
        g_autoptr(Timeline) timeline = timeline_new(tree);
        g_autofree char *svg = NULL;

        timeline_change(timeline, 0, STATUS_RUNNING, 0, NULL);
        for (unsigned round = 0; round < 8; round++)
                for (NodeId node = 1; node < 1000; node++) {
                        uint64_t time = (round * 1000 + node) * SECOND;

                        timeline_change(timeline, node, STATUS_RUNNING, time, NULL);
                        timeline_change(timeline, node, node % 7 ? STATUS_SUCCESS : STATUS_FAILURE, time + SECOND,
                                        "it says why");
                }
        timeline_finish(timeline, 8000 * SECOND);
        svg = plot_svg(timeline, &title);
        assert_well_formed(svg);
        g_assert_cmpuint(strlen(svg), <, 100 * 1024);

        /* The bars of a node are joined, at their places. */
        g_assert_cmpuint(count(svg, "<title>A leaf with a name of its own: 8 times, from "), ==, 199);
        g_assert_nonnull(strstr(svg,
                                "<path d=\"M0.8 233h1.5m111 0h1.5m111 0h1.5m111 0h1.5m111 0h1.5m111 0h1.5m111 0h1.5"
                                "m111 0h1.5\" class=\"b failure\"><title>A leaf with a name of its own: 8 times, "
                                "from 7s for 1h 56min; last: failure: it says why</title></path>"));
}

/* Tiny bars are drawn as one, in the colour of the worst; visible bars keep their own colour. */
static void test_near(void) {
        g_autoptr(Tree) tree = tree_example();
        g_autoptr(Timeline) timeline = timeline_new(tree);
        const uint64_t n = 20000, dust = SECOND / 1000;
        g_autofree char *svg = NULL;

        timeline_change(timeline, BOOT, STATUS_RUNNING, 0, NULL);
        for (uint64_t i = 0; i < n; i++) {
                timeline_change(timeline, A, STATUS_RUNNING, i * dust, NULL);
                timeline_change(timeline, A, i == 7 ? STATUS_FAILURE : STATUS_SUCCESS, (i + 1) * dust, NULL);
        }
        timeline_change(timeline, B, STATUS_RUNNING, n * dust, NULL);
        timeline_change(timeline, B, STATUS_SUCCESS, n * dust + 10 * SECOND, NULL);
        timeline_change(timeline, B, STATUS_RUNNING, n * dust + 10 * SECOND, NULL);
        timeline_change(timeline, B, STATUS_FAILURE, n * dust + 10 * SECOND + dust, "it says why");
        timeline_finish(timeline, n * dust + 11 * SECOND);
        svg = plot_svg(timeline, &title);

        assert_well_formed(svg);
        g_assert_cmpuint(count(svg, "<title>A: "), ==, 1);
        g_assert_nonnull(
                strstr(svg, "class=\"failure\"><title>A: 20000 times, from 0s for 20s; last: success</title>"));
        g_assert_nonnull(strstr(svg, "class=\"success\"><title>B: success, from 20s for 10s</title>"));
        g_assert_nonnull(strstr(svg, "class=\"failure\"><title>B: failure, from 30s for 1ms: it says why</title>"));
        g_assert_cmpuint(count(svg, "M"), <, 24);
}

/* Calm subtrees are folded first, the deepest first; then any, and at last the root holds children itself. */
static void test_fold(void) {
        /* 0 [1 [2 [3, 4], 5], 6 [7, 8], 9] */
        static const uint32_t parents[] = { 0, 0, 1, 2, 2, 1, 0, 6, 6, 0 };
        static const struct {
                uint32_t max, places[10];
        } cases[] = {
                { 10, { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 } }, { 9, { 0, 1, 2, 3, 4, 5, 6, 6, 6, 9 } },
                { 7, { 0, 1, 2, 2, 2, 5, 6, 6, 6, 9 } },  { 5, { 0, 1, 1, 1, 1, 1, 6, 6, 6, 9 } },
                { 3, { 0, 1, 1, 1, 1, 1, 6, 6, 6, 0 } },  { 1, { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 } },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                bool calm[] = { true, true, true, false, true, true, true, true, true, true };
                g_autofree uint32_t *places = fold_nodes(parents, 10, calm, NULL, cases[i].max);

                for (size_t k = 0; k < 10; k++)
                        g_assert_cmpuint(places[k], ==, cases[i].places[k]);
        }
}

/* Nodes that are never drawn need no room. */
static void test_fold_without_absent_ones(void) {
        static const uint32_t parents[] = { 0, 0, 1, 1, 0, 0 }, expected[] = { 0, 1, UINT32_MAX, 3, UINT32_MAX, 5 },
                              folded[] = { 0, 1, UINT32_MAX, 1, UINT32_MAX, 5 };
        static const bool absent[] = { false, false, true, false, true, false };
        g_autofree uint32_t *places = fold_nodes(parents, 6, NULL, absent, 4),
                            *fewer = fold_nodes(parents, 6, NULL, absent, 3);

        for (size_t k = 0; k < 6; k++) {
                g_assert_cmpuint(places[k], ==, expected[k]);
                g_assert_cmpuint(fewer[k], ==, folded[k]);
        }
}

/* The scale of a timeline that begins and ends at these times. */
static char *scale_of(uint64_t begin, uint64_t end) {
        g_autoptr(Tree) tree = tree_example();
        g_autoptr(Timeline) timeline = timeline_new(tree);
        g_autoptr(GArray) ticks = NULL;
        GString *text = g_string_new(NULL);

        timeline->begin = begin;
        timeline_finish(timeline, end - begin);
        ticks = plot_ticks(timeline, &title);
        for (unsigned i = 0; i < ticks->len && i < 3; i++) {
                const Tick *tick = &g_array_index(ticks, Tick, i);

                g_string_append_printf(text, "%s (%s), ", tick->span, tick->clock);
        }
        g_string_append_printf(text, "%u", ticks->len);
        return g_string_free(text, false);
}

static void test_scale(void) {
        static const struct {
                uint64_t begin, end;
                const char *scale;
        } cases[] = {
                { 0, 0, "0 (22:13:20.000000), 1" },
                { 0, 100, "0 (22:13:20.000000), 10us (), 20us (22:13:20.000020), 11" },
                { 0, 849000, "0 (22:13:20.000), 100ms (), 200ms (22:13:20.200), 9" },
                { 0, 10 * SECOND, "0 (22:13:20), 1s (22:13:21), 2s (22:13:22), 11" },
                { 1500000, 4 * SECOND, "1.5s (22:13:20.000), 2s (), 2.5s (22:13:21.000), 6" },
                { 0, 300 * SECOND, "0 (22:13:20), 30s (22:13:50), 1min (22:14:20), 11" },
                { 0, 86400 * SECOND, "0 (22:13:20), 3h (01:13:20), 6h (04:13:20), 9" },
                { 0, 864000 * SECOND, "0 (11-14 22:13), 1d (11-15 22:13), 2d (11-16 22:13), 11" },
                { 0, 3456000000 * SECOND, "0 (11-14 22:13), 13y 8month (07-23 22:13), 27y 4month (04-01 22:13), 9" },
        };
        g_autofree char *day = plot_day(&title);

        g_assert_cmpstr(day, ==, "2023-11-14 UTC");
        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autofree char *scale = scale_of(cases[i].begin, cases[i].end);

                g_assert_cmpstr(scale, ==, cases[i].scale);
        }
}

/* Bars that follow each other at once are drawn apart. */
static void test_rounds_at_once(void) {
        g_autoptr(Tree) tree = tree_example();
        g_autoptr(Timeline) timeline = timeline_new(tree);
        g_autofree char *svg = NULL;

        timeline_change(timeline, BOOT, STATUS_RUNNING, 0, NULL);
        for (uint64_t i = 0; i < 3; i++) {
                timeline_change(timeline, A, STATUS_RUNNING, i * SECOND, NULL);
                timeline_change(timeline, A, STATUS_SUCCESS, (i + 1) * SECOND, NULL);
        }
        timeline_finish(timeline, 3 * SECOND);
        svg = plot_svg(timeline, &title);
        g_assert_cmpuint(count(svg, "<rect class=\"gap\""), ==, 2);
        g_assert_nonnull(strstr(svg, "<rect class=\"gap\" x=\"299.5\" width=\"1.0\""));
}

static void test_svg_path(void) {
        SvgPath path = {};

        svg_path_add(&path, 10, 1.5, 7);
        svg_path_add(&path, 10.6, 1.5, 7);
        svg_path_add(&path, 11, 0.5, 7);
        svg_path_add(&path, 20.04, 0, 7);
        svg_path_add(&path, 30, 5, 7);
        g_assert_cmpstr(path.text->str, ==, "M10 7h1.5m0 0h0.6m0 0h0.1m7.8 0h0.1m9.9 0h5");
        g_string_free(path.text, true);
}

int main(int argc, char **argv) {
        g_setenv("TZ", "UTC", true);
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/timeline/bars", test_bars);
        g_test_add_func("/timeline/critical-path", test_critical_path);
        g_test_add_func("/timeline/critical-path-past-what-was-stopped", test_critical_path_past_what_was_stopped);
        g_test_add_func("/timeline/critical-path-of-what-is-slow-to-stop", test_critical_path_of_what_is_slow_to_stop);
        g_test_add_func("/timeline/critical-path-while-waiting", test_critical_path_while_waiting);
        g_test_add_func("/timeline/halting-and-waiting", test_halting_and_waiting);
        g_test_add_func("/timeline/started-again", test_started_again);
        g_test_add_func("/plot/picture", test_picture);
        g_test_add_func("/plot/width", test_width);
        g_test_add_func("/plot/long-names", test_long_names);
        g_test_add_func("/plot/trace", test_trace);
        g_test_add_func("/plot/large", test_large);
        g_test_add_func("/plot/rounds", test_rounds);
        g_test_add_func("/plot/near", test_near);
        g_test_add_func("/plot/svg-path", test_svg_path);
        g_test_add_func("/plot/fold", test_fold);
        g_test_add_func("/plot/fold-without-absent-ones", test_fold_without_absent_ones);
        g_test_add_func("/plot/scale", test_scale);
        g_test_add_func("/plot/rounds-at-once", test_rounds_at_once);
        return g_test_run();
}
