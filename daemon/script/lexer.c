/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Finds the beginning and end of each token. */

#include <glib.h>
#include <string.h>

#include "script/lexer.h"

static const char *const keywords[] = {
        "and", "break", "do",  "else", "elseif", "end",    "false",  "for",  "function", "goto",  "if",
        "in",  "local", "nil", "not",  "or",     "repeat", "return", "then", "true",     "until", "while",
};

bool lexer_is_keyword(const char *word) {
        for (size_t i = 0; i < G_N_ELEMENTS(keywords); i++)
                if (g_str_equal(word, keywords[i]))
                        return true;

        return false;
}

static bool is_name_start(char c) {
        return g_ascii_isalpha(c) || c == '_';
}

static bool is_name_part(char c) {
        return g_ascii_isalnum(c) || c == '_';
}

/* The end of the long bracket that begins at p ("[[" or "[==["); p itself if there is none. */
static const char *skip_long_bracket(const char *p, const char *end) {
        const char *q = p + 1;
        size_t level;

        if (*p != '[')
                return p;

        while (q < end && *q == '=')
                q++;
        if (q == end || *q != '[')
                return p;

        level = (size_t) (q - p) - 1;
        for (q++; q < end; q++)
                if (*q == ']' && (size_t) (end - q) >= level + 2 && q[level + 1] == ']' && strspn(q + 1, "=") == level)
                        return q + level + 2;

        return end;
}

static const char *skip_comment(const char *p, const char *end) {
        const char *body = p + 2, *behind = body < end ? skip_long_bracket(body, end) : body;

        if (behind > body)
                return behind;

        while (body < end && *body != '\n' && *body != '\r')
                body++;

        return body;
}

static const char *skip_space(const char *p, const char *end) {
        while (p < end)
                if (g_ascii_isspace(*p) || *p == '\v')
                        p++;
                else if (end - p >= 2 && p[0] == '-' && p[1] == '-')
                        p = skip_comment(p, end);
                else
                        break;

        return p;
}

static const char *skip_string(const char *p, const char *end) {
        char quote = *p++;

        while (p < end && *p != quote)
                p += *p == '\\' && end - p >= 2 ? 2 : 1;

        return p < end ? p + 1 : end;
}

static const char *skip_number(const char *p, const char *end) {
        const char *exponent = end - p >= 2 && p[0] == '0' && (p[1] == 'x' || p[1] == 'X') ? "pP" : "eE";

        while (p < end)
                if (strchr(exponent, *p) && *p) {
                        p++;
                        if (p < end && (*p == '+' || *p == '-'))
                                p++;
                } else if (g_ascii_isalnum(*p) || *p == '.')
                        p++;
                else
                        break;

        return p;
}

static const char *skip_symbol(const char *p, const char *end) {
        static const char *const symbols[] = { "...", "..", "==", "~=", "<=", ">=", "//", "::", "<<", ">>" };

        for (size_t i = 0; i < G_N_ELEMENTS(symbols); i++) {
                size_t length = strlen(symbols[i]);

                if ((size_t) (end - p) >= length && memcmp(p, symbols[i], length) == 0)
                        return p + length;
        }

        return p + 1;
}

static bool is_keyword(const Token *token) {
        for (size_t i = 0; i < G_N_ELEMENTS(keywords); i++)
                if (token_is(token, keywords[i]))
                        return true;

        return false;
}

static Token name(const char *p, const char *end) {
        Token token = { .kind = TOKEN_NAME, .start = p };

        while (p < end && is_name_part(*p))
                p++;

        token.length = (size_t) (p - token.start);
        if (is_keyword(&token))
                token.kind = TOKEN_KEYWORD;

        return token;
}

Token token_next(const char *p, const char *end) {
        const char *behind;
        TokenKind kind;

        p = skip_space(p, end);
        if (p == end)
                return (Token){ .kind = TOKEN_END, .start = end };
        if (is_name_start(*p))
                return name(p, end);

        if (*p == '"' || *p == '\'') {
                kind = TOKEN_STRING;
                behind = skip_string(p, end);
        } else if ((behind = skip_long_bracket(p, end)) > p) {
                kind = TOKEN_STRING;
        } else if (g_ascii_isdigit(*p) || (*p == '.' && end - p >= 2 && g_ascii_isdigit(p[1]))) {
                kind = TOKEN_NUMBER;
                behind = skip_number(p, end);
        } else {
                kind = TOKEN_SYMBOL;
                behind = skip_symbol(p, end);
        }

        return (Token){ .kind = kind, .start = p, .length = (size_t) (behind - p) };
}

bool token_is(const Token *token, const char *text) {
        return token->kind != TOKEN_STRING && token->length == strlen(text) &&
               memcmp(token->start, text, token->length) == 0;
}
