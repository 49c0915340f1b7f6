/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The journal of a run, read whole. A last line that was not written to its end is left out: the daemon was stopped
 * in the middle of it, and nothing of it has happened yet.
 */

#include "journal/journal-header.h"
#include "journal/record.h"

#define JOURNAL_SUFFIX ".journal"
/* Behind that, of one that is to take its place. */
#define JOURNAL_NEW_SUFFIX ".new"

typedef struct Journal {
        JournalHeader header;
        GArray *records;        /* of Record */
        uint64_t size;          /* bytes of the lines that are whole: where to write on */
        uint64_t body;          /* where the records begin */
        uint64_t newest;        /* where the newest snapshot is; 0: there is none */
        unsigned newest_record; /* which of the records that is */
        bool torn;              /* there was more */
} Journal;

/* -EBADMSG: damaged; -ENODATA: it breaks off before anything has happened; -EPROTONOSUPPORT: of a version that is not
 * known; others: what open() and read() say. All with a text for people. */
int journal_read_text(const char *text, size_t length, Journal **ret_journal, char **ret_error);
int journal_read_file(const char *path, Journal **ret_journal, char **ret_error);
void journal_free(Journal *journal);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Journal, journal_free)
