/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Writes JSON in steps. The state is a stack of the open arrays and objects, and the string that is being written. */

#include "basic/json-text.h"

#include <glib.h>
#include <json-c/linkhash.h>
#include <stdio.h>
#include <string.h>

/* Bytes of a string that are written in one step. */
#define PART ((size_t) 16 << 10)

typedef struct Level {
        json_object *value; /* array or object */
        size_t index;       /* index of the next element */
        struct lh_entry *entry;
        bool begun; /* at least one element is written */
} Level;

struct JsonText {
        GString *text;
        GArray *levels; /* of Level */
        json_object *root;
        const char *string; /* the rest of the current string; NULL: none */
        size_t left;        /* length of that rest */
        bool is_key;
        json_object *after_key;
};

static void begin_string(JsonText *it, const char *string, size_t length) {
        g_string_append_c(it->text, '"');
        it->string = string;
        it->left = length;
}

static void begin(JsonText *it, json_object *value) {
        Level level = { .value = value };

        switch (json_object_get_type(value)) {
        case json_type_string:
                begin_string(it, json_object_get_string(value), (size_t) json_object_get_string_len(value));
                break;
        case json_type_object:
                level.entry = lh_table_head(json_object_get_object(value));
                g_string_append_c(it->text, '{');
                g_array_append_val(it->levels, level);
                break;
        case json_type_array:
                g_string_append_c(it->text, '[');
                g_array_append_val(it->levels, level);
                break;
        default:
                g_string_append(it->text, json_object_to_json_string_ext(value, JSON_C_TO_STRING_PLAIN));
        }
}

JsonText *json_text_new(json_object *value) {
        JsonText *it = g_new0(JsonText, 1);

        it->text = g_string_new(NULL);
        it->levels = g_array_new(FALSE, FALSE, sizeof(Level));
        it->root = json_object_get(value);
        begin(it, value);
        return it;
}

void json_text_free(JsonText *it) {
        if (!it)
                return;

        g_string_free(it->text, TRUE);
        g_array_unref(it->levels);
        json_object_put(it->root);
        g_free(it);
}

static void append_escaped(GString *text, char c) {
        static const char short_ones[] = "\b\n\r\t\f\"\\", letters[] = "bnrtf\"\\";
        const char *found = c ? strchr(short_ones, c) : NULL;

        if (found)
                g_string_append_printf(text, "\\%c", letters[found - short_ones]);
        else
                g_string_append_printf(text, "\\u%04x", (unsigned) c);
}

static void go_on_with_string(JsonText *it) {
        size_t part = MIN(it->left, PART), begun = it->text->len;
        const char *end;

        /* Never cut a character in two. */
        for (unsigned i = 0; part < it->left && i < 3 && ((unsigned char) it->string[part] & 0xC0) == 0x80; i++)
                part--;
        end = it->string + part;

        for (const char *c = it->string, *plain = c; c <= end; c++) {
                bool plain_one = (unsigned char) *c >= ' ' && *c != '"' && *c != '\\';

                if (c < end && plain_one)
                        continue;

                g_string_append_len(it->text, plain, c - plain);
                if (c < end)
                        append_escaped(it->text, *c);
                plain = c + 1;
        }
        if (!g_utf8_validate(it->text->str + begun, (gssize) (it->text->len - begun), NULL)) {
                g_autofree char *valid = g_utf8_make_valid(it->text->str + begun, (gssize) (it->text->len - begun));

                g_string_truncate(it->text, begun);
                g_string_append(it->text, valid);
        }

        it->string = end;
        it->left -= part;
        if (it->left > 0)
                return;

        it->string = NULL;
        g_string_append_c(it->text, '"');
        if (it->is_key) {
                it->is_key = false;
                g_string_append_c(it->text, ':');
                begin(it, it->after_key);
        }
}

static void close_level(JsonText *it, char bracket) {
        g_string_append_c(it->text, bracket);
        g_array_set_size(it->levels, it->levels->len - 1);
}

static void separate(JsonText *it, Level *level) {
        if (level->begun)
                g_string_append_c(it->text, ',');
        level->begun = true;
}

static void go_on_with_object(JsonText *it, Level *level) {
        struct lh_entry *entry = level->entry;
        const char *key;

        if (!entry) {
                close_level(it, '}');
                return;
        }

        separate(it, level);
        key = lh_entry_k(entry);
        level->entry = lh_entry_next(entry);
        it->is_key = true;
        it->after_key = (json_object *) lh_entry_v(entry);
        begin_string(it, key, strlen(key));
}

static void go_on_with_array(JsonText *it, Level *level) {
        if (level->index == json_object_array_length(level->value)) {
                close_level(it, ']');
                return;
        }

        separate(it, level);
        begin(it, json_object_array_get_idx(level->value, level->index++));
}

bool json_text_continue(JsonText *it) {
        Level *level = it->levels->len > 0 ? &g_array_index(it->levels, Level, it->levels->len - 1) : NULL;

        if (it->string)
                go_on_with_string(it);
        else if (level && json_object_is_type(level->value, json_type_object))
                go_on_with_object(it, level);
        else if (level)
                go_on_with_array(it, level);

        return it->string || it->levels->len > 0;
}

const char *json_text_get(const JsonText *it, size_t *ret_length) {
        *ret_length = it->text->len;
        return it->text->str;
}

json_object *json_double(double number) {
        char text[G_ASCII_DTOSTR_BUF_SIZE + 2];

        for (int digits = 15; digits <= 17; digits++) {
                char format[16];

                snprintf(format, sizeof(format), "%%.%dg", digits);
                g_ascii_formatd(text, G_ASCII_DTOSTR_BUF_SIZE, format, number);
                if (g_ascii_strtod(text, NULL) == number)
                        break;
        }

        if (!strpbrk(text, ".e"))
                strcat(text, ".0");
        return json_object_new_double_s(number, text);
}
