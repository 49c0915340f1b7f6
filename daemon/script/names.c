/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * A walk along the grammar of Lua, which only needs to know where a local name begins and ceases to hold, and which
 * names are assigned to. Operators bind as they like, since that changes nothing about names.
 */

#include <errno.h>
#include <string.h>

#include "script/names.h"
#include "script/walk.h"

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

/* A variable, a call, a field, or something in parentheses. The variable, if it is nothing but that and is not read
 * yet; to be freed. */
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

/* Names with or without attributes, which are names, too: "a <const>, b". They begin to hold where the caller says. */
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

/* What is in the loop holds in its condition, too. */
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
                walk_complain(walk, &walk->token, "there is no expression");

        visit_expression(walk);
        if (!walk_at_end(walk))
                walk_complain(walk, &walk->token, "an expression has one value, and ends before this");
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
