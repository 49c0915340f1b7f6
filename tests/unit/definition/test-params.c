/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tests the parameter structs: values from the file, defaults, and expanded references. */

#include <errno.h>
#include <json-c/json_tokener.h>
#include <json-c/linkhash.h>
#include <string.h>

#include "basic/cleanup.h"
#include "definition/definition.h"
#include "definition/params/params.h"
#include "definition/type-index.h"
#include "example-types.h"
#include "script/blackboard.h"

/* All that references name, whether it is there in the end or not. */
#define INPUTS                                                                                                         \
        "{\"s\":\"any\",\"n\":\"any\",\"zero\":\"any\",\"d\":\"any\",\"whole\":\"any\",\"yes\":\"any\",\"null\":"      \
        "\"any\",\"span\":\"any\",\"mode\":\"any\",\"list\":\"any\",\"mixed\":\"any\",\"map\":\"any\",\"inner\":"      \
        "\"any\","                                                                                                     \
        "\"nul\":\"any\",\"x\":\"any\",\"turnip\":\"any\",\"ss\":\"any\",\"mapp\":\"any\",\"lisst\":\"any\"}"

/* A file whose root is an Example with these keys besides its type. */
static Definition *load(const char *keys) {
        g_autofree char *text =
                g_strdup_printf("{\"btd\":1,\"inputs\":" INPUTS ",\"root\":{\"type\":\"Example\",%s}}", keys);
        g_autoptr(Diagnostics) diagnostics = diagnostics_new("t");
        Definition *definition = NULL;

        if (definition_load_text(text, strlen(text), example_tables, NULL, diagnostics, &definition) < 0)
                g_error("%s", diagnostics_get(diagnostics, 0)->text);

        return definition;
}

static Blackboard *example_variables(void) {
        g_autoptr(json_object) variables = json_tokener_parse(
                "{\"s\":\"cam\",\"n\":5,\"zero\":0,\"d\":2.5,\"whole\":5.0,\"yes\":true,\"null\":null,\"span\":\"2s\","
                "\"mode\":\"isolate\",\"list\":[\"a\",\"b\"],\"mixed\":[\"a\",1],\"map\":{\"X\":\"1\"},"
                "\"inner\":{\"key\":\"k\"},\"nul\":\"a\\u0000b\"}");
        Blackboard *blackboard = blackboard_new(&limits_default);

        json_object_object_foreach(variables, key, value) {
                blackboard_set(blackboard, key, json_object_get(value));
        }

        return blackboard;
}

static void assert_strings(const char *const *strings, const char *expected) {
        g_autofree char *joined = strings ? g_strjoinv("|", (char **) strings) : NULL;

        g_assert_cmpstr(joined, ==, expected);
}

static void test_defaults(void) {
        g_autoptr(Definition) definition = load("\"unit\":\"u\"");
        const Example *example = definition_tree(definition)->nodes[0].params;

        g_assert_true(example->flag);
        g_assert_cmpint(example->count, ==, 3);
        g_assert_cmpfloat(example->ratio, ==, 0);
        g_assert_cmpstr(example->unit, ==, "u");
        g_assert_true(example->timeout == SPAN_INFINITY);
        g_assert_cmpint(example->mode, ==, 1);
        g_assert_null(example->argv);
        g_assert_null(example->env);
        g_assert_null(example->args);
        g_assert_null(example->inner);
        g_assert_null(example->output);
}

