/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The recording of a run: its run record, and the tree in it, from a file or from btd.
 */

#include "client/bus/client.h"
#include "definition/definition.h"
#include "record/run-record.h"

typedef struct Recording {
        char *name; /* of the file or the run, for messages */
        RunRecord *journal;
        Definition *definition;
        bool live; /* the run had not finished when btd sent its run record */
} Recording;

/* operand: TREE, RUN or FILE. A file has a '/' in its name or ends in ".journal". */
int recording_open(Client *client, const char *operand, Recording **ret_recording);
/* From the text of a run record. With a text for people on errors. */
int recording_new(const char *name, const char *text, size_t length, const NodeType *const *const *tables,
                  Recording **ret_recording, char **ret_error);
void recording_free(Recording *recording);

/* Returns the time of the first record, in microseconds since the start of the run. It is 0 unless the first part of
 * the record was removed. */
uint64_t recording_begin(const Recording *recording);
/* Returns the time at which the recording ends, in microseconds since the start of the run: the time of the last
 * record, or the current time if the run has not finished. */
uint64_t recording_length(const Recording *recording);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Recording, recording_free)
