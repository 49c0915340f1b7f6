/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * JSON to D-Bus and back: every type, its limits, what is refused and in which words.
 */

#include <errno.h>
#include <json-c/json_tokener.h>
#include <math.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/dbus-value.h"
#include "basic/json-weight.h"

/* A bus that is closed: messages can be made on it. */
static sd_bus *bus;

static json_object *parse(const char *text) {
        g_autofree char *wrapped = g_strdup_printf("[%s]", text);
        struct json_tokener *tokener = json_tokener_new_ex(1000);
        g_autoptr(json_object) array = json_tokener_parse_ex(tokener, wrapped, -1);
        json_object *value;

        g_assert_cmpint(json_tokener_get_error(tokener), ==, json_tokener_success);
        json_tokener_free(tokener);
        value = json_object_get(json_object_array_get_idx(array, 0));
        return value;
}

static sd_bus_message *message_new(void) {
        sd_bus_message *message = NULL;

        g_assert_cmpint(sd_bus_message_new_method_call(bus, &message, "org.example.X", "/", NULL, "X"), >=, 0);
        return message;
}

static void message_turn_over(sd_bus_message *message) {
        g_assert_cmpint(sd_bus_message_seal(message, 1, 0), >=, 0);
        g_assert_cmpint(sd_bus_message_rewind(message, true), >=, 0);
}

/* Sends the arguments and receives them; what comes is what is expected, in JSON text. */
static void assert_carried(const char *signature, const char *args, const char *expected) {
        g_autoptr(json_object) sent = parse(args), received = NULL, wanted = parse(expected);
        g_autoptr(sd_bus_message) message = message_new();
        g_autofree char *error = NULL;

        g_assert_cmpint(value_check(signature, sent, &error), ==, 0);
        g_assert_cmpint(value_append(message, signature, sent, &error), ==, 0);
        g_assert_cmpstr(error, ==, NULL);
        message_turn_over(message);
        g_assert_cmpstr(sd_bus_message_get_signature(message, true), ==, signature);

        g_assert_cmpint(value_read_all(message, VALUE_ROOM_MAX, &received, &error), ==, 0);
        g_assert_cmpstr(json_object_to_json_string_ext(received, JSON_C_TO_STRING_PLAIN), ==,
                        json_object_to_json_string_ext(wanted, JSON_C_TO_STRING_PLAIN));
        g_assert_true(value_equal(received, wanted));
}

static void assert_round_trip(const char *signature, const char *args) {
        assert_carried(signature, args, args);
}

static void assert_refused(const char *signature, const char *args, int error, const char *text) {
        g_autoptr(json_object) sent = parse(args);
        g_autoptr(sd_bus_message) message = message_new();
        g_autofree char *checked = NULL, *appended = NULL;

        g_assert_cmpint(value_check(signature, sent, &checked), ==, error);
        g_assert_cmpstr(checked, ==, text);
        g_assert_cmpint(value_append(message, signature, sent, &appended), ==, error);
        g_assert_cmpstr(appended, ==, text);
}

static void test_numbers(void) {
        assert_round_trip("yy", "[0, 255]");
        assert_round_trip("nn", "[-32768, 32767]");
        assert_round_trip("qq", "[0, 65535]");
        assert_round_trip("ii", "[-2147483648, 2147483647]");
        assert_round_trip("uu", "[0, 4294967295]");
        assert_round_trip("xx", "[-9223372036854775808, 9223372036854775807]");
        assert_round_trip("tt", "[0, 18446744073709551615]");
        assert_round_trip("dddd", "[0.1, -1.5, 1e+300, 0.30000000000000004]");
        assert_carried("dd", "[1, -7]", "[1.0, -7.0]");
        assert_carried("yi", "[7.0, -7.0]", "[7, -7]");
        assert_carried("t", "[1.8446744073709550e19]", "[18446744073709549568]");
        assert_round_trip("bb", "[true, false]");
}

