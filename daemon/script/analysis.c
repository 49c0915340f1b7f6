/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Splits a chunk into tokens, and finds the variables that it uses, by following the grammar of Lua. The parser only
 * needs to know where a local name begins and ends to be valid, and which names are assigned to; the precedence of
 * operators does not matter for names.
 */

#include <errno.h>
#include <glib.h>
#include <string.h>

#include "basic/excerpt.h"
#include "basic/foreach.h"
#include "basic/nearest.h"
#include "basic/sorted.h"
#include "script/analysis.h"
#include "script/sandbox.h"

static bool token_is(const Token *token, const char *text) {
        return token->kind != TOKEN_STRING && token->length == strlen(text) &&
               memcmp(token->start, text, token->length) == 0;
}

/* texts: NULL-terminated, or NULL. */
static bool token_is_one_of(const Token *token, const char *const *texts) {
        for (; texts && *texts; texts++)
                if (token_is(token, *texts))
                        return true;

        return false;
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

/* And comments. */
static const char *skip_space(const char *p, const char *end) {
        while (p < end)
                if (g_ascii_isspace(*p) || *p == '\v')
                        p++;
                else if (end - p >= 2 && p[0] == '-' && p[1] == '-') {
                        const char *body = p + 2;

                        p = body < end ? skip_long_bracket(body, end) : body;
                        if (p == body)
                                while (p < end && *p != '\n' && *p != '\r')
                                        p++;
                } else
                        break;

        return p;
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

Token token_next(const char *p, const char *end) {
        static const char *const symbols[] = { "...", "..", "==", "~=", "<=", ">=", "//", "::", "<<", ">>" };
        const char *behind;
        TokenKind kind;

        p = skip_space(p, end);
        if (p == end)
                return (Token){ .kind = TOKEN_END, .start = end };

        if (g_ascii_isalpha(*p) || *p == '_') {
                for (behind = p; behind < end && (g_ascii_isalnum(*behind) || *behind == '_');)
                        behind++;
                kind = keyword_is(p, (size_t) (behind - p)) ? TOKEN_KEYWORD : TOKEN_NAME;
        } else if (*p == '"' || *p == '\'') {
                kind = TOKEN_STRING;
                for (behind = p + 1; behind < end && *behind != *p;)
                        behind += *behind == '\\' && end - behind >= 2 ? 2 : 1;
                behind += behind < end;
        } else if ((behind = skip_long_bracket(p, end)) > p) {
                kind = TOKEN_STRING;
        } else if (g_ascii_isdigit(*p) || (*p == '.' && end - p >= 2 && g_ascii_isdigit(p[1]))) {
                kind = TOKEN_NUMBER;
                behind = skip_number(p, end);
        } else {
                kind = TOKEN_SYMBOL;
                behind = p + 1;
                for (size_t i = 0; i < G_N_ELEMENTS(symbols) && behind == p + 1; i++)
                        if ((size_t) (end - p) >= strlen(symbols[i]) && memcmp(p, symbols[i], strlen(symbols[i])) == 0)
                                behind = p + strlen(symbols[i]);
        }

        return (Token){ .kind = kind, .start = p, .length = (size_t) (behind - p) };
}

typedef struct Parser {
        ScriptKind kind;
        Token token; /* the current one */
        const char *code, *end;
        const char *const *extra;
        const char *const *members; /* of the values that extra names; NULL: any */
        GArray *locals;             /* Token, innermost last */
        GHashTable *reads, *writes; /* sets of owned names */
        char *error;                /* the first one */
        size_t offset;
        Analysis doubt;       /* only the members for doubts */
        GArray *demands;      /* of ScriptDemand */
        unsigned n_functions; /* around the current token */
} Parser;

static void parser_advance(Parser *parser) {
        parser->token = token_next(parser->token.start + parser->token.length, parser->end);
}

static Token parser_peek(const Parser *parser) {
        return token_next(parser->token.start + parser->token.length, parser->end);
}

static bool parser_at(const Parser *parser, const char *text) {
        return token_is(&parser->token, text);
}

static bool parser_accept(Parser *parser, const char *text) {
        bool is_there = parser_at(parser, text);

        if (is_there)
                parser_advance(parser);

        return is_there;
}

/* Only the first error counts. */
static void G_GNUC_PRINTF(3, 4) parser_fail(Parser *parser, const Token *token, const char *format, ...) {
        va_list args;

        if (parser->error)
                return;

        va_start(args, format);
        parser->error = g_strdup_vprintf(format, args);
        va_end(args);
        parser->offset = (size_t) (token->start - parser->code);
}

/* Notes a warning: the code is correct, but probably a mistake. */
static void G_GNUC_PRINTF(3, 4) parser_warn(Parser *parser, const Token *token, const char *format, ...) {
        ScriptDemand demand = { .offset = (size_t) (token->start - parser->code) };
        va_list args;

        va_start(args, format);
        demand.warning = g_strdup_vprintf(format, args);
        va_end(args);
        g_array_append_val(parser->demands, demand);
}

static void parser_declare(Parser *parser, const Token *name) {
        if (token_is(name, "_G") || token_is(name, "_ENV"))
                parser_fail(parser, name, "'%.*s' cannot be a local name", (int) name->length, name->start);

        g_array_append_val(parser->locals, *name);
}

static bool is_local(const Parser *parser, const Token *name) {
        ARRAY_FOREACH(const Token, local, parser->locals)
                if (local->length == name->length && memcmp(local->start, name->start, name->length) == 0)
                        return true;

        return false;
}

static bool parser_at_arguments(const Parser *parser) {
        return parser_at(parser, "(") || parser_at(parser, "{") || parser->token.kind == TOKEN_STRING;
}

/* Functions that can also be passed on as values: no variable is called so. */
static const char *const values[] = {
        "ipairs", "pairs", "tonumber", "tostring", "unit_escape", "unit_escape_path", NULL,
};

/* Names the function that does here what this one does in other languages; empty: there is none. */
static const char *function_hint(const char *name) {
        static const struct {
                const char *names, *hint; /* with '|' around */
        } known[] = {
                { "|split|", "; text:words() and text:lines() make lists of a text" },
                { "|random|", "; write random(1, 6)" },
                { "|contains|includes|startswith|endswith|startsWith|endsWith|indexOf|",
                  "; text:find('a', 1, true) finds a text in a text" },
                { "|push|append|add|insert|", "; table.insert(list, value) adds to a list" },
                { "|remove|pop|", "; table.remove(list, 1) removes from a list" },
                { "|length|size|count|len|getn|", "; '#list' is the length" },
                { "|join|concat|", "; table.concat(list, ', ') makes a text of a list" },
                { "|trim|strip|", "; text:match('^%s*(.-)%s*$') has no spaces around it" },
                { "|replace|", "; text:gsub('a', 'b') replaces" },
                { "|toLowerCase|", "; write text:lower()" },
                { "|toString|", "; write tostring(value)" },
                { "|sort|", "; table.sort(list) sorts a list" },
        };
        g_autofree char *word = g_strdup_printf("|%s|", name);

        for (size_t i = 0; i < G_N_ELEMENTS(known); i++)
                if (strstr(known[i].names, word))
                        return known[i].hint;

        return "";
}

/* Other functions can only be called, and libraries be used as such. So a variable with the same name causes an error,
 * and is not silently hidden. */
static void check_library_use(Parser *parser, const Token *name, const char *shown) {
        g_autofree char *member = NULL;
        Token next;

        if (sandbox_is_function(shown)) {
                if (!parser_at_arguments(parser) && !g_strv_contains(values, shown))
                        parser_fail(parser, name,
                                    "'%s' is a function and can only be called; a variable cannot have this name",
                                    shown);
                return;
        }

        next = parser_peek(parser);
        if (!parser_at(parser, ".") || next.kind != TOKEN_NAME) {
                parser_fail(parser, name,
                            "'%s' is a library and can only be used as '%s.NAME'; a variable cannot have this name",
                            shown, shown);
                return;
        }

        member = g_strndup(next.start, next.length);
        if (!sandbox_has(shown, member))
                parser_fail(parser, name, "there is no '%s.%s'%s", shown, member, function_hint(member));
}

/* Warns of '|' and '{2}' in a pattern: in other languages they are operators, in Lua they match themselves. behind: the
 * token after the name of the function. */
static void check_pattern(Parser *parser, const char *function, const Token *behind) {
        Token pattern = token_is(behind, "(") ? token_next(behind->start + 1, parser->end) : *behind;
        g_autofree char *text = NULL;

        if (pattern.kind != TOKEN_STRING || !(g_str_equal(function, "match") || g_str_equal(function, "gmatch")))
                return;

        text = g_strndup(pattern.start + 1, MAX(pattern.length, 2) - 2);
        if (g_regex_match_simple("^\\^?\\(?\\w+(\\|\\w+)+\\)?\\$?$", text, 0, 0))
                parser_warn(parser, &pattern,
                            "'|' is a character like others in a pattern; join two patterns with 'or'");
        else if (g_regex_match_simple("[\\])\\w.]\\{\\d+(,\\d*)?\\}", text, 0, 0))
                parser_warn(parser, &pattern,
                            "'{' is a character like others in a pattern; write the part as often as "
                            "it comes");
}

/* Values have no functions, except those of the library of strings. name: of the variable, which is followed by the
 * current token. */
static void check_method(Parser *parser, const Token *name) {
        Token member = parser_peek(parser), behind;
        g_autofree char *word = NULL;

        if (parser->doubt.doubt || member.kind != TOKEN_NAME || !(parser_at(parser, ".") || parser_at(parser, ":")))
                return;

        behind = token_next(member.start + member.length, parser->end);
        word = g_strndup(member.start, member.length);
        check_pattern(parser, word, &behind);
        if (!(token_is(&behind, "(") || behind.kind == TOKEN_STRING) || sandbox_has("string", word) ||
            !*function_hint(word))
                return;

        parser->doubt = (Analysis){
                .doubt = g_strdup_printf("there is no function '%.*s%.*s%s'%s", (int) name->length, name->start,
                                         (int) parser->token.length, parser->token.start, word, function_hint(word)),
                .doubtful = g_strndup(name->start, name->length),
                .doubt_offset = (size_t) (name->start - parser->code),
        };
}

/* A member of a value that is no object is nil. */
static void note_member(Parser *parser, const Token *name) {
        Token member = parser_peek(parser), behind = token_next(member.start + member.length, parser->end);
        ScriptDemand demand = { .offset = (size_t) (name->start - parser->code) };

        if (!parser_at(parser, ".") || member.kind != TOKEN_NAME || token_is(&behind, "(") ||
            behind.kind == TOKEN_STRING)
                return;

        demand.name = g_strndup(name->start, name->length);
        demand.member = g_strndup(member.start, member.length);
        demand.advice = function_hint(demand.member);
        g_array_append_val(parser->demands, demand);
}

/* After "_G": the name of a variable of the outermost scope, as a field. NULL: it is not a name, which was reported. */
static char *parser_outermost(Parser *parser, const Token *outermost) {
        g_autofree char *key = NULL;
        Token name;

        if (parser_accept(parser, ".")) {
                name = parser->token;
                parser_advance(parser);
                key = g_strndup(name.start, name.length);
        } else if (parser_at(parser, "[") && parser_peek(parser).kind == TOKEN_STRING) {
                parser_advance(parser);
                name = parser->token;
                parser_advance(parser);
                if (name.length >= 2 && *name.start != '[' && parser_at(parser, "]"))
                        key = g_strndup(name.start + 1, name.length - 2);
                parser_accept(parser, "]");
        }

        if (key && blackboard_key_valid(key))
                return g_strdup_printf("@%s", key);

        parser_fail(parser, outermost,
                    "'_G' can only be used with the name of a variable: '_G.NAME' or '_G[\"NAME\"]'");
        return NULL;
}

/* The member after the name of a value: "value.result" or "value['result']". False: none, or one that is computed. */
static bool find_member(const Parser *parser, Token *ret_member) {
        Token next = parser_peek(parser), behind;

        if (parser_at(parser, ".") && next.kind == TOKEN_NAME) {
                *ret_member = next;
                return true;
        }

        if (!parser_at(parser, "[") || next.kind != TOKEN_STRING || *next.start == '[' || next.length < 2)
                return false;

        behind = token_next(next.start + next.length, parser->end);
        *ret_member = (Token){ .kind = TOKEN_NAME, .start = next.start + 1, .length = next.length - 2 };
        return token_is(&behind, "]");
}

/* An unknown member is always nil in Lua, so nobody would notice a misspelt one. */
static void check_member(Parser *parser, const Token *name) {
        g_autofree char *shown = NULL, *word = NULL, *members = NULL, *hint = NULL;
        Nearest nearest = {};
        Token member;

        if (!parser->members || !find_member(parser, &member))
                return;

        nearest.word = word = g_strndup(member.start, member.length);
        if (g_strv_contains(parser->members, word))
                return;

        for (const char *const *known = parser->members; *known; known++)
                nearest_offer(&nearest, *known);
        hint = nearest.best ? g_strdup_printf("; did you mean '%s'?", nearest.best) : NULL;
        members = g_strjoinv(", ", (char **) parser->members);
        shown = excerpt(word, strlen(word));
        parser_fail(parser, &member, "'%.*s' has no member '%s'%s (it has: %s)", (int) name->length, name->start, shown,
                    hint ?: "", members);
}

/* The variable of a name, to be freed; NULL: it is not a variable. Afterwards the current token follows the name. */
static char *parser_name(Parser *parser) {
        Token name = parser->token;
        g_autofree char *text = g_strndup(name.start, name.length);

        parser_advance(parser);
        if (is_local(parser, &name))
                return NULL;
        if (token_is_one_of(&name, parser->extra)) {
                check_member(parser, &name);
                return NULL;
        }
        if (g_str_equal(text, "_G"))
                return parser_outermost(parser, &name);
        if (g_str_equal(text, "_ENV"))
                parser_fail(parser, &name, "'_ENV' cannot be used here");
        else if (sandbox_is_name(text))
                check_library_use(parser, &name, text);
        else if (!blackboard_key_valid(text))
                parser_fail(parser, &name, "the name of a variable must not be longer than 255 characters");
        else
                return g_steal_pointer(&text);

        return NULL;
}

/* place: the whole place that is assigned, or its beginning. variable: NULL: it is none. */
static void parser_assign(Parser *parser, const Token *place, char *variable) {
        Token behind = token_next(place->start + place->length, parser->end);
        g_autofree char *name = g_strndup(place->start, place->length);

        if (variable) {
                if (parser->kind == SCRIPT_EXPRESSION)
                        parser_fail(parser, place, "an expression cannot set a variable, but this sets '%s'", variable);
                g_hash_table_add(parser->writes, variable);
                return;
        }

        /* Functions and libraries are the same for all chunks. */
        if (behind.start == parser->token.start && sandbox_is_name(name) && !is_local(parser, place) &&
            !token_is_one_of(place, parser->extra))
                parser_fail(parser, place, "'%s' belongs to the language here, so it cannot be set", name);
}

static void parser_read(Parser *parser, char *variable) {
        if (variable)
                g_hash_table_add(parser->reads, variable);
}

static void parse_expression(Parser *parser);
static void parse_block(Parser *parser);

static void parse_expressions(Parser *parser) {
        do
                parse_expression(parser);
        while (parser_accept(parser, ","));
}

static void parse_table(Parser *parser) {
        parser_advance(parser);
        while (!parser_at(parser, "}") && parser->token.kind != TOKEN_END) {
                Token next = parser_peek(parser);

                if (parser_accept(parser, "[")) {
                        parse_expression(parser);
                        parser_accept(parser, "]");
                        parser_accept(parser, "=");
                } else if (parser->token.kind == TOKEN_NAME && token_is(&next, "=")) {
                        parser_advance(parser);
                        parser_advance(parser);
                }
                parse_expression(parser);
                if (!parser_accept(parser, ","))
                        parser_accept(parser, ";");
        }
        parser_accept(parser, "}");
}

static void parse_arguments(Parser *parser) {
        if (parser_at(parser, "{"))
                parse_table(parser);
        else if (parser_accept(parser, "(")) {
                if (!parser_at(parser, ")"))
                        parse_expressions(parser);
                parser_accept(parser, ")");
        } else
                parser_advance(parser);
}

/* True: there was a suffix. */
static bool parse_suffix(Parser *parser) {
        if (parser_accept(parser, "."))
                parser_advance(parser);
        else if (parser_accept(parser, "[")) {
                parse_expression(parser);
                parser_accept(parser, "]");
        } else if (parser_accept(parser, ":")) {
                parser_advance(parser);
                parse_arguments(parser);
        } else if (parser_at_arguments(parser))
                parse_arguments(parser);
        else
                return false;

        return true;
}

/* A variable, a call, a field, or an expression in parentheses. Returns the variable if there is nothing else and it is
 * not counted as read yet; to be freed. */
static char *parse_suffixed(Parser *parser) {
        g_autofree char *variable = NULL;
        bool is_variable = parser->token.kind == TOKEN_NAME, has_suffix = false;

        if (is_variable) {
                Token name = parser->token, index, behind;
                bool is_indexed;

                variable = parser_name(parser);
                if (variable && *variable != '@') {
                        check_method(parser, &name);
                        note_member(parser, &name);
                }

                /* The elements of a variable are counted from 1. */
                index = parser_peek(parser);
                behind = token_next(index.start + index.length, parser->end);
                is_indexed = parser_at(parser, "[") && (variable || token_is_one_of(&name, parser->extra));
                if (is_indexed && token_is(&index, "-") && behind.kind == TOKEN_NUMBER)
                        parser_fail(parser, &name, "'%.*s[-%.*s]' is never set; the last element is '%.*s[#%.*s]'",
                                    (int) name.length, name.start, (int) behind.length, behind.start, (int) name.length,
                                    name.start, (int) name.length, name.start);
                if (is_indexed && index.kind == TOKEN_NUMBER && token_is(&index, "0") && token_is(&behind, "]"))
                        parser_fail(parser, &name, "'%.*s[0]' is never set; the first element is '%.*s[1]'",
                                    (int) name.length, name.start, (int) name.length, name.start);
        } else if (parser_accept(parser, "(")) {
                parse_expression(parser);
                parser_accept(parser, ")");
        } else
                parser_advance(parser);

        while (parse_suffix(parser))
                has_suffix = true;

        if (has_suffix)
                parser_read(parser, g_steal_pointer(&variable));

        return g_steal_pointer(&variable);
}

/* From the parameters to the end. */
static void parse_function(Parser *parser, bool has_self) {
        unsigned n_locals = parser->locals->len;
        Token self = { .kind = TOKEN_NAME, .start = "self", .length = strlen("self") };

        if (has_self)
                parser_declare(parser, &self);

        parser_accept(parser, "(");
        for (; !parser_at(parser, ")") && parser->token.kind != TOKEN_END; parser_advance(parser))
                if (parser->token.kind == TOKEN_NAME)
                        parser_declare(parser, &parser->token);
        parser_accept(parser, ")");
        parser->n_functions++;
        parse_block(parser);
        parser->n_functions--;
        parser_accept(parser, "end");
        g_array_set_size(parser->locals, n_locals);
}

static const char *const unary[] = { "not", "-", "#", "~", NULL };
static const char *const binary[] = { "+",  "-",  "*", "/",  "//", "^",  "%",  "&",  "~",   "|",  "<<",
                                      ">>", "..", "<", "<=", ">",  ">=", "==", "~=", "and", "or", NULL };
static const char *const junctions[] = { "and", "or", NULL };
static const char *const comparisons[] = { "==", "~=", "<", ">", "<=", ">=", NULL };

static void parse_operand(Parser *parser) {
        while (token_is_one_of(&parser->token, unary))
                parser_advance(parser);

        if (parser->token.kind == TOKEN_NAME || parser_at(parser, "("))
                parser_read(parser, parse_suffixed(parser));
        else if (parser_at(parser, "{"))
                parse_table(parser);
        else if (parser_accept(parser, "function"))
                parse_function(parser, false);
        else
                parser_advance(parser);
}

static bool is_text(const Token *token) {
        return token->kind == TOKEN_STRING && strcspn(token->start, "0123456789") >= token->length;
}

static bool is_literal(const Token *token) {
        return token->kind == TOKEN_STRING || token->kind == TOKEN_NUMBER;
}

/* Operands that are wrong with this operator, whatever the variables are. */
static void check_operands(Parser *parser, const Token *left, const Token *right) {
        const Token *text = is_text(left) ? left : is_text(right) ? right : NULL;
        const Token *table = token_is(left, "{") ? left : token_is(right, "{") ? right : NULL;
        bool compares = parser_at(parser, "==") || parser_at(parser, "~="),
             takes_any = parser_at(parser, "and") || parser_at(parser, "or") || parser_at(parser, "..");

        if (text && parser_at(parser, "+"))
                parser_fail(parser, text, "'+' adds numbers; '..' joins texts");
        if (left->kind == TOKEN_STRING && parser_at(parser, "%")) {
                g_autofree char *shown = excerpt(left->start, left->length);

                parser_fail(parser, left, "'%%' divides numbers; string.format(%s, x) formats", shown);
        }
        if (table && !takes_any && (!compares || is_literal(left) || is_literal(right)))
                parser_fail(parser, table, "'{...}' is a list here; a variable is written without braces");
}

/* A comparison of a variable and a literal: its value should be of the same type. */
static void note_comparison(Parser *parser, const Token *variable, const Token *literal, bool orders) {
        ScriptDemand demand = {
                .offset = (size_t) (variable->start - parser->code),
                .is_text = literal->kind == TOKEN_STRING,
                .orders = orders,
        };

        if (variable->kind != TOKEN_NAME || !is_literal(literal) || is_local(parser, variable) ||
            token_is_one_of(variable, parser->extra))
                return;

        demand.name = g_strndup(variable->start, variable->length);
        demand.literal = g_strndup(literal->start, literal->length);
        g_array_append_val(parser->demands, demand);
}

/* Is it the whole operand that was parsed last? */
static bool is_alone(const Parser *parser, const Token *operand) {
        return token_next(operand->start + operand->length, parser->end).start == parser->token.start;
}

static void parse_expression(Parser *parser) {
        Token left = parser->token, compared = {};
        bool joins = true; /* the operator before: "and" and the like, or none */

        parse_operand(parser);
        while (token_is_one_of(&parser->token, binary)) {
                Token right = parser_peek(parser), sign = parser->token;
                bool compares = token_is_one_of(&sign, comparisons), is_left_alone = joins && is_alone(parser, &left),
                     is_right_alone;

                check_operands(parser, &left, &right);
                if (compares && compared.start)
                        parser_fail(parser, &sign, "a comparison has two sides; write 'a < b and b < c'");
                if (compares && joins && token_is(&left, "not") && !token_is(&right, "not"))
                        parser_warn(parser, &left, "'not' is only for the value before '%.*s'; write 'not (a == b)'",
                                    (int) sign.length, sign.start);
                parser_advance(parser);
                parse_operand(parser);
                is_right_alone = is_alone(parser, &right) && (!token_is_one_of(&parser->token, binary) ||
                                                              token_is_one_of(&parser->token, junctions));
                if (compares && is_left_alone && is_right_alone) {
                        note_comparison(parser, &left, &right, strchr("<>", *sign.start));
                        note_comparison(parser, &right, &left, strchr("<>", *sign.start));
                }
                /* But "a == b and 1 or 2" is a choice. */
                if (token_is(&sign, "or") && compared.start && is_literal(&right) && is_right_alone) {
                        g_autofree char *shown = excerpt(right.start, right.length);

                        parser_warn(parser, &right, "%s alone is true; compare it, too: 'x == a or x == b'", shown);
                }
                joins = token_is_one_of(&sign, junctions);
                compared = compares ? sign : (Token){};
                left = right;
        }
}

static void parse_scoped_block(Parser *parser) {
        unsigned n_locals = parser->locals->len;

        parse_block(parser);
        g_array_set_size(parser->locals, n_locals);
}

static void parse_body(Parser *parser) {
        parser_accept(parser, "do");
        parse_scoped_block(parser);
        parser_accept(parser, "end");
}

/* Names with or without attributes: "a <const>, b". The caller declares them, where they become valid. */
static GArray *parse_declared(Parser *parser) {
        GArray *names = g_array_new(false, false, sizeof(Token));

        do {
                g_array_append_val(names, parser->token);
                parser_advance(parser);
                if (parser_accept(parser, "<")) {
                        parser_advance(parser);
                        parser_accept(parser, ">");
                }
        } while (parser_accept(parser, ","));

        return names;
}

/* At the "in" or "=" of a loop with these names. */
static void check_iterator(Parser *parser, const GArray *names) {
        static const char *const numbers[] = { "i", "j", "k", "n", "_", "index", "idx", "pos", "number", NULL };
        Token list = parser_peek(parser), behind = token_next(list.start + list.length, parser->end);
        const Token *first = &g_array_index(names, Token, 0);
        g_autofree char *name = g_strndup(first->start, first->length);

        if (!parser_at(parser, "in") || list.kind != TOKEN_NAME)
                return;
        if (token_is(&behind, "do") && !is_local(parser, &list))
                parser_fail(parser, &list, "a loop over the list is 'for _, %s in ipairs(%.*s) do'", name,
                            (int) list.length, list.start);
        if (token_is(&list, "ipairs") && names->len == 1 && !g_strv_contains(numbers, name))
                parser_warn(parser, first,
                            "'%s' is the number of the element; the element comes second, as in "
                            "'for _, %s in ipairs(list) do'",
                            name, name);
}

static void parse_for(Parser *parser) {
        g_autoptr(GArray) names = parse_declared(parser);
        unsigned n_locals = parser->locals->len;

        check_iterator(parser, names);
        parser_advance(parser); /* "=" or "in" */
        parse_expressions(parser);
        ARRAY_FOREACH(const Token, name, names)
                parser_declare(parser, name);
        parse_body(parser);
        g_array_set_size(parser->locals, n_locals);
}

static void parse_local(Parser *parser) {
        g_autoptr(GArray) names = NULL;

        if (parser_accept(parser, "function")) {
                parser_declare(parser, &parser->token);
                parser_advance(parser);
                parse_function(parser, false);
                return;
        }

        names = parse_declared(parser);
        if (parser_accept(parser, "="))
                parse_expressions(parser);
        ARRAY_FOREACH(const Token, name, names)
                parser_declare(parser, name);
}

static void parse_function_statement(Parser *parser) {
        Token name = parser->token;
        char *variable = parser_name(parser);
        bool has_self = false;

        if (!parser_at(parser, "("))
                parser_read(parser, variable);
        else {
                parser_assign(parser, &name, variable);
                if (variable && !parser->doubt.doubt)
                        parser->doubt = (Analysis){
                                .doubt = g_strdup_printf(
                                        "a variable cannot hold a function; write 'local function %.*s'",
                                        (int) name.length, name.start),
                                .doubtful = g_strdup(""),
                                .doubt_offset = (size_t) (name.start - parser->code),
                        };
        }

        while (parser_at(parser, ".") || parser_at(parser, ":")) {
                has_self = parser_at(parser, ":");
                parser_advance(parser);
                parser_advance(parser);
        }
        parse_function(parser, has_self);
}

static bool at_block_end(const Parser *parser) {
        return parser->token.kind == TOKEN_END || parser_at(parser, "end") || parser_at(parser, "else") ||
               parser_at(parser, "elseif") || parser_at(parser, "until");
}

static void parse_statement(Parser *parser) {
        unsigned n_locals = parser->locals->len;

        if (parser_accept(parser, "if")) {
                do {
                        parse_expression(parser);
                        parser_accept(parser, "then");
                        parse_scoped_block(parser);
                } while (parser_accept(parser, "elseif"));

                if (parser_accept(parser, "else"))
                        parse_scoped_block(parser);
                parser_accept(parser, "end");
        } else if (parser_accept(parser, "while")) {
                parse_expression(parser);
                parse_body(parser);
        } else if (parser_at(parser, "do"))
                parse_body(parser);
        else if (parser_accept(parser, "for"))
                parse_for(parser);
        else if (parser_accept(parser, "repeat")) {
                /* The local names of the loop are valid in its condition, too. */
                parse_block(parser);
                parser_accept(parser, "until");
                parse_expression(parser);
                g_array_set_size(parser->locals, n_locals);
        } else if (parser_accept(parser, "function"))
                parse_function_statement(parser);
        else if (parser_accept(parser, "local"))
                parse_local(parser);
        else if (parser_accept(parser, "return")) {
                if (at_block_end(parser) || parser_at(parser, ";"))
                        return;
                if (parser->n_functions == 0)
                        parser_warn(parser, &parser->token,
                                    "nothing gets what this 'return' gives; assign it to a variable");
                parse_expressions(parser);
        } else if (parser_accept(parser, "goto"))
                parser_advance(parser);
        else if (parser_accept(parser, "::")) {
                parser_advance(parser);
                parser_accept(parser, "::");
        } else if (parser->token.kind == TOKEN_NAME || parser_at(parser, "(")) {
                /* An assignment, or a call. */
                do {
                        Token place = parser->token;

                        parser_assign(parser, &place, parse_suffixed(parser));
                } while (parser_accept(parser, ","));

                if (parser_accept(parser, "="))
                        parse_expressions(parser);
        } else
                parser_advance(parser); /* ";", "break" */
}

static void parse_block(Parser *parser) {
        while (!at_block_end(parser))
                parse_statement(parser);
}

static void parse_whole_expression(Parser *parser) {
        Token name = parser->token, behind = parser_peek(parser);
        ScriptDemand demand = { .offset = (size_t) (name.start - parser->code), .is_test = true };

        if (parser->token.kind == TOKEN_END || parser_at(parser, ";"))
                parser_fail(parser, &parser->token, "the expression is empty");

        /* Every number and text is true, so an expression that is one tests nothing. */
        if (name.kind == TOKEN_NAME && behind.kind == TOKEN_END && !token_is_one_of(&name, parser->extra)) {
                demand.name = g_strndup(name.start, name.length);
                g_array_append_val(parser->demands, demand);
        }

        parse_expression(parser);
        if (parser->token.kind != TOKEN_END)
                parser_fail(parser, &parser->token, "an expression has one value; unexpected text after it");
}

static char **sorted(GHashTable *names) {
        GPtrArray *array = g_ptr_array_new();
        void *name;

        TABLE_FOREACH(name, names)
                g_ptr_array_add(array, g_strdup(name));

        g_ptr_array_sort(array, compare_texts);
        g_ptr_array_add(array, NULL);
        return (char **) g_ptr_array_free(array, false);
}

static void demand_clear(void *data) {
        ScriptDemand *demand = data;

        g_free(demand->warning);
        g_free(demand->name);
        g_free(demand->member);
        g_free(demand->literal);
}

int analysis_make(ScriptKind kind, const char *code, const char *const *extra, const char *const *members,
                  Analysis *ret_analysis, char **ret_error, size_t *ret_offset) {
        g_autoptr(GArray) locals = g_array_new(false, false, sizeof(Token));
        g_autoptr(GHashTable) reads = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
                              writes = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        g_autoptr(GArray) demands = g_array_new(false, false, sizeof(ScriptDemand));
        Parser parser = {
                .kind = kind,
                .code = code,
                .end = code + strlen(code),
                .extra = extra,
                .members = members,
                .locals = locals,
                .reads = reads,
                .writes = writes,
                .demands = demands,
        };

        g_array_set_clear_func(demands, demand_clear);
        parser.token = token_next(code, parser.end);
        if (kind == SCRIPT_EXPRESSION)
                parse_whole_expression(&parser);
        else
                parse_block(&parser);

        if (parser.error) {
                analysis_clear(&parser.doubt);
                *ret_error = g_steal_pointer(&parser.error);
                *ret_offset = parser.offset;
                return -EINVAL;
        }

        *ret_analysis = parser.doubt;
        ret_analysis->reads = sorted(reads);
        ret_analysis->writes = sorted(writes);
        ret_analysis->demands = g_steal_pointer(&demands);
        return 0;
}

void analysis_clear(Analysis *analysis) {
        g_clear_pointer(&analysis->reads, g_strfreev);
        g_clear_pointer(&analysis->writes, g_strfreev);
        g_clear_pointer(&analysis->doubt, g_free);
        g_clear_pointer(&analysis->doubtful, g_free);
        g_clear_pointer(&analysis->demands, g_array_unref);
}
