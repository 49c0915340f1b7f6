/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Braces, and what stands in them. */

#include <errno.h>
#include <string.h>

#include "basic/excerpt.h"
#include "script/blackboard.h"
#include "script/piece.h"
#include "script/secrets.h"

/* A reference is to a variable or to a secret. */
static void settle_kind(Piece *piece) {
        size_t prefix = strlen(SECRET_PREFIX);

        piece->is_secret = piece->length >= prefix && memcmp(piece->start, SECRET_PREFIX, prefix) == 0;
        piece->is_key = !piece->is_secret;
        if (piece->is_secret) {
                piece->start += prefix;
                piece->length -= prefix;
        }
}

int piece_next(const char **p, const char *end, Piece *ret_piece) {
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

int piece_bad_brace(const char *p, const char *end, char **ret_error) {
        g_autofree char *rest = excerpt(p, (size_t) (end - p));

        *ret_error = g_strdup_printf("the '{' of \"%s\" has no '}'; write '{{' for a brace", rest);
        return -EINVAL;
}

int piece_key(const Piece *piece, char **ret_key, char **ret_error) {
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

int piece_secret(const Piece *piece, char **ret_name, char **ret_error) {
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

bool piece_is_whole(const Piece *piece, const char *text, size_t length) {
        return piece->is_key && piece->length + 2 == length && piece->start == text + 1;
}
