/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Writes files of lines on a disk, so that they survive a power failure: for a thread, since it waits for the disk.
 */

#include <glib.h>
#include <stdbool.h>

/* Appends the lines to the file; replace: they become the whole file, at once. The directory is created if needed. A
 * negative errno: what the file had before is still there, perhaps with a part of the lines after it. */
int line_file_write(const char *directory, const char *name, const GString *lines, bool replace);
