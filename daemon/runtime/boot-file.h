/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Small files for the next daemon of the same boot: a line with the boot ID and one of JSON, replaced as a whole.
 */

#include <json-c/json_object.h>

/* In hex. */
const char *boot_id(void);

/* directory: NULL: there is none. NULL: no such file, or of another boot. */
json_object *boot_file_read(const char *directory, const char *name);
/* Where it cannot be written, that is logged. Takes the value. */
void boot_file_write(const char *directory, const char *name, json_object *value);
