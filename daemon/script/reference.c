/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Parses, checks and expands the references in strings: "{key}", "{unit_escape:key}", "{secret:NAME}", and "{{" for a
 * brace. */

#include <errno.h>
#include <json-c/linkhash.h>
#include <limits.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/excerpt.h"
#include "basic/nearest.h"
#include "basic/unit-escape.h"
#include "script/blackboard.h"
#include "script/reference.h"
#include "script/secrets.h"

/* A part of a string: plain text, an escaped brace, or a reference to a variable or secret. */
typedef enum PieceKind {
        PIECE_TEXT,
        PIECE_VARIABLE,
        PIECE_ESCAPED, /* a variable that is escaped for the name of a unit */
        PIECE_ESCAPED_PATH,
        PIECE_SECRET,
} PieceKind;

/* How each kind of reference begins. */
static const char *const prefixes[] = {
        [PIECE_VARIABLE] = "",
        [PIECE_ESCAPED] = "unit_escape:",
        [PIECE_ESCAPED_PATH] = "unit_escape_path:",
        [PIECE_SECRET] = SECRET_PREFIX,
};

typedef struct Piece {
        PieceKind kind;
        const char *start; /* of the text, or of the name */
        size_t length;
} Piece;

static bool piece_is_key(const Piece *piece) {
        return piece->kind != PIECE_TEXT && piece->kind != PIECE_SECRET;
}

/* Finds out of which kind the reference is. */
static void settle_kind(Piece *piece) {
        size_t length;

        piece->kind = G_N_ELEMENTS(prefixes) - 1;
        while ((length = strlen(prefixes[piece->kind])) > piece->length ||
               memcmp(piece->start, prefixes[piece->kind], length) != 0)
                piece->kind--;

        piece->start += length;
        piece->length -= length;
}

/* Takes the piece that begins at *p. 1: there is one; 0: the text has ended; -EINVAL: a '{' has no '}'. */
static int piece_next(const char **p, const char *end, Piece *ret_piece) {
        const char *start = *p, *brace;

        if (start == end)
                return 0;

        if (*start != '{') {
                brace = memchr(start, '{', (size_t) (end - start)) ?: end;
                *ret_piece = (Piece){ .start = start, .length = (size_t) (brace - start) };
                *p = brace;
                return 1;
        }

        if (start + 1 < end && start[1] == '{') {
                *ret_piece = (Piece){ .start = start, .length = 1 };
                *p = start + 2;
                return 1;
        }

        brace = memchr(start, '}', (size_t) (end - start));
        if (!brace)
                return -EINVAL;

        *ret_piece = (Piece){ .start = start + 1, .length = (size_t) (brace - start) - 1 };
        *p = brace + 1;
        settle_kind(ret_piece);
        return 1;
}

static int piece_bad_brace(const char *p, const char *end, char **ret_error) {
        g_autofree char *rest = excerpt(p, (size_t) (end - p));

        *ret_error = g_strdup_printf("the '{' of \"%s\" has no '}'; write '{{' for a brace", rest);
        return -EINVAL;
}

/* The name of the variable, or of the secret, to be freed. -EINVAL: invalid, with an error message. */
static int piece_key(const Piece *piece, char **ret_key, char **ret_error) {
        g_autofree char *key = g_strndup(piece->start, piece->length);
        g_autofree char *shown = NULL;

        if (strlen(key) == piece->length && blackboard_name_valid(key)) {
                *ret_key = g_steal_pointer(&key);
                return 0;
        }

        shown = excerpt(piece->start, piece->length);
        *ret_error = g_strdup_printf("'{%s}' does not name a variable (a letter or '_', then letters, digits, '_', "
                                     "'-' and '.'); write '{{' for a brace",
                                     shown);
        return -EINVAL;
}

