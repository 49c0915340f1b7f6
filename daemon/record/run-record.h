/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Reads a whole run record, and makes the tree that is in it; or only a summary. An incomplete last line is ignored:
 * the daemon was stopped while it wrote that line, and the input did not yet have any effect. A line that starts with a
 * NUL byte is incomplete, too, with all that follows: entries are copied to a mapped file with their first byte last.
 * Recovery, the archive and btctl use it.
 */

#include "definition/definition.h"
#include "record/entry.h"
#include "record/record-header.h"

#define RECORD_SUFFIX ".journal"
/* Follows RECORD_SUFFIX for a file that will replace the run record. */
#define RECORD_NEW_SUFFIX ".new"
/* Follows RECORD_SUFFIX for run records that could not be recovered. */
#define RECORD_BAD_SUFFIX ".bad"

typedef struct RunRecord {
        RecordHeader header;
        GArray *entries;  /* of Entry */
        uint64_t size;    /* bytes of the complete lines: where to continue writing */
        uint64_t body;    /* offset of the first entry */
        uint64_t newest;  /* offset of the newest snapshot; 0: none */
        bool torn;        /* an incomplete line follows */
        uint32_t engine;  /* of the daemon that wrote the last part */
        EntryChain chain; /* for the next line */
} RunRecord;

/* -EBADMSG: damaged; -ENODATA: it ends before the run has begun; -EPROTONOSUPPORT: unknown version; -EIO: it cannot be
 * read. All with an error message. */
int run_record_read_text(const char *text, size_t length, RunRecord **ret_record, char **ret_error);
/* The same for people: a damaged entry is no error, unless it is the first one. The record has the entries before it;
 * ret_damage: what is wrong, to be freed; NULL: nothing. */
int run_record_read_until_damage(const char *text, size_t length, RunRecord **ret_record, char **ret_damage,
                                 char **ret_error);
/* The same from a file. newest: for a recovery, only the header and the entries from the newest snapshot on, so that a
 * btd that was often restarted does not read all that happened before. A file that is no regular file, or has more
 * bytes than max, is not read. */
int run_record_read_file(const char *path, bool newest, uint64_t max, RunRecord **ret_record, char **ret_error);
void run_record_free(RunRecord *record);

/* Makes the tree of a run from the texts in the header, without reading any tree file. The run keeps the limit of its
 * variables.
 * -EBADMSG with an error message: this daemon cannot make a tree from the texts. */
int record_definition_new(const RecordHeader *header, const NodeType *const *const *tables, Definition **ret_definition,
                          char **ret_error);

/* The texts of a summary. */
#define RUN_SUMMARY_TEXTS(X)                                                                                           \
        X(run)                                                                                                         \
        X(tree)                                                                                                        \
        X(instance)                                                                                                    \
        X(token)                                                                                                       \
        X(status) /* its result; "running" if the record does not say that it has finished */                          \
        X(cause)  /* as text; "": none */                                                                              \
        X(inputs) /* what it was started with, as a checksum; only tokens know it; NULL: unknown */

#define RUN_SUMMARY_TEXT(member) char *member;

/* The state of a run, as the history, the index of tokens and clients know it. */
typedef struct RunSummary {
        RUN_SUMMARY_TEXTS(RUN_SUMMARY_TEXT)
        uint64_t started, finished; /* CLOCK_REALTIME µs; finished: of a record, or else the last known time */
        bool restarting;            /* it has finished, and a restart is pending; only the manager knows it */
        uint32_t uid;               /* of the starter; 0 if it was the daemon itself */
        json_object *outputs;       /* an object, see run_outputs(); NULL: none */
        uint32_t n_more_outputs;
} RunSummary;

/* The path of the run record of a run. The caller frees it. */
char *record_path(const char *directory, const char *run);

/* The cause for a record in the history whose last entry is not the end of the run. */
#define RECORD_END_MISSING "the end of its run record is missing"
/* The beginning of the cause of a run whose end btd has not seen. */
#define RECORD_MACHINE_WENT_DOWN "the machine went down before the run had ended"

/* Reads the beginning and the end of the file, and no more, however long it is. Negative: it cannot be read, with an
 * error message. */
int record_summary_read(const char *path, RunSummary *ret_summary, char **ret_error);
RunSummary run_summary_copy(const RunSummary *summary);
void run_summary_clear(RunSummary *summary);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(RunSummary, run_summary_clear)
G_DEFINE_AUTOPTR_CLEANUP_FUNC(RunRecord, run_record_free)