static void test_given(void) {
        g_autoptr(Definition) definition = load(
                "\"flag\":false,\"count\":10,\"ratio\":0.25,\"unit\":\"\\u00e9{{x}\",\"timeout\":\"1min 30s\","
                "\"mode\":\"replace\",\"argv\":[\"ls\",\"{{\",\"\"],\"env\":{\"B\":\"2\",\"A\":\"1=1\",\"A-\":\"\"},"
                "\"args\":[1,\"{{\",{\"k\":null}],\"inner\":{\"key\":\"k\",\"count\":7},\"output\":\"{{o\"");
        const Example *example = definition_tree(definition)->nodes[0].params;

        g_assert_false(example->flag);
        g_assert_cmpint(example->count, ==, 10);
        g_assert_cmpfloat(example->ratio, ==, 0.25);
        g_assert_cmpstr(example->unit, ==, "\xc3\xa9{x}");
        g_assert_cmpuint(example->timeout, ==, 90000000);
        g_assert_cmpint(example->mode, ==, 0);
        assert_strings(example->argv, "ls|{|");
        assert_strings(example->env, "A-=|A=1=1|B=2");
        g_assert_cmpstr(json_object_to_json_string_ext(example->args, JSON_C_TO_STRING_PLAIN), ==,
                        "[1,\"{\",{\"k\":null}]");
        g_assert_cmpstr(example->inner->key, ==, "k");
        g_assert_cmpuint(example->inner->initial, ==, 1000000);
        g_assert_cmpint(example->inner->count, ==, 7);
        g_assert_cmpstr(example->output, ==, "{o");
}

static void test_empty(void) {
        g_autoptr(Definition) definition = load("\"unit\":\"\",\"argv\":[],\"env\":{},\"args\":null,\"count\":5.0");
        const Example *example = definition_tree(definition)->nodes[0].params;

        g_assert_cmpstr(example->unit, ==, "");
        assert_strings(example->argv, "");
        assert_strings(example->env, "");
        g_assert_null(example->args);
        g_assert_cmpint(example->count, ==, 5);
}

/* Without references, nothing is copied. */
static void test_borrowed(void) {
        g_autoptr(Definition) definition = load("\"unit\":\"u{{\",\"count\":2");
        g_autoptr(Blackboard) blackboard = example_variables();
        g_autofree char *error = NULL;
        g_auto(Params) params = {};

        g_assert_cmpint(definition_params(definition, 0, blackboard, &params, &error), ==, 0);
        g_assert_true(params.values == definition_tree(definition)->nodes[0].params);
        g_assert_null(params.owned);
}

static void test_filled_in(void) {
        g_autoptr(Definition) definition =
                load("\"flag\":\"{yes}\",\"count\":\"{n}\",\"ratio\":\"{zero}\",\"unit\":\"{s}-{n}.service\","
                     "\"timeout\":\"{n}min\",\"mode\":\"{mode}\",\"argv\":[\"{s}\",\"{n}\",\"{{\",\"{yes}{d}\",\"{d}\","
                     "\"{list...}\",\"{n}\"],"
                     "\"env\":{\"N\":\"{n}\",\"S\":\"{s}\"},\"args\":[\"{n}\",{\"k\":\"{list}\"}],"
                     "\"inner\":{\"key\":\"{s}\",\"initial\":\"{span}\"},\"output\":\"o\"");
        const Example *before = definition_tree(definition)->nodes[0].params, *example;
        g_autoptr(Blackboard) blackboard = example_variables();
        g_autofree char *error = NULL;
        g_auto(Params) params = {};

        /* What is not known yet reads as not given. */
        g_assert_true(before->flag);
        g_assert_cmpint(before->count, ==, 3);
        g_assert_null(before->unit);
        g_assert_null(before->argv);
        g_assert_null(before->args);
        g_assert_null(before->inner);
        g_assert_cmpstr(before->output, ==, "o");

        g_assert_cmpint(definition_params(definition, 0, blackboard, &params, &error), ==, 0);
        example = params.values;
        g_assert_true(example->flag);
        g_assert_cmpint(example->count, ==, 5);
        g_assert_cmpfloat(example->ratio, ==, 0);
        g_assert_cmpstr(example->unit, ==, "cam-5.service");
        g_assert_cmpuint(example->timeout, ==, UINT64_C(300000000));
        g_assert_cmpint(example->mode, ==, 2);
        assert_strings(example->argv, "cam|5|{|true2.5|2.5|a|b|5");
        assert_strings(example->env, "N=5|S=cam");
        g_assert_cmpstr(json_object_to_json_string_ext(example->args, JSON_C_TO_STRING_PLAIN), ==,
                        "[5,{\"k\":[\"a\",\"b\"]}]");
        g_assert_cmpstr(example->inner->key, ==, "cam");
        g_assert_cmpuint(example->inner->initial, ==, 2000000);
        g_assert_cmpstr(example->output, ==, "o");
}

