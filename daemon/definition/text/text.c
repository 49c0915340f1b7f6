/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Implements text.h. The reader makes one pass, without recursion: at each point it expects either a value or what can
 * follow one, and the open brackets are a stack. Behind it are the functions that read the items: places, strings, and
 * the conversion to values of json-c.
 */

#include <errno.h>
#include <glib.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "basic/excerpt.h"
#include "basic/json-parse.h"
#include "definition/text/text.h"

/* The functions of the reader that return bool return false if the text is wrong; then the error is stored. */
typedef struct TextReader {
        const char *text, *p, *end; /* the text has a NUL byte at end */
        TextItem *items;
        uint32_t n_items, n_room;
        GArray *open; /* of uint32_t: the items of open objects and arrays */
        char *error;
        const char *error_at;
} TextReader;

/* The innermost open object or array, NULL at the top. */
static TextItem *innermost(const TextReader *reader) {
        if (reader->open->len == 0)
                return NULL;

        return &reader->items[g_array_index(reader->open, uint32_t, reader->open->len - 1)];
}

static bool fail(TextReader *reader, const char *at, const char *format, ...) G_GNUC_PRINTF(3, 4);

static bool fail(TextReader *reader, const char *at, const char *format, ...) {
        va_list args;

        va_start(args, format);
        reader->error = g_strdup_vprintf(format, args);
        reader->error_at = at;
        va_end(args);
        return false;
}

/* "; the '{' in line 7 is not closed", since that may be many lines above. Empty if no bracket is open, or if the
 * character at p would close it. */
static char *unclosed(TextReader *reader) {
        const TextItem *open = innermost(reader);
        unsigned line = 1;
        bool object;

        if (!open)
                return g_strdup("");

        object = open->kind == TEXT_OBJECT;
        if (reader->p < reader->end && *reader->p != (object ? ']' : '}'))
                return g_strdup("");

        for (const char *p = reader->text; p < reader->text + open->start; p++)
                line += *p == '\n';
        return g_strdup_printf("; the '%c' in line %u is not closed", object ? '{' : '[', line);
}

/* Stores an error about the end of the file. */
static bool cut_off(TextReader *reader, const char *expected) {
        g_autofree char *open = NULL;

        reader->p = reader->end;
        open = unclosed(reader);
        return fail(reader, reader->end, "unexpected end of file: expected %s%s", expected, open);
}

/* Stores an error about the character at p, or about the end of the file. */
static bool unexpected(TextReader *reader, const char *expected) {
        g_autofree char *found = NULL, *open = NULL;

        if (reader->p == reader->end)
                return cut_off(reader, expected);

        found = excerpt(reader->p, (size_t) (g_utf8_next_char(reader->p) - reader->p));
        open = unclosed(reader);
        return fail(reader, reader->p, "expected %s, not '%s'%s", expected, found, open);
}

/* Adds an item, which ends at p unless it is an open bracket. */
static bool add_item(TextReader *reader, TextKind kind, const char *start, bool escaped) {
        if (reader->n_items >= TEXT_ITEMS_MAX)
                return fail(reader, start, "the file is too large: it has more than %u values", TEXT_ITEMS_MAX);

        if (reader->n_items == reader->n_room) {
                reader->n_room *= 2;
                reader->items = g_renew(TextItem, reader->items, reader->n_room);
        }

        reader->items[reader->n_items] = (TextItem){ .start = (uint32_t) (start - reader->text),
                                                     .end = (uint32_t) (reader->p - reader->text),
                                                     .next = reader->n_items + 1,
                                                     .kind = kind,
                                                     .escaped = escaped };
        reader->n_items++;
        return true;
}

/* The backslash escapes of strings. "\\u" is followed by a UTF-16 code unit: a character above 65535 is written as two
 * escapes, and both are needed. */

/* The letters of the short escapes, and their values. */
static const char short_names[] = "\"\\/bfnrt", short_values[] = "\"\\/\b\f\n\r\t";

