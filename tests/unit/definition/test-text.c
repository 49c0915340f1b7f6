/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tests the JSON reader: what it accepts, and the exact place and message of each error. */

#include <errno.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/json-parse.h"
#include "definition/text/text.h"

typedef struct Faults {
        const Text *text;
        GString *found; /* "OFFSET: TEXT\n" of each */
} Faults;

static void on_fault(uint32_t item, char *text, void *userdata) {
        Faults *faults = userdata;
        g_autofree char *problem = text;

        g_string_append_printf(faults->found, "%zu: %s\n", text_offset(faults->text, item), problem);
}

/* Faults of the only value of the text. To be freed. */
static char *faults_of(const char *text, int expected, json_object **ret_value) {
        g_autoptr(GString) scratch = g_string_new(NULL);
        g_autofree char *error = NULL;
        g_auto(Text) read = {};
        Faults faults = { .text = &read, .found = g_string_new(NULL) };
        size_t offset;

        g_assert_cmpint(text_read(text, strlen(text), &read, &offset, &error), ==, 0);
        g_assert_cmpuint(text_next(&read, 0), ==, read.n_items);
        g_assert_cmpint(text_to_json(&read, 0, scratch, on_fault, &faults, ret_value), ==, expected);
        return g_string_free(faults.found, false);
}

