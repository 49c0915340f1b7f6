/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * A walk through the text of a chunk, token by token, that collects the variables it comes across.
 */

#include "script/lexer.h"
#include "script/scripts.h"

typedef struct Walk {
        ScriptKind kind;
        Token token; /* the one to be looked at */
        const char *code, *end;
        const char *const *extra;
        GArray *locals;             /* Token, innermost last */
        GHashTable *reads, *writes; /* sets of owned names */
        char *error;                /* the first one */
        size_t offset;
} Walk;

void walk_advance(Walk *walk);
/* The token after the one to be looked at. */
Token walk_peek(const Walk *walk);
bool walk_at(const Walk *walk, const char *text);
bool walk_at_end(const Walk *walk);
/* The arguments of a call, in any of its forms? */
bool walk_at_arguments(const Walk *walk);
/* Goes on when it is this token. */
bool walk_accept(Walk *walk, const char *text);
/* Only the first complaint counts. */
void walk_complain(Walk *walk, const Token *token, const char *format, ...) G_GNUC_PRINTF(3, 4);

/* From here on the name is a local one. */
void walk_declare(Walk *walk, const Token *name);
/* Forgets the local names that have been declared since there were so many. */
void walk_leave_scope(Walk *walk, unsigned n_locals);

/* The variable that the name stands for, to be freed; NULL when it is none. What follows the name is the next token. */
char *walk_name(Walk *walk);
/* It is read, or assigned to at this place; NULL is none. Both take it. */
void walk_read(Walk *walk, char *variable);
void walk_assign(Walk *walk, const Token *place, char *variable);
