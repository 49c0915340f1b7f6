/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Reads and writes small files for the next btd of the same boot. Each has one line with the boot ID and one line of
 * JSON, and is replaced as a whole.
 */

#include <json-c/json_object.h>

/* The boot ID in hexadecimal. */
const char *boot_id(void);

/* directory: may be NULL. Returns NULL: there is no such file, or it is from another boot. */
json_object *boot_file_read(const char *directory, const char *name);
/* Takes the value. Logs a warning if the file cannot be written. */
void boot_file_write(const char *directory, const char *name, json_object *value);
