/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Owns the recording of a run: its run record, and the tree in it, from a file or from btd.
 */

#include "client/bus/node-info.h"
#include "client/bus/run-info.h"
#include "client/recording/record-files.h"
#include "definition/definition.h"
#include "record/run-record.h"
#include "run/events.h"
#include "run/replay.h"

typedef struct Recording {
        char *name; /* of the file or the run, for messages */
        RunRecord *record;
        Definition *definition;
        char *damage; /* why the rest of the run record cannot be read; NULL: all of it was read */
        bool left;    /* the run had not finished when btd ended; its run record is where btd has left it */
        bool live;    /* the run had not finished when btd sent its run record */
} Recording;

/* Prints what of the run record could not be read. An incomplete last entry is no failure: btd was killed while it
 * wrote it. */
int recording_report_damage(const Recording *recording);

/* operand: TREE, RUN or FILE. A file has a '/' in its name or ends in ".journal". */
int recording_open(Client *client, const char *operand, Recording **ret_recording);
/* Reads the run record of a finished run: from the files, or, if there are none, from btd. text NULL: it cannot be
 * read, with an error message, or it has been removed, without one. Other errors are printed. */
int recording_read(Client *client, const RecordFiles *files, const char *id, GByteArray **ret_text, char **ret_error);
/* Appends the next part of a run record that btd keeps; btd sends it in parts, so that its loop does not wait. The size
 * is 0 at the end. expected: bus errors that are the end, too, in a list that ends with NULL; others are printed. */
int recording_read_part(Client *client, const char *id, const char *const *expected, GByteArray *text,
                        size_t *ret_size);
/* From the text of a run record, up to the first damaged entry. With a text for people on errors. */
int recording_new(const char *name, const char *text, size_t length, const NodeType *const *const *tables,
                  Recording **ret_recording, char **ret_error);
void recording_free(Recording *recording);

/* Returns the time of the first entry, in microseconds since the start of the run. It is 0 unless the first part of
 * the run record was removed. */
uint64_t recording_begin(const Recording *recording);
/* Returns the time at which the recording ends, in microseconds since the start of the run: the time of the last
 * entry, or the current time if the run has not finished. */
uint64_t recording_length(const Recording *recording);

/* Replays the recording: reports the events up to that time, in microseconds since the start, and then the status if
 * the run has not finished, as an event without a number. Negative: from there on the run record cannot be read, with a
 * text for people. */
int recording_report(const Recording *recording, uint64_t until, RunEventObserver observer, void *userdata,
                     char **ret_error);

/* The nodes of a tree that does not run. */
GPtrArray *recording_idle_nodes(const Definition *definition);

/* Describe the run at the current point of its replay, as btd would at that time, in microseconds since the start: the
 * run, its nodes, and the causes of its end. */
RunInfo *recording_run_at(const Recording *recording, const Replay *replay, uint64_t time);
GPtrArray *recording_nodes_at(const Recording *recording, const Replay *replay, uint64_t time);
/* node: from this one on; NODE_NONE: from the run on. */
json_object *recording_causes(const Recording *recording, const Replay *replay, NodeId node);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Recording, recording_free)
