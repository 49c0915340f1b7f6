/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * What happened to a run, event by event: its journal is replayed, and whatever changes is told.
 */

#include "journal/replay.h"
#include "recording.h"

/* what: a node's status or the run's in words; or
 *   "cut"      what was before is not kept; those that were running then follow as if they began
 *   "started"  the run was, by whom is the text
 *   "halting"  it was halted, and is over when all that goes on has ended
 *   "set"      variables were: from outside, or by a node; of what was computed, those with another value than before
 *   "paused", "resumed", "stepped", "breakpoint", "cleared", "stands", "forced"
 *              by hand; a run stands at a breakpoint
 *   "timer"    what the node waited for is over
 *   "log"      it has said something, which is the text
 *   "locked"   the node was given the lock that it had waited for
 *   "recovered", "rerun"
 *              the daemon was started anew, and with it that action */
typedef struct StoryEvent {
        uint64_t time; /* microseconds since the start of the run */
        NodeId node;   /* NODE_NONE: the run */
        const char *what;
        Status status;       /* of a node or the run, where that is what has changed; else IDLE */
        uint64_t duration;   /* how long it had been running, of one that has ended */
        char *text;          /* why, or NULL */
        json_object *values; /* of variables, or NULL */
} StoryEvent;

typedef void (*StoryObserver)(const StoryEvent *event, void *userdata);

typedef struct Story Story;

/* The recording is borrowed. With a text for people. */
int story_new(const Recording *recording, StoryObserver observer, void *userdata, Story **ret_story, char **ret_error);
void story_free(Story *story);

/* Tells it up to that time, microseconds since the start, and how it is then if it goes on. With a text for people:
 * from there on the journal cannot be read. */
int story_tell(Story *story, uint64_t until, char **ret_error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Story, story_free)
