/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Stores in which order the runs of a directory have finished, and who started them: a file beside their run records,
 * with a line for each run. The times of files follow the wall clock, which can be set, and some machines boot in 1970.
 *
 * The number of a run is the time at which it finished, of the clock of up-clock.h. So it gives the age of a run, too.
 */

#include <glib.h>
#include <stdint.h>

#define ARCHIVE_ORDER_FILE "order"

typedef struct ArchivePlace {
        uint64_t number;
        uint32_t uid; /* of the user who has started the run */
} ArchivePlace;

/* Appends the line of a run. */
void archive_order_append(GString *lines, const char *run, ArchivePlace place);
/* Opens the file of the directory, to add lines. Returns the file descriptor, or a negative errno. */
int archive_order_open(const char *directory);
int archive_order_add(int fd, const GString *lines);
/* Adds lines to the file of the directory; replace: in place of all that it has. A negative errno. */
int archive_order_write(const char *directory, const GString *lines, bool replace);
/* The ArchivePlaces by the names of the runs; of several lines for a run, the last one counts. Empty if there is no
 * file. The caller unreferences it. */
GHashTable *archive_order_read(const char *directory);
