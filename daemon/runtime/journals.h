/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Where the journals of runs are: of those that go on, in the runtime directory, which lasts as long as the machine is
 * up; of those that have finished, in the state directory.
 */

#include "journal/journal-writer.h"
#include "runtime/archive.h"

typedef struct Journals Journals;

/* Both may be NULL: without the first, runs do not survive the daemon, without the second there is no archive. */
Journals *journals_new(const char *runtime_directory, const char *state_directory);
void journals_free(Journals *journals);

/* NULL: there is none. */
Archive *journals_archive(const Journals *journals);

/* They are this daemon's as long as it lives. -EBUSY: they are another's, with a text for people; others: what open()
 * says. */
int journals_claim(Journals *journals, char **ret_error);
/* Could nobody else have put them there? A journal has a tree in it, so it is as powerful as a tree file. -EPERM: with
 * a text for people. */
int journals_check_trusted(const Journals *journals, char **ret_error);

/* Are there to be any? */
bool journals_are_kept(const Journals *journals);
/* Of a run that goes on or has finished. */
bool journals_have(const Journals *journals, const char *run);
/* A journal for a run that begins. A negative errno with a text for people. */
int journals_begin(Journals *journals, const JournalHeader *header, JournalWriter **ret_writer, char **ret_error);
/* Of the daemon before: the paths, each to be freed, in no order. */
GPtrArray *journals_list(const Journals *journals);
/* One that cannot be gone on with is kept where nobody takes it for one that can. Where, for people; to be freed. */
char *journals_set_aside(Journals *journals, const char *path, const char *suffix);

/* The run has finished, and nobody has its journal open: it goes into the archive, or away. */
void journals_finish(Journals *journals, const char *run);

/* At most size bytes of the journal of a run that goes on or has finished, from there on; none: it has no more.
 * -ENOENT: there is none of that name; others: it cannot be read; with a text for people. */
int journals_read(const Journals *journals, const char *run, uint64_t offset, size_t size, GByteArray **ret_bytes,
                  char **ret_error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Journals, journals_free)
