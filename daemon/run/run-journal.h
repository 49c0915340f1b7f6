/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Owns the run record of a run, from the start of the run to its end.
 */

#include "record/journals.h"
#include "run/run.h"

/* Creates the run record; call it before run_start(). starter: who starts the run, for messages. Logs a warning if the
 * run record cannot be created. */
void run_begin_journal(Run *run, Journals *journals, const char *starter);
/* Appends to this run record from now on; takes it. */
void run_set_journal(Run *run, JournalWriter *writer);
/* The run has no run record, or loses it, because of this error. */
void run_lose_journal(Run *run, const char *error);
/* Closes the run record and keeps the file. */
void run_close_journal(Run *run);
/* The same for an unfinished run: writes a snapshot first, see progress_close(). */
void run_leave_journal(Run *run);
/* Call it when the run has finished. */
void run_end_journal(Run *run, Journals *journals);

/* Would the run survive a restart of btd? */
bool run_is_durable(const Run *run);
/* Why the run would not survive, for messages; NULL: it would, or run records are not kept at all. */
const char *run_not_durable(const Run *run);
