/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * A walk along the grammar of Lua, which only needs to know where a local name begins and ceases to hold, and which
 * names are assigned to. Operators bind as they like, since that changes nothing about names.
 */

#include <errno.h>
#include <string.h>

#include "script/lexer.h"
#include "script/names.h"
#include "script/sandbox.h"

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

static void walk_expression(Walk *walk);
static void walk_block(Walk *walk);

static void advance(Walk *walk) {
        walk->token = token_next(walk->token.start + walk->token.length, walk->end);
}

static Token peek(const Walk *walk) {
        return token_next(walk->token.start + walk->token.length, walk->end);
}

static bool at(const Walk *walk, const char *text) {
        return token_is(&walk->token, text);
}

static bool at_end(const Walk *walk) {
        return walk->token.kind == TOKEN_END;
}

static bool accept(Walk *walk, const char *text) {
        bool is_there = at(walk, text);

        if (is_there)
                advance(walk);

        return is_there;
}

static void G_GNUC_PRINTF(3, 4) complain(Walk *walk, const Token *token, const char *format, ...) {
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

static void declare(Walk *walk, const Token *name) {
        if (token_is(name, "_G") || token_is(name, "_ENV"))
                complain(walk, name, "'%.*s' cannot be a local name", (int) name->length, name->start);

        g_array_append_val(walk->locals, *name);
}

/* Forgets the local names that have been declared since there were so many. */
static void leave_scope(Walk *walk, unsigned n_locals) {
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

static bool at_arguments(const Walk *walk) {
        return at(walk, "(") || at(walk, "{") || walk->token.kind == TOKEN_STRING;
}

/* A name of the library can only be used as what it is there, so that a variable of that name is not missed. */
static void check_library_use(Walk *walk, const Token *name, const char *shown) {
        g_autofree char *member = NULL;
        Token next;

        if (sandbox_is_function(shown)) {
                if (!at_arguments(walk))
                        complain(walk, name,
                                 "'%s' is a function here, and can only be called; a variable of that name "
                                 "cannot be used",
                                 shown);
                return;
        }

        next = peek(walk);
        if (!at(walk, ".") || next.kind != TOKEN_NAME) {
                complain(walk, name,
                         "'%s' is a library here, and can only be used as '%s.NAME'; a variable of that "
                         "name cannot be used",
                         shown, shown);
                return;
        }

        member = g_strndup(next.start, next.length);
        if (!sandbox_has(shown, member))
                complain(walk, name, "there is no '%s.%s' here", shown, member);
}

/* Behind "_G": the name of a variable of the outermost scope, as a field. NULL: it was none, which has been said. */
static char *walk_outermost(Walk *walk, const Token *outermost) {
        g_autofree char *key = NULL;
        Token name;

        if (accept(walk, ".")) {
                name = walk->token;
                advance(walk);
                key = g_strndup(name.start, name.length);
        } else if (at(walk, "[") && peek(walk).kind == TOKEN_STRING) {
                advance(walk);
                name = walk->token;
                advance(walk);
                if (name.length >= 2 && *name.start != '[' && at(walk, "]"))
                        key = g_strndup(name.start + 1, name.length - 2);
                accept(walk, "]");
        }

        if (key && blackboard_key_valid(key))
                return g_strdup_printf("@%s", key);

        complain(walk, outermost, "'_G' can only be used with the name of a variable: '_G.NAME' or '_G[\"NAME\"]'");
        return NULL;
}

/* The variable that a name stands for, to be freed. NULL: none. What follows the name is the current token. */
static char *walk_name(Walk *walk) {
        Token name = walk->token;
        g_autofree char *text = g_strndup(name.start, name.length);

        advance(walk);
        if (is_local(walk, &name) || is_extra(walk, &name))
                return NULL;
        if (g_str_equal(text, "_G"))
                return walk_outermost(walk, &name);
        if (g_str_equal(text, "_ENV"))
                complain(walk, &name, "'_ENV' cannot be used here");
        else if (sandbox_is_name(text))
                check_library_use(walk, &name, text);
        else if (!blackboard_key_valid(text))
                complain(walk, &name, "this is too long for the name of a variable");
        else
                return g_steal_pointer(&text);

        return NULL;
}

static void walk_expressions(Walk *walk) {
        do
                walk_expression(walk);
        while (accept(walk, ","));
}

static void walk_table(Walk *walk) {
        advance(walk);
        while (!at(walk, "}") && !at_end(walk)) {
                Token next = peek(walk);

                if (accept(walk, "[")) {
                        walk_expression(walk);
                        accept(walk, "]");
                        accept(walk, "=");
                } else if (walk->token.kind == TOKEN_NAME && token_is(&next, "=")) {
                        advance(walk);
                        advance(walk);
                }
                walk_expression(walk);
                if (!accept(walk, ","))
                        accept(walk, ";");
        }
        accept(walk, "}");
}

static void walk_arguments(Walk *walk) {
        if (at(walk, "{"))
                walk_table(walk);
        else if (accept(walk, "(")) {
                if (!at(walk, ")"))
                        walk_expressions(walk);
                accept(walk, ")");
        } else
                advance(walk);
}

/* True: there was a suffix. */
static bool walk_suffix(Walk *walk) {
        if (accept(walk, "."))
                advance(walk);
        else if (accept(walk, "[")) {
                walk_expression(walk);
                accept(walk, "]");
        } else if (accept(walk, ":")) {
                advance(walk);
                walk_arguments(walk);
        } else if (at_arguments(walk))
                walk_arguments(walk);
        else
                return false;

        return true;
}

/* A variable, a call, a field, or something in parentheses. The variable, if it is nothing but that and is not read
 * yet; to be freed. */
static char *walk_suffixed(Walk *walk) {
        g_autofree char *variable = NULL;
        bool is_variable = walk->token.kind == TOKEN_NAME, has_suffix = false;

        if (is_variable)
                variable = walk_name(walk);
        else if (accept(walk, "(")) {
                walk_expression(walk);
                accept(walk, ")");
        } else
                advance(walk);

        while (walk_suffix(walk))
                has_suffix = true;

        if (has_suffix && variable)
                g_hash_table_add(walk->reads, g_steal_pointer(&variable));

        return g_steal_pointer(&variable);
}

/* From the parameters to the end. */
static void walk_function(Walk *walk, bool has_self) {
        unsigned n_locals = walk->locals->len;
        Token self = { .kind = TOKEN_NAME, .start = "self", .length = strlen("self") };

        if (has_self)
                declare(walk, &self);

        accept(walk, "(");
        for (; !at(walk, ")") && !at_end(walk); advance(walk))
                if (walk->token.kind == TOKEN_NAME)
                        declare(walk, &walk->token);
        accept(walk, ")");
        walk_block(walk);
        accept(walk, "end");
        leave_scope(walk, n_locals);
}

static bool at_unary(const Walk *walk) {
        return at(walk, "not") || at(walk, "-") || at(walk, "#") || at(walk, "~");
}

static bool at_binary(const Walk *walk) {
        static const char *const operators[] = { "+",  "-",  "*", "/",  "//", "^",  "%",  "&",  "~",   "|", "<<",
                                                 ">>", "..", "<", "<=", ">",  ">=", "==", "~=", "and", "or" };

        for (size_t i = 0; i < G_N_ELEMENTS(operators); i++)
                if (at(walk, operators[i]))
                        return true;

        return false;
}

static void walk_operand(Walk *walk) {
        while (at_unary(walk))
                advance(walk);

        if (walk->token.kind == TOKEN_NAME || at(walk, "(")) {
                char *variable = walk_suffixed(walk);

                if (variable)
                        g_hash_table_add(walk->reads, variable);
        } else if (at(walk, "{"))
                walk_table(walk);
        else if (accept(walk, "function"))
                walk_function(walk, false);
        else
                advance(walk);
}

static void walk_expression(Walk *walk) {
        walk_operand(walk);
        while (at_binary(walk)) {
                advance(walk);
                walk_operand(walk);
        }
}

static void walk_scoped_block(Walk *walk) {
        unsigned n_locals = walk->locals->len;

        walk_block(walk);
        leave_scope(walk, n_locals);
}

static void walk_if(Walk *walk) {
        do {
                walk_expression(walk);
                accept(walk, "then");
                walk_scoped_block(walk);
        } while (accept(walk, "elseif"));

        if (accept(walk, "else"))
                walk_scoped_block(walk);
        accept(walk, "end");
}

static void walk_body(Walk *walk) {
        accept(walk, "do");
        walk_scoped_block(walk);
        accept(walk, "end");
}

/* Names with or without attributes, which are names, too: "a <const>, b". They begin to hold where the caller says. */
static GArray *walk_declared(Walk *walk) {
        GArray *names = g_array_new(false, false, sizeof(Token));

        do {
                g_array_append_val(names, walk->token);
                advance(walk);
                if (accept(walk, "<")) {
                        advance(walk);
                        accept(walk, ">");
                }
        } while (accept(walk, ","));

        return names;
}

static void declare_all(Walk *walk, const GArray *names) {
        for (unsigned i = 0; i < names->len; i++)
                declare(walk, &g_array_index(names, Token, i));
}

static void walk_for(Walk *walk) {
        g_autoptr(GArray) names = walk_declared(walk);
        unsigned n_locals = walk->locals->len;

        advance(walk); /* "=" or "in" */
        walk_expressions(walk);
        declare_all(walk, names);
        walk_body(walk);
        leave_scope(walk, n_locals);
}

static void walk_local(Walk *walk) {
        g_autoptr(GArray) names = NULL;

        if (accept(walk, "function")) {
                declare(walk, &walk->token);
                advance(walk);
                walk_function(walk, false);
                return;
        }

        names = walk_declared(walk);
        if (accept(walk, "="))
                walk_expressions(walk);
        declare_all(walk, names);
}

/* What is in the loop holds in its condition, too. */
static void walk_repeat(Walk *walk) {
        unsigned n_locals = walk->locals->len;

        walk_block(walk);
        accept(walk, "until");
        walk_expression(walk);
        leave_scope(walk, n_locals);
}

static void assign(Walk *walk, const Token *place, char *variable) {
        if (!variable)
                return;

        if (walk->kind == SCRIPT_EXPRESSION)
                complain(walk, place, "an expression cannot set a variable, and this sets '%s'", variable);
        g_hash_table_add(walk->writes, variable);
}

static void walk_function_statement(Walk *walk) {
        Token name = walk->token;
        char *variable = walk_name(walk);
        bool has_self = false;

        if (!at(walk, "(") && variable)
                g_hash_table_add(walk->reads, variable);
        else
                assign(walk, &name, variable);

        while (at(walk, ".") || at(walk, ":")) {
                has_self = at(walk, ":");
                advance(walk);
                advance(walk);
        }
        walk_function(walk, has_self);
}

static void walk_assignment_or_call(Walk *walk) {
        do {
                Token place = walk->token;

                assign(walk, &place, walk_suffixed(walk));
        } while (accept(walk, ","));

        if (accept(walk, "="))
                walk_expressions(walk);
}

static bool at_block_end(const Walk *walk) {
        return at_end(walk) || at(walk, "end") || at(walk, "else") || at(walk, "elseif") || at(walk, "until");
}

static void walk_statement(Walk *walk) {
        if (accept(walk, "if"))
                walk_if(walk);
        else if (accept(walk, "while")) {
                walk_expression(walk);
                walk_body(walk);
        } else if (at(walk, "do"))
                walk_body(walk);
        else if (accept(walk, "for"))
                walk_for(walk);
        else if (accept(walk, "repeat"))
                walk_repeat(walk);
        else if (accept(walk, "function"))
                walk_function_statement(walk);
        else if (accept(walk, "local"))
                walk_local(walk);
        else if (accept(walk, "return")) {
                if (!at_block_end(walk) && !at(walk, ";"))
                        walk_expressions(walk);
        } else if (accept(walk, "goto"))
                advance(walk);
        else if (accept(walk, "::")) {
                advance(walk);
                accept(walk, "::");
        } else if (walk->token.kind == TOKEN_NAME || at(walk, "("))
                walk_assignment_or_call(walk);
        else
                advance(walk); /* ";", "break" */
}

static void walk_block(Walk *walk) {
        while (!at_block_end(walk))
                walk_statement(walk);
}

static void walk_whole_expression(Walk *walk) {
        if (at_end(walk) || at(walk, ";"))
                complain(walk, &walk->token, "there is no expression");

        walk_expression(walk);
        if (!at_end(walk))
                complain(walk, &walk->token, "an expression has one value, and ends before this");
}

static int compare_names(const void *a, const void *b) {
        return strcmp(*(char *const *) a, *(char *const *) b);
}

static char **sorted(GHashTable *names) {
        GHashTableIter iter;
        GPtrArray *array = g_ptr_array_new();
        void *name;

        g_hash_table_iter_init(&iter, names);
        while (g_hash_table_iter_next(&iter, &name, NULL))
                g_ptr_array_add(array, g_strdup(name));

        g_ptr_array_sort(array, compare_names);
        g_ptr_array_add(array, NULL);
        return (char **) g_ptr_array_free(array, false);
}

static GHashTable *set_new(void) {
        return g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
}

int names_find(ScriptKind kind, const char *code, const char *const *extra, Names *ret_names, char **ret_error,
               size_t *ret_offset) {
        g_autoptr(GArray) locals = g_array_new(false, false, sizeof(Token));
        g_autoptr(GHashTable) reads = set_new(), writes = set_new();
        Walk walk = {
                .kind = kind,
                .code = code,
                .end = code + strlen(code),
                .extra = extra,
                .locals = locals,
                .reads = reads,
                .writes = writes,
        };

        walk.token = token_next(code, walk.end);
        if (kind == SCRIPT_EXPRESSION)
                walk_whole_expression(&walk);
        else
                walk_block(&walk);

        if (walk.error) {
                *ret_error = g_steal_pointer(&walk.error);
                *ret_offset = walk.offset;
                return -EINVAL;
        }

        *ret_names = (Names){ .reads = sorted(reads), .writes = sorted(writes) };
        return 0;
}

void names_clear(Names *names) {
        g_clear_pointer(&names->reads, g_strfreev);
        g_clear_pointer(&names->writes, g_strfreev);
}
