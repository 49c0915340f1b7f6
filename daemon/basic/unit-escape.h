/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Escapes texts for the names of units, as systemd-escape(1) does: '/' becomes '-', and any byte other than a letter, a
 * digit, ':', '_' or '.' becomes "\xNN". A '.' at the beginning is escaped, too.
 */

#include <stdbool.h>

/* To be freed. */
char *unit_escape(const char *text);
/* The same for a path: "/dev//sda1" becomes "dev-sda1", and "/" becomes "-". NULL: it contains "..". */
char *unit_escape_path(const char *path);
/* Replaces each "\xNN" by its byte. dashes: also each '-' by '/'. NULL: a '\' begins no such escape, or the result is
 * not text in UTF-8. */
char *unit_unescape(const char *escaped, bool dashes);
