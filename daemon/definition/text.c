/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * The reader: one pass, without recursion. At any time it expects either a value or what may stand behind one; the
 * brackets that are open are a stack.
 */

#include <errno.h>
#include <string.h>

#include "basic/excerpt.h"
#include "definition/escape.h"
#include "definition/text.h"

typedef struct Reader {
        const char *text, *p, *end; /* the text is ended by a NUL where end points */
        TextItem *items;
        uint32_t n_items, n_room;
        GArray *open; /* of uint32_t: the objects and arrays that are not closed yet */
        char *error;
        const char *error_at;
} Reader;

static bool fail(Reader *reader, const char *at, const char *format, ...) G_GNUC_PRINTF(3, 4);

static bool fail(Reader *reader, const char *at, const char *format, ...) {
        va_list args;

        va_start(args, format);
        reader->error = g_strdup_vprintf(format, args);
        reader->error_at = at;
        va_end(args);
        return false;
}

static TextItem *item_at(Reader *reader, uint32_t item) {
        return &reader->items[item];
}

static uint32_t offset_of(const Reader *reader, const char *p) {
        return (uint32_t) (p - reader->text);
}

static bool cut_off(Reader *reader, const char *expected) {
        if (reader->open->len > 0) {
                const TextItem *open = item_at(reader, g_array_index(reader->open, uint32_t, reader->open->len - 1));

                return fail(reader, reader->end, "the file ends where %s should follow; a '%c' is not closed", expected,
                            open->kind == TEXT_OBJECT ? '{' : '[');
        }

        return fail(reader, reader->end, "the file ends where %s should follow", expected);
}

/* What stands at p is not what may stand there. */
static bool unexpected(Reader *reader, const char *expected) {
        g_autofree char *found = NULL;

        if (reader->p == reader->end)
                return cut_off(reader, expected);

        found = excerpt(reader->p, (size_t) (g_utf8_next_char(reader->p) - reader->p));
        return fail(reader, reader->p, "expected %s, not '%s'", expected, found);
}

static bool skip_comment(Reader *reader) {
        const char *start = reader->p, *close;

        if (start[1] == '/') {
                reader->p = memchr(start, '\n', (size_t) (reader->end - start)) ?: reader->end;
                return true;
        }
        if (start[1] != '*')
                return fail(reader, start, "a comment begins with '//' or '/*'");

        close = memmem(start + 2, (size_t) (reader->end - start) - 2, "*/", 2);
        if (!close)
                return fail(reader, start, "this comment is not closed; it ends with '*/'");

        reader->p = close + 2;
        return true;
}

static bool skip_space(Reader *reader) {
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

/* A new item, which ends at p unless it is still open. */
static bool add_item(Reader *reader, TextKind kind, const char *start, bool escaped) {
        if (reader->n_items >= TEXT_ITEMS_MAX)
                return fail(reader, start, "the file is too large: it has more than %u values", TEXT_ITEMS_MAX);

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

/* Behind the escape that begins at p, or NULL. */
static const char *skip_escape(Reader *reader, const char *p) {
        char *error = NULL;
        const char *next;

        if (p + 1 == reader->end) {
                cut_off(reader, "the rest of a string");
                return NULL;
        }

        next = escape_check(p, &error);
        if (!next) {
                reader->error = error;
                reader->error_at = p;
        }

        return next;
}

static bool fail_control(Reader *reader, const char *start, const char *p) {
        if (p == reader->end)
                return fail(reader, start, "this string is not closed: the file ends first");
        if (*p == '\n' || *p == '\r')
                return fail(reader, start, "this string is not closed on its line; a line break is written '\\n'");
        if (*p == '\t')
                return fail(reader, p, "a tab inside of a string is written '\\t'");

        return fail(reader, p, "a control character inside of a string is written '\\u%04x'", (unsigned char) *p);
}

/* True for the bytes that a string may consist of as they are. */
static inline bool is_plain(char c) {
        return c != '"' && c != '\\' && (unsigned char) c >= 0x20;
}

static bool read_string(Reader *reader) {
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
        if (!add_item(reader, TEXT_STRING, start + 1, escaped))
                return false;

        reader->p = p + 1;
        return true;
}

static const char *skip_digits(const char *p) {
        while (g_ascii_isdigit(*p))
                p++;

        return p;
}

/* Behind the number that begins at p, or NULL where digits are missing. */
static const char *skip_number(Reader *reader, const char *p) {
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
                        unexpected(reader, expected);
                        return NULL;
                }
                p = part == 0 && *p == '0' ? p + 1 : skip_digits(p);
        }

        return p;
}

static bool read_number(Reader *reader) {
        const char *start = reader->p, *p = skip_number(reader, start);

        if (!p)
                return false;
        if (g_ascii_isdigit(*p))
                return fail(reader, start, "a number does not begin with 0");
        if (g_ascii_isalnum(*p) || *p == '.' || *p == '_')
                return fail(reader, start, "this is not a number%s",
                            g_ascii_isalpha(*p) ? "; a text stands in quotes, as \"5s\"" : "");

        reader->p = p;
        return add_item(reader, TEXT_NUMBER, start, false);
}

