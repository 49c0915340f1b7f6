/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tests that JSON text of others is read strictly, and alike with each version of json-c. */

#include <errno.h>
#include <glib.h>
#include <string.h>

#include "basic/json-parse.h"

#define DEPTH 3

static int parse(const char *text, json_object **ret_value) {
        g_autofree char *number = NULL;

        return json_parse(text, strlen(text), DEPTH, ret_value, &number);
}

static void test_all_characters(void) {
        for (gunichar c = 1; c <= 0x10ffff; c++) {
                json_object *value = NULL;
                char text[16] = "\"";
                int length = 1;

                if (c < ' ' || c == '"' || c == '\\' || !g_unichar_validate(c))
                        continue;

                length += g_unichar_to_utf8(c, text + length);
                text[length] = '"';
                g_assert_cmpint(parse(text, &value), ==, 0);
                g_assert_cmpint(json_object_get_string_len(value), ==, length - 1);
                g_assert_cmpint(strncmp(json_object_get_string(value), text + 1, (size_t) length - 1), ==, 0);
                json_object_put(value);
        }
}

static void test_names_and_escapes(void) {
        json_object *value = NULL;

        g_assert_cmpint(parse(" {\"grün\": [\"\\\\ü\\\"ß\\u00e4\", \"\\\\\\\\€\"]} ", &value), ==, 0);
        g_assert_cmpstr(json_object_to_json_string_ext(value, JSON_C_TO_STRING_PLAIN), ==,
                        "{\"grün\":[\"\\\\ü\\\"ßä\",\"\\\\\\\\€\"]}");
        json_object_put(value);

        g_assert_cmpint(parse("{\"\\\\u0000\": \"\\u0000\"}", &value), ==, 0);
        g_assert_cmpstr(json_object_to_json_string_ext(value, JSON_C_TO_STRING_PLAIN), ==,
                        "{\"\\\\u0000\":\"\\u0000\"}");
        json_object_put(value);
}

static void test_refused(void) {
        static const char *const texts[] = {
                "",
                "ü",
                "\"a",
                "\"\\ü\"",
                "\"\\\\\\ü\"",
                "\"\xc3\"",
                "\"\xff\"",
                "\"\xc0\x80\"",
                "'a'",
                "[1,]",
                "{\"a\":1,}",
                "01",
                "\"a\" \"b\"",
                "\"\n\"",
                "[1] ü",
                "[\"\xed\xa0\x80\"]",
                "// ü\n1",
                "{\"a\\u0000b\": 1}",
                "[{\"x\": \"y\", \"\\\\\\u0000\" : 1}]",
        };

        for (size_t i = 0; i < G_N_ELEMENTS(texts); i++) {
                json_object *value = NULL;

                g_test_message("%s", texts[i]);
                g_assert_cmpint(parse(texts[i], &value), ==, -EINVAL);
                g_assert_null(value);
        }
}

static void test_depth(void) {
        json_object *value = NULL;

        g_assert_cmpint(parse("{\"[[[[\":[[\"\\\"[[[[\"]]}", &value), ==, 0);
        json_object_put(value);
        g_assert_cmpint(parse("[[[[]]]]", &value), ==, -E2BIG);
        g_assert_cmpint(parse("[[[{\"a\":1", &value), ==, -E2BIG);
}

static void test_numbers(void) {
        static const char *const texts[] = { "18446744073709551616", "[-9223372036854775809]", "1e400",
                                             "{\"ü\":-1e400}" };
        json_object *value = NULL;

        for (size_t i = 0; i < G_N_ELEMENTS(texts); i++)
                g_assert_cmpint(parse(texts[i], &value), ==, -ERANGE);

        g_assert_cmpint(parse("18446744073709551615", &value), ==, 0);
        g_assert_cmpuint(json_object_get_uint64(value), ==, UINT64_MAX);
        json_object_put(value);
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/json-parse/all-characters", test_all_characters);
        g_test_add_func("/json-parse/names-and-escapes", test_names_and_escapes);
        g_test_add_func("/json-parse/refused", test_refused);
        g_test_add_func("/json-parse/depth", test_depth);
        g_test_add_func("/json-parse/numbers", test_numbers);
        return g_test_run();
}