static int piece_secret(const Piece *piece, char **ret_name, char **ret_error) {
        g_autofree char *name = g_strndup(piece->start, piece->length);
        g_autofree char *shown = NULL;

        if (strlen(name) == piece->length && secret_name_valid(name)) {
                *ret_name = g_steal_pointer(&name);
                return 0;
        }

        shown = excerpt(piece->start, piece->length);
        *ret_error = g_strdup_printf("'{" SECRET_PREFIX "%s}' does not name a credential (letters, digits, '_', '-' "
                                     "and '.', which does not come first)",
                                     shown);
        return -EINVAL;
}

/* Does the text consist of this reference to a variable? */
static bool piece_is_whole(const Piece *piece, const char *text, size_t length) {
        return piece->kind == PIECE_VARIABLE && piece->length + 2 == length && piece->start == text + 1;
}

char *reference_next(const char *text, size_t length, size_t *at, size_t *ret_start) {
        const char *p = text + *at;
        Piece piece;

        while (piece_next(&p, text + length, &piece) > 0)
                if (piece_is_key(&piece)) {
                        *ret_start = (size_t) (piece.start - text);
                        *at = (size_t) (p - text);
                        return g_strndup(piece.start, piece.length);
                }

        return NULL;
}

/* Called for each string in a value. The first negative answer ends it and is the result; else the greatest answer is.
 */
typedef int (*StringVisit)(const char *text, size_t length, void *userdata);

static int each_string(json_object *value, StringVisit visit, void *userdata);

static int each_member_string(json_object *object, StringVisit visit, void *userdata) {
        int found = 0;

        json_object_object_foreach(object, key, member) {
                int r = each_string(member, visit, userdata);

                (void) key;
                if (r < 0)
                        return r;
                found = MAX(found, r);
        }

        return found;
}

static int each_element_string(json_object *array, StringVisit visit, void *userdata) {
        int found = 0;

        for (size_t i = 0; i < json_object_array_length(array); i++) {
                int r = each_string(json_object_array_get_idx(array, i), visit, userdata);

                if (r < 0)
                        return r;
                found = MAX(found, r);
        }

        return found;
}

static int each_string(json_object *value, StringVisit visit, void *userdata) {
        switch (json_object_get_type(value)) {
        case json_type_string:
                return visit(json_object_get_string(value), (size_t) json_object_get_string_len(value), userdata);
        case json_type_array:
                return each_element_string(value, visit, userdata);
        case json_type_object:
                return each_member_string(value, visit, userdata);
        default:
                return 0;
        }
}

static int visit_has_brace(const char *text, size_t length, void *userdata) {
        return memchr(text, '{', length) != NULL;
}

bool reference_inside(json_object *value) {
        return each_string(value, visit_has_brace, NULL) > 0;
}

int reference_check(const char *text, size_t length, ReferenceFault on_fault, void *userdata) {
        const char *p = text;
        int found = 0, r;
        Piece piece;

        for (const char *start = p; (r = piece_next(&p, text + length, &piece)) > 0; start = p) {
                g_autofree char *key = NULL;
                char *error;

                if (piece.kind == PIECE_TEXT)
                        continue;

                r = piece.kind == PIECE_SECRET ? piece_secret(&piece, &key, &error) : piece_key(&piece, &key, &error);
                if (r < 0)
                        on_fault(error, (size_t) (start - text), userdata);
                found = r < 0 || found < 0 ? -EINVAL : 1;
        }

        if (r < 0) {
                char *error;

                piece_bad_brace(p, text + length, &error);
                on_fault(error, (size_t) (p - text), userdata);
                found = -EINVAL;
        }

        return found;
}

static int visit_has_secret(const char *text, size_t length, void *userdata) {
        const char *p = text;
        Piece piece;

        while (piece_next(&p, text + length, &piece) > 0)
                if (piece.kind == PIECE_SECRET)
                        return 1;

        return 0;
}

typedef struct Noting {
        const Blackboard *blackboard;
        json_object *noted;
} Noting;

static int visit_note(const char *text, size_t length, void *userdata) {
        const Noting *noting = userdata;
        size_t at = 0, start;
        char *name;

        while ((name = reference_next(text, length, &at, &start))) {
                g_autofree char *key = name;
                json_object *value;

                if (blackboard_get(noting->blackboard, key, &value))
                        json_object_object_add(noting->noted, key, json_object_get(value));
        }

        return 0;
}

