/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * One line of a run's journal: something that happened to the run, and when.
 *
 *   TIME KIND [#NODE] [JSON] CRC
 *
 * TIME is in microseconds since the start of the run, the JSON is an object, CRC the checksum of what stands before it
 * and its space, as eight hexadecimal digits.
 */

#include <glib.h>
#include <json-c/json_object.h>

#include "engine/type.h"

typedef enum RecordKind {
        /* Inputs. */
        RECORD_START,    /* the run begins */
        RECORD_TICK,     /* what has been recorded since the last one is looked at now */
        RECORD_ENDED,    /* NODE {status, cause}: an action has ended */
        RECORD_CHANGED,  /* NODE: a condition may have another value */
        RECORD_TURNED,   /* NODE: the same, by what the tree itself has done */
        RECORD_TIMER,    /* NODE: its timer has expired */
        RECORD_INTERVAL, /* the run's own timer has */
        RECORD_SET,      /* {key: value, ...}: variables were set from outside, or by an action: NODE */
        RECORD_NOTE,     /* NODE {...}: what an action wants to be remembered; also while the run is at work */
        RECORD_LOCKED,   /* NODE: has been given its lock, which it waited for */
        RECORD_HALT,     /* {cause} */
        RECORD_PAUSE,
        RECORD_RESUME,
        RECORD_STEP,  /* goes on past its breakpoints, for one tick */
        RECORD_BREAK, /* NODE {set}: a breakpoint was set or cleared */
        RECORD_FORCE, /* NODE {status, cause} */
        /* What the world has answered while the run was at work on the input before. */
        RECORD_BEGIN,   /* NODE: an action is about to be started */
        RECORD_AT_ONCE, /* NODE {status, cause, outputs}: it was over as soon as that, or has set variables */
        RECORD_STOPPED, /* NODE: an action was over as soon as it was halted */
        RECORD_VALUE,   /* NODE {status, cause, look}: what a condition is from now on; which of the looks saw it */
        RECORD_AT_ONCE_LOCKED, /* NODE: found its lock free */
        RECORD_WAITS,          /* NODE: did not, and waits for it */
        /* Of the run as a whole. */
        RECORD_RECOVERED, /* another daemon has taken it up */
        RECORD_RERUN,     /* NODE: an action is started by that daemon, again or because it had not been yet */
        RECORD_FINISHED,  /* {status, cause} */
        RECORD_SNAPSHOT,  /* {...}: all that it has come to, see snapshot.h; what was before may be missing */
        RECORD_KIND_MAX_,
} RecordKind;

/* Longer than any machine is up; and some such times still make one. */
#define RECORD_TIME_MAX (UINT64_MAX / 4)

typedef struct Record {
        uint64_t time; /* µs */
        RecordKind kind;
        NodeId node;          /* NODE_NONE: of the run */
        json_object *details; /* an object, or NULL */
} Record;

/* Appends the line and its end. */
void record_append(GString *text, const Record *record);
/* The same in pieces: what is appended in between is the JSON of the details. Answers what record_end() needs. */
size_t record_begin(GString *text, uint64_t time, RecordKind kind, NodeId node);
void record_end(GString *text, size_t line);

/* The line without its end. The details are new. -EBADMSG: it has been damaged; -EINVAL: it is whole, but says
 * nothing that is known; both with a text for people. */
int record_parse(const char *line, size_t length, Record *ret_record, char **ret_error);
void record_clear(Record *record);

const char *record_kind_to_string(RecordKind kind);

/* For other lines with a checksum. The text has to be all of an object; else NULL. */
json_object *record_parse_object(const char *text, size_t length);
void record_append_checksum(GString *text, size_t line);
/* How long the line is without its checksum. False: it is damaged. */
bool record_check(const char *line, size_t length, size_t *ret_length);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Record, record_clear)
