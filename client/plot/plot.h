/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Draws the timeline of a recording, for btctl plot: plot.c makes the timeline, bars.c draws the bars, and plot-svg.c,
 * plot-html.c and plot-trace.c write it. Also what all pictures share.
 */

#include "client/plot/timeline.h"
#include "client/recording/recording.h"

typedef struct PlotTitle {
        const char *run;      /* "boot.3" */
        const char *subtitle; /* "failure after 3.2s: Boot/LoadConfig: ..." */
        uint64_t started;     /* CLOCK_REALTIME µs of the start of the timeline */
} PlotTitle;

/* To be freed. */
typedef char *(*PlotFormat)(const Timeline *timeline, const PlotTitle *title);

/* A picture: SVG, with a row for each node. Parts of large trees are folded. */
char *plot_svg(const Timeline *timeline, const PlotTitle *title);
/* The same as a part of a page, with rows that can be unfolded; see graph_html(). */
char *plot_html(const Timeline *timeline, const PlotTitle *title);
/* Events for trace viewers: Chrome's and Perfetto's JSON, the "Trace Event Format". */
char *plot_trace(const Timeline *timeline, const PlotTitle *title);

/* NULL, with a text for people: the run record cannot be read. */
char *plot_recording(const Recording *recording, PlotFormat format, char **ret_error);

/* A label of the scale. */
typedef struct Tick {
        double share;   /* its place on the timeline: 0 to 1 */
        char span[32];  /* since the start of the run: "1.5s" */
        char clock[32]; /* "14:03:05"; empty: there is no room */
} Tick;

/* Returns an array of Tick. */
GArray *plot_ticks(const Timeline *timeline, const PlotTitle *title);
/* The day and the time zone of the clock: "2026-11-24 UTC". To be freed. */
char *plot_day(const PlotTitle *title);

/* Why the node did not succeed the last time, if it is a leaf; or NULL. Borrowed. */
const char *plot_detail(const Timeline *timeline, NodeId node);
/* The nodes of a picture with at most max of them, without those that never ran; see fold_nodes(). To be freed. */
uint32_t *plot_fold(const Timeline *timeline, uint32_t max);
/* False: the bars of these rows need no room for details. */
bool plot_has_details(const Timeline *timeline, const uint32_t *places);
/* A text for each row about the nodes folded into it: "+12, 2 failed", or "". places NULL: as if all rows were folded.
 * To be freed. */
char **plot_held(const Timeline *timeline, const uint32_t *places);
/* Whether a row belongs to every other copy in a ForEach, so that the copies are told apart. */
bool plot_is_even_copy(const Timeline *timeline, NodeId node);

/* Folds a tree until at most max of its nodes are drawn: first the subtrees that are calm, then any, the deepest first.
 * If the root itself has too many children, it holds the last ones, too. parents: of the nodes, in depth-first order.
 * calm: may be NULL, and is changed. absent: nodes that are never drawn; may be NULL. Returns for each node itself if
 * it is drawn, or else the drawn node that holds it, or UINT32_MAX if it is absent. To be freed. */
uint32_t *fold_nodes(const uint32_t *parents, uint32_t n_nodes, bool *calm, const bool *absent, uint32_t max);
/* How many nodes a picture has at most, and how many a page. */
#define PICTURE_NODES_MAX 200u
#define PAGE_NODES_MAX 5000u

/* The size of a row of bars. */
#define BARS_WIDTH 900
#define BARS_ROW 18
#define BAR_HEIGHT 12

/* Appends the bars of each node to its row, at its top. rows: of all nodes; NULL: the node is left out. */
void timeline_draw(const Timeline *timeline, GString **rows, const unsigned *tops);
/* The place of a time on the timeline: 0 to 1. */
double timeline_share(const Timeline *timeline, uint64_t time);
/* The names of the colours and patterns that are used. To be unreferenced. */
GPtrArray *timeline_legend(const Timeline *timeline);
/* Appends a sample of a name of the legend. */
void svg_append_key(GString *svg, const char *name, unsigned x, unsigned y);

/* Colours of pictures, with those of graph. */
#define COLOUR_SUCCESS "#2da44e"
#define COLOUR_FAILURE "#cf222e"
#define COLOUR_ERROR "#82071e"
#define COLOUR_HALTED "#8250df"
#define COLOUR_SKIPPED "#afb8c1"
#define COLOUR_RUNNING "#0969da"
#define COLOUR_WAITING "#bf8700"
/* The colour of what has a status as its class. */
#define STATUS_STYLE                                                                                                   \
        ".success{color:" COLOUR_SUCCESS "}.failure{color:" COLOUR_FAILURE "}.error{color:" COLOUR_ERROR "}"           \
        ".halted{color:" COLOUR_HALTED "}.skipped{color:" COLOUR_SKIPPED "}.running{color:" COLOUR_RUNNING "}"         \
        "@media(prefers-color-scheme:dark){.error{color:#ff7b72}.halted{color:#a371f7}.running{color:#4493f8}"         \
        ".skipped{color:#656c76}.failure{color:#e5534b}}"
#define SVG_STYLE                                                                                                      \
        "text{font:12px system-ui,sans-serif;fill:#24292f}.t{font-size:18px;font-weight:600}.s{fill:#57606a}"          \
        ".p{fill:#fff}" STATUS_STYLE "@media(prefers-color-scheme:dark){text{fill:#e6edf3}.s{fill:#9198a1}"            \
        ".p{fill:#0d1117}}"
/* The style of what timeline_draw() draws, */
#define BARS_STYLE                                                                                                     \
        ".bars rect{fill:currentColor}.bars .b{stroke:currentColor;stroke-width:12;fill:none}.bars .i{opacity:.4}"     \
        ".bars .halting{fill:url(#halting);pointer-events:none}.bars .gap{fill:#fff;pointer-events:none}"              \
        ".bars .waiting{fill:#fff8c5;stroke:" COLOUR_WAITING ";stroke-dasharray:2 2;"                                  \
        "vector-effect:non-scaling-stroke}.bars .c{stroke:" COLOUR_WAITING ";stroke-width:3;fill:none}"                \
        "@media(prefers-color-scheme:dark){.bars .waiting{fill:#3a2d0a}.bars .gap{fill:#0d1117}}"
/* and the stripes over the part of a bar while it was halting. */
#define BARS_STRIPES                                                                                                   \
        "<pattern id=\"halting\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" "                            \
        "patternTransform=\"rotate(45)\"><path d=\"M1.5 0v6\" stroke=\"#fff\" stroke-width=\"3\" opacity=\".75\"/>"    \
        "</pattern>\n"

/* Appends text to SVG or HTML, escaped. */
void svg_append(GString *svg, const char *text);
/* The same with at most n_max letters. */
void svg_append_shortened(GString *svg, const char *text, glong n_max);
/* Appends an attribute, with one decimal. */
void svg_append_number(GString *svg, const char *attribute, double value, const char *unit);

/* A path of SVG: a row of horizontal lines, in a few bytes for each. Zeroed: there are none yet. */
typedef struct SvgPath {
        GString *text; /* to be freed; NULL: there are no lines */
        long end;      /* of the last line, in tenths */
} SvgPath;

/* Adds a line behind the others, which it does not cover; y is the same for all. */
void svg_path_add(SvgPath *path, double x, double width, unsigned y);
