/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Defines the state of the reader of a text. Private to text*.c: text.c reads brackets and separators, text-scalars.c
 * strings, numbers and words. The functions that return bool return false if the text is wrong; then the error is
 * stored.
 */

#include "definition/text.h"

typedef struct TextReader {
        const char *text, *p, *end; /* the text has a NUL byte at end */
        TextItem *items;
        uint32_t n_items, n_room;
        GArray *open; /* of uint32_t: the items of open objects and arrays */
        char *error;
        const char *error_at;
} TextReader;

/* The innermost open object or array, NULL at the top. */
TextItem *text_innermost(const TextReader *reader);
/* The offset of p. */
uint32_t text_here(const TextReader *reader);

bool text_fail(TextReader *reader, const char *at, const char *format, ...) G_GNUC_PRINTF(3, 4);
/* Stores an error about the character at p, or about the end of the file. */
bool text_unexpected(TextReader *reader, const char *expected);
/* Stores an error about the end of the file. */
bool text_cut_off(TextReader *reader, const char *expected);

/* Adds an item, which ends at p unless it is an open bracket. */
bool text_add_item(TextReader *reader, TextKind kind, const char *start, bool escaped);

/* Read the value that begins at p, and move p to its end. */
bool text_read_string(TextReader *reader);
bool text_read_number(TextReader *reader);
bool text_read_word(TextReader *reader);
