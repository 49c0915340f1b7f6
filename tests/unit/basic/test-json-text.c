/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tests the conversion of JSON values to text in pieces. */

#include <glib.h>
#include <json-c/json_tokener.h>
#include <string.h>

#include "basic/json-text.h"

/* What one step makes of 16 KiB, each byte of which has to be escaped. */
#define STEP_MAX ((16u << 10) * 6 + 16)

static char *make(json_object *value) {
        JsonText *it = json_text_new(value);
        size_t length = 0, before = 0;
        char *text;
        bool more;

        do {
                more = json_text_continue(it);
                (void) json_text_get(it, &length);
                g_assert_cmpuint(length - before, <=, STEP_MAX);
                before = length;
        } while (more);

        text = g_strdup(json_text_get(it, &length));
        g_assert_cmpuint(strlen(text), ==, length);
        json_text_free(it);
        return text;
}

static void assert_like_json_c(json_object *value) {
        g_autofree char *text = make(value);

        g_assert_cmpstr(text, ==,
                        json_object_to_json_string_ext(value, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE));
        json_object_put(value);
}

static void test_values(void) {
        static const char *const texts[] = {
                "null",
                "true",
                "-17",
                "18446744073709551615",
                "0.1",
                "1e300",
                "\"\"",
                "\"a/b\"",
                "\"\\b\\n\\r\\t\\f\\\"\\\\\\u0000\\u001f\\u007f \\u00e4 \\u20ac \\ud83d\\ude00\"",
                "[]",
                "{}",
                "[[],{},[1,\"2\",null,false]]",
                "{\"\":{\"k\\\"\\n\":[{}]},\"b\":[[[0.5]]],\"c\":null}",
        };

        for (size_t i = 0; i < G_N_ELEMENTS(texts); i++)
                assert_like_json_c(json_tokener_parse(texts[i]));
}

/* Three bytes a character do not fit into any power of two. */
static void test_long_strings(void) {
        json_object *object = json_object_new_object();

        for (size_t n = 16380; n < 16390; n++) {
                g_autoptr(GString) text = g_string_new(NULL);

                while (text->len < 3 * n)
                        g_string_append(text, "\u20ac");
                g_string_append(text, "\n\U0001F600");
                json_object_object_add(object, text->str + 3 * (n % 7), json_object_new_string(text->str + n % 3 * 3));
        }

        assert_like_json_c(object);
}

static void test_no_utf8(void) {
        g_autofree char *rest = g_strnfill(20000, '\x80'), *text = NULL;
        json_object *value = json_object_new_string("a\xff\"b\xe2\x82");

        text = make(value);
        g_assert_cmpstr(text, ==, "\"a\ufffd\\\"b\ufffd\ufffd\"");
        json_object_put(value);

        g_free(text);
        value = json_object_new_string(rest);
        text = make(value);
        g_assert_true(g_utf8_validate(text, -1, NULL));
        json_object_put(value);
}

static void test_many(void) {
        json_object *array = json_object_new_array();

        for (int i = 0; i < 100000; i++)
                json_object_array_add(array, json_object_new_int(i));
        assert_like_json_c(array);
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/json-text/values", test_values);
        g_test_add_func("/json-text/long-strings", test_long_strings);
        g_test_add_func("/json-text/no-utf8", test_no_utf8);
        g_test_add_func("/json-text/many", test_many);
        return g_test_run();
}
