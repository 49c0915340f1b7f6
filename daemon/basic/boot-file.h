/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Reads and writes small files for the next btd of the same boot. Each begins with one line with the boot ID and one
 * line of JSON, and is replaced as a whole. boot_file_write() is for what the next btd can do without; a BootFile is
 * for what must not be lost.
 */

#include <glib.h>
#include <json-c/json_object.h>

#include "basic/timers.h"

/* The boot ID in hexadecimal. */
const char *boot_id(void);

/* directory: may be NULL. Returns NULL: there is no such file, or it is from another boot. */
json_object *boot_file_read(const char *directory, const char *name);
/* Takes the value. Logs a warning if the file cannot be written. */
void boot_file_write(const char *directory, const char *name, json_object *value);

/* A file that is also written if the file system is full for a moment: room for it is reserved, and btd tries again
 * until it has written it. */
typedef struct BootFile BootFile;

/* directory NULL: nothing is stored. Nothing is read or written before boot_file_open(). */
BootFile *boot_file_new(Timers *timers, const char *directory, const char *name);
void boot_file_free(BootFile *file);
/* Reserves room, and returns what the previous btd has stored; NULL: nothing. The directory must be this btd's. */
json_object *boot_file_open(BootFile *file);
/* Takes the value. */
void boot_file_store(BootFile *file, json_object *value);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BootFile, boot_file_free)
