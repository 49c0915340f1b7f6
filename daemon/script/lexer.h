/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Splits the text of a chunk into tokens, for names.c and chunk.c. Lua has already accepted the text, so only the
 * beginning and end of each token matter; any other text is read to its end, too.
 */

#include <stdbool.h>
#include <stddef.h>

typedef enum TokenKind {
        TOKEN_END,
        TOKEN_NAME,
        TOKEN_KEYWORD,
        TOKEN_NUMBER,
        TOKEN_STRING,
        TOKEN_SYMBOL,
} TokenKind;

typedef struct Token {
        TokenKind kind;
        const char *start;
        size_t length;
} Token;

/* The first token at or after p, in a text that ends at end. */
Token token_next(const char *p, const char *end);
bool token_is(const Token *token, const char *text);

/* Is it a keyword of Lua, which cannot be the name of a variable in an expression? */
bool lexer_is_keyword(const char *word);
