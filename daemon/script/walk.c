/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tokens, one after the other, and what a name among them stands for. */

#include <string.h>

#include "script/sandbox.h"
#include "script/walk.h"

void walk_advance(Walk *walk) {
        walk->token = token_next(walk->token.start + walk->token.length, walk->end);
}

Token walk_peek(const Walk *walk) {
        return token_next(walk->token.start + walk->token.length, walk->end);
}

bool walk_at(const Walk *walk, const char *text) {
        return token_is(&walk->token, text);
}

bool walk_at_end(const Walk *walk) {
        return walk->token.kind == TOKEN_END;
}

bool walk_accept(Walk *walk, const char *text) {
        bool is_there = walk_at(walk, text);

        if (is_there)
                walk_advance(walk);

        return is_there;
}

void walk_complain(Walk *walk, const Token *token, const char *format, ...) {
        va_list args;

        if (walk->error)
                return;

        va_start(args, format);
        walk->error = g_strdup_vprintf(format, args);
        va_end(args);
        walk->offset = (size_t) (token->start - walk->code);
}

static bool tokens_equal(const Token *a, const Token *b) {
        return a->length == b->length && memcmp(a->start, b->start, a->length) == 0;
}

void walk_declare(Walk *walk, const Token *name) {
        if (token_is(name, "_G") || token_is(name, "_ENV"))
                walk_complain(walk, name, "'%.*s' cannot be a local name", (int) name->length, name->start);

        g_array_append_val(walk->locals, *name);
}

/* Forgets the local names that have been declared since there were so many. */
void walk_leave_scope(Walk *walk, unsigned n_locals) {
        g_array_set_size(walk->locals, n_locals);
}

static bool is_local(const Walk *walk, const Token *name) {
        for (unsigned i = walk->locals->len; i > 0; i--)
                if (tokens_equal(name, &g_array_index(walk->locals, Token, i - 1)))
                        return true;

        return false;
}

static bool is_extra(const Walk *walk, const Token *name) {
        for (const char *const *extra = walk->extra; extra && *extra; extra++)
                if (token_is(name, *extra))
                        return true;

        return false;
}

bool walk_at_arguments(const Walk *walk) {
        return walk_at(walk, "(") || walk_at(walk, "{") || walk->token.kind == TOKEN_STRING;
}

/* A name of the library can only be used as what it is there, so that a variable of that name is not missed. */
static void check_library_use(Walk *walk, const Token *name, const char *shown) {
        g_autofree char *member = NULL;
        Token next;

        if (sandbox_is_function(shown)) {
                if (!walk_at_arguments(walk))
                        walk_complain(walk, name,
                                      "'%s' is a function here, and can only be called; a variable of that name "
                                      "cannot be used",
                                      shown);
                return;
        }

        next = walk_peek(walk);
        if (!walk_at(walk, ".") || next.kind != TOKEN_NAME) {
                walk_complain(walk, name,
                              "'%s' is a library here, and can only be used as '%s.NAME'; a variable of that "
                              "name cannot be used",
                              shown, shown);
                return;
        }

        member = g_strndup(next.start, next.length);
        if (!sandbox_has(shown, member))
                walk_complain(walk, name, "there is no '%s.%s' here", shown, member);
}

/* Behind "_G": the name of a variable of the outermost scope, as a field. NULL: it was none, which has been said. */
static char *walk_outermost(Walk *walk, const Token *outermost) {
        g_autofree char *key = NULL;
        Token name;

        if (walk_accept(walk, ".")) {
                name = walk->token;
                walk_advance(walk);
                key = g_strndup(name.start, name.length);
        } else if (walk_at(walk, "[") && walk_peek(walk).kind == TOKEN_STRING) {
                walk_advance(walk);
                name = walk->token;
                walk_advance(walk);
                if (name.length >= 2 && *name.start != '[' && walk_at(walk, "]"))
                        key = g_strndup(name.start + 1, name.length - 2);
                walk_accept(walk, "]");
        }

        if (key && blackboard_key_valid(key))
                return g_strdup_printf("@%s", key);

        walk_complain(walk, outermost,
                      "'_G' can only be used with the name of a variable: '_G.NAME' or '_G[\"NAME\"]'");
        return NULL;
}

/* The variable that a name stands for, to be freed. NULL: none. What follows the name is the current token. */
char *walk_name(Walk *walk) {
        Token name = walk->token;
        g_autofree char *text = g_strndup(name.start, name.length);

        walk_advance(walk);
        if (is_local(walk, &name) || is_extra(walk, &name))
                return NULL;
        if (g_str_equal(text, "_G"))
                return walk_outermost(walk, &name);
        if (g_str_equal(text, "_ENV"))
                walk_complain(walk, &name, "'_ENV' cannot be used here");
        else if (sandbox_is_name(text))
                check_library_use(walk, &name, text);
        else if (!blackboard_key_valid(text))
                walk_complain(walk, &name, "this is too long for the name of a variable");
        else
                return g_steal_pointer(&text);

        return NULL;
}

void walk_assign(Walk *walk, const Token *place, char *variable) {
        if (!variable)
                return;

        if (walk->kind == SCRIPT_EXPRESSION)
                walk_complain(walk, place, "an expression cannot set a variable, and this sets '%s'", variable);
        g_hash_table_add(walk->writes, variable);
}

void walk_read(Walk *walk, char *variable) {
        if (variable)
                g_hash_table_add(walk->reads, variable);
}
