/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The tokens of Lua's text. The text has already been accepted by Lua itself, so this only has to find where they
 * begin and end; in any other text it comes to the end all the same.
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

/* The first token at p or behind it, in a text that ends at end. */
Token token_next(const char *p, const char *end);
bool token_is(const Token *token, const char *text);
