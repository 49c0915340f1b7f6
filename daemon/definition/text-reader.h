/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The reader of a text. For its own files only: brackets, and what stands between values, are in text.c, strings,
 * numbers and words in text-scalars.c. What answers a bool says whether the text is good so far; else the error has
 * been noted.
 */

#include "definition/text.h"

typedef struct TextReader {
        const char *text, *p, *end; /* the text is ended by a NUL where end points */
        TextItem *items;
        uint32_t n_items, n_room;
        GArray *open; /* of uint32_t: the objects and arrays that are not closed yet */
        char *error;
        const char *error_at;
} TextReader;

/* The open object or array that p is in, NULL at the top. */
TextItem *text_innermost(const TextReader *reader);
/* The offset of p. */
uint32_t text_here(const TextReader *reader);

bool text_fail(TextReader *reader, const char *at, const char *format, ...) G_GNUC_PRINTF(3, 4);
/* What stands at p is not what may stand there. */
bool text_unexpected(TextReader *reader, const char *expected);
/* The file ends here. */
bool text_cut_off(TextReader *reader, const char *expected);

/* A new item, which ends at p unless it is still open. */
bool text_add_item(TextReader *reader, TextKind kind, const char *start, bool escaped);

/* What begins at p, which is behind it then. */
bool text_read_string(TextReader *reader);
bool text_read_number(TextReader *reader);
bool text_read_word(TextReader *reader);
