/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Reads a whole run record. An incomplete last line is ignored: the daemon was stopped while it wrote that line, and
 * the input did not yet have any effect. Recovery and btctl use it.
 */

#include "record/entry.h"
#include "record/record-header.h"

#define RECORD_SUFFIX ".journal"
/* Follows RECORD_SUFFIX for a file that will replace the run record. */
#define RECORD_NEW_SUFFIX ".new"
/* These follow RECORD_SUFFIX for run records that could not be recovered, and for those of another boot. */
#define RECORD_BAD_SUFFIX ".bad"
#define RECORD_OLD_SUFFIX ".old"

typedef struct RunRecord {
        RecordHeader header;
        GArray *entries;       /* of Entry */
        uint64_t size;         /* bytes of the complete lines: where to continue writing */
        uint64_t body;         /* offset of the first entry */
        uint64_t newest;       /* offset of the newest snapshot; 0: none */
        unsigned newest_entry; /* index of that snapshot in entries */
        bool torn;             /* an incomplete line follows */
        uint32_t engine;       /* of the daemon that wrote the last part; 0: not known */
        unsigned all_effects;  /* index of the first entry from which all effects are recorded */
        EntryChain chain;      /* for the next line */
} RunRecord;

/* -EBADMSG: damaged; -ENODATA: it ends before the run has begun; -EPROTONOSUPPORT: unknown version; -EIO: it cannot be
 * read. All with an error message. */
int run_record_read_text(const char *text, size_t length, RunRecord **ret_record, char **ret_error);
int run_record_read_file(const char *path, RunRecord **ret_record, char **ret_error);
void run_record_free(RunRecord *record);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(RunRecord, run_record_free)
