/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * The reader: one pass, without recursion. At any time it expects either a value or what may stand behind one; the
 * brackets that are open are a stack.
 */

#include <errno.h>
#include <string.h>

#include "basic/excerpt.h"
#include "definition/text-reader.h"

bool text_fail(TextReader *reader, const char *at, const char *format, ...) {
        va_list args;

        va_start(args, format);
        reader->error = g_strdup_vprintf(format, args);
        reader->error_at = at;
        va_end(args);
        return false;
}

static TextItem *item_at(TextReader *reader, uint32_t item) {
        return &reader->items[item];
}

static uint32_t offset_of(const TextReader *reader, const char *p) {
        return (uint32_t) (p - reader->text);
}

static unsigned line_of(const TextReader *reader, uint32_t offset) {
        unsigned line = 1;

        for (const char *p = reader->text; p < reader->text + offset; p++)
                line += *p == '\n';

        return line;
}

/* "; the '{' in line 7 is not closed", which may be a long way above; empty where none is open, or where what stands at
 * p would close it. */
static char *unclosed(TextReader *reader) {
        const TextItem *open;
        bool object;

        if (reader->open->len == 0)
                return g_strdup("");

        open = item_at(reader, g_array_index(reader->open, uint32_t, reader->open->len - 1));
        object = open->kind == TEXT_OBJECT;
        if (reader->p < reader->end && *reader->p != (object ? ']' : '}'))
                return g_strdup("");

        return g_strdup_printf("; the '%c' in line %u is not closed", object ? '{' : '[', line_of(reader, open->start));
}

bool text_cut_off(TextReader *reader, const char *expected) {
        g_autofree char *open = NULL;

        reader->p = reader->end;
        open = unclosed(reader);
        return text_fail(reader, reader->end, "the file ends where %s should follow%s", expected, open);
}

bool text_unexpected(TextReader *reader, const char *expected) {
        g_autofree char *found = NULL, *open = NULL;

        if (reader->p == reader->end)
                return text_cut_off(reader, expected);

        found = excerpt(reader->p, (size_t) (g_utf8_next_char(reader->p) - reader->p));
        open = unclosed(reader);
        return text_fail(reader, reader->p, "expected %s, not '%s'%s", expected, found, open);
}

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

bool text_add_item(TextReader *reader, TextKind kind, const char *start, bool escaped) {
        if (reader->n_items >= TEXT_ITEMS_MAX)
                return text_fail(reader, start, "the file is too large: it has more than %u values", TEXT_ITEMS_MAX);

        if (reader->n_items == reader->n_room) {
                reader->n_room *= 2;
                reader->items = g_renew(TextItem, reader->items, reader->n_room);
        }

        reader->items[reader->n_items] = (TextItem){ .start = offset_of(reader, start),
                                                     .end = offset_of(reader, reader->p),
                                                     .next = reader->n_items + 1,
                                                     .kind = kind,
                                                     .escaped = escaped };
        reader->n_items++;
        return true;
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
        TextItem *item = item_at(reader, g_array_index(reader->open, uint32_t, reader->open->len - 1));

        reader->p++;
        item->end = offset_of(reader, reader->p);
        item->next = reader->n_items;
        g_array_set_size(reader->open, reader->open->len - 1);
}

/* The innermost open object or array, NULL at the top. */
static TextItem *innermost(TextReader *reader) {
        if (reader->open->len == 0)
                return NULL;

        return item_at(reader, g_array_index(reader->open, uint32_t, reader->open->len - 1));
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
                return text_fail(reader, reader->p, "strings stand in double quotes");
        default:
                return g_ascii_isalpha(*reader->p) ? text_read_word(reader) : text_unexpected(reader, expected);
        }
}

/* The key and the colon of a member; the value follows. */
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

/* A member or an element of the innermost bracket. comma: where the one stands that made us expect this one. */
static bool read_member(TextReader *reader, const char *comma) {
        TextItem *item = innermost(reader);
        bool object = item->kind == TEXT_OBJECT;

        if (comma && (*reader->p == '}' || *reader->p == ']'))
                return text_fail(reader, comma, "a ',' stands only between two; none follows the last one");

        item->count++;
        if (object && !read_key(reader, comma ? "a key in double quotes" : "a key in double quotes, or '}'"))
                return false;

        return read_value(reader, object || comma ? "a value" : "a value, or ']'");
}

static char bracket_of(const TextItem *item) {
        return item->kind == TEXT_OBJECT ? '}' : ']';
}

/* Closes what is closed behind a value. Afterwards a member is next, or nothing is open. */
static bool read_behind_value(TextReader *reader, const char **ret_comma) {
        for (;;) {
                TextItem *item = innermost(reader);

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
                TextItem *item = innermost(reader);
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
                return text_fail(reader, reader->p, "something follows the end of the tree file");

        return true;
}

/* Whatever comes later relies on this: valid UTF-8 throughout, and no NUL. */
static bool check_bytes(TextReader *reader) {
        const char *bad;

        if (reader->end - reader->text > TEXT_LENGTH_MAX)
                return text_fail(reader, reader->text, "the file is too large: more than %u MiB",
                                 TEXT_LENGTH_MAX >> 20);
        if (g_str_has_prefix(reader->text, "\xef\xbb\xbf"))
                return text_fail(reader, reader->text, "the file starts with a byte order mark; save it without one");
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