static void test_whole_values(void) {
        g_autoptr(Definition) definition =
                load("\"unit\":\"{s}\",\"argv\":\"{list}\",\"env\":\"{map}\",\"args\":\"{null}\","
                     "\"inner\":\"{inner}\",\"count\":\"{whole}\",\"timeout\":\"{span}\"");
        g_autoptr(Blackboard) blackboard = example_variables();
        g_autofree char *error = NULL;
        g_auto(Params) params = {};
        const Example *example;

        g_assert_cmpint(definition_params(definition, 0, blackboard, &params, &error), ==, 0);
        example = params.values;
        g_assert_cmpstr(example->unit, ==, "cam");
        assert_strings(example->argv, "a|b");
        assert_strings(example->env, "X=1");
        g_assert_null(example->args);
        g_assert_cmpstr(example->inner->key, ==, "k");
        g_assert_cmpuint(example->inner->initial, ==, 1000000);
        g_assert_cmpint(example->count, ==, 5);
        g_assert_cmpuint(example->timeout, ==, 2000000);
}

static void test_cannot_be_filled_in(void) {
        static const struct {
                const char *param, *value, *error;
        } cases[] = {
                { "flag", "\"{n}\"", "flag: expected true or false, but {n} is 5" },
                { "count", "\"{s}\"", "count: expected a whole number, but {s} is \"cam\"" },
                { "count", "\"{zero}\"", "count: 0 is out of range; it must be between 1 and 10" },
                { "count", "\"{lisst}\"", "count: there is no variable 'lisst'; did you mean 'list'?" },
                { "count", "\"{turnip}\"", "count: there is no variable 'turnip'" },
                { "timeout", "\"{n}\"",
                  "timeout: expected a time span such as \"150ms\" or \"1min 30s\", but {n} is 5" },
                { "timeout", "\"{n}\\u00b2\"",
                  "timeout: \"5\xc2\xb2\" is not a time span such as \"150ms\" or \"1min 30s\"" },
                { "mode", "\"{s}\"", "mode: \"cam\" is none of \"replace\", \"fail\", \"isolate\"" },
                { "argv", "\"{s}\"", "argv: expected an array of strings, but {s} is \"cam\"" },
                { "argv", "[\"a\",\"{list}\"]", "argv[1]: {list} is a list; \"{list...}\" becomes its elements" },
                { "argv", "[\"a\",\"--x={list}\"]",
                  "argv: the variable 'list' is a list, so it cannot be a part of a text; \"{list...}\" as an element "
                  "of its own becomes its elements" },
                { "argv", "[\"{list...}\",\"{n}\",\"{null}\"]", "argv[3]: expected a string, but {null} is null" },
                { "argv", "[\"{s...}\"]", "argv: the variable 's' is a string, not a list" },
                { "env", "{\"A\":\"{map.Y}\"}", "env: 'map' has no member 'Y'" },
                { "argv", "\"{mixed}\"", "argv[1]: expected a string, not 1" },
                { "argv", "[\"{nul}\"]", "argv[0]: the text contains a NUL character" },
                { "env", "{\"A\":\"{null}\"}", "env.A: expected a string, but {null} is null" },
                { "inner", "{\"key\":\"{n}\"}", "inner.key: expected a string, but {n} is 5" },
                { "inner", "\"{map}\"", "inner: unknown key 'X' (it takes: key, initial, count)" },
        };
        g_autoptr(Blackboard) blackboard = example_variables();

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autofree char *keys = g_strdup_printf("\"unit\":\"u\",\"%s\":%s", cases[i].param, cases[i].value);
                g_autoptr(Definition) definition = load(keys);
                g_autofree char *error = NULL;
                Params params = { .values = &params };

                g_test_message("%s", keys);
                g_assert_cmpint(definition_params(definition, 0, blackboard, &params, &error), ==, -EINVAL);
                g_assert_cmpstr(error, ==, cases[i].error);
                g_assert_true(params.values == &params);
        }
}