/* The value of the four digits at p, or -1. */
static int hex4(const char *p) {
        int code = 0;

        for (int i = 0; i < 4; i++) {
                int digit = g_ascii_xdigit_value(p[i]);

                if (digit < 0)
                        return -1;
                code = code * 16 + digit;
        }

        return code;
}

static bool is_high_surrogate(int code) {
        return code >= 0xd800 && code < 0xdc00;
}

static bool is_low_surrogate(int code) {
        return code >= 0xdc00 && code < 0xe000;
}

/* The end of the escape that begins at p, or NULL. */
static const char *skip_escape(TextReader *reader, const char *p) {
        g_autofree char *shown = NULL;
        int code;

        if (p + 1 == reader->end) {
                cut_off(reader, "the rest of a string");
                return NULL;
        }
        if (p[1] != 'u') {
                if (strchr(short_names, p[1]))
                        return p + 2;

                shown = excerpt(p, (size_t) (g_utf8_next_char(p + 1) - p));
                fail(reader, p, "'%s' is no escape; a backslash itself is written '\\\\'", shown);
                return NULL;
        }

        code = hex4(p + 2);
        if (code < 0)
                fail(reader, p, "'\\u' takes four hexadecimal digits");
        else if (code == 0)
                fail(reader, p, "'\\u0000' is not allowed: no text may contain a NUL");
        else if (is_low_surrogate(code))
                fail(reader, p, "'\\u%04x' is the second half of a character without the first", code);
        else if (!is_high_surrogate(code))
                return p + 6;
        else if (p[6] == '\\' && p[7] == 'u' && is_low_surrogate(hex4(p + 8)))
                return p + 12;
        else
                fail(reader, p, "'\\u%04x' is the first half of a character without the second", code);

        return NULL;
}

/* Appends the character that the escape at p means; returns its end. The escape must have been checked. */
static const char *escape_append(GString *string, const char *p) {
        int code;

        if (p[1] != 'u') {
                g_string_append_c(string, short_values[strchr(short_names, p[1]) - short_names]);
                return p + 2;
        }

        code = hex4(p + 2);
        if (!is_high_surrogate(code)) {
                g_string_append_unichar(string, (gunichar) code);
                return p + 6;
        }

        g_string_append_unichar(string, 0x10000 + (((gunichar) code & 0x3ff) << 10 | ((gunichar) hex4(p + 8) & 0x3ff)));
        return p + 12;
}

/* read_string(), read_number() and read_word() read the value that begins at p, and move p to its end. */
static bool read_string(TextReader *reader) {
        const char *start = reader->p, *p = start + 1;
        bool escaped = false;

        for (;;) {
                while (*p != '"' && *p != '\\' && (unsigned char) *p >= 0x20)
                        p++;
                if (*p == '"')
                        break;
                if (p == reader->end)
                        return fail(reader, start, "this string is not closed: the file ends first");
                if (*p == '\n' || *p == '\r')
                        return fail(reader, start,
                                    "this string is not closed on its line; a line break is written '\\n'");
                if (*p == '\t')
                        return fail(reader, p, "a tab inside of a string is written '\\t'");
                if (*p != '\\')
                        return fail(reader, p, "a control character inside of a string is written '\\u%04x'",
                                    (unsigned char) *p);

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

static bool read_number(TextReader *reader) {
        const char *start = reader->p, *p = start;

        /* The integer, the fraction, and the exponent. */
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
                        return unexpected(reader, "a digit");
                }
                if (part == 0 && *p == '0')
                        p++;
                else
                        while (g_ascii_isdigit(*p))
                                p++;
        }

        if (g_ascii_isdigit(*p))
                return fail(reader, start, "a number does not begin with 0");
        if (g_ascii_isalnum(*p) || *p == '.' || *p == '_')
                return fail(reader, start, "this is not a number%s",
                            g_ascii_isalpha(*p) ? "; a string is written in double quotes, such as \"5s\"" : "");

        reader->p = p;
        return add_item(reader, TEXT_NUMBER, start, false);
}

