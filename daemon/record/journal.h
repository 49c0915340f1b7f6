/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Reads a whole run record. An incomplete last line is ignored: the daemon was stopped while it wrote that line, and
 * the input did not yet have any effect. Recovery and btctl use it.
 */

#include "record/journal-header.h"
#include "record/record.h"

#define JOURNAL_SUFFIX ".journal"
/* Follows JOURNAL_SUFFIX for a file that will replace the record. */
#define JOURNAL_NEW_SUFFIX ".new"
/* These follow JOURNAL_SUFFIX for records that could not be recovered, and for those of another boot. */
#define JOURNAL_BAD_SUFFIX ".bad"
#define JOURNAL_OLD_SUFFIX ".old"

typedef struct Journal {
        JournalHeader header;
        GArray *records;        /* of Record */
        uint64_t size;          /* bytes of the complete lines: where to continue writing */
        uint64_t body;          /* offset of the first record */
        uint64_t newest;        /* offset of the newest snapshot; 0: none */
        unsigned newest_record; /* index of that snapshot in records */
        bool torn;              /* an incomplete line follows */
        uint32_t engine;        /* of the daemon that wrote the last part; 0: not known */
        unsigned all_effects;   /* index of the first record from which all effects are recorded */
        RecordChain chain;      /* for the next line */
} Journal;

/* -EBADMSG: damaged; -ENODATA: it ends before the run has begun; -EPROTONOSUPPORT: unknown version; -EIO: it cannot be
 * read. All with an error message. */
int journal_read_text(const char *text, size_t length, Journal **ret_journal, char **ret_error);
int journal_read_file(const char *path, Journal **ret_journal, char **ret_error);
void journal_free(Journal *journal);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Journal, journal_free)
