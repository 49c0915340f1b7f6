/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tests the JSON schema, which is made from the same tables as the loader. */

#include "basic/cleanup.h"
#include "definition/schema.h"
#include "example-types.h"
#include "tree-files.h"

static json_object *at(json_object *object, const char *path) {
        g_auto(GStrv) keys = g_strsplit(path, "/", -1);

        for (char **key = keys; *key; key++)
                g_assert_true(json_object_object_get_ex(object, *key, &object));

        return object;
}

static void assert_json(json_object *schema, const char *path, const char *expected) {
        g_assert_cmpstr(json_object_to_json_string_ext(at(schema, path),
                                                       JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE),
                        ==, expected);
}

static void test_values(void) {
        g_autoptr(json_object) schema = schema_new(example_tables);

        assert_json(schema, "$schema", "\"https://json-schema.org/draft/2020-12/schema\"");
        assert_json(schema, "required", "[\"btd\"]");
        assert_json(schema, "anyOf", "[{\"required\":[\"root\"]},{\"required\":[\"trees\"]}]");
        assert_json(schema, "additionalProperties", "false");
        assert_json(schema, "properties/btd", "{\"const\":1}");
        assert_json(schema, "properties/root", "{\"$ref\":\"#/$defs/node\"}");
        assert_json(schema, "properties/interval",
                    "{\"$ref\":\"#/$defs/span\",\"description\":\"How long a run waits before it tries some nodes "
                    "again without any event\",\"default\":\"100ms\"}");
        assert_json(schema, "$defs/Example/required", "[\"unit\"]");
        assert_json(schema, "$defs/Example/properties/type", "{\"enum\":[\"Example\",\"Specimen\"]}");
        assert_json(schema, "$defs/Example/properties/unit",
                    "{\"$ref\":\"#/$defs/text\",\"description\":\"its name\"}");
        assert_json(schema, "$defs/Example/properties/count",
                    "{\"anyOf\":[{\"type\":\"integer\",\"minimum\":1,\"maximum\":10},{\"$ref\":\"#/$defs/"
                    "reference\"}],\"description\":\"how often\",\"default\":3}");
        assert_json(schema, "$defs/Example/properties/mode/anyOf",
                    "[{\"enum\":[\"replace\",\"fail\",\"isolate\"]},{\"$ref\":\"#/$defs/template\"}]");
        assert_json(schema, "$defs/Wrapper/required", "[\"child\",\"delay\"]");
        assert_json(schema, "$defs/Wrapper/properties/delay",
                    "{\"$ref\":\"#/$defs/span\",\"description\":\"how long\"}");
        assert_json(schema, "$defs/Few/properties/children",
                    "{\"type\":\"array\",\"items\":{\"$ref\":\"#/$defs/node\"},\"minItems\":1,\"maxItems\":3}");
}

static void test_top(void) {
        g_autoptr(json_object) schema = schema_new(tree_file_tables);

        assert_json(schema, "properties/include/items", "{\"type\":\"string\"}");
        assert_json(schema, "properties/trees/additionalProperties", "{\"$ref\":\"#/$defs/tree\"}");
        assert_json(schema, "$defs/tree/required", "[\"root\"]");
        assert_json(
                schema, "$defs/tree/properties/blackboard/propertyNames/pattern",
                "\"^(?!(and|break|do|else|elseif|end|false|for|function|goto|if|in|local|nil|not|or|repeat|return|then|"
                "true|until|while)$)[A-Za-z_][A-Za-z0-9_-]{0,254}$\"");
        assert_json(
                schema, "properties/outputs/additionalProperties",
                "{\"anyOf\":[{\"enum\":[\"any\",\"bool\",\"int\",\"number\",\"string\",\"list\",\"object\"]},"
                "{\"type\":\"object\",\"properties\":{\"type\":{\"enum\":[\"any\",\"bool\",\"int\",\"number\","
                "\"string\","
                "\"list\",\"object\"],\"description\":\"The type of its value\"},\"description\":{\"type\":\"string\","
                "\"description\":\"What it is for, in one line\"}},\"required\":[\"type\"],\"additionalProperties\":"
                "false}]}");
}

static bool has(json_object *schema, const char *path, const char *key) {
        return json_object_object_get_ex(at(schema, path), key, NULL);
}

static void test_nodes(void) {
        g_autoptr(json_object) schema = schema_new(tree_file_tables);

        assert_json(schema, "$defs/Do/properties/test",
                    "{\"$ref\":\"#/$defs/expression\",\"description\":\"an expression\"}");
        assert_json(schema, "$defs/Do/properties/always",
                    "{\"$ref\":\"#/$defs/code\",\"description\":\"Code that runs last, after any of these three\"}");
        assert_json(schema, "$defs/Do/properties/reads", "{\"$ref\":\"#/$defs/variable\",\"description\":\"a name\"}");
        assert_json(schema, "$defs/Do/properties/outputs/anyOf",
                    "[{\"type\":\"array\",\"items\":{\"$ref\":\"#/$defs/variable-or-none\"},\"description\":\"names\"},"
                    "{\"type\":\"object\",\"propertyNames\":{\"$ref\":\"#/$defs/variable\"},\"additionalProperties\":"
                    "{\"$ref\":\"#/$defs/expression\"},\"description\":\"expressions\"}]");

        assert_json(schema, "$defs/SubTree/required", "[\"tree\"]");
        g_assert_false(has(schema, "$defs/SubTree/properties", "child"));
        g_assert_true(has(schema, "$defs/ForEach/properties", "child"));
        g_assert_true(has(schema, "$defs/Do/properties", "halt_timeout"));
        g_assert_false(has(schema, "$defs/See/properties", "halt_timeout"));
        g_assert_false(has(schema, "$defs/Sequence/properties", "halt_timeout"));
        g_assert_true(has(schema, "$defs/Sequence/properties", "lock"));
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);

        g_test_add_func("/schema/values", test_values);
        g_test_add_func("/schema/top", test_top);
        g_test_add_func("/schema/nodes", test_nodes);

        return g_test_run();
}
