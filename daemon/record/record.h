/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Defines one line of a run record: an event of the run, and its time. The writer and the readers of run records use
 * it.
 *
 *   TIME KIND [#NODE] [JSON] CRC
 *
 * TIME is in microseconds since the start of the run. JSON is an object. CRC is a checksum, as eight hexadecimal
 * digits: it covers the text before it and its space, and all previous lines, so that a missing line is detected. The
 * checksum of a snapshot covers only the header and itself, since lines between them may have been removed; its JSON
 * contains the checksum of the line before it. In run records of version 1 and 2, each line covers only itself.
 */

#include <glib.h>
#include <json-c/json_object.h>

#include "engine/type.h"

typedef enum RecordKind {
        /* Inputs. */
        RECORD_START,     /* {suspended}: the run is started; as in RECORD_SUSPENDED */
        RECORD_TICK,      /* the inputs since the last tick are processed now */
        RECORD_ENDED,     /* NODE {status, cause}: an action has ended */
        RECORD_CHANGED,   /* NODE: a condition may have another value */
        RECORD_TURNED,    /* NODE: the same, caused by the tree itself */
        RECORD_TIMER,     /* NODE: its timer has expired */
        RECORD_INTERVAL,  /* the run's own timer has expired */
        RECORD_SET,       /* {key: value, ...}: variables were set from outside, or by an action: NODE */
        RECORD_NOTE,      /* NODE {...}: data of an action for its recovery; also in the middle of an input */
        RECORD_SUSPENDED, /* {usec}: the total time for which the machine was suspended, see run_suspended() */
        RECORD_LOCKED,    /* NODE: it got the lock for which it waited */
        RECORD_HALT,      /* {cause} */
        RECORD_PAUSE,
        RECORD_RESUME,
        RECORD_STEP,  /* continues past its breakpoints, for one tick */
        RECORD_BREAK, /* NODE {set}: a breakpoint was set or removed */
        RECORD_FORCE, /* NODE {status, cause} */
        /* Answers of the host while the run processed the previous input. */
        RECORD_BEGIN,   /* NODE {with}: a leaf is about to be started; with: the variables to which it refers */
        RECORD_AT_ONCE, /* NODE {status, cause, outputs}: it has ended at once, or has set variables */
        RECORD_STOPPED, /* NODE: an action has ended as soon as it was halted */
        RECORD_VALUE,   /* NODE {status, cause, look}: a new value of a condition; look: the number of the evaluation */
        RECORD_AT_ONCE_LOCKED, /* NODE: its lock was free */
        RECORD_WAITS,          /* NODE: its lock was not free, and it waits for it */
        /* Other effects of the run; since version 3. A replay compares all of them. */
        RECORD_STOP,   /* NODE: an action is about to be halted */
        RECORD_UNLOCK, /* NODE: its lock is about to be released */
        RECORD_ARM,    /* NODE {after}: its timer, or the run's own; microseconds */
        RECORD_DISARM, /* NODE: the same */
        /* Events of the whole run. */
        RECORD_RECOVERED, /* {engine}: another daemon has recovered it; without engine: version 1 or 2 */
        RECORD_RERUN,     /* NODE {with}: that daemon starts the action, again or for the first time */
        RECORD_FINISHED,  /* {status, cause} */
        RECORD_SNAPSHOT,  /* {...}: the whole state, see snapshot.h; earlier records may be missing */
        RECORD_KIND_MAX_,
} RecordKind;

/* Longer than any uptime; sums of a few such times do not overflow. */
#define RECORD_TIME_MAX (UINT64_MAX / 4)

typedef struct Record {
        uint64_t time; /* µs */
        RecordKind kind;
        NodeId node;          /* NODE_NONE: of the run */
        json_object *details; /* an object, or NULL */
} Record;

/* The state of the checksums, for the next line. */
typedef struct RecordChain {
        uint32_t header; /* the checksum of the first line */
        uint32_t last;   /* of the line before */
        bool alone;      /* lines of older daemons, which cover only themselves, may follow */
} RecordChain;

/* Appends the line with its end. Adds the previous checksum to the details of a snapshot. */
void record_append(GString *text, const Record *record, RecordChain *chain);
/* The same in parts: the text that is appended in between is the JSON of the details. record_begin() returns line for
 * record_end(). */
size_t record_begin(GString *text, uint64_t time, RecordKind kind, NodeId node);
void record_end(GString *text, size_t line, RecordKind kind, RecordChain *chain);

/* Reads the line, without its end. The details are new. -EBADMSG: it is damaged, or does not follow the line before;
 * -EINVAL: its content is not known; both with an error message. */
int record_parse(const char *line, size_t length, RecordChain *chain, Record *ret_record, char **ret_error);
void record_clear(Record *record);
/* True if before is the checksum of the line before the snapshot, or if the snapshot does not contain that. */
bool record_follows(const Record *snapshot, uint32_t before);

const char *record_kind_to_string(RecordKind kind);

/* For other lines with a checksum: parses the text, which must be exactly one object; else NULL. */
json_object *record_parse_object(const char *text, size_t length);
/* before: the checksum of the previous lines, or 0. Returns that of the line. */
uint32_t record_append_checksum(GString *text, size_t line, uint32_t before);
/* Reads the length of the line without its checksum, and the checksum. False: it has none. */
bool record_read_checksum(const char *line, size_t length, size_t *ret_length, uint32_t *ret_checksum);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Record, record_clear)