void reference_note(const Blackboard *blackboard, json_object *value, json_object *noted) {
        Noting noting = { .blackboard = blackboard, .noted = noted };

        (void) each_string(value, visit_note, &noting);
}

static int visit_has_changed(const char *text, size_t length, void *userdata) {
        const Noting *noting = userdata;
        size_t at = 0, start;
        char *name;

        while ((name = reference_next(text, length, &at, &start))) {
                g_autofree char *key = name;
                json_object *now, *then;
                bool is_set = blackboard_get(noting->blackboard, key, &now);

                if (is_set != json_object_object_get_ex(noting->noted, key, &then) ||
                    (is_set && now != then && !blackboard_same_value(now, then)))
                        return 1;
        }

        return 0;
}

bool reference_is_as_noted(const Blackboard *blackboard, json_object *value, json_object *noted) {
        Noting noting = { .blackboard = blackboard, .noted = noted };

        return each_string(value, visit_has_changed, &noting) == 0;
}

static int visit_add_names(const char *text, size_t length, void *userdata) {
        size_t at = 0, start;
        char *name;

        while ((name = reference_next(text, length, &at, &start)))
                g_ptr_array_add(userdata, name);

        return 0;
}

void reference_add_names(json_object *value, GPtrArray *names) {
        (void) each_string(value, visit_add_names, names);
}

bool reference_to_secret(const char *text, size_t length) {
        return visit_has_secret(text, length, NULL) > 0;
}

bool reference_to_secret_inside(json_object *value) {
        return each_string(value, visit_has_secret, NULL) > 0;
}

char *reference_key(json_object *value) {
        g_autofree char *error = NULL;
        const char *text, *p;
        char *key = NULL;
        size_t length;
        Piece piece;

        if (!json_object_is_type(value, json_type_string))
                return NULL;

        p = text = json_object_get_string(value);
        length = (size_t) json_object_get_string_len(value);
        if (piece_next(&p, text + length, &piece) <= 0 || !piece_is_whole(&piece, text, length))
                return NULL;

        return piece_key(&piece, &key, &error) < 0 ? NULL : key;
}

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