static bool read_word(TextReader *reader) {
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
        for (TextKind kind = TEXT_NULL; kind <= TEXT_TRUE; kind++)
                if (g_ascii_strcasecmp(words[kind], shown) == 0)
                        return fail(reader, start, "'%s' is not a value; did you mean '%s'?", shown, words[kind]);

        return fail(reader, start, "'%s' is not a value; a string is written in double quotes", shown);
}

static bool skip_comment(TextReader *reader) {
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
                return fail(reader, reader->p, "nested too deeply: more than %u brackets are open here",
                            TEXT_NESTING_MAX);
        if (!add_item(reader, kind, reader->p, false))
                return false;

        g_array_append_val(reader->open, item);
        reader->p++;
        return true;
}

static bool read_value(TextReader *reader, const char *expected) {
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
                return fail(reader, reader->p, "a string is written in double quotes");
        default:
                return g_ascii_isalpha(*reader->p) ? read_word(reader) : unexpected(reader, expected);
        }
}

/* Reads a member or an element of the innermost bracket. comma: the place of the comma before it, or NULL. */
static bool read_member(TextReader *reader, const char *comma) {
        TextItem *item = innermost(reader);
        bool object = item->kind == TEXT_OBJECT;

        if (comma && (*reader->p == '}' || *reader->p == ']'))
                return fail(reader, comma, "remove this ',': nothing follows it");

        item->count++;
        if (object) {
                if (*reader->p == '#')
                        return fail(reader, reader->p, "a comment begins with '//' or '/*'");
                if (*reader->p != '"')
                        return unexpected(reader, comma ? "a key in double quotes" : "a key in double quotes, or '}'");
                if (!read_string(reader) || !skip_space(reader))
                        return false;
                if (*reader->p != ':')
                        return unexpected(reader, "':' behind a key");

                reader->p++;
                if (!skip_space(reader))
                        return false;
        }

        return read_value(reader, object || comma ? "a value" : "a value, or ']'");
}

static char bracket_of(const TextItem *item) {
        return item->kind == TEXT_OBJECT ? '}' : ']';
}

/* Reads the closing brackets and the comma after a value. Afterwards, a member follows or no bracket is open. */
static bool read_behind_value(TextReader *reader, const char **ret_comma) {
        for (;;) {
                TextItem *item = innermost(reader);

                if (!skip_space(reader))
                        return false;
                if (!item)
                        return true;

                if (*reader->p == bracket_of(item)) {
                        reader->p++;
                        item->end = (uint32_t) (reader->p - reader->text);
                        item->next = reader->n_items;
                        g_array_set_size(reader->open, reader->open->len - 1);
                        continue;
                }
                if (*reader->p != ',')
                        return unexpected(reader, item->kind == TEXT_OBJECT ? "',' or '}'" : "',' or ']'");

                *ret_comma = reader->p++;
                return skip_space(reader);
        }
}

/* Files of other formats, by their first characters. */
static const struct {
        const char *pattern, *name;
} other_formats[] = {
        { "^\\s*<[?!\\w]", "XML" },
        { "^#!", "a script" },
        { "^\\s*([#;].*\\n\\s*)*\\[[A-Z]\\w*\\][ \\t]*\\n", "a unit file" },
        { "^\\s*(#.*\\n\\s*)*([*0-9/,@-]+[ \\t]+){5}", "a crontab" },
        { "^\\s*(#.*\\n\\s*)*(---\\s|- |\\w[\\w-]*:\\s)", "YAML" },
};

static bool check_format(TextReader *reader) {
        const char *first = reader->text + strspn(reader->text, " \t\r\n");

        if (*first == '{' || *first == '/')
                return true;

        for (size_t i = 0; i < G_N_ELEMENTS(other_formats); i++)
                if (g_regex_match_simple(other_formats[i].pattern, reader->text, 0, 0))
                        return fail(reader, reader->text,
                                    "this looks like %s; a tree file is JSON, and starts with {\"btd\": 1, ...}",
                                    other_formats[i].name);

        return true;
}

