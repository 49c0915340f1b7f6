/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Makes the events of a run: what happened, for people who follow it or read its run record. The events and their
 * numbers follow from the inputs of the run, so a live run and a replay of its record have the same ones.
 */

#include "run/run.h"

/* what: the status of a node or of the run, in words; of a node also
 *   "waiting"  it waits before it begins: the text says for what
 *   "halting"  it was halted, and has not ended yet
 * or
 *   "cut"      earlier events are not kept; nodes that were running then follow as if they started, without a number
 *   "started"  the run was started; the text says by whom
 *   "ready"    a node has made the run ready
 *   "halting"  the run is being halted
 *   "set"      variables were set from outside or by a node; of computed ones, those whose value has changed
 *   "paused", "resumed", "stepped", "breakpoint", "cleared", "at-breakpoint", "forced"
 *              somebody controlled the run: the text says who, also for "set" from outside; "at-breakpoint": it is
 *              paused at a breakpoint
 *   "timer"    the timer of a node has expired
 *   "suspended"
 *              the machine was suspended, for as long as the text says; only in trees with such timers
 *   "log"      a Log node's message, which is the text
 *   "queued"   a signal came for a node that is not running, and is kept for it
 *   "missed"   signals came between two executions of a node, or while no btd was there, and were not kept: the text
 *              says how many, or when
 *   "locked"   the node was given the lock that it waited for
 *   "connected"
 *              the node was given a connection of its own to the bus that the text names
 *   "recovered", "rerun"
 *              btd was restarted; it has recovered the run, or has started that action again */
typedef struct RunEvent {
        uint64_t number; /* from 1, without gaps; "cut": of the last event before; 0: not an event of the run */
        uint64_t time;   /* microseconds since the start of the run */
        NodeId node;     /* NODE_NONE: the run */
        const char *what;
        Status status;       /* of a node or the run, if that has changed; else IDLE */
        Phase phase;         /* of a RUNNING node */
        uint64_t duration;   /* how long a node that has ended was running */
        uint64_t waited;     /* how long a node that begins had waited, or 0 */
        char *label;         /* the path of the node with the elements of ForEach, see run_node_label(); or NULL */
        char *text;          /* why, or NULL */
        json_object *values; /* of variables, or NULL */
} RunEvent;

/* A copy, which shares the values. */
RunEvent run_event_copy(const RunEvent *event);
void run_event_clear(RunEvent *event);

typedef void (*RunEventObserver)(const RunEvent *event, void *userdata);

/* Calls back with each event after the input that it belongs to. The callback must not change the run. NULL: stop. max:
 * how many events of one input are made; further ones are only counted. */
void run_observe_events(Run *run, RunEventObserver observer, void *userdata, unsigned max);
/* The number of the last event; events are counted whether they are observed or not. */
uint64_t run_n_events(const Run *run);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(RunEvent, run_event_clear)
