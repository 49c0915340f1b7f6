/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * What is wrong with a file and those that it uses, all of it: collected by byte offsets while they are loaded, shown
 * by line and column.
 */

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* After so many, errors are only counted. */
#define DIAGNOSTICS_MAX 10000u

/* One thing that is wrong (or, a warning, unwise) in a file. */
typedef struct Diagnostic {
        const char *file;      /* as messages call it */
        unsigned line, column; /* from 1; columns count characters, not bytes; both 0: the file as a whole */
        bool warning;
        char *where; /* the node's path in the tree, or NULL */
        char *text;  /* what is wrong and what would be right */
} Diagnostic;

typedef struct Diagnostics Diagnostics;

/* file: what messages call the file that is loaded, number 0. */
Diagnostics *diagnostics_new(const char *file);
void diagnostics_free(Diagnostics *diagnostics);
size_t diagnostics_count(const Diagnostics *diagnostics);
size_t diagnostics_count_errors(const Diagnostics *diagnostics);
const Diagnostic *diagnostics_get(const Diagnostics *diagnostics, size_t i);
/* "FILE:LINE:COLUMN: error: TEXT (in Boot/LoadConfig)", to be freed. */
char *diagnostics_format(const Diagnostics *diagnostics, size_t i);

/* Another file; its number. */
unsigned diagnostics_add_file(Diagnostics *diagnostics, const char *file);

/* Offset of an entry about the file as a whole. */
#define DIAGNOSTICS_NOWHERE SIZE_MAX

/* Will the next one only be counted? */
bool diagnostics_is_full(const Diagnostics *diagnostics);
/* where (may be NULL) and text are taken. */
void diagnostics_add(Diagnostics *diagnostics, unsigned file, size_t offset, bool warning, char *where, char *text);

typedef struct DiagnosticsText {
        const char *text; /* NULL: it could not be read */
        size_t length;
} DiagnosticsText;

/* To be called once, when loading is over, with the texts of all files: puts the entries in order of place, the same
 * only once, and finds their lines and columns. */
void diagnostics_locate(Diagnostics *diagnostics, const DiagnosticsText *texts);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Diagnostics, diagnostics_free)
