/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The journal of a run, from its start to its end.
 */

#include "runtime/journals.h"
#include "runtime/run.h"

/* Before run_start(). starter: who has started it, for people. If there cannot be a journal, that is logged. */
void run_begin_journal(Run *run, Journals *journals, const char *starter);
/* From now on it is written on this one, which is taken. */
void run_set_journal(Run *run, JournalWriter *writer);
/* It cannot have one, or not any more. */
void run_lose_journal(Run *run, const char *error);
/* Nothing is written any more; what has been stays. */
void run_close_journal(Run *run);
/* When it has finished. */
void run_end_journal(Run *run, Journals *journals);

/* Would it survive a restart of the daemon? */
bool run_is_durable(const Run *run);
/* Why not, for people; NULL: it would, or there are no journals at all. */
const char *run_not_durable(const Run *run);
