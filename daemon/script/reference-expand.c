/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Copies of values with what their references stand for. */

#include <errno.h>
#include <json-c/linkhash.h>
#include <limits.h>

#include "basic/cleanup.h"
#include "basic/nearest.h"
#include "script/piece.h"
#include "script/reference.h"

/* What stands for references. */
typedef struct Expansion {
        const Blackboard *blackboard;
        Secrets *secrets; /* NULL: their references stay as they are */
} Expansion;

static void offer_variables(Nearest *nearest, json_object *variables) {
        json_object_object_foreach(variables, name, value) {
                (void) value;
                nearest_offer(nearest, name);
        }
}

static int no_variable(const Blackboard *blackboard, const char *key, char **ret_error) {
        bool outermost = *key == '@';
        g_autoptr(json_object) variables =
                blackboard_to_json(outermost ? blackboard_outermost(blackboard) : blackboard);
        Nearest nearest = { .word = outermost ? key + 1 : key };

        offer_variables(&nearest, variables);
        *ret_error = nearest.best ? g_strdup_printf("there is no variable '%s'; did you mean '%s%s'?", key,
                                                    outermost ? "@" : "", nearest.best)
                                  : g_strdup_printf("there is no variable '%s'", key);
        return -ENOENT;
}

static int look_up(const Blackboard *blackboard, const Piece *piece, json_object **ret_value, char **ret_error) {
        g_autofree char *key = NULL;
        int r = piece_key(piece, &key, ret_error);

        if (r < 0)
                return r;
        if (!blackboard_get(blackboard, key, ret_value))
                return no_variable(blackboard, key, ret_error);

        return 0;
}

static void append_value(GString *text, json_object *value) {
        const char *written;
        size_t length;

        if (json_object_is_type(value, json_type_string)) {
                g_string_append_len(text, json_object_get_string(value), json_object_get_string_len(value));
                return;
        }

        written = json_object_to_json_string_length(value, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE,
                                                    &length);
        g_string_append_len(text, written, (gssize) length);
}

/* Always a text. */
static int append_secret(const Expansion *expansion, GString *text, const Piece *piece, char **ret_error) {
        g_autofree char *name = NULL;
        const char *secret;
        int r;

        r = piece_secret(piece, &name, ret_error);
        if (r < 0)
                return r;
        if (!expansion->secrets) {
                g_string_append_printf(text, "{" SECRET_PREFIX "%s}", name);
                return 0;
        }

        r = secrets_get(expansion->secrets, name, &secret, ret_error);
        if (r < 0)
                return r;

        g_string_append(text, secret);
        return 0;
}

static int append_variable(const Expansion *expansion, GString *text, const Piece *piece, char **ret_error) {
        json_object *value;
        int r = look_up(expansion->blackboard, piece, &value, ret_error);

        if (r >= 0)
                append_value(text, value);
        return r;
}

static int append_piece(const Expansion *expansion, GString *text, const Piece *piece, char **ret_error) {
        if (piece->is_secret)
                return append_secret(expansion, text, piece, ret_error);
        if (piece->is_key)
                return append_variable(expansion, text, piece, ret_error);

        g_string_append_len(text, piece->start, (gssize) piece->length);
        return 0;
}

static int expand_text(const Expansion *expansion, const char *text, size_t length, GString *expanded,
                       char **ret_error) {
        const char *p = text;
        Piece piece;
        int r;

        while ((r = piece_next(&p, text + length, &piece)) > 0) {
                r = append_piece(expansion, expanded, &piece, ret_error);
                if (r < 0)
                        return r;
        }
        if (r < 0)
                return piece_bad_brace(p, text + length, ret_error);
        if (expanded->len <= INT_MAX)
                return 0;

        *ret_error = g_strdup("the text becomes too long");
        return -EINVAL;
}

static int expand_string(const Expansion *expansion, json_object *string, json_object **ret_value, char **ret_error) {
        const char *text = json_object_get_string(string), *p = text;
        size_t length = (size_t) json_object_get_string_len(string);
        g_autoptr(GString) expanded = NULL;
        json_object *value;
        Piece piece;
        int r;

        if (piece_next(&p, text + length, &piece) > 0 && piece_is_whole(&piece, text, length)) {
                r = look_up(expansion->blackboard, &piece, &value, ret_error);
                if (r >= 0)
                        *ret_value = json_object_get(value);
                return r;
        }

        expanded = g_string_sized_new(length);
        r = expand_text(expansion, text, length, expanded, ret_error);
        if (r >= 0)
                *ret_value = json_object_new_string_len(expanded->str, (int) expanded->len);
        return r;
}

static int expand(const Expansion *expansion, json_object *value, json_object **ret_value, char **ret_error);

static int expand_array(const Expansion *expansion, json_object *array, json_object **ret_value, char **ret_error) {
        g_autoptr(json_object) copy = json_object_new_array();

        for (size_t i = 0; i < json_object_array_length(array); i++) {
                json_object *element;
                int r = expand(expansion, json_object_array_get_idx(array, i), &element, ret_error);

                if (r < 0)
                        return r;

                json_object_array_add(copy, element);
        }

        *ret_value = g_steal_pointer(&copy);
        return 0;
}

static int expand_object(const Expansion *expansion, json_object *object, json_object **ret_value, char **ret_error) {
        g_autoptr(json_object) copy = json_object_new_object();

        json_object_object_foreach(object, key, member) {
                json_object *expanded;
                int r = expand(expansion, member, &expanded, ret_error);

                if (r < 0)
                        return r;

                json_object_object_add(copy, key, expanded);
        }

        *ret_value = g_steal_pointer(&copy);
        return 0;
}

static int expand(const Expansion *expansion, json_object *value, json_object **ret_value, char **ret_error) {
        switch (json_object_get_type(value)) {
        case json_type_string:
                return expand_string(expansion, value, ret_value, ret_error);
        case json_type_array:
                return expand_array(expansion, value, ret_value, ret_error);
        case json_type_object:
                return expand_object(expansion, value, ret_value, ret_error);
        default:
                *ret_value = json_object_get(value);
                return 0;
        }
}

int reference_expand(const Blackboard *blackboard, json_object *value, json_object **ret_value, char **ret_error) {
        return reference_reveal(blackboard, NULL, value, ret_value, ret_error);
}

int reference_reveal(const Blackboard *blackboard, Secrets *secrets, json_object *value, json_object **ret_value,
                     char **ret_error) {
        return expand(&(Expansion){ .blackboard = blackboard, .secrets = secrets }, value, ret_value, ret_error);
}
