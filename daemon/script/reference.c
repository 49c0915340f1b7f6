/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Parses, checks and expands the references in strings: "{key}", "{key.member}", "{key[2]}", "{key...}",
 * "{unit_escape:key}", "{secret:NAME}", and "{{" for a brace. */

#include <errno.h>
#include <inttypes.h>
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

#define SPREAD "..."

typedef struct Piece {
        PieceKind kind;
        const char *start; /* of the text, or of the name */
        size_t length;
        const char *end; /* a variable: after its members, ".device[2]"; if it is spread, SPREAD follows */
        bool spread;
} Piece;

/* Finds out of which kind the reference is, and where the name of its variable ends. */
static void settle_kind(Piece *piece) {
        size_t length;
        const char *p;

        piece->kind = G_N_ELEMENTS(prefixes) - 1;
        while ((length = strlen(prefixes[piece->kind])) > piece->length ||
               memcmp(piece->start, prefixes[piece->kind], length) != 0)
                piece->kind--;

        piece->start += length;
        piece->length -= length;
        piece->end = piece->start + piece->length;
        if (piece->kind == PIECE_SECRET)
                return;

        piece->spread =
                piece->length > strlen(SPREAD) && memcmp(piece->end - strlen(SPREAD), SPREAD, strlen(SPREAD)) == 0;
        piece->end -= piece->spread ? strlen(SPREAD) : 0;
        for (p = piece->start; p < piece->end && *p != '.' && *p != '['; p++)
                ;
        piece->length = (size_t) (p - piece->start);
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

/* A member of an object, or an element of a list. */
typedef struct Step {
        const char *start; /* its '.' or '[' */
        const char *name;  /* NULL: an element */
        size_t length;
        uint64_t number; /* from 1, as in expressions */
} Step;

/* Takes the step that begins at *p. 1: there is one; 0: there are no more; -EINVAL: bad syntax. */
static int step_next(const char **p, const char *end, Step *ret_step) {
        const char *start = *p + 1, *stop = start;
        uint64_t number = 0;

        if (*p == end)
                return 0;

        if (**p == '.') {
                while (stop < end && (g_ascii_isalnum(*stop) || *stop == '_' || *stop == '-'))
                        stop++;
                if (stop == start)
                        return -EINVAL;

                *ret_step = (Step){ .start = *p, .name = start, .length = (size_t) (stop - start) };
                *p = stop;
                return 1;
        }

        for (; stop < end && g_ascii_isdigit(*stop); stop++)
                number = MIN(number * 10 + (uint64_t) (*stop - '0'), UINT32_MAX);
        if (**p != '[' || stop == start || stop == end || *stop != ']')
                return -EINVAL;

        *ret_step = (Step){ .start = *p, .number = number };
        *p = stop + 1;
        return 1;
}

/* Tells how to write here what this is in a shell or another language; empty: it is unknown. */
static const char *reference_advice(const char *inside) {
        static const struct {
                const char *pattern, *advice;
        } all[] = {
                { "^(env|ENV):", "; a tree sees no environment: make it an input" },
                { "^secrets?[:.]", "; a secret is '{secret:NAME}'" },
                { "\\w:[-=+?]", "; an input has a 'default', and in code 'x = x or \"a\"' sets one" },
                { "\\w\\(", "; a reference calls no function: set a variable in a Script" },
                { "^(#|[^ ;][^;]*([-+*/%] |[=<>?|!]))[^;]*$",
                  "; a reference computes nothing: set a variable in a Script" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(all); i++)
                if (g_regex_match_simple(all[i].pattern, inside, 0, 0))
                        return all[i].advice;

        return "";
}

/* The name of the variable, to be freed. -EINVAL: it or its members are invalid, with an error message. */
static int piece_key(const Piece *piece, char **ret_key, char **ret_error) {
        g_autofree char *key = g_strndup(piece->start, piece->length), *shown = NULL;
        bool valid = strlen(key) == piece->length && blackboard_name_valid(key);
        const char *p = piece->start + piece->length;
        int r = -EINVAL;
        Step step;

        while (valid && (r = step_next(&p, piece->end, &step)) > 0)
                if (!step.name && step.number == 0) {
                        r = -ERANGE;
                        break;
                }
        if (r >= 0) {
                *ret_key = g_steal_pointer(&key);
                return 0;
        }

        shown = excerpt(piece->start, (size_t) (piece->end - piece->start));
        if (r == -ERANGE)
                *ret_error = g_strdup_printf("'{%s}': the first element of a list is [1], as in expressions", shown);
        else if (valid)
                *ret_error = g_strdup_printf("'{%s}' does not name a member, as '{camera.device}' and '{list[2]}' do",
                                             shown);
        else
                *ret_error = g_strdup_printf("'{%s}' does not name a variable (a letter or '_', then letters, digits, "
                                             "'_' and '-')%s; write '{{' for a brace",
                                             shown, reference_advice(shown));
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
        return piece->kind == PIECE_VARIABLE && piece->start == text + 1 &&
               piece->end + (piece->spread ? strlen(SPREAD) : 0) + 1 == text + length;
}

bool reference_next(const char *text, size_t length, size_t *at, Reference *ret_reference) {
        const char *p = text + *at;
        Piece piece;

        while (piece_next(&p, text + length, &piece) > 0)
                if (piece.kind != PIECE_TEXT && piece.kind != PIECE_SECRET) {
                        const char *steps = piece.start + piece.length;

                        *ret_reference = (Reference){
                                .name = g_strndup(piece.start, piece.length),
                                .steps = steps,
                                .n_steps = (size_t) (piece.end - steps),
                                .start = (size_t) (piece.start - text),
                                .spread = piece.spread,
                                .whole = !piece.spread && piece_is_whole(&piece, text, length),
                        };
                        *at = (size_t) (p - text);
                        return true;
                }

        return false;
}

bool reference_spreads(const char *text, size_t length) {
        const char *p = text;
        Piece piece;

        return piece_next(&p, text + length, &piece) > 0 && piece.spread && piece_is_whole(&piece, text, length);
}

/* Called for each string in a value. The first negative answer ends it and is the result; else the greatest answer is.
 */
typedef int (*StringVisit)(const char *text, size_t length, void *userdata);

static int each_string(json_object *value, StringVisit visit, void *userdata) {
        int found = 0, r;

        switch (json_object_get_type(value)) {
        case json_type_string:
                return visit(json_object_get_string(value), (size_t) json_object_get_string_len(value), userdata);
        case json_type_array:
                for (size_t i = 0; i < json_object_array_length(value); i++) {
                        r = each_string(json_object_array_get_idx(value, i), visit, userdata);
                        if (r < 0)
                                return r;
                        found = MAX(found, r);
                }
                return found;
        case json_type_object: {
                json_object_object_foreach(value, key, member) {
                        (void) key;
                        r = each_string(member, visit, userdata);
                        if (r < 0)
                                return r;
                        found = MAX(found, r);
                }
                return found;
        }
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
                if (r >= 0 && piece.spread && !piece_is_whole(&piece, text, length)) {
                        error = g_strdup_printf("'{%s" SPREAD "}' must be an element of its own, because it becomes "
                                                "several",
                                                key);
                        r = -EINVAL;
                }
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

static const char *describe_type(json_object *value) {
        switch (json_object_get_type(value)) {
        case json_type_array:
                return "a list";
        case json_type_object:
                return "an object";
        case json_type_string:
                return "a string";
        case json_type_boolean:
                return "true or false";
        case json_type_null:
                return "null";
        default:
                return "a number";
        }
}

/* Replaces the value by the member that the steps lead to, which have valid syntax. -ENOENT: there is no such member;
 * ret_failed: the first step that led nowhere; *value is where it began. */
static int follow(json_object **value, const char *steps, size_t n_steps, Step *ret_failed) {
        const char *p = steps;
        Step step;

        while (step_next(&p, steps + n_steps, &step) > 0) {
                g_autofree char *name = step.name ? g_strndup(step.name, step.length) : NULL;
                bool is_list = json_object_is_type(*value, json_type_array);
                json_object *member = NULL;
                bool found = name ? json_object_object_get_ex(*value, name, &member)
                                  : is_list && step.number <= json_object_array_length(*value);

                if (!found) {
                        if (ret_failed)
                                *ret_failed = step;
                        return -ENOENT;
                }
                *value = name ? member : json_object_array_get_idx(*value, step.number - 1);
        }

        return 0;
}

typedef struct Noting {
        const Blackboard *blackboard;
        json_object *noted;
} Noting;

static int visit_note(const char *text, size_t length, void *userdata) {
        const Noting *noting = userdata;
        Reference reference;
        size_t at = 0;

        while (reference_next(text, length, &at, &reference)) {
                g_autofree char *key = reference.name;
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
        Reference reference;
        size_t at = 0;

        while (reference_next(text, length, &at, &reference)) {
                g_autofree char *key = reference.name;
                json_object *now, *then;
                bool is_set = blackboard_get(noting->blackboard, key, &now),
                     was_set = json_object_object_get_ex(noting->noted, key, &then);

                is_set = is_set && follow(&now, reference.steps, reference.n_steps, NULL) >= 0;
                was_set = was_set && follow(&then, reference.steps, reference.n_steps, NULL) >= 0;
                if (is_set != was_set || (is_set && now != then && !blackboard_same_value(now, then)))
                        return 1;
        }

        return 0;
}

bool reference_is_as_noted(const Blackboard *blackboard, json_object *value, json_object *noted) {
        Noting noting = { .blackboard = blackboard, .noted = noted };

        return each_string(value, visit_has_changed, &noting) == 0;
}

static int visit_add_names(const char *text, size_t length, void *userdata) {
        Reference reference;
        size_t at = 0;

        while (reference_next(text, length, &at, &reference))
                g_ptr_array_add(userdata, reference.name);

        return 0;
}

void reference_add_names(json_object *value, GPtrArray *names) {
        (void) each_string(value, visit_add_names, names);
}

bool reference_to_secret(const char *text, size_t length) {
        const char *p = text;
        Piece piece;

        while (piece_next(&p, text + length, &piece) > 0)
                if (piece.kind == PIECE_SECRET)
                        return true;

        return false;
}

char *reference_key(json_object *value) {
        g_autofree char *error = NULL, *key = NULL;
        const char *text, *p;
        size_t length;
        Piece piece;

        if (!json_object_is_type(value, json_type_string))
                return NULL;

        p = text = json_object_get_string(value);
        length = (size_t) json_object_get_string_len(value);
        if (piece_next(&p, text + length, &piece) <= 0 || piece.spread || !piece_is_whole(&piece, text, length))
                return NULL;

        return piece_key(&piece, &key, &error) < 0 ? NULL : g_strndup(piece.start, length - 2);
}

static void offer_variables(Nearest *nearest, json_object *variables) {
        json_object_object_foreach(variables, name, value) {
                (void) value;
                nearest_offer(nearest, name);
        }
}

static int no_variable(const Blackboard *blackboard, const char *key, char **ret_error) {
        bool outermost = *key == '@';
        g_autoptr(json_object) variables = NULL;
        Nearest nearest = { .word = outermost ? key + 1 : key };

        if (blackboard)
                variables = blackboard_to_json(outermost ? blackboard_outermost(blackboard) : blackboard);
        if (variables)
                offer_variables(&nearest, variables);
        *ret_error = nearest.best ? g_strdup_printf("there is no variable '%s'; did you mean '%s%s'?", key,
                                                    outermost ? "@" : "", nearest.best)
                                  : g_strdup_printf("there is no variable '%s'", key);
        return -ENOENT;
}

static int no_member(const Piece *piece, json_object *value, const Step *step, char **ret_error) {
        g_autofree char *object = g_strndup(piece->start, (size_t) (step->start - piece->start));
        g_autofree char *name = step->name ? g_strndup(step->name, step->length) : NULL;
        Nearest nearest = { .word = name };
        size_t n;

        if (name && json_object_is_type(value, json_type_object)) {
                offer_variables(&nearest, value);
                *ret_error = nearest.best ? g_strdup_printf("'%s' has no member '%s'; did you mean '%s'?", object, name,
                                                            nearest.best)
                                          : g_strdup_printf("'%s' has no member '%s'", object, name);
        } else if (name) {
                *ret_error =
                        g_strdup_printf("'%s' is %s, so it has no member '%s'", object, describe_type(value), name);
        } else if (json_object_is_type(value, json_type_array)) {
                n = json_object_array_length(value);
                *ret_error = g_strdup_printf("the list '%s' has %zu element%s, so there is no [%" PRIu64 "]", object, n,
                                             n == 1 ? "" : "s", step->number);
        } else
                *ret_error = g_strdup_printf("'%s' is %s, so it has no element [%" PRIu64 "]", object,
                                             describe_type(value), step->number);

        return -ENOENT;
}

static int look_up(const ReferenceValues *values, const Piece *piece, json_object **ret_value, char **ret_error) {
        const char *steps = piece->start + piece->length;
        g_autofree char *key = NULL;
        int r = piece_key(piece, &key, ret_error);
        Step failed;
        bool found;

        if (r < 0)
                return r;

        found = values->noted ? json_object_object_get_ex(values->noted, key, ret_value)
                              : blackboard_get(values->blackboard, key, ret_value);
        if (!found)
                return no_variable(values->blackboard, key, ret_error);

        if (*ret_value &&
            (secret_is_sealed(*ret_value) || (values->blackboard && blackboard_seals(values->blackboard, key)))) {
                if (!values->secrets)
                        return 0;
                /* What was noted when the leaf started has come from the record. */
                if (values->blackboard && !(secret_is_sealed(*ret_value) && secret_value(*ret_value)))
                        (void) blackboard_get(values->blackboard, key, ret_value);
                r = secrets_open(values->secrets, key, *ret_value, ret_value, ret_error);
                if (r < 0)
                        return r;
        }

        r = follow(ret_value, steps, (size_t) (piece->end - steps), &failed);
        return r < 0 ? no_member(piece, *ret_value, &failed, ret_error) : 0;
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
static int append_escaped(const ReferenceValues *values, GString *text, const Piece *piece, json_object *value,
                          char **ret_error) {
        const char *plain = json_object_get_string(value);
        g_autofree char *escaped = NULL, *shown = NULL;

        if (json_object_is_type(value, json_type_array) || json_object_is_type(value, json_type_object)) {
                *ret_error = g_strdup_printf("the variable '%.*s' is %s, and only a text can be escaped",
                                             (int) (piece->end - piece->start), piece->start, describe_type(value));
                return -EINVAL;
        }

        escaped = piece->kind == PIECE_ESCAPED_PATH ? unit_escape_path(plain) : unit_escape(plain);
        if (escaped) {
                g_string_append(text, escaped);
                return 0;
        }

        shown = values->secrets && values->secrets->set ? g_strdup(SECRET_SHOWN) : excerpt(plain, strlen(plain));
        *ret_error = g_strdup_printf("the variable '%.*s' is not a path that can be escaped: '%s' contains '..'",
                                     (int) (piece->end - piece->start), piece->start, shown);
        return -EINVAL;
}

static int append_variable(const ReferenceValues *values, GString *text, const Piece *piece, char **ret_error) {
        const char *written;
        size_t length;
        json_object *value;
        int r = look_up(values, piece, &value, ret_error);

        if (r < 0)
                return r;

        if (!value && !values->null_is_text) {
                *ret_error = g_strdup_printf("the variable '%.*s' is null, so it cannot be a part of a text",
                                             (int) (piece->end - piece->start), piece->start);
                return -EINVAL;
        }
        if (values->no_lists && json_object_is_type(value, json_type_array)) {
                *ret_error = g_strdup_printf("the variable '%.*s' is a list, so it cannot be a part of a text; "
                                             "\"{%.*s" SPREAD "}\" as an element of its own becomes its elements",
                                             (int) (piece->end - piece->start), piece->start,
                                             (int) (piece->end - piece->start), piece->start);
                return -EINVAL;
        }
        if (piece->kind != PIECE_VARIABLE)
                return append_escaped(values, text, piece, value, ret_error);

        if (json_object_is_type(value, json_type_string)) {
                g_string_append_len(text, json_object_get_string(value), json_object_get_string_len(value));
                return 0;
        }

        written = json_object_to_json_string_length(value, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE,
                                                    &length);
        g_string_append_len(text, written, (gssize) length);
        return 0;
}

static int expand_string(const ReferenceValues *values, json_object *string, json_object **ret_value,
                         char **ret_error) {
        const char *text = json_object_get_string(string), *p = text;
        size_t length = (size_t) json_object_get_string_len(string);
        g_autoptr(GString) expanded = NULL;
        json_object *value;
        Piece piece;
        int r;

        if (piece_next(&p, text + length, &piece) > 0 && !piece.spread && piece_is_whole(&piece, text, length)) {
                r = look_up(values, &piece, &value, ret_error);
                if (r >= 0)
                        *ret_value = json_object_get(value);
                return r;
        }

        p = text;
        expanded = g_string_sized_new(length);
        while ((r = piece_next(&p, text + length, &piece)) > 0) {
                if (piece.kind == PIECE_TEXT)
                        g_string_append_len(expanded, piece.start, (gssize) piece.length);
                else
                        r = piece.kind == PIECE_SECRET ? append_secret(values, expanded, &piece, ret_error)
                                                       : append_variable(values, expanded, &piece, ret_error);
                if (r < 0)
                        return r;
        }
        if (r < 0)
                return piece_bad_brace(p, text + length, ret_error);
        if (expanded->len > INT_MAX) {
                *ret_error = g_strdup("the text becomes too long");
                return -EINVAL;
        }

        *ret_value = json_object_new_string_len(expanded->str, (int) expanded->len);
        return 0;
}

int reference_reveal(const ReferenceValues *values, json_object *value, json_object **ret_value, char **ret_error) {
        g_autoptr(json_object) copy = NULL;
        json_object *expanded;
        int r;

        switch (json_object_get_type(value)) {
        case json_type_string:
                return expand_string(values, value, ret_value, ret_error);
        case json_type_array:
                copy = json_object_new_array();
                for (size_t i = 0; i < json_object_array_length(value); i++) {
                        r = reference_reveal(values, json_object_array_get_idx(value, i), &expanded, ret_error);
                        if (r < 0)
                                return r;

                        json_object_array_add(copy, expanded);
                }
                break;
        case json_type_object: {
                copy = json_object_new_object();
                json_object_object_foreach(value, key, member) {
                        r = reference_reveal(values, member, &expanded, ret_error);
                        if (r < 0)
                                return r;

                        json_object_object_add(copy, key, expanded);
                }
                break;
        }
        default:
                copy = json_object_get(value);
        }

        *ret_value = g_steal_pointer(&copy);
        return 0;
}

int reference_spread(const ReferenceValues *values, json_object *array, json_object **ret_array, char **ret_error) {
        g_autoptr(json_object) copy = json_object_new_array();

        for (size_t i = 0; i < json_object_array_length(array); i++) {
                json_object *element = json_object_array_get_idx(array, i), *list;
                const char *text = json_object_get_string(element), *p = text;
                g_autofree char *name = NULL;
                Piece piece;
                int r;

                if (!json_object_is_type(element, json_type_string) || !reference_spreads(text, strlen(text))) {
                        json_object_array_add(copy, json_object_get(element));
                        continue;
                }

                piece_next(&p, text + strlen(text), &piece);
                r = look_up(values, &piece, &list, ret_error);
                if (r < 0)
                        return r;

                name = g_strndup(piece.start, (size_t) (piece.end - piece.start));
                if (!json_object_is_type(list, json_type_array)) {
                        *ret_error = g_strdup_printf("the variable '%s' is %s, not a list", name, describe_type(list));
                        return -EINVAL;
                }
                for (size_t k = 0; k < json_object_array_length(list); k++) {
                        g_autofree char *reference = g_strdup_printf("{%s[%zu]}", name, k + 1);

                        json_object_array_add(copy, json_object_new_string(reference));
                }
        }

        *ret_array = g_steal_pointer(&copy);
        return 0;
}

int reference_expand(const Blackboard *blackboard, json_object *value, json_object **ret_value, char **ret_error) {
        return reference_reveal(&(ReferenceValues){ .blackboard = blackboard }, value, ret_value, ret_error);
}
