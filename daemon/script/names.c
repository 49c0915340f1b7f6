/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Finds the variables that a chunk uses by walking its tokens along the grammar of Lua. The walk only needs to know
 * where a local name begins and ends to be valid, and which names are assigned to; the precedence of operators does not
 * matter for names.
 */

#include <errno.h>
#include <string.h>

#include "basic/excerpt.h"
#include "basic/nearest.h"
#include "script/lexer.h"
#include "script/names.h"
#include "script/sandbox.h"

typedef struct Walk {
        ScriptKind kind;
        Token token; /* the current one */
        const char *code, *end;
        const char *const *extra;
        const char *const *members; /* of the values that extra names; NULL: any */
        GArray *locals;             /* Token, innermost last */
        GHashTable *reads, *writes; /* sets of owned names */
        char *error;                /* the first one */
        size_t offset;
} Walk;

static void walk_advance(Walk *walk) {
        walk->token = token_next(walk->token.start + walk->token.length, walk->end);
}

static Token walk_peek(const Walk *walk) {
        return token_next(walk->token.start + walk->token.length, walk->end);
}

static bool walk_at(const Walk *walk, const char *text) {
        return token_is(&walk->token, text);
}

static bool walk_at_end(const Walk *walk) {
        return walk->token.kind == TOKEN_END;
}

static bool walk_accept(Walk *walk, const char *text) {
        bool is_there = walk_at(walk, text);

        if (is_there)
                walk_advance(walk);

        return is_there;
}

