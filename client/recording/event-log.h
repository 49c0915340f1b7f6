/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The event log of a run: replays its recording and reports each change, for btctl show and plot.
 */

#include "client/recording/recording.h"
#include "client/view/output.h"
#include "run/replay.h"

/* what: the status of a node or of the run, in words; or
 *   "cut"      earlier events are not kept; nodes that were running then follow as if they started
 *   "started"  the run was started; the text says by whom
 *   "ready"    a node has made the run ready
 *   "halting"  the run is being halted
 *   "set"      variables were set from outside or by a node; of computed ones, those whose value has changed
 *   "paused", "resumed", "stepped", "breakpoint", "cleared", "stands", "forced"
 *              somebody controlled the run; "stands": it is paused at a breakpoint
 *   "timer"    the timer of a node has expired
 *   "suspended"
 *              the machine was suspended, for as long as the text says; only in trees with such timers
 *   "log"      a Log node's message, which is the text
 *   "locked"   the node was given the lock that it waited for
 *   "recovered", "rerun"
 *              btd was restarted; it has recovered the run, or has started that action again */
typedef struct LogEvent {
        uint64_t time; /* microseconds since the start of the run */
        NodeId node;   /* NODE_NONE: the run */
        const char *what;
        Status status;       /* of a node or the run, if that has changed; else IDLE */
        uint64_t duration;   /* how long a node that has ended was running */
        char *text;          /* why, or NULL */
        json_object *values; /* of variables, or NULL */
} LogEvent;

typedef void (*EventLogObserver)(const LogEvent *event, void *userdata);

typedef struct EventLog EventLog;

/* The recording is borrowed. With a text for people. */
int event_log_new(const Recording *recording, EventLogObserver observer, void *userdata, EventLog **ret_log,
                  char **ret_error);
void event_log_free(EventLog *log);

/* Reports the events up to that time, in microseconds since the start, and then the status if the run has not finished.
 * With a text for people: from there on the run record cannot be read. */
int event_log_report(EventLog *log, uint64_t until, char **ret_error);

/* An event as a line, without an end of line. */
void log_event_append(const Output *output, GString *line, const Recording *recording, const LogEvent *event);
json_object *log_event_to_json(const Recording *recording, const LogEvent *event);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(EventLog, event_log_free)