static void test_number_limits(void) {
        static const struct {
                const char *signature, *args, *range;
        } cases[] = {
                { "y", "-1", "0 to 255" },
                { "y", "256", "0 to 255" },
                { "n", "-32769", "-32768 to 32767" },
                { "n", "32768", "-32768 to 32767" },
                { "q", "65536", "0 to 65535" },
                { "i", "-2147483649", "-2147483648 to 2147483647" },
                { "i", "2147483648", "-2147483648 to 2147483647" },
                { "u", "4294967296", "0 to 4294967295" },
                { "x", "9223372036854775808", "-9223372036854775808 to 9223372036854775807" },
                { "t", "-1", "0 to 18446744073709551615" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autofree char *args = g_strdup_printf("[%s]", cases[i].args);
                g_autofree char *text = g_strdup_printf("argument 1: expected a whole number from %s, not %s",
                                                        cases[i].range, cases[i].args);

                assert_refused(cases[i].signature, args, -ERANGE, text);
        }
}

static void test_strings(void) {
        assert_round_trip("sss", "[\"\", \"text\", \"\\u00e4\\u20ac\"]");
        assert_round_trip("oo", "[\"/\", \"/org/example/A_1\"]");
        assert_round_trip("ggg", "[\"\", \"a{sv}h\", \"(ii)\"]");
}

static void test_wrong_types(void) {
        assert_refused("y", "[\"7\"]", -EINVAL, "argument 1: expected a whole number from 0 to 255, not \"7\"");
        assert_refused("y", "[1.5]", -EINVAL, "argument 1: expected a whole number from 0 to 255, not 1.5");
        assert_refused("u", "[true]", -EINVAL, "argument 1: expected a whole number from 0 to 4294967295, not true");
        assert_refused("u", "[null]", -EINVAL, "argument 1: expected a whole number from 0 to 4294967295, not null");
        assert_refused("d", "[\"1\"]", -EINVAL, "argument 1: expected a number, not \"1\"");
        assert_refused("b", "[1]", -EINVAL, "argument 1: expected true or false, not 1");
        assert_refused("ss", "[\"a\", 5]", -EINVAL, "argument 2: expected a string, not 5");
        assert_refused("s", "[\"a\\u0000b\"]", -EINVAL,
                       "argument 1: expected valid UTF-8 without NUL characters, not \"a\\u0000b\"");
        assert_refused("o", "[\"example\"]", -EINVAL,
                       "argument 1: expected an object path such as \"/org/example\", not \"example\"");
        assert_refused("g", "[\"a\"]", -EINVAL, "argument 1: expected a signature, not \"a\"");
        assert_refused("as", "[\"a\"]", -EINVAL, "argument 1: expected an array, not \"a\"");
        assert_refused("ay", "[7]", -EINVAL, "argument 1: expected an array or a string, not 7");
        assert_refused("a{sv}", "[[]]", -EINVAL, "argument 1: expected an object, not []");
        assert_refused("(su)", "[[\"a\"]]", -EINVAL, "argument 1: expected an array of 2 values, not [\"a\"]");
        assert_refused("(s)", "[\"a\"]", -EINVAL, "argument 1: expected an array of 1 value, not \"a\"");
        assert_refused("v", "[null]", -EINVAL, "argument 1: expected a value, not null");
        assert_refused(
                "s", "[[\"a long array whose text is cut off somewhere, since nobody wants to read all of it\"]]",
                -EINVAL,
                "argument 1: expected a string, not [\"a long array whose text is cut off somewhere, since nobody...");
}

static void test_invalid_utf8(void) {
        g_autoptr(json_object) args = json_object_new_array();
        g_autofree char *error = NULL;

        json_object_array_add(args, json_object_new_string("a\xff"));
        g_assert_cmpint(value_check("s", args, &error), ==, -EINVAL);
        g_assert_cmpstr(error, ==, "argument 1: expected valid UTF-8 without NUL characters, not \"a\xef\xbf\xbd\"");
}

static void test_containers(void) {
        assert_round_trip("as", "[[]]");
        assert_round_trip("aau", "[[[1, 2], [], [3]]]");
        assert_round_trip("(s(iu)as)", "[[\"a\", [-1, 2], [\"b\"]]]");
        assert_round_trip("a(sb)", "[[[\"a\", true], [\"b\", false]]]");
        assert_round_trip("a{sas}", "[{\"one\": [\"a\"], \"none\": []}]");
        assert_round_trip("a{sv}u", "[{}, 1]");
        assert_round_trip("", "[]");
}

/* One type, whatever they are. */
static void test_bytes(void) {
        assert_round_trip("ay", "[[255, 0, 1]]");
        assert_round_trip("ay", "[[97, 98, 0]]");
        assert_round_trip("ay", "[[0]]");
        assert_round_trip("ay", "[[]]");
        assert_carried("ay", "[\"abc\"]", "[[97,98,99]]");
        assert_carried("ay", "[\"\"]", "[[]]");
        assert_carried("ay", "[\"a\\u0000\"]", "[[97,0]]");
        assert_carried("aay", "[[\"a\", [200]]]", "[[[97],[200]]]");
        assert_refused("ay", "[[97, 256]]", -ERANGE,
                       "argument 1, element 2: expected a whole number from 0 to 255, not 256");
}

static void test_dictionary_keys(void) {
        assert_round_trip("a{yu}", "[{\"0\": 1, \"255\": 2}]");
        assert_round_trip("a{nu}", "[{\"-32768\": 1}]");
        assert_round_trip("a{qu}", "[{\"65535\": 1}]");
        assert_round_trip("a{iu}", "[{\"-5\": 1}]");
        assert_round_trip("a{uu}", "[{\"4294967295\": 1}]");
        assert_round_trip("a{xu}", "[{\"-9223372036854775808\": 1}]");
        assert_round_trip("a{tu}", "[{\"18446744073709551615\": 1}]");
        assert_round_trip("a{bu}", "[{\"true\": 1, \"false\": 0}]");
        assert_round_trip("a{du}", "[{\"0.1\": 1, \"-2.0\": 2}]");
        assert_round_trip("a{su}", "[{\"\": 1, \"a b\": 2}]");
        assert_round_trip("a{ou}", "[{\"/a\": 1}]");
        assert_round_trip("a{gu}", "[{\"as\": 1}]");

        assert_refused("a{yu}", "[{\"256\": 1}]", -ERANGE,
                       "argument 1, key \"256\": expected a whole number from 0 to 255, not 256");
        assert_refused("a{iu}", "[{\"01\": 1}]", -EINVAL,
                       "argument 1, key \"01\": expected a whole number from -2147483648 to 2147483647, not \"01\"");
        assert_refused("a{tu}", "[{\"18446744073709551616\": 1}]", -EINVAL,
                       "argument 1, key \"18446744073709551616\": expected a whole number from 0 to "
                       "18446744073709551615, not \"18446744073709551616\"");
        assert_refused("a{bu}", "[{\"yes\": 1}]", -EINVAL,
                       "argument 1, key \"yes\": expected true or false, not \"yes\"");
        assert_refused("a{du}", "[{\"nan\": 1}]", -EINVAL, "argument 1, key \"nan\": expected a number, not \"nan\"");
        assert_refused("a{ou}", "[{\"a\": 1}]", -EINVAL,
                       "argument 1, key \"a\": expected an object path such as \"/org/example\", not \"a\"");
}

static void test_variants(void) {
        assert_round_trip("vvvvv", "[true, -7, 1.5, \"text\", 18446744073709551615]");
        assert_round_trip("v", "[[1, \"two\", [3.5]]]");
        assert_round_trip("v", "[{\"a\": {\"b\": [true]}}]");
        assert_round_trip("a{sv}", "[{\"name\": \"x\", \"count\": 3, \"list\": [], \"map\": {}}]");
        assert_carried("v", "[{\"signature\": \"y\", \"value\": 7}]", "[7]");
        assert_carried("v", "[{\"signature\": \"ay\", \"value\": \"b\"}]", "[[98]]");
        assert_carried("v", "[{\"signature\": \"v\", \"value\": {\"signature\": \"(uo)\", \"value\": [1, \"/\"]}}]",
                       "[[1, \"/\"]]");
        assert_round_trip("v", "[{\"signature\": \"y\", \"value\": 7, \"more\": 1}]");

        assert_refused("v", "[{\"signature\": \"y\", \"value\": 300}]", -ERANGE,
                       "argument 1: expected a whole number from 0 to 255, not 300");
        assert_refused("v", "[{\"signature\": \"\", \"value\": 1}]", -EINVAL,
                       "argument 1: signature '' must be one type");
        assert_refused("v", "[{\"signature\": \"uu\", \"value\": 1}]", -EINVAL,
                       "argument 1: signature 'uu' must be one type");
        assert_refused("v", "[{\"signature\": \"z\", \"value\": 1}]", -EINVAL,
                       "argument 1: signature 'z': there is no type 'z'");
}

/* The type of a variant is the one that was guessed or said. */
static void test_variant_types(void) {
        static const struct {
                const char *value, *contents;
        } cases[] = {
                { "true", "b" },
                { "7", "x" },
                { "-7", "x" },
                { "9223372036854775808", "t" },
                { "1.0", "d" },
                { "\"a\"", "s" },
                { "[]", "av" },
                { "{}", "a{sv}" },
                { "{\"signature\": \"(yas)\", \"value\": [1, []]}", "(yas)" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autofree char *text = g_strdup_printf("[%s]", cases[i].value), *error = NULL;
                g_autoptr(sd_bus_message) message = message_new();
                g_autoptr(json_object) args = parse(text);
                const char *contents;

                g_assert_cmpint(value_append(message, "v", args, &error), ==, 0);
                message_turn_over(message);
                g_assert_cmpint(sd_bus_message_peek_type(message, NULL, &contents), >, 0);
                g_assert_cmpstr(contents, ==, cases[i].contents);
        }
}

static void test_places(void) {
        assert_refused("sa{s(ub)}", "[\"x\", {\"mode\": [1, 2]}]", -EINVAL,
                       "argument 2, key \"mode\", field 2: expected true or false, not 2");
        assert_refused("aav", "[[[1], [2, null]]]", -EINVAL,
                       "argument 1, element 2, element 2: expected a value, not null");
        assert_refused("v", "[{\"a\": [true, {\"b\": null}]}]", -EINVAL,
                       "argument 1, key \"a\", element 2, key \"b\": expected a value, not null");
}

static void test_counts(void) {
        g_autofree char *error = NULL;

        assert_refused("s", "[]", -EINVAL, "signature 's' takes 1 argument, not 0");
        assert_refused("su", "[\"a\"]", -EINVAL, "signature 'su' takes 2 arguments, not 1");
        assert_refused(
                "", "[1]", -EINVAL,
                "signature '' takes 0 arguments, not 1; 'signature' has their types, such as \"s\" for a string");
        assert_refused("a{sv}(ii)", "[{}]", -EINVAL, "signature 'a{sv}(ii)' takes 2 arguments, not 1");
        assert_refused("s", "\"a\"", -EINVAL, "expected an array of arguments, not \"a\"");
        g_assert_cmpint(value_check("", NULL, &error), ==, 0);
        g_assert_cmpint(value_check("u", NULL, &error), ==, -EINVAL);
        g_assert_cmpstr(error, ==, "signature 'u' takes 1 argument, not 0");
}

static char *repeat(const char *head, unsigned n, const char *middle, const char *tail) {
        GString *text = g_string_new(NULL);

        for (unsigned i = 0; i < n; i++)
                g_string_append(text, head);
        g_string_append(text, middle);
        for (unsigned i = 0; i < n; i++)
                g_string_append(text, tail);
        return g_string_free(text, FALSE);
}

static void assert_signature(const char *signature, const char *problem) {
        g_autofree char *error = NULL, *expected = g_strdup_printf("signature '%s': %s", signature, problem);

        g_assert_cmpint(value_check_signature(signature, &error), ==, -EINVAL);
        g_assert_cmpstr(error, ==, expected);
}

static void test_signatures(void) {
        g_autofree char *arrays_32 = repeat("a", 32, "u", ""), *arrays_33 = repeat("a", 33, "u", "");
        g_autofree char *structs_32 = repeat("(", 32, "u", ")"), *structs_33 = repeat("(", 33, "u", ")");
        g_autofree char *long_255 = repeat("u", 255, "", ""), *long_256 = repeat("u", 256, "", "");
        const char *good[] = { "", "ybnqiuxtdsogv", "a{s(a{yv}as)}", "aaay", arrays_32, structs_32, long_255 };

        for (size_t i = 0; i < G_N_ELEMENTS(good); i++) {
                g_autofree char *error = NULL;

                g_assert_cmpint(value_check_signature(good[i], &error), ==, 0);
                g_assert_cmpstr(error, ==, NULL);
        }

        assert_signature("z", "there is no type 'z'");
        assert_signature("s ", "it may only contain the letters of types");
        assert_signature("\xc3\xa4", "it may only contain the letters of types");
        assert_signature("a", "an array 'a' needs the type of its elements");
        assert_signature("(a)", "an array 'a' needs the type of its elements");
        assert_signature("(s", "a '(' is not closed");
        assert_signature("()", "a structure '()' must have fields");
        assert_signature("s)", "a ')' closes nothing");
        assert_signature("{sv}", "a dictionary '{' must follow an 'a'");
        assert_signature("a{", "the key of a dictionary must have a basic type");
        assert_signature("a{vs}", "the key of a dictionary must have a basic type");
        assert_signature("a{(s)s}", "the key of a dictionary must have a basic type");
        assert_signature("a{s}", "a dictionary needs the type of its values");
        assert_signature("a{s", "a dictionary needs the type of its values");
        assert_signature("a{sss}", "the values of a dictionary have one type, then comes '}'");
        assert_signature("a{ss", "the values of a dictionary have one type, then comes '}'");
        assert_signature("ah", "file descriptors ('h') are not supported");
        assert_signature(arrays_33, "arrays are nested more than 32 levels deep");
        assert_signature(structs_33, "structures are nested more than 32 levels deep");
        assert_signature(long_256, "it is longer than 255 characters");
}

/* Each array in a variant is two levels. */
static void test_depth(void) {
        g_autofree char *deepest = repeat("[", 32, "", "]"), *too_deep = repeat("[", 33, "", "]");
        g_autofree char *args = g_strdup_printf("[%s]", deepest), *refused = g_strdup_printf("[%s]", too_deep);
        g_autofree char *error = NULL;
        g_autoptr(json_object) value = parse(refused);

        assert_round_trip("v", args);
        g_assert_cmpint(value_check("v", value, &error), ==, -ERANGE);
        g_assert_true(g_str_has_suffix(error, ", element 1: nested too deeply, D-Bus allows 64 levels"));
}

static void test_size(void) {
        size_t length = 33u << 20;
        g_autofree char *text = g_malloc(length + 1), *error = NULL;
        g_autoptr(json_object) args = json_object_new_array();

        memset(text, 'x', length);
        text[length] = '\0';
        json_object_array_add(args, json_object_new_string_len(text, (int) length));
        g_assert_cmpint(value_check("s", args, &error), ==, -ERANGE);
        g_assert_cmpstr(error, ==, "argument 1: too large for a message, which holds 32 MiB");
        g_clear_pointer(&error, g_free);
        g_assert_cmpint(value_check("ay", args, &error), ==, -ERANGE);
        g_assert_cmpstr(error, ==, "argument 1: too large for a message, which holds 32 MiB");
}

static void test_not_a_number(void) {
        const double numbers[] = { (double) NAN, (double) INFINITY, (double) -INFINITY };

        for (size_t i = 0; i < G_N_ELEMENTS(numbers); i++) {
                g_autoptr(sd_bus_message) message = message_new();
                g_autoptr(json_object) values = NULL;
                g_autofree char *error = NULL;

                g_assert_cmpint(sd_bus_message_append(message, "dd", 1.0, numbers[i]), >=, 0);
                message_turn_over(message);
                g_assert_cmpint(value_read_all(message, VALUE_ROOM_MAX, &values, &error), ==, -EINVAL);
                g_assert_cmpstr(error, ==, "it has a number that is not finite, which JSON cannot hold");
        }
}

static void test_too_large(void) {
        g_autoptr(sd_bus_message) message = message_new();
        g_autoptr(json_object) value = NULL;
        g_autofree char *error = NULL, *bytes = g_malloc0(1 << 20);

        g_assert_cmpint(sd_bus_message_append_array(message, 'y', bytes, 1 << 20), >=, 0);
        g_assert_cmpint(sd_bus_message_append(message, "u", 7), >=, 0);
        message_turn_over(message);
        g_assert_cmpint(value_read_one(message, VALUE_ROOM_MAX, &value, &error), ==, -EFBIG);
        g_assert_cmpstr(error, ==, "it is larger than 2048 KiB");

        g_clear_pointer(&error, g_free);
        g_assert_cmpint(sd_bus_message_rewind(message, true), >=, 0);
        g_assert_cmpint(value_skip(message), >=, 0);
        g_assert_cmpint(value_read_one(message, VALUE_ROOM_MAX, &value, &error), ==, 0);
        g_assert_cmpint(json_object_get_int(value), ==, 7);
}

/* Nothing has no room, or there could be any number of it. */
static void test_too_many(void) {
        g_autoptr(sd_bus_message) message = message_new();
        g_autoptr(json_object) value = NULL;
        g_autofree char *error = NULL;

        g_assert_cmpint(sd_bus_message_append(message, "aay", 4, 0, 0, 0, 0), >=, 0);
        message_turn_over(message);
        g_assert_cmpint(value_read_one(message, 5 * JSON_WEIGHT_ARRAY - 1, &value, &error), ==, -EFBIG);
        g_assert_cmpint(sd_bus_message_rewind(message, true), >=, 0);
        g_assert_cmpint(value_read_one(message, 5 * JSON_WEIGHT_ARRAY, &value, &error), ==, 0);
}

/* However small a value is, it takes its share of the memory; and a value that is the wanted one has room. */
static void test_weight(void) {
        static const struct {
                const char *json;
                uint64_t weight;
        } cases[] = {
                { "null", JSON_WEIGHT_VALUE },
                { "-1.5e3", JSON_WEIGHT_VALUE },
                { "\"ab\"", JSON_WEIGHT_VALUE + 2 },
                { "[]", JSON_WEIGHT_ARRAY },
                { "{}", JSON_WEIGHT_OBJECT },
                { " [ [ ] , {} , 1 ,true, \"[,{\" ] ",
                  2 * JSON_WEIGHT_ARRAY + JSON_WEIGHT_OBJECT + 3 * JSON_WEIGHT_VALUE + 3 },
                { "{\"k\": [1], \"lm\": {\"\": \"x\"}}",
                  2 * JSON_WEIGHT_OBJECT + 3 * JSON_WEIGHT_MEMBER + 3 + JSON_WEIGHT_ARRAY + 2 * JSON_WEIGHT_VALUE + 1 },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autoptr(json_object) value = parse(cases[i].json), read = NULL, args = json_object_new_array();
                g_autoptr(sd_bus_message) message = message_new();
                g_autofree char *error = NULL;

                g_test_message("%s", cases[i].json);
                g_assert_cmpuint(json_weight(value), ==, cases[i].weight);
                g_assert_cmpuint(json_text_weight(cases[i].json, strlen(cases[i].json)), ==, cases[i].weight);
                if (!value)
                        continue;

                json_object_array_add(args, json_object_get(value));
                g_assert_cmpint(value_append(message, "v", args, &error), ==, 0);
                message_turn_over(message);
                g_assert_cmpint(value_read_one(message, cases[i].weight - 1, &read, &error), ==, -EFBIG);
                g_assert_cmpint(sd_bus_message_rewind(message, true), >=, 0);
                g_assert_cmpint(value_read_one(message, cases[i].weight, &read, &error), ==, 0);
                g_assert_cmpuint(value_room(value), >=, cases[i].weight);
        }

        g_assert_cmpuint(json_text_weight("\"\\\"[\\\\\"", 7), ==, JSON_WEIGHT_VALUE + 3);
}

/* What is not shown is not made. */
static void test_text(void) {
        static const struct {
                const char *json, *text;
        } cases[] = {
                { "[]", "[]" },
                { "{}", "{}" },
                { "null", "null" },
                { "[1, [2.5, \"a/b\"], {\"k\\\"\": true, \"l\": null}]",
                  "[1,[2.5,\"a/b\"],{\"k\\\"\":true,\"l\":null}]" },
        };
        g_autoptr(json_object) many = json_object_new_array();
        g_autofree char *shown = NULL;

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autoptr(json_object) value = parse(cases[i].json);
                g_autofree char *text = value_to_text(value);

                g_assert_cmpstr(text, ==, cases[i].text);
        }

        for (int i = 0; i < 1000; i++)
                json_object_array_add(many, json_object_new_int(i));
        shown = value_to_text(many);
        g_assert_cmpstr(shown, ==, "[0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,...");
}

/* A text stands for bytes, and no value that is it needs more room. */
static void test_is(void) {
        static const struct {
                const char *value, *wanted;
                bool is;
        } cases[] = {
                { "[97, 98]", "\"ab\"", true },
                { "[97, 98, 0]", "\"ab\"", true },
                { "[97, 98, 0, 0]", "\"ab\"", false },
                { "[97, 99]", "\"ab\"", false },
                { "[97]", "\"ab\"", false },
                { "[]", "\"\"", true },
                { "[195, 164]", "\"\u00e4\"", true },
                { "[[97], {\"k\": [98]}]", "[\"a\", {\"k\": \"b\"}]", true },
                { "\"ab\"", "[97, 98]", false },
                { "\"ab\"", "\"ab\"", true },
                { "1.0", "1", true },
                { "[\"a\"]", "\"a\"", false },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autoptr(json_object) value = parse(cases[i].value), wanted = parse(cases[i].wanted);

                g_assert_cmpint(value_is(value, wanted), ==, cases[i].is);
        }
}

/* Only as far as it takes no time. */
static void test_skip(void) {
        static const unsigned sizes[] = { 0, VALUE_SKIPPED_MAX - 1, VALUE_SKIPPED_MAX, 5 * VALUE_SKIPPED_MAX };

        for (size_t i = 0; i < G_N_ELEMENTS(sizes); i++) {
                g_autoptr(sd_bus_message) message = message_new();
                uint32_t number;

                g_assert_cmpint(sd_bus_message_open_container(message, 'a', "s"), >=, 0);
                for (unsigned n = 0; n < sizes[i]; n++)
                        g_assert_cmpint(sd_bus_message_append(message, "s", "x"), >=, 0);
                g_assert_cmpint(sd_bus_message_close_container(message), >=, 0);
                g_assert_cmpint(sd_bus_message_append(message, "(a{sv}v)u", 1, "k", "s", "x", "au", 0, 7), >=, 0);
                message_turn_over(message);
                if (sizes[i] >= VALUE_SKIPPED_MAX) {
                        g_assert_cmpint(value_skip(message), ==, -E2BIG);
                        continue;
                }
                g_assert_cmpint(value_skip(message), >=, 0);
                g_assert_cmpint(value_skip(message), >=, 0);
                g_assert_cmpint(sd_bus_message_read(message, "u", &number), >, 0);
                g_assert_cmpuint(number, ==, 7);
        }
}

/* sd-bus does not read it, a bus passes it on. */
static void test_noncharacter(void) {
        g_autoptr(sd_bus_message) message = message_new();
        g_autoptr(json_object) values = NULL;
        g_autofree char *error = NULL;
        char *space;

        g_assert_cmpint(sd_bus_message_append_string_space(message, 3, &space), >=, 0);
        memcpy(space, "\xef\xbf\xbe", 3);
        message_turn_over(message);
        g_assert_cmpint(value_read_all(message, VALUE_ROOM_MAX, &values, &error), ==, -EBADMSG);
        g_assert_cmpstr(error, ==, "it has a text with a character that Unicode does not assign, such as U+FFFE");
}

static void test_file_descriptor(void) {
        g_autoptr(sd_bus_message) message = message_new();
        g_autoptr(json_object) values = NULL;
        g_autofree char *error = NULL;

        g_assert_cmpint(sd_bus_message_append(message, "sh", "a", 0), >=, 0);
        message_turn_over(message);
        g_assert_cmpint(value_read_all(message, VALUE_ROOM_MAX, &values, &error), ==, -EOPNOTSUPP);
        g_assert_cmpstr(error, ==, "it has a file descriptor, which is not supported");
        g_assert_null(values);
}

static void test_read_one(void) {
        g_autoptr(sd_bus_message) message = message_new();
        g_autoptr(json_object) args = parse("[[1, 2], \"b\"]"), first = NULL, second = NULL, none = NULL;
        g_autofree char *error = NULL;

        g_assert_cmpint(value_append(message, "aus", args, &error), ==, 0);
        message_turn_over(message);
        g_assert_cmpint(value_read_one(message, VALUE_ROOM_MAX, &first, &error), ==, 0);
        g_assert_true(value_equal(first, json_object_array_get_idx(args, 0)));
        g_assert_cmpint(value_read_one(message, VALUE_ROOM_MAX, &second, &error), ==, 0);
        g_assert_cmpstr(json_object_get_string(second), ==, "b");
        g_assert_cmpint(value_read_one(message, VALUE_ROOM_MAX, &none, &error), ==, -ENODATA);
        g_assert_cmpstr(error, ==, "there is no value");
}

static void test_equal(void) {
        static const struct {
                const char *a, *b;
                bool equal;
        } cases[] = {
                { "1", "1.0", true },
                { "-1", "-1", true },
                { "-1", "18446744073709551615", false },
                { "9007199254740993", "9007199254740992.0", false },
                { "-9007199254740993", "-9007199254740992.0", false },
                { "-2", "-2.5", false },
                { "-2", "-2e0", true },
                { "18446744073709551615", "18446744073709551616.0", false },
                { "18446744073709551615", "9223372036854775807", false },
                { "0", "-0.0", true },
                { "1", "true", false },
                { "1", "\"1\"", false },
                { "null", "null", true },
                { "null", "false", false },
                { "[1, [2.0]]", "[1.0, [2]]", true },
                { "[1]", "[1, 2]", false },
                { "{\"a\": 1, \"b\": 2}", "{\"b\": 2, \"a\": 1.0}", true },
                { "{\"a\": 1}", "{\"b\": 1}", false },
                { "{\"a\": null}", "{}", false },
                { "\"a\"", "\"a\"", true },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autoptr(json_object) a = parse(cases[i].a), b = parse(cases[i].b);

                g_assert_cmpint(value_equal(a, b), ==, cases[i].equal);
                g_assert_cmpint(value_equal(b, a), ==, cases[i].equal);
        }
}

int main(int argc, char **argv) {
        int r;

        g_test_init(&argc, &argv, NULL);
        g_assert_cmpint(sd_bus_new(&bus), >=, 0);
        g_assert_cmpint(sd_bus_set_address(bus, "unix:path=/nowhere"), >=, 0);
        g_assert_cmpint(sd_bus_start(bus), <, 0);

        g_test_add_func("/value/numbers", test_numbers);
        g_test_add_func("/value/number-limits", test_number_limits);
        g_test_add_func("/value/strings", test_strings);
        g_test_add_func("/value/wrong-types", test_wrong_types);
        g_test_add_func("/value/invalid-utf8", test_invalid_utf8);
        g_test_add_func("/value/containers", test_containers);
        g_test_add_func("/value/bytes", test_bytes);
        g_test_add_func("/value/too-large", test_too_large);
        g_test_add_func("/value/too-many", test_too_many);
        g_test_add_func("/value/weight", test_weight);
        g_test_add_func("/value/skip", test_skip);
        g_test_add_func("/value/noncharacter", test_noncharacter);
        g_test_add_func("/value/text", test_text);
        g_test_add_func("/value/is", test_is);
        g_test_add_func("/value/dictionary-keys", test_dictionary_keys);
        g_test_add_func("/value/variants", test_variants);
        g_test_add_func("/value/variant-types", test_variant_types);
        g_test_add_func("/value/places", test_places);
        g_test_add_func("/value/counts", test_counts);
        g_test_add_func("/value/signatures", test_signatures);
        g_test_add_func("/value/depth", test_depth);
        g_test_add_func("/value/size", test_size);
        g_test_add_func("/value/not-a-number", test_not_a_number);
        g_test_add_func("/value/file-descriptor", test_file_descriptor);
        g_test_add_func("/value/read-one", test_read_one);
        g_test_add_func("/value/equal", test_equal);

        r = g_test_run();
        sd_bus_unref(bus);
        return r;
}
