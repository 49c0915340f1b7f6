/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * What a string with references is a row of: plain text, braces that were escaped, and references to variables and
 * secrets. See script/reference.h.
 */

#include <stdbool.h>
#include <stddef.h>

typedef struct Piece {
        const char *start; /* of the text, or of the name */
        size_t length;
        bool is_key;
        bool is_secret;
} Piece;

/* Takes the piece that begins at *p. 1: there is one; 0: the text is over; -EINVAL: a '{' is not as it must be. */
int piece_next(const char **p, const char *end, Piece *ret_piece);
/* -EINVAL, with a text for people about the '{' at p. */
int piece_bad_brace(const char *p, const char *end, char **ret_error);

/* The name of the variable, or of the secret, to be freed. -EINVAL: it cannot be one, with a text for people. */
int piece_key(const Piece *piece, char **ret_key, char **ret_error);
int piece_secret(const Piece *piece, char **ret_name, char **ret_error);

/* Is the text nothing but that reference to a variable? */
bool piece_is_whole(const Piece *piece, const char *text, size_t length);
