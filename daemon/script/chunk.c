/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Compiles chunks. Lua reports only the line of an error. To find the exact place, Lua gets the text byte by byte: when
 * it fails, it has read one byte more than the token that it complains about.
 */

#include <errno.h>
#include <lauxlib.h>
#include <string.h>

#include "basic/excerpt.h"
#include "script/budget.h"
#include "script/chunk.h"
#include "script/lexer.h"

typedef struct Source {
        const char *prefix; /* before the code; NULL when it was read */
        const char *code, *p;
        bool at_end; /* Lua knows that the text has ended */
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

/* The start of the token that ends where Lua stopped reading; in a string with a bad escape, the escape. */
static size_t error_offset(const Source *source, const char *message) {
        const char *end = source->code + strlen(source->code), *escape;
        const char *stop = source->at_end || source->p == source->code ? source->p : source->p - 1;
        bool is_unfinished = g_str_has_prefix(message, "unfinished ");
        Token token = { .start = source->code };

        if (g_str_has_suffix(message, "near <eof>") && !is_unfinished)
                return strlen(source->code);

        do
                token = token_next(token.start + token.length, end);
        while (token.kind != TOKEN_END && token.start + token.length < stop);

        if (token.kind == TOKEN_STRING && !is_unfinished && token.start < stop &&
            (escape = memrchr(token.start, '\\', (size_t) (stop - token.start))))
                return (size_t) (escape - source->code);

        return (size_t) (MIN(token.start, stop) - source->code);
}

/* Help for syntax that is common in other languages. */
static const char *hint(ScriptKind kind, const char *code, size_t offset) {
        const char *p = code + offset;

        if (g_str_has_prefix(p, "!="))
                return "; 'not equal' is '~='";
        if (*p == '!')
                return "; write 'not'";
        if (*p == '=' && kind == SCRIPT_EXPRESSION)
                return "; 'equal' is '=='";
        if (g_str_has_prefix(p, "return") && kind == SCRIPT_EXPRESSION)
                return "; an expression needs no 'return'";
        if (*p == '&' && offset > 0 && p[-1] == '&')
                return "; write 'and'";
        if (*p == '|' && offset > 0 && p[-1] == '|')
                return "; write 'or'";

        return "";
}

/* Lua's message without the line number, since the place is reported otherwise. */
static const char *skip_line(const char *message) {
        const char *p = message + strlen(CHUNK_NAME ":");

        if (!g_str_has_prefix(message, CHUNK_NAME ":"))
                return message;

        p += strspn(p, "0123456789");
        return g_str_has_prefix(p, ": ") ? p + strlen(": ") : message;
}

/* Replaces Lua's internal words in the message, and quotes the token. */
static char *describe(const char *message) {
        const char *near = strstr(message, " near "), *first = "", *rest = message;
        g_autofree char *token = NULL;
        int length;

        if (g_str_has_prefix(rest, "<eof>")) {
                first = "the end";
                rest += strlen("<eof>");
        } else if (g_str_has_prefix(rest, "<name>")) {
                first = "a name";
                rest += strlen("<name>");
        }

        length = (int) (near ? (size_t) (near - rest) : strlen(rest));
        if (!near || g_str_has_prefix(message, "unfinished "))
                return g_strdup_printf("%s%.*s", first, length, rest);
        if (g_str_equal(near, " near <eof>"))
                return g_strdup_printf("%s%.*s at the end", first, length, rest);

        near += strlen(" near ");
        token = excerpt(near, strlen(near));
        return g_strdup_printf("%s%.*s near %s", first, length, rest, token);
}

static void fail(ScriptKind kind, const Source *source, const char *message, char **ret_error, size_t *ret_offset) {
        size_t offset = error_offset(source, skip_line(message));
        g_autofree char *what = describe(skip_line(message));

        *ret_error = g_strconcat(what, strstr(what, " near ") ? hint(kind, source->code, offset) : "", NULL);
        *ret_offset = offset;
}

int chunk_load(lua_State *lua, ScriptKind kind, const char *code, char **ret_error, size_t *ret_offset) {
        Source source = {
                /* Lua does not take text that begins with a space for bytecode. */
                .prefix = kind == SCRIPT_EXPRESSION ? "return " : " ",
                .code = code,
                .p = code,
        };
        const char *message;
        int status;

        budget_begin(lua);
        status = lua_load(lua, on_read, &source, "=" CHUNK_NAME, "t");
        budget_end(lua);
        if (status == LUA_OK)
                return 0;

        message = status == LUA_ERRMEM ? "needs more than " BUDGET_MEMORY_TEXT " of memory" : lua_tostring(lua, -1);
        fail(kind, &source, message, ret_error, ret_offset);
        lua_pop(lua, 1);
        return -EINVAL;
}
