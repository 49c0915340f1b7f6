/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Defines one line of a run record: an event of the run, and its time. The writer and the readers of run records use
 * it.
 *
 *   TIME KIND [#NODE] [JSON] [+] CRC
 *
 * TIME is in microseconds since the start of the run. JSON is an object. The + says that the next line belongs to the
 * same block: an input with its answers and effects. A block counts only as a whole. CRC is a checksum, as eight
 * hexadecimal digits: it covers the text before it and its space, and all previous lines, so that a missing line is
 * detected. The checksum of a snapshot covers only the header and itself, since lines between them may have been
 * removed; its JSON contains the checksum of the line before it.
 */

#include <glib.h>
#include <json-c/json_object.h>

#include "engine/type.h"

/* All kinds, with their names in a record. */
#define RECORD_ENTRIES(X)                                                                                              \
        /* Inputs. */                                                                                                  \
        X(ENTRY_START, "start")     /* {suspended}: the run is started; as in ENTRY_SUSPENDED */                       \
        X(ENTRY_TICK, "tick")       /* the inputs since the last tick are processed now */                             \
        X(ENTRY_ENDED, "ended")     /* NODE {status, cause}: an action has ended */                                    \
        X(ENTRY_CHANGED, "changed") /* NODE: a condition may have another value */                                     \
        X(ENTRY_TURNED, "turned")   /* NODE: the same, caused by the tree itself */                                    \
        X(ENTRY_REASON, "reason")   /* NODE {status, cause}: a condition is still false, for another reason */         \
        /* NODE {waited}: its timer has expired; waited: for what, as a text, or missing */                            \
        X(ENTRY_TIMER, "timer")                                                                                        \
        X(ENTRY_INTERVAL, "interval") /* the run's own timer has expired */                                            \
        /* {key: value, ..., :by}: variables were set from outside, or by an action: NODE */                           \
        X(ENTRY_SET, "set")                                                                                            \
        X(ENTRY_MEMO, "note") /* NODE {...}: data of an action for its recovery */                                     \
        /* NODE {came}: a signal is kept for the action; {taken}: the action has taken the first one; {missed}: so     \
         * many came between its executions and were not kept. See run/signal-queues.c. */                             \
        X(ENTRY_SIGNAL, "signal")                                                                                      \
        X(ENTRY_SUSPENDED, "suspended") /* {usec}: the total time for which the machine was suspended, see RunHost */  \
        X(ENTRY_LOCKED, "locked")       /* NODE: it got the lock for which it waited */                                \
        X(ENTRY_REFUSED, "refused")     /* NODE {status, cause}: it does not get the lock, or loses it */              \
        X(ENTRY_HALT, "halt")           /* {cause} */                                                                  \
        X(ENTRY_PAUSE, "pause")         /* {:by}, as for */                                                            \
        X(ENTRY_RESUME, "resume")       /* {:by} */                                                                    \
        X(ENTRY_STEP, "step")           /* {:by}: continues past its breakpoints, for one tick */                      \
        X(ENTRY_BREAK, "break")         /* NODE {set, :by}: a breakpoint was set or removed */                         \
        X(ENTRY_FORCE, "force")         /* NODE {status, cause} */                                                     \
        /* Answers to the run while it processed the input of the block. */                                            \
        /* NODE {status, cause, outputs, message, level}: what an action that takes no time has done */                \
        X(ENTRY_AT_ONCE, "at-once")                                                                                    \
        X(ENTRY_STOPPED, "stopped") /* NODE: the halt of an action takes no time */                                    \
        /* NODE {status, cause, look}: a new value of a condition; look: the number of the evaluation */               \
        X(ENTRY_VALUE, "value")                                                                                        \
        X(ENTRY_AT_ONCE_LOCKED, "at-once-locked") /* NODE: its lock was free */                                        \
        X(ENTRY_WAITS, "waits")                   /* NODE: its lock was not free, and it waits for it */               \
        /* {results}: of all scripts in the order of their evaluation, see run/results.h */                            \
        X(ENTRY_COMPUTED, "computed")                                                                                  \
        /* Effects of the run. A replay compares all of them. */                                                       \
        /* NODE {with}: a leaf is about to be started; with: the variables to which it refers */                       \
        X(ENTRY_BEGIN, "begin")                                                                                        \
        X(ENTRY_STOP, "stop")     /* NODE: an action is about to be halted */                                          \
        X(ENTRY_UNLOCK, "unlock") /* NODE: its lock is about to be released */                                         \
        X(ENTRY_ARM, "arm")       /* NODE {after}: its timer, or the run's own; microseconds */                        \
        X(ENTRY_DISARM, "disarm") /* NODE: the same */                                                                 \
        /* Events of the whole run. */                                                                                 \
        X(ENTRY_RECOVERED, "recovered") /* {engine}: another daemon has recovered it */                                \
        X(ENTRY_RERUN, "rerun")         /* NODE {with}: that daemon starts the action, again or for the first time */  \
        X(ENTRY_FINISHED, "finished")   /* {status, cause, outputs, more_outputs} */                                   \
        X(ENTRY_SNAPSHOT, "snapshot")   /* {...}: the whole state, see snapshot.h; earlier entries may be missing */

#define ENTRY_VALUE_OF(kind, name) kind,

typedef enum EntryKind {
        RECORD_ENTRIES(ENTRY_VALUE_OF) ENTRY_KIND_MAX_
} EntryKind;

/* The user who made a request, as text. No variable can have this name. */
#define ENTRY_BY ":by"

/* Longer than any uptime; sums of a few such times do not overflow. */
#define ENTRY_TIME_MAX (UINT64_MAX / 4)

typedef struct Entry {
        uint64_t time; /* µs */
        EntryKind kind;
        NodeId node;          /* NODE_NONE: of the run */
        json_object *details; /* an object, or NULL */
        bool more;            /* the next entry belongs to the same block */
} Entry;

/* The state of the checksums, for the next line. */
typedef struct EntryChain {
        uint32_t header; /* the checksum of the first line */
        uint32_t last;   /* of the line before */
} EntryChain;

/* Appends the line with its end. Adds the previous checksum to the details of a snapshot. */
void entry_append(GString *text, const Entry *entry, EntryChain *chain);
/* The same in parts: the text that is appended in between is the JSON of the details. entry_begin() returns line for
 * entry_end(). */
size_t entry_begin(GString *text, uint64_t time, EntryKind kind, NodeId node);
void entry_end(GString *text, size_t line, EntryKind kind, bool more, EntryChain *chain);

/* Reads the line, without its end. The details are new. -EBADMSG: it is damaged, or does not follow the line before;
 * -EINVAL: its content is not known; both with an error message. */
int entry_parse(const char *line, size_t length, EntryChain *chain, Entry *ret_entry, char **ret_error);
void entry_clear(Entry *entry);
/* True if before is the checksum of the line before the snapshot. */
bool entry_follows(const Entry *snapshot, uint32_t before);

const char *entry_kind_to_string(EntryKind kind);

/* For other lines with a checksum: parses the text, which must be exactly one object; else NULL. */
json_object *entry_parse_object(const char *text, size_t length);
/* before: the checksum of the previous lines, or 0. Returns that of the line. */
uint32_t entry_append_checksum(GString *text, size_t line, uint32_t before);
/* Reads the length of the line without its checksum, and the checksum. False: it has none. */
bool entry_read_checksum(const char *line, size_t length, size_t *ret_length, uint32_t *ret_checksum);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Entry, entry_clear)