static int look_up(const ReferenceValues *values, const Piece *piece, json_object **ret_value, char **ret_error) {
        g_autofree char *key = NULL;
        int r = piece_key(piece, &key, ret_error);
        bool found;

        if (r < 0)
                return r;

        found = values->noted ? json_object_object_get_ex(values->noted, key, ret_value)
                              : blackboard_get(values->blackboard, key, ret_value);
        return found ? 0 : no_variable(values->blackboard, key, ret_error);
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

/* A secret is always a text. */
static int append_secret(const ReferenceValues *values, GString *text, const Piece *piece, char **ret_error) {
        g_autofree char *name = NULL;
        const char *secret;
        int r;

        r = piece_secret(piece, &name, ret_error);
        if (r < 0)
                return r;
        if (!values->secrets) {
                g_string_append_printf(text, "{" SECRET_PREFIX "%s}", name);
                return 0;
        }

        r = secrets_get(values->secrets, name, &secret, ret_error);
        if (r < 0)
                return r;

        g_string_append(text, secret);
        return 0;
}

/* The value has to be a text, a number, true or false. */
static int append_escaped(GString *text, const Piece *piece, json_object *value, char **ret_error) {
        const char *plain = json_object_get_string(value);
        g_autofree char *escaped = NULL, *shown = NULL;

        if (json_object_is_type(value, json_type_array) || json_object_is_type(value, json_type_object)) {
                *ret_error = g_strdup_printf("the variable '%.*s' is %s, and only a text can be escaped",
                                             (int) piece->length, piece->start,
                                             json_object_is_type(value, json_type_array) ? "a list" : "an object");
                return -EINVAL;
        }

        escaped = piece->kind == PIECE_ESCAPED_PATH ? unit_escape_path(plain) : unit_escape(plain);
        if (escaped) {
                g_string_append(text, escaped);
                return 0;
        }

        shown = excerpt(plain, strlen(plain));
        *ret_error = g_strdup_printf("the variable '%.*s' is not a path that can be escaped: '%s' contains '..'",
                                     (int) piece->length, piece->start, shown);
        return -EINVAL;
}

static int append_variable(const ReferenceValues *values, GString *text, const Piece *piece, char **ret_error) {
        json_object *value;
        int r = look_up(values, piece, &value, ret_error);

        if (r < 0)
                return r;

        if (!value && !values->null_is_text) {
                *ret_error = g_strdup_printf("the variable '%.*s' is null, so it cannot be a part of a text",
                                             (int) piece->length, piece->start);
                return -EINVAL;
        }
        if (piece->kind != PIECE_VARIABLE)
                return append_escaped(text, piece, value, ret_error);

        append_value(text, value);
        return 0;
}

static int append_piece(const ReferenceValues *values, GString *text, const Piece *piece, char **ret_error) {
        if (piece->kind == PIECE_SECRET)
                return append_secret(values, text, piece, ret_error);
        if (piece_is_key(piece))
                return append_variable(values, text, piece, ret_error);

        g_string_append_len(text, piece->start, (gssize) piece->length);
        return 0;
}

static int expand_text(const ReferenceValues *values, const char *text, size_t length, GString *expanded,
                       char **ret_error) {
        const char *p = text;
        Piece piece;
        int r;

        while ((r = piece_next(&p, text + length, &piece)) > 0) {
                r = append_piece(values, expanded, &piece, ret_error);
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

static int expand_string(const ReferenceValues *values, json_object *string, json_object **ret_value,
                         char **ret_error) {
        const char *text = json_object_get_string(string), *p = text;
        size_t length = (size_t) json_object_get_string_len(string);
        g_autoptr(GString) expanded = NULL;
        json_object *value;
        Piece piece;
        int r;

        if (piece_next(&p, text + length, &piece) > 0 && piece_is_whole(&piece, text, length)) {
                r = look_up(values, &piece, &value, ret_error);
                if (r >= 0)
                        *ret_value = json_object_get(value);
                return r;
        }

        expanded = g_string_sized_new(length);
        r = expand_text(values, text, length, expanded, ret_error);
        if (r >= 0)
                *ret_value = json_object_new_string_len(expanded->str, (int) expanded->len);
        return r;
}

static int expand_array(const ReferenceValues *values, json_object *array, json_object **ret_value, char **ret_error) {
        g_autoptr(json_object) copy = json_object_new_array();

        for (size_t i = 0; i < json_object_array_length(array); i++) {
                json_object *element;
                int r = reference_reveal(values, json_object_array_get_idx(array, i), &element, ret_error);

                if (r < 0)
                        return r;

                json_object_array_add(copy, element);
        }

        *ret_value = g_steal_pointer(&copy);
        return 0;
}

static int expand_object(const ReferenceValues *values, json_object *object, json_object **ret_value,
                         char **ret_error) {
        g_autoptr(json_object) copy = json_object_new_object();

        json_object_object_foreach(object, key, member) {
                json_object *expanded;
                int r = reference_reveal(values, member, &expanded, ret_error);

                if (r < 0)
                        return r;

                json_object_object_add(copy, key, expanded);
        }

        *ret_value = g_steal_pointer(&copy);
        return 0;
}

int reference_reveal(const ReferenceValues *values, json_object *value, json_object **ret_value, char **ret_error) {
        switch (json_object_get_type(value)) {
        case json_type_string:
                return expand_string(values, value, ret_value, ret_error);
        case json_type_array:
                return expand_array(values, value, ret_value, ret_error);
        case json_type_object:
                return expand_object(values, value, ret_value, ret_error);
        default:
                *ret_value = json_object_get(value);
                return 0;
        }
}

int reference_expand(const Blackboard *blackboard, json_object *value, json_object **ret_value, char **ret_error) {
        return reference_reveal(&(ReferenceValues){ .blackboard = blackboard }, value, ret_value, ret_error);
}
