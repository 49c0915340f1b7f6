/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Owns the file beside a run record that has what the record leaves out: the values of secret variables. It exists as
 * long as the run needs it, in the runtime directory, and only btd's user can read it.
 */

#include <glib.h>
#include <stdint.h>

#define SECRETS_SUFFIX ".secrets"

/* Replaces the file of the run record with this path at once; no lines: removes it. A negative errno: the file is as it
 * was. */
int secret_file_write(const char *record, const GString *lines);
/* To be freed. NULL: there is no such file, it is no regular file, or it has more bytes than max. */
char *secret_file_read(const char *record, uint64_t max);
void secret_file_remove(const char *record);
/* Removes the files in the directory that have no run record: of a btd that was killed. */
void secret_files_clean(const char *directory);
