/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Finds the run records in btd's directories, for verbs that can do without btd. They are read if btd does not run, or
 * if --directory names where they are.
 */

#include "client/bus/run-info.h"

typedef struct RecordFiles RecordFiles;

/* NULL: ask btd, because it runs, or because it has left nothing on this machine. An error is printed. */
int record_files_find(Client *client, RecordFiles **ret_files);
void record_files_free(RecordFiles *files);
/* Prints that btd does not run, and which directories are read instead. */
void record_files_tell(const Client *client, const RecordFiles *files);

/* The finished or the unfinished runs, in the order of their ends. tree "": of all trees. */
GPtrArray *record_files_list(const RecordFiles *files, const char *tree, bool finished);
/* The finished runs that TREE or TREE@INSTANCE names (NULL: all of them) and that --since, --until and --lines select,
 * in the order of their ends. Asks btd, or reads the files that ret_files has then. ret_any: any run that is named has
 * finished; may be NULL. An error is printed. */
int record_files_select(Client *client, const char *operand, RecordFiles **ret_files, GPtrArray **ret_runs,
                        bool *ret_any);
/* The file of this run; to be freed. NULL: there is none. */
char *record_files_path(const RecordFiles *files, const char *run);
/* Whether btd has left the file where those of runs are that have not finished. */
bool record_files_left(const RecordFiles *files, const char *path);
/* The run record that TREE or RUN names, of the newest run; to be freed. An error is printed. */
int record_files_choose(const RecordFiles *files, const char *operand, char **ret_path);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(RecordFiles, record_files_free)