/* Only the first error counts. */
static void G_GNUC_PRINTF(3, 4) walk_fail(Walk *walk, const Token *token, const char *format, ...) {
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

static void walk_declare(Walk *walk, const Token *name) {
        if (token_is(name, "_G") || token_is(name, "_ENV"))
                walk_fail(walk, name, "'%.*s' cannot be a local name", (int) name->length, name->start);

        g_array_append_val(walk->locals, *name);
}

/* Forgets the local names beyond the first n_locals. */
static void walk_leave_scope(Walk *walk, unsigned n_locals) {
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

static bool walk_at_arguments(const Walk *walk) {
        return walk_at(walk, "(") || walk_at(walk, "{") || walk->token.kind == TOKEN_STRING;
}

/* A function or library can only be used as such. So a variable with the same name causes an error, and is not silently
 * hidden. */
static void check_library_use(Walk *walk, const Token *name, const char *shown) {
        g_autofree char *member = NULL;
        Token next;

        if (sandbox_is_function(shown)) {
                if (!walk_at_arguments(walk))
                        walk_fail(walk, name,
                                  "'%s' is a function and can only be called; a variable cannot have this name", shown);
                return;
        }

        next = walk_peek(walk);
        if (!walk_at(walk, ".") || next.kind != TOKEN_NAME) {
                walk_fail(walk, name,
                          "'%s' is a library and can only be used as '%s.NAME'; a variable cannot have this name",
                          shown, shown);
                return;
        }

        member = g_strndup(next.start, next.length);
        if (!sandbox_has(shown, member))
                walk_fail(walk, name, "there is no '%s.%s'", shown, member);
}

/* After "_G": the name of a variable of the outermost scope, as a field. NULL: it is not a name, which was reported. */
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

        walk_fail(walk, outermost, "'_G' can only be used with the name of a variable: '_G.NAME' or '_G[\"NAME\"]'");
        return NULL;
}

/* The member after the name of a value: "value.result" or "value['result']". False: none, or one that is computed. */
static bool find_member(const Walk *walk, Token *ret_member) {
        Token next = walk_peek(walk), behind;

        if (walk_at(walk, ".") && next.kind == TOKEN_NAME) {
                *ret_member = next;
                return true;
        }

        if (!walk_at(walk, "[") || next.kind != TOKEN_STRING || *next.start == '[' || next.length < 2)
                return false;

        behind = token_next(next.start + next.length, walk->end);
        *ret_member = (Token){ .kind = TOKEN_NAME, .start = next.start + 1, .length = next.length - 2 };
        return token_is(&behind, "]");
}

/* An unknown member is always nil in Lua, so nobody would notice a misspelt one. */
static void check_member(Walk *walk, const Token *name) {
        g_autofree char *shown = NULL, *word = NULL, *members = NULL, *hint = NULL;
        Nearest nearest = {};
        Token member;

        if (!walk->members || !find_member(walk, &member))
                return;

        nearest.word = word = g_strndup(member.start, member.length);
        if (g_strv_contains(walk->members, word))
                return;

        for (const char *const *known = walk->members; *known; known++)
                nearest_offer(&nearest, *known);
        hint = nearest.best ? g_strdup_printf("; did you mean '%s'?", nearest.best) : NULL;
        members = g_strjoinv(", ", (char **) walk->members);
        shown = excerpt(word, strlen(word));
        walk_fail(walk, &member, "'%.*s' has no member '%s'%s (it has: %s)", (int) name->length, name->start, shown,
                  hint ?: "", members);
}

/* The variable of a name, to be freed; NULL: it is not a variable. Afterwards the current token follows the name. */
static char *walk_name(Walk *walk) {
        Token name = walk->token;
        g_autofree char *text = g_strndup(name.start, name.length);

        walk_advance(walk);
        if (is_local(walk, &name))
                return NULL;
        if (is_extra(walk, &name)) {
                check_member(walk, &name);
                return NULL;
        }
        if (g_str_equal(text, "_G"))
                return walk_outermost(walk, &name);
        if (g_str_equal(text, "_ENV"))
                walk_fail(walk, &name, "'_ENV' cannot be used here");
        else if (sandbox_is_name(text))
                check_library_use(walk, &name, text);
        else if (!blackboard_key_valid(text))
                walk_fail(walk, &name, "the name of a variable must not be longer than 255 characters");
        else
                return g_steal_pointer(&text);

        return NULL;
}

static void walk_assign(Walk *walk, const Token *place, char *variable) {
        if (!variable)
                return;

        if (walk->kind == SCRIPT_EXPRESSION)
                walk_fail(walk, place, "an expression cannot set a variable, but this sets '%s'", variable);
        g_hash_table_add(walk->writes, variable);
}

static void walk_read(Walk *walk, char *variable) {
        if (variable)
                g_hash_table_add(walk->reads, variable);
}

static void visit_expression(Walk *walk);
static void visit_block(Walk *walk);

static void visit_expressions(Walk *walk) {
        do
                visit_expression(walk);
        while (walk_accept(walk, ","));
}

static void visit_table(Walk *walk) {
        walk_advance(walk);
        while (!walk_at(walk, "}") && !walk_at_end(walk)) {
                Token next = walk_peek(walk);

                if (walk_accept(walk, "[")) {
                        visit_expression(walk);
                        walk_accept(walk, "]");
                        walk_accept(walk, "=");
                } else if (walk->token.kind == TOKEN_NAME && token_is(&next, "=")) {
                        walk_advance(walk);
                        walk_advance(walk);
                }
                visit_expression(walk);
                if (!walk_accept(walk, ","))
                        walk_accept(walk, ";");
        }
        walk_accept(walk, "}");
}

static void visit_arguments(Walk *walk) {
        if (walk_at(walk, "{"))
                visit_table(walk);
        else if (walk_accept(walk, "(")) {
                if (!walk_at(walk, ")"))
                        visit_expressions(walk);
                walk_accept(walk, ")");
        } else
                walk_advance(walk);
}

/* True: there was a suffix. */
static bool visit_suffix(Walk *walk) {
        if (walk_accept(walk, "."))
                walk_advance(walk);
        else if (walk_accept(walk, "[")) {
                visit_expression(walk);
                walk_accept(walk, "]");
        } else if (walk_accept(walk, ":")) {
                walk_advance(walk);
                visit_arguments(walk);
        } else if (walk_at_arguments(walk))
                visit_arguments(walk);
        else
                return false;

        return true;
}

/* A variable, a call, a field, or an expression in parentheses. Returns the variable if there is nothing else and it is
 * not counted as read yet; to be freed. */
static char *visit_suffixed(Walk *walk) {
        g_autofree char *variable = NULL;
        bool is_variable = walk->token.kind == TOKEN_NAME, has_suffix = false;

        if (is_variable)
                variable = walk_name(walk);
        else if (walk_accept(walk, "(")) {
                visit_expression(walk);
                walk_accept(walk, ")");
        } else
                walk_advance(walk);

        while (visit_suffix(walk))
                has_suffix = true;

        if (has_suffix)
                walk_read(walk, g_steal_pointer(&variable));

        return g_steal_pointer(&variable);
}

/* From the parameters to the end. */
static void visit_function(Walk *walk, bool has_self) {
        unsigned n_locals = walk->locals->len;
        Token self = { .kind = TOKEN_NAME, .start = "self", .length = strlen("self") };

        if (has_self)
                walk_declare(walk, &self);

        walk_accept(walk, "(");
        for (; !walk_at(walk, ")") && !walk_at_end(walk); walk_advance(walk))
                if (walk->token.kind == TOKEN_NAME)
                        walk_declare(walk, &walk->token);
        walk_accept(walk, ")");
        visit_block(walk);
        walk_accept(walk, "end");
        walk_leave_scope(walk, n_locals);
}

static bool at_unary(const Walk *walk) {
        return walk_at(walk, "not") || walk_at(walk, "-") || walk_at(walk, "#") || walk_at(walk, "~");
}

static bool at_binary(const Walk *walk) {
        static const char *const operators[] = { "+",  "-",  "*", "/",  "//", "^",  "%",  "&",  "~",   "|", "<<",
                                                 ">>", "..", "<", "<=", ">",  ">=", "==", "~=", "and", "or" };

        for (size_t i = 0; i < G_N_ELEMENTS(operators); i++)
                if (walk_at(walk, operators[i]))
                        return true;

        return false;
}

static void visit_operand(Walk *walk) {
        while (at_unary(walk))
                walk_advance(walk);

        if (walk->token.kind == TOKEN_NAME || walk_at(walk, "(")) {
                walk_read(walk, visit_suffixed(walk));
        } else if (walk_at(walk, "{"))
                visit_table(walk);
        else if (walk_accept(walk, "function"))
                visit_function(walk, false);
        else
                walk_advance(walk);
}

static void visit_expression(Walk *walk) {
        visit_operand(walk);
        while (at_binary(walk)) {
                walk_advance(walk);
                visit_operand(walk);
        }
}

static void visit_scoped_block(Walk *walk) {
        unsigned n_locals = walk->locals->len;

        visit_block(walk);
        walk_leave_scope(walk, n_locals);
}

static void visit_if(Walk *walk) {
        do {
                visit_expression(walk);
                walk_accept(walk, "then");
                visit_scoped_block(walk);
        } while (walk_accept(walk, "elseif"));

        if (walk_accept(walk, "else"))
                visit_scoped_block(walk);
        walk_accept(walk, "end");
}

static void visit_body(Walk *walk) {
        walk_accept(walk, "do");
        visit_scoped_block(walk);
        walk_accept(walk, "end");
}

/* Names with or without attributes: "a <const>, b". The caller declares them, where they become valid. */
static GArray *visit_declared(Walk *walk) {
        GArray *names = g_array_new(false, false, sizeof(Token));

        do {
                g_array_append_val(names, walk->token);
                walk_advance(walk);
                if (walk_accept(walk, "<")) {
                        walk_advance(walk);
                        walk_accept(walk, ">");
                }
        } while (walk_accept(walk, ","));

        return names;
}

static void declare_all(Walk *walk, const GArray *names) {
        for (unsigned i = 0; i < names->len; i++)
                walk_declare(walk, &g_array_index(names, Token, i));
}

static void visit_for(Walk *walk) {
        g_autoptr(GArray) names = visit_declared(walk);
        unsigned n_locals = walk->locals->len;

        walk_advance(walk); /* "=" or "in" */
        visit_expressions(walk);
        declare_all(walk, names);
        visit_body(walk);
        walk_leave_scope(walk, n_locals);
}

static void visit_local(Walk *walk) {
        g_autoptr(GArray) names = NULL;

        if (walk_accept(walk, "function")) {
                walk_declare(walk, &walk->token);
                walk_advance(walk);
                visit_function(walk, false);
                return;
        }

        names = visit_declared(walk);
        if (walk_accept(walk, "="))
                visit_expressions(walk);
        declare_all(walk, names);
}

/* The local names of the loop are valid in its condition, too. */
static void visit_repeat(Walk *walk) {
        unsigned n_locals = walk->locals->len;

        visit_block(walk);
        walk_accept(walk, "until");
        visit_expression(walk);
        walk_leave_scope(walk, n_locals);
}

static void visit_function_statement(Walk *walk) {
        Token name = walk->token;
        char *variable = walk_name(walk);
        bool has_self = false;

        if (!walk_at(walk, "("))
                walk_read(walk, variable);
        else
                walk_assign(walk, &name, variable);

        while (walk_at(walk, ".") || walk_at(walk, ":")) {
                has_self = walk_at(walk, ":");
                walk_advance(walk);
                walk_advance(walk);
        }
        visit_function(walk, has_self);
}

static void visit_assignment_or_call(Walk *walk) {
        do {
                Token place = walk->token;

                walk_assign(walk, &place, visit_suffixed(walk));
        } while (walk_accept(walk, ","));

        if (walk_accept(walk, "="))
                visit_expressions(walk);
}

static bool at_block_end(const Walk *walk) {
        return walk_at_end(walk) || walk_at(walk, "end") || walk_at(walk, "else") || walk_at(walk, "elseif") ||
               walk_at(walk, "until");
}

static void visit_statement(Walk *walk) {
        if (walk_accept(walk, "if"))
                visit_if(walk);
        else if (walk_accept(walk, "while")) {
                visit_expression(walk);
                visit_body(walk);
        } else if (walk_at(walk, "do"))
                visit_body(walk);
        else if (walk_accept(walk, "for"))
                visit_for(walk);
        else if (walk_accept(walk, "repeat"))
                visit_repeat(walk);
        else if (walk_accept(walk, "function"))
                visit_function_statement(walk);
        else if (walk_accept(walk, "local"))
                visit_local(walk);
        else if (walk_accept(walk, "return")) {
                if (!at_block_end(walk) && !walk_at(walk, ";"))
                        visit_expressions(walk);
        } else if (walk_accept(walk, "goto"))
                walk_advance(walk);
        else if (walk_accept(walk, "::")) {
                walk_advance(walk);
                walk_accept(walk, "::");
        } else if (walk->token.kind == TOKEN_NAME || walk_at(walk, "("))
                visit_assignment_or_call(walk);
        else
                walk_advance(walk); /* ";", "break" */
}

static void visit_block(Walk *walk) {
        while (!at_block_end(walk))
                visit_statement(walk);
}

static void visit_whole_expression(Walk *walk) {
        if (walk_at_end(walk) || walk_at(walk, ";"))
                walk_fail(walk, &walk->token, "the expression is empty");

        visit_expression(walk);
        if (!walk_at_end(walk))
                walk_fail(walk, &walk->token, "an expression has one value; unexpected text after it");
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

int names_find(ScriptKind kind, const char *code, const char *const *extra, const char *const *members,
               Names *ret_names, char **ret_error, size_t *ret_offset) {
        g_autoptr(GArray) locals = g_array_new(false, false, sizeof(Token));
        g_autoptr(GHashTable) reads = set_new(), writes = set_new();
        Walk walk = {
                .kind = kind,
                .code = code,
                .end = code + strlen(code),
                .extra = extra,
                .members = members,
                .locals = locals,
                .reads = reads,
                .writes = writes,
        };

        walk.token = token_next(code, walk.end);
        if (kind == SCRIPT_EXPRESSION)
                visit_whole_expression(&walk);
        else
                visit_block(&walk);

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
