/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Lua says in which line an error is. To learn the place itself, it is given its text byte by byte: it has then read
 * one byte more than the token that it complains about.
 */

#include <errno.h>
#include <lauxlib.h>
#include <string.h>

#include "basic/excerpt.h"
#include "script/budget.h"
#include "script/chunk.h"
#include "script/lexer.h"

typedef struct Source {
        const char *prefix; /* before the code; NULL when it has been read */
        const char *code, *p;
        bool at_end; /* Lua has been told that there is no more */
} Source;

static const char *on_read(lua_State *lua, void *userdata, size_t *ret_size) {
        Source *source = userdata;
        const char *piece = source->prefix ?: source->p;

        if (source->prefix) {
                *ret_size = strlen(source->prefix);
                source->prefix = NULL;
                return piece;
        }

        source->at_end = *source->p == 0;
        *ret_size = source->at_end ? 0 : 1;
        source->p += *ret_size;
        return piece;
}

/* Where the token begins that ends where Lua has stopped to read. */
static size_t error_offset(const Source *source) {
        const char *end = source->code + strlen(source->code);
        const char *stop = source->at_end || source->p == source->code ? source->p : source->p - 1;
        Token token = { .start = source->code };

        do
                token = token_next(token.start + token.length, end);
        while (token.kind != TOKEN_END && token.start + token.length < stop);

        return (size_t) (MIN(token.start, stop) - source->code);
}

/* What people write who know other languages better. */
static const char *hint(ScriptKind kind, const char *code, size_t offset) {
        const char *p = code + offset;

        if (g_str_has_prefix(p, "!="))
                return "; 'not equal' is '~='";
        if (*p == '!')
                return "; write 'not'";
        if (*p == '=' && kind == SCRIPT_EXPRESSION)
                return "; 'equal' is '=='";
        if (*p == '&' && offset > 0 && p[-1] == '&')
                return "; write 'and'";
        if (*p == '|' && offset > 0 && p[-1] == '|')
                return "; write 'or'";

        return "";
}

/* Lua's message without the place, which is told otherwise, and with a token that can be read. */
static char *describe(const char *message) {
        g_autofree char *what = NULL, *token = NULL;
        const char *near;

        if (g_str_has_prefix(message, CHUNK_NAME ":"))
                message += strlen(CHUNK_NAME ":") + strspn(message + strlen(CHUNK_NAME ":"), "0123456789") + 2;
        if (g_str_has_prefix(message, "<eof>"))
                return g_strdup_printf("the end%s", message + strlen("<eof>"));

        near = g_strrstr(message, " near ");
        if (!near)
                return g_strdup(message);

        what = g_strndup(message, (size_t) (near - message));
        near += strlen(" near ");
        if (g_str_equal(near, "<eof>"))
                return g_strdup_printf("%s at the end", what);

        token = excerpt(near, strlen(near));
        return g_strdup_printf("%s near %s", what, token);
}

static int fail(ScriptKind kind, const Source *source, const char *message, char **ret_error, size_t *ret_offset) {
        g_autofree char *what = describe(message);
        size_t offset = g_str_has_suffix(message, "near <eof>") ? strlen(source->code) : error_offset(source);

        *ret_error = g_strconcat(what, hint(kind, source->code, offset), NULL);
        *ret_offset = offset;
        return -EINVAL;
}

int chunk_load(lua_State *lua, ScriptKind kind, const char *code, char **ret_error, size_t *ret_offset) {
        Source source = {
                /* Nothing that begins with a space is taken for bytecode. */
                .prefix = kind == SCRIPT_EXPRESSION ? "return " : " ",
                .code = code,
                .p = code,
        };
        int r = 0;

        budget_begin(lua);
        if (lua_load(lua, on_read, &source, "=" CHUNK_NAME, "t") != LUA_OK) {
                r = fail(kind, &source, lua_tostring(lua, -1), ret_error, ret_offset);
                lua_pop(lua, 1);
        }
        budget_end(lua);
        return r;
}