static void test_good(void) {
        static const struct {
                const char *text, *value;
        } cases[] = {
                { "{}", "{}" },
                { " [ ] ", "[]" },
                { "[[],{}]", "[[],{}]" },
                { "null", "null" },
                { "true", "true" },
                { "false", "false" },
                { "0", "0" },
                { "-0", "0" },
                { "-12", "-12" },
                { "9223372036854775807", "9223372036854775807" },
                { "-9223372036854775808", "-9223372036854775808" },
                { "18446744073709551615", "18446744073709551615" },
                { "1.5", "1.5" },
                { "0.1", "0.1" },
                { "1E3", "1E3" },
                { "1.5e-3", "1.5e-3" },
                { "2e+2", "2e+2" },
                { "\"\"", "\"\"" },
                { "\"a\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"a\\\"\\\\/\\b\\f\\n\\r\\t\"" },
                { "\"\\u00e9\\u20AC\\ud83d\\ude00\"", "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"" },
                { "\"\x7f\"", "\"\x7f\"" },
                { "{\"a\":1,\"b\":[1,2,{\"c\":null}],\"\":{}}", "{\"a\":1,\"b\":[1,2,{\"c\":null}],\"\":{}}" },
                { "// first\n{ /* in\n * between **/ \"a\" /**/ : // x\r\n 1 /*,*/ } // last", "{\"a\":1}" },
                { "{\"// no\":\"/* comment */\"}", "{\"// no\":\"/* comment */\"}" },
                { "\r\n\t 1\r\n\t ", "1" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autoptr(json_object) value = NULL;
                g_autofree char *faults = NULL;

                g_test_message("case %zu", i);
                faults = faults_of(cases[i].text, 0, &value);
                g_assert_cmpstr(faults, ==, "");
                g_assert_cmpstr(
                        json_object_to_json_string_ext(value, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE),
                        ==, cases[i].value);
        }
}

static void test_bad(void) {
        static const struct {
                const char *text;
                size_t offset;
                const char *error;
        } cases[] = {
                { "", 0, "the file is empty; a tree file starts with {\"btd\": 1, ...}" },
                { " // nothing\n", 0, "the file is empty; a tree file starts with {\"btd\": 1, ...}" },
                { "{\"a\": \"caf\xe9\"}", 10, "the byte 0xE9 is not UTF-8; save the file as UTF-8" },
                { "{} // \xc3", 6, "the byte 0xC3 is not UTF-8; save the file as UTF-8" },
                { "\xff\xfe{", 0, "the byte 0xFF is not UTF-8; save the file as UTF-8" },
                { "\"\xc0\x80\"", 1, "the byte 0xC0 is not UTF-8; save the file as UTF-8" },
                { "\"\xed\xa0\x80\"", 1, "the byte 0xED is not UTF-8; save the file as UTF-8" },

                { "{", 1,
                  "unexpected end of file: expected a key in double quotes, or '}'; the '{' in line 1 is not closed" },
                { "[", 1, "unexpected end of file: expected a value, or ']'; the '[' in line 1 is not closed" },
                { "{\"a\"", 4, "unexpected end of file: expected ':' behind a key; the '{' in line 1 is not closed" },
                { "{\"a\":", 5, "unexpected end of file: expected a value; the '{' in line 1 is not closed" },
                { "{\"a\":1", 6, "unexpected end of file: expected ',' or '}'; the '{' in line 1 is not closed" },
                { "{\"a\":1,", 7,
                  "unexpected end of file: expected a key in double quotes; the '{' in line 1 is not closed" },
                { "{\"a\":[1", 7, "unexpected end of file: expected ',' or ']'; the '[' in line 1 is not closed" },
                { "{\"a\":[1,", 8, "unexpected end of file: expected a value; the '[' in line 1 is not closed" },
                { "{\"a\": \"b", 6, "this string is not closed: the file ends first" },
                { "[\"a\\", 4,
                  "unexpected end of file: expected the rest of a string; the '[' in line 1 is not closed" },
                { "-", 1, "unexpected end of file: expected a digit" },
                { "[1.", 3, "unexpected end of file: expected a digit; the '[' in line 1 is not closed" },
                { "{} /* x", 3, "this comment is not closed; it ends with '*/'" },
                { "{} /", 3, "a comment begins with '//' or '/*'" },
                { "{} /*/", 3, "this comment is not closed; it ends with '*/'" },
                { "{ # x\n}", 2, "a comment begins with '//' or '/*'" },

                { "{} {}", 3, "unexpected text after the end of the file's value" },
                { "{}}", 2, "unexpected text after the end of the file's value" },
                { "1,", 1, "unexpected text after the end of the file's value" },

                { "[1,]", 2, "remove this ',': nothing follows it" },
                { "{\"a\":1, }", 6, "remove this ',': nothing follows it" },
                { "[,1]", 1, "expected a value, or ']', not ','" },
                { "[1,,2]", 3, "expected a value, not ','" },
                { "[1 2]", 3, "expected ',' or ']', not '2'" },
                { "[1}", 2, "expected ',' or ']', not '}'; the '[' in line 1 is not closed" },
                { "{\"a\":1]", 6, "expected ',' or '}', not ']'; the '{' in line 1 is not closed" },
                { "{]", 1, "expected a key in double quotes, or '}', not ']'; the '{' in line 1 is not closed" },
                { "[\n{\n2\n}", 4, "expected a key in double quotes, or '}', not '2'" },
                { "[1,\n{\n\"b\": 1\n]", 13, "expected ',' or '}', not ']'; the '{' in line 2 is not closed" },
                { "{\n\"a\": [\n1\n", 11,
                  "unexpected end of file: expected ',' or ']'; the '[' in line 2 is not closed" },
                { "{\"a\" 1}", 5, "expected ':' behind a key, not '1'" },
                { "{\"a\"=1}", 4, "expected ':' behind a key, not '='" },
                { "{\"a\":}", 5, "expected a value, not '}'" },
                { "{\"a\":1 \"b\":2}", 7, "expected ',' or '}', not '\"'" },
                { "{a:1}", 1, "expected a key in double quotes, or '}', not 'a'" },
                { "{1:1}", 1, "expected a key in double quotes, or '}', not '1'" },
                { "{\"a\":\xc3\xa9}", 5, "expected a value, not '\xc3\xa9'" },
                { "[\x01]", 1, "expected a value, or ']', not '\\u0001'" },

                { "'a'", 0, "a string is written in double quotes" },
                { "\"a\nb\"", 0, "this string is not closed on its line; a line break is written '\\n'" },
                { "\"a\tb\"", 2, "a tab inside of a string is written '\\t'" },
                { "\"a\x1f\"", 2, "a control character inside of a string is written '\\u001f'" },
                { "\"a\\x\"", 2, "'\\x' is no escape; a backslash itself is written '\\\\'" },
                { "\"\\\xc3\xa9\"", 1, "'\\\xc3\xa9' is no escape; a backslash itself is written '\\\\'" },
                { "\"\\u12g4\"", 1, "'\\u' takes four hexadecimal digits" },
                { "\"\\u12", 1, "'\\u' takes four hexadecimal digits" },
                { "\"\\u0000\"", 1, "'\\u0000' is not allowed: no text may contain a NUL" },
                { "\"\\ud800\"", 1, "'\\ud800' is the first half of a character without the second" },
                { "\"\\ud800\\u0041\"", 1, "'\\ud800' is the first half of a character without the second" },
                { "\"\\ud800\\ud800\"", 1, "'\\ud800' is the first half of a character without the second" },
                { "\"a\\udc00\"", 2, "'\\udc00' is the second half of a character without the first" },

                { "nul", 0, "'nul' is not a value; a string is written in double quotes" },
                { "True", 0, "'True' is not a value; did you mean 'true'?" },
                { "[NaN]", 1, "'NaN' is not a value; a string is written in double quotes" },
                { "truefalse", 0, "'truefalse' is not a value; a string is written in double quotes" },
                { "01", 0, "a number does not begin with 0" },
                { "-01", 0, "a number does not begin with 0" },
                { "+1", 0, "expected '{', not '+'" },
                { "[.5]", 1, "expected a value, or ']', not '.'" },
                { "[-x]", 2, "expected a digit, not 'x'" },
                { "[1.]", 3, "expected a digit, not ']'" },
                { "[1e]", 3, "expected a digit, not ']'" },
                { "[1e+]", 4, "expected a digit, not ']'" },
                { "5s", 0, "this is not a number; a string is written in double quotes, such as \"5s\"" },
                { "0x10", 0, "this is not a number; a string is written in double quotes, such as \"5s\"" },
                { "1.2.3", 0, "this is not a number" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autofree char *error = NULL;
                Text text = {};
                size_t offset = 999;

                g_test_message("case %zu", i);
                g_assert_cmpint(text_read(cases[i].text, strlen(cases[i].text), &text, &offset, &error), ==, -EINVAL);
                g_assert_cmpstr(error, ==, cases[i].error);
                g_assert_cmpuint(offset, ==, cases[i].offset);
                g_assert_null(text.items);
        }
}

static void test_nul(void) {
        g_autofree char *error = NULL;
        Text text = {};
        size_t offset;

        g_assert_cmpint(text_read("{\"a\0b\":1}", 9, &text, &offset, &error), ==, -EINVAL);
        g_assert_cmpstr(error, ==, "a NUL byte; is this a text file?");
        g_assert_cmpuint(offset, ==, 3);
}

static void test_nesting(void) {
        g_autofree char *open = g_strnfill(TEXT_NESTING_MAX, '['), *close = g_strnfill(TEXT_NESTING_MAX, ']');
        g_autofree char *deepest = g_strconcat(open, close, NULL), *deeper = g_strconcat(open, "[", NULL);
        g_autofree char *error = NULL;
        g_auto(Text) text = {};
        Text none = {};
        size_t offset;

        g_assert_cmpint(text_read(deepest, strlen(deepest), &text, &offset, &error), ==, 0);
        g_assert_cmpuint(text.n_items, ==, TEXT_NESTING_MAX);
        g_assert_cmpint(text_read(deeper, strlen(deeper), &none, &offset, &error), ==, -EINVAL);
        g_assert_cmpstr(error, ==, "nested too deeply: more than 4000 brackets are open here");
        g_assert_cmpuint(offset, ==, TEXT_NESTING_MAX);
}

static void test_too_large(void) {
        size_t length = (size_t) TEXT_LENGTH_MAX + 1;
        g_autofree char *blanks = g_strnfill(length, ' '), *error = NULL;
        Text text = {};
        size_t offset;

        g_assert_cmpint(text_read(blanks, length, &text, &offset, &error), ==, -EINVAL);
        g_assert_cmpstr(error, ==, "the file is too large: more than 64 MiB");
}

static void test_too_many(void) {
        size_t length = (size_t) TEXT_ITEMS_MAX * 2;
        g_autofree char *many = g_strnfill(length, '0'), *error = NULL;
        Text text = {};
        size_t offset;

        many[0] = '[';
        for (size_t i = 2; i < length; i += 2)
                many[i] = ',';

        g_assert_cmpint(text_read(many, length, &text, &offset, &error), ==, -EINVAL);
        g_assert_cmpstr(error, ==, "the file is too large: it has more than 16777216 values");
}

/* What is JSON, but no value that could be held: all of it is told. */
static void test_bad_values(void) {
        static const struct {
                const char *text, *faults;
                int r;
        } cases[] = {
                { "[1, 18446744073709551616]", "4: the number does not fit into 64 bits\n", -EINVAL },
                { "[-9223372036854775809]", "1: the number does not fit into 64 bits\n", -EINVAL },
                { "[1e999, {\"a\": -1e999}]", "1: the number is too large\n14: the number is too large\n", -EINVAL },
                { "{\"a\":1,\"b\":2,\"a\":3}", "13: 'a' is given twice\n", -EEXIST },
                { "{\"a\":1,\"\\u0061\":2}", "7: 'a' is given twice\n", -EEXIST },
                { "{\"a\":1,\"a\":2,\"a\":3}", "7: 'a' is given twice\n13: 'a' is given twice\n", -EEXIST },
                { "[{\"x\":{\"y\":null,\"y\":null}}]", "16: 'y' is given twice\n", -EEXIST },
                { "{\"a\":1,\"a\":1e999}", "11: the number is too large\n7: 'a' is given twice\n", -EINVAL },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autoptr(json_object) value = NULL;
                g_autofree char *faults = NULL;

                g_test_message("case %zu", i);
                faults = faults_of(cases[i].text, cases[i].r, &value);
                g_assert_cmpstr(faults, ==, cases[i].faults);
                g_assert_cmpint(value != NULL, ==, cases[i].r == -EEXIST);
        }
}

/* Of a key that is given twice the first counts. */
static void test_first_counts(void) {
        g_autoptr(json_object) value = NULL;
        g_autofree char *faults = faults_of("{\"a\":1,\"a\":{\"b\":2}}", -EEXIST, &value);

        g_assert_nonnull(strstr(faults, "'a'"));
        g_assert_cmpstr(json_object_to_json_string_ext(value, JSON_C_TO_STRING_PLAIN), ==, "{\"a\":1}");
}

static void test_deep_value(void) {
        g_autofree char *open = g_strnfill(JSON_NESTING_MAX, '[');
        g_autofree char *close = g_strnfill(JSON_NESTING_MAX, ']');
        g_autofree char *deepest = g_strconcat(open, close, NULL), *deeper = g_strconcat("[", deepest, "]", NULL);
        g_autoptr(json_object) value = NULL;
        g_autofree char *good = NULL, *bad = NULL;
        json_object *none = NULL;

        good = faults_of(deepest, 0, &value);
        g_assert_cmpstr(good, ==, "");
        bad = faults_of(deeper, -EINVAL, &none);
        g_assert_cmpstr(bad, ==, "100: nested more than 100 levels deep\n");
}

/* Every text that is cut off somewhere is an error, never a crash, and never success. */
static void test_cut_off(void) {
        static const char *const whole =
                "{\"a\": [1.5e+3, -2, \"x\\u00e9\\ud83d\\ude00\\n\", true], /* c */ \"b\": {\"c\": null} // d\n}";

        for (size_t length = 0; length < strlen(whole); length++) {
                g_autofree char *cut = g_strndup(whole, length), *error = NULL;
                Text text = {};
                size_t offset;

                g_assert_cmpint(text_read(cut, length, &text, &offset, &error), ==, -EINVAL);
                g_assert_nonnull(error);
                g_assert_cmpuint(offset, <=, length);
        }
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);

        g_test_add_func("/text/good", test_good);
        g_test_add_func("/text/bad", test_bad);
        g_test_add_func("/text/nul", test_nul);
        g_test_add_func("/text/nesting", test_nesting);
        g_test_add_func("/text/too-large", test_too_large);
        g_test_add_func("/text/too-many", test_too_many);
        g_test_add_func("/text/bad-values", test_bad_values);
        g_test_add_func("/text/first-counts", test_first_counts);
        g_test_add_func("/text/deep-value", test_deep_value);
        g_test_add_func("/text/cut-off", test_cut_off);
        return g_test_run();
}
