/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Makes the timeline of a recording, for btctl plot: status changes become bars, and actions of people become marks. */

#include "client/plot/plot.h"
#include "basic/span.h"
#include "client/recording/event-log.h"

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

static void on_event(const LogEvent *event, void *userdata) {
        Plotter *plotter = userdata;
        uint64_t time = event->time - plotter->begin;

        plotter->end = event->time;
        if (event->node == NODE_NONE && event->status != STATUS_IDLE) {
                plotter->status = event->status;
                g_free(plotter->why);
                plotter->why = g_strdup(event->text);
        } else if (event->status != STATUS_IDLE) {
                timeline_change(plotter->timeline, event->node, event->status, time, event->text);
        } else if (event->node == NODE_NONE && !g_str_equal(event->what, "started")) {
                timeline_mark(plotter->timeline, time, event->what, event->text);
        }
}

/* "failure after 3.2s: Boot/LoadConfig: exited with status 3" */
static char *subtitle_of(const Plotter *plotter) {
        g_autofree char *span = span_format_rounded(plotter->end), *begin = span_format_rounded(plotter->begin),
                        *cut = plotter->begin > 0 ? g_strdup_printf(", drawn from %s on", begin) : g_strdup("");
        bool running = plotter->status == STATUS_RUNNING;

        return g_strdup_printf("%s %s %s%s%s%s", status_to_string(plotter->status), running ? "for" : "after", span,
                               cut, plotter->why ? ": " : "", plotter->why ?: "");
}

char *plot_recording(const Recording *recording, PlotFormat format, char **ret_error) {
        g_auto(Plotter) plotter = {
                .timeline = timeline_new(definition_tree(recording->definition)),
                .begin = recording_begin(recording),
        };
        const RecordHeader *header = &recording->journal->header;
        g_autoptr(EventLog) log = NULL;
        g_autofree char *subtitle = NULL;
        PlotTitle title;

        if (event_log_new(recording, on_event, &plotter, &log, ret_error) < 0 ||
            event_log_report(log, UINT64_MAX, ret_error) < 0)
                return NULL;

        timeline_finish(plotter.timeline, plotter.end - plotter.begin);
        subtitle = subtitle_of(&plotter);
        title = (PlotTitle){ header->run, subtitle, header->started + plotter.begin };
        return format(plotter.timeline, &title);
}