static void test_text_for_unit(void) {
        g_autoptr(Definition) definition = load("\"unit\":\"{n}\"");
        g_autoptr(Blackboard) blackboard = example_variables();
        g_autofree char *error = NULL;
        Params params = {};

        g_assert_cmpint(definition_params(definition, 0, blackboard, &params, &error), ==, -EINVAL);
        g_assert_cmpstr(error, ==, "unit: expected a string, but {n} is 5");
}

/* Each node gets its own, whichever nodes have references. */
static void test_many_nodes(void) {
        static const char *const text =
                "{\"btd\":1,\"inputs\":" INPUTS ",\"root\":{\"type\":\"Many\",\"children\":["
                "{\"type\":\"Example\",\"unit\":\"{s}1\"},{\"type\":\"Example\",\"unit\":\"b\"},"
                "{\"type\":\"Plain\"},{\"type\":\"Example\",\"unit\":\"{s}2\",\"count\":\"{n}\"}]}}";
        static const char *const units[] = { NULL, "cam1", "b", NULL, "cam2" };
        g_autoptr(Diagnostics) diagnostics = diagnostics_new("t");
        g_autoptr(Blackboard) blackboard = example_variables();
        g_autoptr(Definition) definition = NULL;

        g_assert_cmpint(definition_load_text(text, strlen(text), example_tables, NULL, diagnostics, &definition), ==,
                        0);
        for (NodeId node = 0; node < 5; node++) {
                g_autofree char *error = NULL;
                g_auto(Params) params = {};
                const Example *example;

                g_assert_cmpint(definition_params(definition, node, blackboard, &params, &error), ==, 0);
                example = params.values;
                g_assert_cmpstr(example ? example->unit : NULL, ==, units[node]);
        }
}

static void test_types(void) {
        g_autoptr(TypeIndex) types = type_index_new(example_tables);

        g_assert_true(type_index_find(types, "Example") == &example_type);
        g_assert_true(type_index_find(types, "Specimen") == &example_type);
        g_assert_null(type_index_find(types, "example"));
        g_assert_cmpstr(type_index_nearest(types, "Speciman"), ==, "Specimen");
        g_assert_null(type_index_nearest(types, "Turnip"));
        type_index_free(NULL);
}

/* No two types share a name, and all defaults of the engine's own tables can be read. */
static void test_engine_types(void) {
        static const NodeType *const *const tables[] = { engine_types, NULL };
        g_autoptr(GHashTable) names = g_hash_table_new(g_str_hash, g_str_equal);
        g_autoptr(Arena) arena = arena_new(1024);

        for (const NodeType *const *type = tables[0]; *type; type++) {
                static char *none[] = { NULL };
                char **aliases = (char **) (*type)->aliases ?: none;

                g_assert_true(g_hash_table_add(names, (char *) (*type)->name));
                for (; *aliases; aliases++)
                        g_assert_true(g_hash_table_add(names, *aliases));

                if ((*type)->params_size > 0)
                        params_set_defaults(arena, (*type)->params, arena_alloc(arena, (*type)->params_size));
        }
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);

        g_test_add_func("/params/defaults", test_defaults);
        g_test_add_func("/params/given", test_given);
        g_test_add_func("/params/empty", test_empty);
        g_test_add_func("/params/borrowed", test_borrowed);
        g_test_add_func("/params/filled-in", test_filled_in);
        g_test_add_func("/params/whole-values", test_whole_values);
        g_test_add_func("/params/cannot-be-filled-in", test_cannot_be_filled_in);
        g_test_add_func("/params/text-for-unit", test_text_for_unit);
        g_test_add_func("/params/many-nodes", test_many_nodes);
        g_test_add_func("/params/types", test_types);
        g_test_add_func("/params/engine-types", test_engine_types);
        return g_test_run();
}