static bool read_word(Reader *reader) {
        static const char *const words[] = { [TEXT_NULL] = "null", [TEXT_FALSE] = "false", [TEXT_TRUE] = "true" };
        const char *start = reader->p, *p = start;
        g_autofree char *shown = NULL;

        while (g_ascii_isalnum(*p) || *p == '_')
                p++;

        for (TextKind kind = TEXT_NULL; kind <= TEXT_TRUE; kind++)
                if (strlen(words[kind]) == (size_t) (p - start) &&
                    memcmp(words[kind], start, strlen(words[kind])) == 0) {
                        reader->p = p;
                        return add_item(reader, kind, start, false);
                }

        shown = excerpt(start, (size_t) (p - start));
        return fail(reader, start, "'%s' is no value; a text stands in quotes", shown);
}

static bool open_bracket(Reader *reader, TextKind kind) {
        uint32_t item = reader->n_items;

        if (reader->open->len >= TEXT_NESTING_MAX)
                return fail(reader, reader->p, "nested too deeply: more than %u brackets are open here",
                            TEXT_NESTING_MAX);
        if (!add_item(reader, kind, reader->p, false))
                return false;

        g_array_append_val(reader->open, item);
        reader->p++;
        return true;
}

static void close_bracket(Reader *reader) {
        TextItem *item = item_at(reader, g_array_index(reader->open, uint32_t, reader->open->len - 1));

        reader->p++;
        item->end = offset_of(reader, reader->p);
        item->next = reader->n_items;
        g_array_set_size(reader->open, reader->open->len - 1);
}

/* The innermost open object or array, NULL at the top. */
static TextItem *innermost(Reader *reader) {
        if (reader->open->len == 0)
                return NULL;

        return item_at(reader, g_array_index(reader->open, uint32_t, reader->open->len - 1));
}

static bool read_value(Reader *reader, const char *expected) {
        switch (*reader->p) {
        case '{':
                return open_bracket(reader, TEXT_OBJECT);
        case '[':
                return open_bracket(reader, TEXT_ARRAY);
        case '"':
                return read_string(reader);
        case '-':
        case '0' ... '9':
                return read_number(reader);
        case '\'':
                return fail(reader, reader->p, "strings stand in double quotes");
        default:
                return g_ascii_isalpha(*reader->p) ? read_word(reader) : unexpected(reader, expected);
        }
}

/* The key and the colon of a member; the value follows. */
static bool read_key(Reader *reader, const char *expected) {
        if (*reader->p != '"')
                return unexpected(reader, expected);
        if (!read_string(reader) || !skip_space(reader))
                return false;
        if (*reader->p != ':')
                return unexpected(reader, "':' behind a key");

        reader->p++;
        return skip_space(reader);
}

/* A member or an element of the innermost bracket. comma: where the one stands that made us expect this one. */
static bool read_member(Reader *reader, const char *comma) {
        TextItem *item = innermost(reader);
        bool object = item->kind == TEXT_OBJECT;

        if (comma && (*reader->p == '}' || *reader->p == ']'))
                return fail(reader, comma, "a ',' stands only between two; none follows the last one");

        item->count++;
        if (object && !read_key(reader, comma ? "a key in double quotes" : "a key in double quotes, or '}'"))
                return false;

        return read_value(reader, object || comma ? "a value" : "a value, or ']'");
}

static char bracket_of(const TextItem *item) {
        return item->kind == TEXT_OBJECT ? '}' : ']';
}

/* Closes what is closed behind a value. Afterwards a member is next, or nothing is open. */
static bool read_behind_value(Reader *reader, const char **ret_comma) {
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
                        return unexpected(reader, item->kind == TEXT_OBJECT ? "',' or '}'" : "',' or ']'");

                *ret_comma = reader->p++;
                return skip_space(reader);
        }
}

static bool read_all(Reader *reader) {
        if (!skip_space(reader))
                return false;
        if (reader->p == reader->end)
                return fail(reader, reader->text, "the file is empty; a tree file starts with {\"btd\": 1, ...}");
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
                return fail(reader, reader->p, "something follows the end of the tree file");

        return true;
}

/* Whatever comes later relies on this: valid UTF-8 throughout, and no NUL. */
static bool check_bytes(Reader *reader) {
        const char *bad;

        if (reader->end - reader->text > TEXT_LENGTH_MAX)
                return fail(reader, reader->text, "the file is too large: more than %u MiB", TEXT_LENGTH_MAX >> 20);
        if (g_str_has_prefix(reader->text, "\xef\xbb\xbf"))
                return fail(reader, reader->text, "the file starts with a byte order mark; save it without one");
        if (g_utf8_validate_len(reader->text, (size_t) (reader->end - reader->text), &bad))
                return true;
        if (*bad == 0)
                return fail(reader, bad, "a NUL byte; is this a text file?");

        return fail(reader, bad, "the byte 0x%02X is not UTF-8; save the file as UTF-8", (unsigned char) *bad);
}

int text_read(const char *text, size_t length, Text *ret_text, size_t *ret_offset, char **ret_error) {
        Reader reader = { .text = text, .p = text, .end = text + length };
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
