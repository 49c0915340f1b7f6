/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Implements the reader of text.h: one pass, without recursion. At each point it expects either a value or what can
 * follow one; the open brackets are a stack.
 */

#include <errno.h>
#include <string.h>

#include "definition/text-reader.h"

static bool skip_comment(TextReader *reader) {
        const char *start = reader->p, *close;

        if (start[1] == '/') {
                reader->p = memchr(start, '\n', (size_t) (reader->end - start)) ?: reader->end;
                return true;
        }
        if (start[1] != '*')
                return text_fail(reader, start, "a comment begins with '//' or '/*'");

        close = memmem(start + 2, (size_t) (reader->end - start) - 2, "*/", 2);
        if (!close)
                return text_fail(reader, start, "this comment is not closed; it ends with '*/'");

        reader->p = close + 2;
        return true;
}

static bool skip_space(TextReader *reader) {
        for (;;)
                switch (*reader->p) {
                case ' ':
                case '\t':
                case '\n':
                case '\r':
                        reader->p++;
                        break;
                case '/':
                        if (!skip_comment(reader))
                                return false;
                        break;
                default:
                        return true;
                }
}

static bool open_bracket(TextReader *reader, TextKind kind) {
        uint32_t item = reader->n_items;

        if (reader->open->len >= TEXT_NESTING_MAX)
                return text_fail(reader, reader->p, "nested too deeply: more than %u brackets are open here",
                                 TEXT_NESTING_MAX);
        if (!text_add_item(reader, kind, reader->p, false))
                return false;

        g_array_append_val(reader->open, item);
        reader->p++;
        return true;
}

static void close_bracket(TextReader *reader) {
        TextItem *item = text_innermost(reader);

        reader->p++;
        item->end = text_here(reader);
        item->next = reader->n_items;
        g_array_set_size(reader->open, reader->open->len - 1);
}

static bool read_value(TextReader *reader, const char *expected) {
        switch (*reader->p) {
        case '{':
                return open_bracket(reader, TEXT_OBJECT);
        case '[':
                return open_bracket(reader, TEXT_ARRAY);
        case '"':
                return text_read_string(reader);
        case '-':
        case '0' ... '9':
                return text_read_number(reader);
        case '\'':
                return text_fail(reader, reader->p, "a string is written in double quotes");
        default:
                return g_ascii_isalpha(*reader->p) ? text_read_word(reader) : text_unexpected(reader, expected);
        }
}

/* Reads the key and the colon of a member; the value follows. */
static bool read_key(TextReader *reader, const char *expected) {
        if (*reader->p != '"')
                return text_unexpected(reader, expected);
        if (!text_read_string(reader) || !skip_space(reader))
                return false;
        if (*reader->p != ':')
                return text_unexpected(reader, "':' behind a key");

        reader->p++;
        return skip_space(reader);
}

/* Reads a member or an element of the innermost bracket. comma: the place of the comma before it, or NULL. */
static bool read_member(TextReader *reader, const char *comma) {
        TextItem *item = text_innermost(reader);
        bool object = item->kind == TEXT_OBJECT;

        if (comma && (*reader->p == '}' || *reader->p == ']'))
                return text_fail(reader, comma, "remove this ',': nothing follows it");

        item->count++;
        if (object && !read_key(reader, comma ? "a key in double quotes" : "a key in double quotes, or '}'"))
                return false;

        return read_value(reader, object || comma ? "a value" : "a value, or ']'");
}

static char bracket_of(const TextItem *item) {
        return item->kind == TEXT_OBJECT ? '}' : ']';
}

/* Reads the closing brackets and the comma after a value. Afterwards, a member follows or no bracket is open. */
static bool read_behind_value(TextReader *reader, const char **ret_comma) {
        for (;;) {
                TextItem *item = text_innermost(reader);

                if (!skip_space(reader))
                        return false;
                if (!item)
                        return true;

                if (*reader->p == bracket_of(item)) {
                        close_bracket(reader);
                        continue;
                }
                if (*reader->p != ',')
                        return text_unexpected(reader, item->kind == TEXT_OBJECT ? "',' or '}'" : "',' or ']'");

                *ret_comma = reader->p++;
                return skip_space(reader);
        }
}

static bool read_all(TextReader *reader) {
        if (!skip_space(reader))
                return false;
        if (reader->p == reader->end)
                return text_fail(reader, reader->text, "the file is empty; a tree file starts with {\"btd\": 1, ...}");
        if (!read_value(reader, "'{'"))
                return false;

        for (;;) {
                const char *comma = NULL;
                TextItem *item = text_innermost(reader);
                bool just_opened = item && item->next == reader->n_items;

                if (just_opened && !skip_space(reader))
                        return false;
                if (!just_opened || *reader->p == bracket_of(item)) {
                        if (!read_behind_value(reader, &comma))
                                return false;
                        if (reader->open->len == 0)
                                break;
                }
                if (!read_member(reader, comma))
                        return false;
        }

        if (reader->p != reader->end)
                return text_fail(reader, reader->p, "unexpected text after the end of the file's value");

        return true;
}

/* All later stages rely on valid UTF-8 without NUL bytes. */
static bool check_bytes(TextReader *reader) {
        const char *bad;

        if (reader->end - reader->text > TEXT_LENGTH_MAX)
                return text_fail(reader, reader->text, "the file is too large: more than %u MiB",
                                 TEXT_LENGTH_MAX >> 20);
        if (g_utf8_validate_len(reader->text, (size_t) (reader->end - reader->text), &bad))
                return true;
        if (*bad == 0)
                return text_fail(reader, bad, "a NUL byte; is this a text file?");

        return text_fail(reader, bad, "the byte 0x%02X is not UTF-8; save the file as UTF-8", (unsigned char) *bad);
}

int text_read(const char *text, size_t length, Text *ret_text, size_t *ret_offset, char **ret_error) {
        TextReader reader = { .text = text, .p = text, .end = text + length };
        bool good;

        reader.n_room = (uint32_t) MIN(length / 4 + 4, TEXT_ITEMS_MAX);
        reader.items = g_new0(TextItem, reader.n_room);
        reader.open = g_array_new(false, false, sizeof(uint32_t));
        if (g_str_has_prefix(text, BYTE_ORDER_MARK))
                reader.p += strlen(BYTE_ORDER_MARK);
        good = check_bytes(&reader) && read_all(&reader);
        g_array_unref(reader.open);

        if (!good) {
                g_free(reader.items);
                *ret_offset = (size_t) (reader.error_at - text);
                *ret_error = reader.error;
                return -EINVAL;
        }

        *ret_text = (Text){ .text = text, .items = reader.items, .n_items = reader.n_items };
        return 0;
}
