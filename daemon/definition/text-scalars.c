/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Reads strings, numbers, and the words null, false and true, for text.c. */

#include <string.h>

#include "basic/excerpt.h"
#include "definition/escape.h"
#include "definition/text-reader.h"

/* The end of the escape that begins at p, or NULL. */
static const char *skip_escape(TextReader *reader, const char *p) {
        char *error = NULL;
        const char *next;

        if (p + 1 == reader->end) {
                text_cut_off(reader, "the rest of a string");
                return NULL;
        }

        next = escape_check(p, &error);
        if (!next) {
                reader->error = error;
                reader->error_at = p;
        }

        return next;
}

static bool fail_control(TextReader *reader, const char *start, const char *p) {
        if (p == reader->end)
                return text_fail(reader, start, "this string is not closed: the file ends first");
        if (*p == '\n' || *p == '\r')
                return text_fail(reader, start, "this string is not closed on its line; a line break is written '\\n'");
        if (*p == '\t')
                return text_fail(reader, p, "a tab inside of a string is written '\\t'");

        return text_fail(reader, p, "a control character inside of a string is written '\\u%04x'", (unsigned char) *p);
}

/* True for bytes that a string can contain without an escape. */
static inline bool is_plain(char c) {
        return c != '"' && c != '\\' && (unsigned char) c >= 0x20;
}

bool text_read_string(TextReader *reader) {
        const char *start = reader->p, *p = start + 1;
        bool escaped = false;

        for (;;) {
                while (is_plain(*p))
                        p++;
                if (*p == '"')
                        break;
                if (*p != '\\')
                        return fail_control(reader, start, p);

                p = skip_escape(reader, p);
                if (!p)
                        return false;
                escaped = true;
        }

        reader->p = p;
        if (!text_add_item(reader, TEXT_STRING, start + 1, escaped))
                return false;

        reader->p = p + 1;
        return true;
}

static const char *skip_digits(const char *p) {
        while (g_ascii_isdigit(*p))
                p++;

        return p;
}

/* The end of the number that begins at p, or NULL if digits are missing. */
static const char *skip_number(TextReader *reader, const char *p) {
        static const char *const expected = "a digit";

        for (int part = 0; part < 3; part++) {
                if (part == 0)
                        p += *p == '-';
                else if (part == 1 && *p == '.')
                        p++;
                else if (part == 2 && (*p == 'e' || *p == 'E'))
                        p += p[1] == '+' || p[1] == '-' ? 2 : 1;
                else
                        continue;

                if (!g_ascii_isdigit(*p)) {
                        reader->p = p;
                        text_unexpected(reader, expected);
                        return NULL;
                }
                p = part == 0 && *p == '0' ? p + 1 : skip_digits(p);
        }

        return p;
}

bool text_read_number(TextReader *reader) {
        const char *start = reader->p, *p = skip_number(reader, start);

        if (!p)
                return false;
        if (g_ascii_isdigit(*p))
                return text_fail(reader, start, "a number does not begin with 0");
        if (g_ascii_isalnum(*p) || *p == '.' || *p == '_')
                return text_fail(reader, start, "this is not a number%s",
                                 g_ascii_isalpha(*p) ? "; a string is written in double quotes, such as \"5s\"" : "");

        reader->p = p;
        return text_add_item(reader, TEXT_NUMBER, start, false);
}

bool text_read_word(TextReader *reader) {
        static const char *const words[] = { [TEXT_NULL] = "null", [TEXT_FALSE] = "false", [TEXT_TRUE] = "true" };
        const char *start = reader->p, *p = start;
        g_autofree char *shown = NULL;

        while (g_ascii_isalnum(*p) || *p == '_')
                p++;

        for (TextKind kind = TEXT_NULL; kind <= TEXT_TRUE; kind++)
                if (strlen(words[kind]) == (size_t) (p - start) &&
                    memcmp(words[kind], start, strlen(words[kind])) == 0) {
                        reader->p = p;
                        return text_add_item(reader, kind, start, false);
                }

        shown = excerpt(start, (size_t) (p - start));
        return text_fail(reader, start, "'%s' is not a value; a string is written in double quotes", shown);
}
