/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The modification times of run records, by the simulated clock and with the resolution of a real one. To copy a file
 * takes time; a rename does not change it.
 */

void file_times_clear(void);
void file_times_note_opened(const char *path);
void file_times_note_written(const char *path);
void file_times_note_renamed(const char *from, const char *to);
void file_times_note_removed(const char *path);
