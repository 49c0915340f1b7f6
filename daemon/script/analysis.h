/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Finds the names of the variables that a chunk reads and assigns in its text: all names except local ones, those of
 * the library, and the extra values. scripts.c uses it, so that a tree can be checked when it is loaded, and a
 * condition is evaluated only when one of its variables has changed.
 */

#include <stdbool.h>
#include <stddef.h>

#include "script/scripts.h"

typedef struct Analysis {
        char **reads, **writes; /* sorted, each once */
        char *doubt;            /* an error, unless a Lua file defines the name in doubtful; NULL: there is none */
        char *doubtful;
        size_t doubt_offset;
        GArray *demands; /* of ScriptDemand */
} Analysis;

/* Lua must have accepted the code before. -EINVAL: it uses names in a way that is not allowed, or is not an expression.
 */
int analysis_make(ScriptKind kind, const char *code, const char *const *extra, const char *const *members,
                  Analysis *ret_analysis, char **ret_error, size_t *ret_offset);
void analysis_clear(Analysis *analysis);

/*
 * The tokens of a chunk. If Lua has accepted the text, only the beginning and end of each token matter; any other text
 * is read to its end, too.
 */
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

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Analysis, analysis_clear)
