/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What references there are, and whether they are as they must be. */

#include <json-c/linkhash.h>
#include <string.h>

#include "script/piece.h"
#include "script/reference.h"

char *reference_next(const char *text, size_t length, size_t *at, size_t *ret_start) {
        const char *p = text + *at, *start = p;
        Piece piece;

        while (piece_next(&p, text + length, &piece) > 0) {
                if (piece.is_key) {
                        *ret_start = (size_t) (start - text);
                        *at = (size_t) (p - text);
                        return g_strndup(piece.start, piece.length);
                }
                start = p;
        }

        return NULL;
}

/* Calls back for each string inside of the value until one answers less than 0; the greatest answer otherwise. */
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

static int visit_check(const char *text, size_t length, void *userdata) {
        char **ret_error = userdata;
        const char *p = text;
        int found = 0, r;
        Piece piece;

        while ((r = piece_next(&p, text + length, &piece)) > 0) {
                g_autofree char *key = NULL;

                if (!piece.is_key && !piece.is_secret)
                        continue;

                r = piece.is_secret ? piece_secret(&piece, &key, ret_error) : piece_key(&piece, &key, ret_error);
                if (r < 0)
                        return r;
                found = 1;
        }

        return r < 0 ? piece_bad_brace(p, text + length, ret_error) : found;
}

int reference_check(json_object *value, char **ret_error) {
        return each_string(value, visit_check, ret_error);
}

static int visit_has_secret(const char *text, size_t length, void *userdata) {
        const char *p = text;
        Piece piece;

        while (piece_next(&p, text + length, &piece) > 0)
                if (piece.is_secret)
                        return 1;

        return 0;
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
