/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Checks what the daemon removes from the history: only a run that is too much, never a run that is newer than another
 * one, and none because the clock says that it is old, since no simulation lasts for 30 days.
 */

#include <stdbool.h>
#include <stdint.h>

void history_open(void);
void history_close(void);

/* A run has begun, or has finished: in this order. */
void history_note_begun(unsigned tree, unsigned number, uint32_t uid);
void history_note_finished(unsigned tree, unsigned number);
/* Its record belongs to the history. */
void history_note_archived(unsigned tree, unsigned number);
/* A file of the run is about to be removed; strict: no record of its tree was lost. */
void history_note_removed(unsigned tree, unsigned number, const char *path, bool strict);
/* After the simulation. */
void history_check(void);
