/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Collects all errors and warnings of a file and of the files that it uses. Loading adds them with byte offsets;
 * messages show lines and columns.
 */

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Further errors are only counted. */
#define DIAGNOSTICS_MAX 500u

/* An error (or, as a warning, a likely mistake) in a file. */
typedef struct Diagnostic {
        const char *file;              /* its name in messages */
        unsigned line, column;         /* from 1; columns count characters, not bytes; both 0: the whole file */
        unsigned end_line, end_column; /* after the word, number or string that begins there; 0 if line is 0 */
        bool warning;
        char *where;   /* the node's path in the tree, or NULL */
        char *text;    /* what is wrong, and how to correct it */
        char *instead; /* the suggested word, without quotes, or NULL */
} Diagnostic;

typedef struct Diagnostics Diagnostics;

/* file: the name, in messages, of the file that is loaded; it is number 0. */
Diagnostics *diagnostics_new(const char *file);
void diagnostics_free(Diagnostics *diagnostics);
size_t diagnostics_count(const Diagnostics *diagnostics);
size_t diagnostics_count_errors(const Diagnostics *diagnostics);
const Diagnostic *diagnostics_get(const Diagnostics *diagnostics, size_t i);
/* "FILE:LINE:COLUMN: error: TEXT (in Boot/LoadConfig)", to be freed. */
char *diagnostics_format(const Diagnostics *diagnostics, size_t i);
/* The same for the first error; NULL: there is none. */
char *diagnostics_format_error(const Diagnostics *diagnostics);

/* Adds another file; returns its number. */
unsigned diagnostics_add_file(Diagnostics *diagnostics, const char *file);

/* The offset of an entry about the whole file. */
#define DIAGNOSTICS_NOWHERE SIZE_MAX

/* True if the next entry will only be counted. */
bool diagnostics_is_full(const Diagnostics *diagnostics);
/* Takes where (may be NULL) and text. */
void diagnostics_add(Diagnostics *diagnostics, unsigned file, size_t offset, bool warning, char *where, char *text);

/* Says that the newest entry begins and ends inside a string. */
void diagnostics_set_inside(Diagnostics *diagnostics);

/* Adds a suggestion to the newest entry: the word that was probably meant. */
void diagnostics_suggest(Diagnostics *diagnostics, const char *instead);

typedef struct DiagnosticsText {
        const char *text; /* NULL: it could not be read */
        size_t length;
} DiagnosticsText;

/* Sorts the entries by place, removes repeated ones, and computes lines and columns. Call it once, after loading, with
 * the texts of all files. */
void diagnostics_locate(Diagnostics *diagnostics, const DiagnosticsText *texts);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Diagnostics, diagnostics_free)
