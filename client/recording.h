/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * A run as its journal tells it, with the tree that it ran: from a file, or from btd, which has the journals of the
 * runs that go on and of those that have finished.
 */

#include "client.h"
#include "definition/definition.h"
#include "journal/journal.h"

typedef struct Recording {
        char *name; /* as the user knows it: a file or a run */
        Journal *journal;
        Definition *definition;
        bool live; /* the run was still going on when btd gave its journal */
} Recording;

/* operand: TREE, RUN or FILE; a file has a '/' in it or ends in ".journal". */
int recording_open(Client *client, const char *operand, Recording **ret_recording);
/* From the text of a journal; with a text for people. */
int recording_new(const char *name, const char *text, size_t length, const NodeType *const *const *tables,
                  Recording **ret_recording, char **ret_error);
void recording_free(Recording *recording);

/* Where it begins, in microseconds since its start: 0, unless it was going on for so long that what was before is not
 * kept. */
uint64_t recording_begin(const Recording *recording);
/* What is known of it, in microseconds since its start: up to now of a run that goes on, else to its last record. */
uint64_t recording_length(const Recording *recording);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Recording, recording_free)
