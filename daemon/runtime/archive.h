/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The journals of runs that have finished: the last ones, bounded in number, size and age, see basic/limit.h.
 */

#include "journal/journal-summary.h"

typedef struct Archive Archive;

/* The directory is made when there is something to be put into it. */
Archive *archive_new(const char *directory);
void archive_free(Archive *archive);

/* Moves the journal of the run into the archive; the oldest ones may go for it. A negative errno with a text for
 * people: then it is still there. */
int archive_add(Archive *archive, const char *run, const char *path, char **ret_error);
/* What has become too old goes. */
void archive_expire(Archive *archive);

/* The names of the runs, oldest first, each to be freed; of those that are there now. */
GPtrArray *archive_list(Archive *archive);
/* The same runs in a few words each, which are read when this is asked for the first time. One whose journal was
 * damaged has the status "damaged". */
void archive_visit(Archive *archive, void (*visit)(const JournalSummary *summary, void *userdata), void *userdata);
/* Where the journal of the run is or would be. To be freed. */
char *archive_path(const Archive *archive, const char *run);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Archive, archive_free)