static bool read_all(TextReader *reader) {
        if (!check_format(reader) || !skip_space(reader))
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
                return fail(reader, reader->p, "unexpected text after the end of the file's value");

        return true;
}

/* All later stages rely on valid UTF-8 without NUL bytes. */
static bool check_bytes(TextReader *reader) {
        const char *bad;

        if ((size_t) (reader->end - reader->text) > TEXT_LENGTH_MAX)
                return fail(reader, reader->text, "the file is too large: more than %u MiB", TEXT_LENGTH_MAX >> 20);
        if (g_utf8_validate_len(reader->text, (size_t) (reader->end - reader->text), &bad))
                return true;
        if (*bad == 0)
                return fail(reader, bad, "a NUL byte; is this a text file?");

        return fail(reader, bad, "the byte 0x%02X is not UTF-8; save the file as UTF-8", (unsigned char) *bad);
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

void text_clear(Text *text) {
        g_clear_pointer(&text->items, g_free);
}

size_t text_offset(const Text *text, uint32_t item) {
        const TextItem *i = text_item(text, item);

        return i->kind == TEXT_STRING ? i->start - 1 : i->start;
}

size_t text_offset_inside(const Text *text, uint32_t item, size_t byte, GString *scratch) {
        const TextItem *i = text_item(text, item);
        const char *p = text->text + i->start, *end = text->text + i->end;
        uint32_t line = item + 1;
        size_t length;

        if (i->kind == TEXT_ARRAY) {
                for (uint32_t n = 1; n < i->count; n++, line = text_next(text, line), byte -= length + 1) {
                        text_string(text, line, scratch, &length);
                        if (byte <= length)
                                break;
                }
                return text_offset_inside(text, line, byte, scratch);
        }
        if (!i->escaped)
                return MIN(i->start + byte, i->end);

        g_string_truncate(scratch, 0);
        while (p < end) {
                size_t before = scratch->len;
                const char *next = p + 1;

                if (*p == '\\')
                        next = escape_append(scratch, p);
                else
                        g_string_append_c(scratch, *p);
                if (before <= byte && byte < scratch->len)
                        break;
                p = next;
        }

        return (size_t) (p - text->text);
}

const char *text_string(const Text *text, uint32_t item, GString *scratch, size_t *ret_length) {
        const TextItem *i = text_item(text, item);
        const char *p = text->text + i->start, *end = text->text + i->end;

        if (!i->escaped) {
                *ret_length = i->end - i->start;
                return p;
        }

        g_string_truncate(scratch, 0);
        while (p < end) {
                const char *backslash = memchr(p, '\\', (size_t) (end - p)) ?: end;

                g_string_append_len(scratch, p, backslash - p);
                p = backslash < end ? escape_append(scratch, backslash) : end;
        }

        *ret_length = scratch->len;
        return scratch->str;
}

char *text_lines(const Text *text, uint32_t item, GString *scratch) {
        bool is_array = text_kind(text, item) == TEXT_ARRAY;
        uint32_t line = is_array ? item + 1 : item, n = is_array ? text_item(text, item)->count : 1;
        GString *lines = g_string_new(NULL);
        size_t length;

        for (uint32_t i = 0; i < n; i++, line = text_next(text, line)) {
                const char *decoded = text_string(text, line, scratch, &length);

                g_string_append(lines, i > 0 ? "\n" : "");
                g_string_append_len(lines, decoded, (gssize) length);
        }

        return g_string_free(lines, FALSE);
}

char *text_unexpected(const Text *text, uint32_t item, const char *expected) {
        const TextItem *value = text_item(text, item);
        g_autofree char *shown = NULL;

        if (value->kind == TEXT_ARRAY || value->kind == TEXT_OBJECT)
                return g_strdup_printf("%s, not %s", expected, value->kind == TEXT_ARRAY ? "an array" : "an object");

        shown = excerpt(text->text + value->start, value->end - value->start);
        return g_strdup_printf(value->kind == TEXT_STRING ? "%s, not \"%s\"" : "%s, not %s", expected, shown);
}

typedef struct Conversion {
        const Text *text;
        GString *scratch;
        TextFault on_fault;
        void *userdata;
        int result;
} Conversion;

static json_object *convert(Conversion *conversion, uint32_t item, unsigned depth);

/* Reports the error; there is no value then. */
static json_object *fail_conversion(Conversion *conversion, uint32_t item, char *text) {
        conversion->on_fault(item, text, conversion->userdata);
        conversion->result = -EINVAL;
        return NULL;
}

/* Whole numbers that fit into int64_t or uint64_t are exact. Other numbers keep their spelling, so that they are
 * written as they were read. */
static json_object *convert_number(Conversion *conversion, uint32_t item) {
        const TextItem *i = text_item(conversion->text, item);
        GString *digits = conversion->scratch;
        double number;

        g_string_truncate(digits, 0);
        g_string_append_len(digits, conversion->text->text + i->start, i->end - i->start);

        if (!strpbrk(digits->str, ".eE")) {
                guint64 magnitude;
                gint64 value;

                if (g_ascii_string_to_signed(digits->str, 10, INT64_MIN, INT64_MAX, &value, NULL))
                        return json_object_new_int64(value);
                if (g_ascii_string_to_unsigned(digits->str, 10, 0, UINT64_MAX, &magnitude, NULL))
                        return json_object_new_uint64(magnitude);

                return fail_conversion(conversion, item, g_strdup("the number does not fit into 64 bits"));
        }

        number = g_ascii_strtod(digits->str, NULL);
        return isfinite(number) ? json_object_new_double_s(number, digits->str)
                                : fail_conversion(conversion, item, g_strdup("the number is too large"));
}

static json_object *convert_object(Conversion *conversion, uint32_t item, unsigned depth) {
        json_object *object = json_object_new_object();

        TEXT_KEYS(conversion->text, key, item) {
                json_object *value = convert(conversion, key + 1, depth + 1);
                size_t length;
                const char *string = text_string(conversion->text, key, conversion->scratch, &length);
                g_autofree char *name = g_strndup(string, length), *shown = NULL;

                if (!json_object_object_get_ex(object, name, NULL)) {
                        json_object_object_add(object, name, value);
                        continue;
                }

                json_object_put(value);
                shown = excerpt(name, length);
                conversion->on_fault(key, g_strdup_printf("'%s' is given twice", shown), conversion->userdata);
                if (conversion->result == 0)
                        conversion->result = -EEXIST;
        }

        return object;
}

static json_object *convert(Conversion *conversion, uint32_t item, unsigned depth) {
        TextKind kind = text_kind(conversion->text, item);
        json_object *array;
        const char *string;
        size_t length;

        if ((kind == TEXT_ARRAY || kind == TEXT_OBJECT) && depth == JSON_NESTING_MAX)
                return fail_conversion(conversion, item, g_strdup(JSON_TOO_DEEP));

        switch (kind) {
        case TEXT_NULL:
                return NULL;
        case TEXT_FALSE:
        case TEXT_TRUE:
                return json_object_new_boolean(kind == TEXT_TRUE);
        case TEXT_NUMBER:
                return convert_number(conversion, item);
        case TEXT_STRING:
                string = text_string(conversion->text, item, conversion->scratch, &length);
                return json_object_new_string_len(string, (int) length);
        case TEXT_ARRAY:
                array = json_object_new_array();
                TEXT_ELEMENTS(conversion->text, element, item)
                        json_object_array_add(array, convert(conversion, element, depth + 1));
                return array;
        case TEXT_OBJECT:
                return convert_object(conversion, item, depth);
        }

        g_assert_not_reached();
}

int text_to_json(const Text *text, uint32_t item, GString *scratch, TextFault on_fault, void *userdata,
                 json_object **ret_value) {
        Conversion conversion = { .text = text, .scratch = scratch, .on_fault = on_fault, .userdata = userdata };
        json_object *value = convert(&conversion, item, 0);

        if (conversion.result == -EINVAL)
                json_object_put(value);
        else
                *ret_value = value;

        return conversion.result;
}
