/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tests the variables of a run as its nodes use them, without a machine. */

#include <json-c/json_tokener.h>
#include <string.h>

#include "basic/cleanup.h"
#include "fake-leaves.h"
#include "run/variables.h"

typedef struct Stage {
        Definition *definition;
        Variables *variables;
} Stage;

/* file: the text of a tree file, with ' for ". */
static Stage *stage_new(const char *file) {
        g_autoptr(Diagnostics) diagnostics = diagnostics_new("test.json");
        g_autofree char *text = g_strdelimit(g_strdup(file), "'", '"');
        Stage *stage = g_new0(Stage, 1);

        if (definition_load_text(text, strlen(text), fake_tables, NULL, diagnostics, &stage->definition) < 0)
                g_error("%s", diagnostics_format(diagnostics, 0));

        stage->variables = variables_new(stage->definition, "", "", "");
        return stage;
}

static void stage_free(Stage *stage) {
        variables_free(stage->variables);
        definition_unref(stage->definition);
        g_free(stage);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Stage, stage_free)

static void set(const Stage *stage, NodeId node, const char *key, const char *value) {
        blackboard_set(variables_scope(stage->variables, node), key, json_tokener_parse(value));
}

/* All that the node sees. */
static void assert_seen(const Stage *stage, NodeId node, const char *expected) {
        g_autoptr(json_object) all = blackboard_to_json(variables_scope(stage->variables, node));

        g_assert_cmpstr(json_object_to_json_string_ext(all, JSON_C_TO_STRING_PLAIN), ==, expected);
}

static void assert_error(const Stage *stage, const char *kind, const char *text) {
        const Cause *cause = variables_error(stage->variables);

        g_assert_cmpstr(cause->kind, ==, kind);
        g_assert_cmpstr(cause->text, ==, text);
}

static void test_beginning(void) {
        g_autoptr(Stage) stage =
                stage_new("{ 'btd': 1, 'blackboard': { 'a': 1 }, 'inputs': { 'b': 'int', 'c': { 'type': "
                          "'list', 'default': [2] }, 'd': { 'type': 'any', 'default': null } }, "
                          "'root': { 'type': 'FakeAction' } }");

        assert_seen(stage, 0, "{\"a\":1,\"c\":[2],\"d\":null}");
        g_assert_true(variables_outermost(stage->variables) == variables_scope(stage->variables, 0));
        g_assert_false(variables_have_changed(stage->variables));
}

static void test_guards(void) {
        g_autoptr(Stage) stage =
                stage_new("{ 'btd': 1, 'blackboard': { 'x': 1 }, 'root': { 'type': 'Sequence', 'children': [ { 'type': "
                          "'FakeAction', 'fail_if': 'x > 1', 'while': 'x < 3' }, { 'type': 'FakeAction' } ] } }");
        Variables *variables = stage->variables;

        g_assert_cmpint(variables_guard(variables, 1, GUARD_FAIL_IF), ==, VERDICT_NO);
        g_assert_cmpint(variables_guard(variables, 1, GUARD_SUCCESS_IF), ==, VERDICT_NO);
        g_assert_cmpint(variables_guard(variables, 1, GUARD_WHILE), ==, VERDICT_YES);
        g_assert_cmpint(variables_guard(variables, 2, GUARD_FAIL_IF), ==, VERDICT_NO);
        g_assert_cmpint(variables_guard(variables, 2, GUARD_WHILE), ==, VERDICT_YES);
        set(stage, 0, "x", "2");
        g_assert_cmpint(variables_guard(variables, 1, GUARD_FAIL_IF), ==, VERDICT_YES);
        g_assert_cmpint(variables_guard(variables, 1, GUARD_WHILE), ==, VERDICT_YES);
        set(stage, 0, "x", "3");
        g_assert_cmpint(variables_guard(variables, 1, GUARD_WHILE), ==, VERDICT_NO);
        set(stage, 0, "x", "\"3\"");
        g_assert_cmpint(variables_guard(variables, 1, GUARD_WHILE), ==, VERDICT_ERROR);
        assert_error(stage, CAUSE_EXPRESSION, "x < 3: attempt to compare string with number (x is \"3\")");
        g_assert_cmpint(variables_guard(variables, 1, GUARD_WHILE), ==, VERDICT_ERROR);
        g_assert_cmpint(variables_guard(variables, 1, GUARD_FAIL_IF), ==, VERDICT_ERROR);
        assert_error(stage, CAUSE_EXPRESSION, "x > 1: attempt to compare number with string (x is \"3\")");
        set(stage, 0, "x", "1");
        g_assert_cmpint(variables_guard(variables, 1, GUARD_WHILE), ==, VERDICT_YES);
}

static void test_hooks(void) {
        g_autoptr(Stage) stage =
                stage_new("{ 'btd': 1, 'blackboard': { 'x': 1, 'y': 0 }, 'root': { 'type': 'FakeAction', "
                          "'on_success': 'y = x + 1', 'always': 'y = y .. nil' } }");
        Variables *variables = stage->variables;

        g_assert_cmpint(variables_hook(variables, 0, HOOK_HALTED), ==, VERDICT_YES);
        g_assert_false(variables_have_changed(variables));
        g_assert_cmpint(variables_hook(variables, 0, HOOK_SUCCESS), ==, VERDICT_YES);
        g_assert_true(variables_have_changed(variables));
        g_assert_false(variables_have_changed(variables));
        assert_seen(stage, 0, "{\"x\":1,\"y\":2}");
        g_assert_cmpint(variables_hook(variables, 0, HOOK_SUCCESS), ==, VERDICT_YES);
        g_assert_false(variables_have_changed(variables));
        g_assert_cmpint(variables_hook(variables, 0, HOOK_ALWAYS), ==, VERDICT_ERROR);
        g_assert_cmpstr(variables_error(variables)->kind, ==, CAUSE_EXPRESSION);
        g_assert_nonnull(strstr(variables_error(variables)->text, "attempt to concatenate a nil value"));
        assert_seen(stage, 0, "{\"x\":1,\"y\":2}");
}

static void test_next_element(void) {
        g_autoptr(Stage) stage = stage_new("{ 'btd': 1, 'blackboard': { 'list': ['a', 'b'], 'other': 5 }, 'root': { "
                                           "'type': 'FakeAction' } }");
        Variables *variables = stage->variables;

        g_assert_true(variables_next_element(variables, 0, "list", "x", 0));
        set(stage, 0, "list", "[]");
        g_assert_true(variables_next_element(variables, 0, "list", "x", 1));
        assert_seen(stage, 0, "{\"list\":[],\"other\":5,\"x\":\"b\"}");
        g_assert_false(variables_next_element(variables, 0, "list", "x", 2));
        g_assert_false(variables_next_element(variables, 0, "list", "x", 0));
        g_assert_false(variables_next_element(variables, 0, "other", "x", 0));
        g_assert_false(variables_next_element(variables, 0, "none", "x", 0));
}

#define FOR_EACH(items)                                                                                                \
        "{ 'btd': 1, 'blackboard': { 'list': [{ 'n': 1 }, 2, null], 'x': 7, 'i': 'mine' }, 'root': { 'type': "         \
        "'ForEach', 'items': " items ", 'as': 'x', 'index': 'i', 'concurrency': 2, 'child': { 'type': 'FakeAction', "  \
        "'text': '{x} {i} {list}' } } }"

static void test_for_each(void) {
        g_autoptr(Stage) stage = stage_new(FOR_EACH("'{list}'"));
        Variables *variables = stage->variables;

        g_assert_cmpuint(variables_elements(variables, 0), ==, 3);
        set(stage, 0, "list", "[]");
        g_assert_true(variables_have_changed(variables));
        variables_hand_out(variables, 0, 1, 0);
        variables_hand_out(variables, 0, 2, 1);
        g_assert_false(variables_have_changed(variables));
        assert_seen(stage, 1, "{\"i\":0,\"list\":[],\"x\":{\"n\":1}}");
        assert_seen(stage, 2, "{\"i\":1,\"list\":[],\"x\":2}");
        assert_seen(stage, 0, "{\"i\":\"mine\",\"list\":[],\"x\":7}");
        g_assert_cmpstr(variables_element_text(variables, 0), ==, NULL);
        g_assert_cmpstr(variables_element_text(variables, 1), ==, "{\"n\":1}");
        g_assert_cmpstr(variables_element_text(variables, 2), ==, "2");
        variables_hand_out(variables, 0, 1, 2);
        g_assert_cmpstr(variables_element_text(variables, 1), ==, "null");
        assert_seen(stage, 1, "{\"i\":2,\"list\":[],\"x\":null}");
        /* Its own names are its own, all others those around it. */
        set(stage, 1, "x", "5");
        set(stage, 1, "list", "6");
        g_assert_true(variables_have_changed(variables));
        assert_seen(stage, 2, "{\"i\":1,\"list\":6,\"x\":2}");
        assert_seen(stage, 0, "{\"i\":\"mine\",\"list\":6,\"x\":7}");
}

/* The text stays that of the element that a copy got, also in a snapshot and while the ForEach has a new list. */
static void test_element_text(void) {
        static const char long_text[] = "0123456789012345678901234567890123456789012345678901234567890123456789";
        g_autoptr(Stage) stage = stage_new(FOR_EACH("'{list}'"));
        g_autofree char *list = g_strdup_printf("[\"s3\", \"\", \"%s\", [\"%s\"], \"a\\nb\"]", long_text, long_text);
        static const char *const shown[] = {
                "s3",
                "\"\"",
                "012345678901234567890123456789012345678901234567890123456789...",
                "[\"0123456789012345678901234567890123456789012345678901234567...",
                "a\\nb",
        };
        g_autoptr(Variables) again = variables_new(stage->definition, "", "", "");
        g_autoptr(json_object) image = NULL;

        g_assert_cmpstr(variables_element_text(stage->variables, 1), ==, NULL);
        set(stage, 0, "list", list);
        g_assert_cmpuint(variables_elements(stage->variables, 0), ==, G_N_ELEMENTS(shown));
        for (uint32_t i = 0; i < G_N_ELEMENTS(shown); i++) {
                variables_hand_out(stage->variables, 0, 1, i);
                g_assert_cmpstr(variables_element_text(stage->variables, 1), ==, shown[i]);
        }
        variables_hand_out(stage->variables, 0, 1, 2);
        set(stage, 0, "list", "[1]");
        g_assert_cmpuint(variables_elements(stage->variables, 0), ==, 1);
        g_assert_cmpstr(variables_element_text(stage->variables, 1), ==, shown[2]);

        image = variables_image(stage->variables);
        g_assert_true(variables_restore(again, image, NULL));
        g_assert_cmpstr(variables_element_text(again, 1), ==, shown[2]);
        g_assert_cmpstr(variables_element_text(again, 2), ==, NULL);
}

static void test_label(void) {
        g_autoptr(Stage) stage = stage_new(
                "{ 'btd': 1, 'root': { 'type': 'ForEach', 'items': [{ 'id': 'a' }, { 'id': 7 }, 'b'], 'as': 'x', "
                "'index': 'i', 'label': '{i}: {x.id}', 'child': { 'type': 'FakeAction' } } }");
        static const char *const shown[] = { "0: a", "1: 7", "b" };

        g_assert_cmpuint(variables_elements(stage->variables, 0), ==, G_N_ELEMENTS(shown));
        for (uint32_t i = 0; i < G_N_ELEMENTS(shown); i++) {
                variables_hand_out(stage->variables, 0, 1, i);
                g_assert_cmpstr(variables_element_text(stage->variables, 1), ==, shown[i]);
        }
}

/* The only child of a ForEach gets one element after another. */
static void test_only_child(void) {
        g_autoptr(Stage) stage = stage_new("{ 'btd': 1, 'root': { 'type': 'ForEach', 'items': ['a', 'b'], 'as': 'x', "
                                           "'child': { 'type': 'FakeAction' } } }");

        g_assert_cmpuint(variables_elements(stage->variables, 0), ==, 2);
        g_assert_cmpstr(variables_element_text(stage->variables, 1), ==, NULL);
        variables_hand_out(stage->variables, 0, 1, 0);
        g_assert_cmpstr(variables_element_text(stage->variables, 1), ==, "a");
        variables_hand_out(stage->variables, 0, 1, 1);
        g_assert_cmpstr(variables_element_text(stage->variables, 1), ==, "b");
}

static void test_no_list(void) {
        g_autoptr(Stage) stage = stage_new(FOR_EACH("'{list}'"));

        set(stage, 0, "list", "{ \"a\": 1 }");
        g_assert_cmpuint(variables_elements(stage->variables, 0), ==, UINT32_MAX);
        assert_error(stage, CAUSE_PARAMETER, "items: expected an array, but {list} is {\"a\":1}");
        set(stage, 0, "list", "null");
        g_assert_cmpuint(variables_elements(stage->variables, 0), ==, UINT32_MAX);
        assert_error(stage, CAUSE_PARAMETER, "items: expected an array, but {list} is null");
        set(stage, 0, "list", "[]");
        g_assert_cmpuint(variables_elements(stage->variables, 0), ==, 0);
}

/* Nodes: 0 Sequence, 1 SubTree, 2 its FakeAction, 3 FakeAction. */
#define SUBTREE                                                                                                        \
        "{ 'btd': 1, 'blackboard': { 'n': 5, 'x': 'outer', 'got': null }, 'trees': { 't': { 'inputs': { 'tries': "     \
        "'int', 'name': { 'type': 'string', 'default': 'cam' } }, 'outputs': { 'result': 'string', 'other': 'any' }, " \
        "'blackboard': { 'x': 'inner', 'result': null, 'other': null }, 'root': { 'type': 'FakeAction' } } }, "        \
        "'root': { 'type': 'Sequence', 'children': [ { 'type': 'SubTree', 'tree': 't', 'inputs': { 'tries': '{n}' }, " \
        "'outputs': { 'result': 'got', 'other': '@all' } }, { 'type': 'FakeAction' } ] } }"

static void test_subtree(void) {
        g_autoptr(Stage) stage = stage_new(SUBTREE);
        Variables *variables = stage->variables;
        const Blackboard *inside = variables_scope(variables, 2);

        g_assert_true(variables_scope(variables, 1) == variables_outermost(variables));
        g_assert_true(inside != variables_outermost(variables));
        g_assert_true(variables_enter(variables, 1));
        assert_seen(stage, 2, "{\"name\":\"cam\",\"other\":null,\"result\":null,\"tries\":5,\"x\":\"inner\"}");
        g_assert_false(variables_have_changed(variables));
        set(stage, 2, "x", "1");
        g_assert_true(variables_have_changed(variables));
        set(stage, 2, "result", "\"done\"");
        set(stage, 2, "other", "[1]");
        g_assert_true(variables_leave(variables, 1, STATUS_FAILURE));
        assert_seen(stage, 3, "{\"all\":[1],\"got\":\"done\",\"n\":5,\"x\":\"outer\"}");

        /* Another time it begins anew, in the same place. */
        set(stage, 0, "n", "6");
        g_assert_true(variables_enter(variables, 1));
        g_assert_true(variables_scope(variables, 2) == inside);
        assert_seen(stage, 2, "{\"name\":\"cam\",\"other\":null,\"result\":null,\"tries\":6,\"x\":\"inner\"}");
        set(stage, 2, "result", "\"again\"");
        g_assert_true(variables_leave(variables, 1, STATUS_SKIPPED));
        assert_seen(stage, 3, "{\"all\":[1],\"got\":\"done\",\"n\":6,\"x\":\"outer\"}");
}

/* What nothing that runs can see is no change. */
static void test_changes_of_a_subtree_that_is_over(void) {
        g_autoptr(Stage) stage = stage_new(SUBTREE);
        Variables *variables = stage->variables;

        variables_enter(variables, 1);
        set(stage, 2, "x", "1");
        variables_leave(variables, 1, STATUS_SKIPPED);
        g_assert_false(variables_have_changed(variables));
        variables_enter(variables, 1);
        g_assert_false(variables_have_changed(variables));
        set(stage, 2, "result", "\"new\"");
        variables_leave(variables, 1, STATUS_SUCCESS);
        g_assert_true(variables_have_changed(variables));
}

static void test_wrong_inputs(void) {
        g_autoptr(Stage) stage = stage_new(SUBTREE);

        set(stage, 0, "n", "\"many\"");
        g_assert_false(variables_enter(stage->variables, 1));
        assert_error(stage, CAUSE_PARAMETER, "expected a whole number for 'tries', but got \"many\"");
}

static void test_wrong_outputs(void) {
        g_autoptr(Stage) stage = stage_new(SUBTREE);

        g_assert_true(variables_enter(stage->variables, 1));
        set(stage, 2, "other", "1");
        set(stage, 2, "result", "5");
        g_assert_false(variables_leave(stage->variables, 1, STATUS_SUCCESS));
        assert_error(stage, CAUSE_PARAMETER, "expected a string for 'result', but got 5");
        assert_seen(stage, 0, "{\"got\":null,\"n\":5,\"x\":\"outer\"}");
}

/* The first expression among the parameters of the root. */
static const Script *root_expression(const Stage *stage) {
        const Node *root = &definition_tree(stage->definition)->nodes[0];
        const Param *param = root->type->params;

        while (param->kind != PARAM_EXPRESSION)
                param++;

        return *(const Script *const *) (const void *) ((const char *) root->params + param->offset);
}

static void test_precondition(void) {
        g_autoptr(Stage) stage =
                stage_new("{ 'btd': 1, 'blackboard': { 'x': 1 }, 'root': { 'type': 'Precondition', 'if': "
                          "'x > 1', 'child': { 'type': 'FakeAction' } } }");
        const Script *condition = root_expression(stage);

        g_assert_cmpint(variables_test(stage->variables, 0, condition), ==, VERDICT_NO);
        set(stage, 0, "x", "2");
        g_assert_cmpint(variables_test(stage->variables, 0, condition), ==, VERDICT_YES);
        set(stage, 0, "x", "null");
        g_assert_cmpint(variables_test(stage->variables, 0, condition), ==, VERDICT_ERROR);
}

static void test_switch(void) {
        static const char *const cases[] = { "low", "2", NULL };
        g_autoptr(Stage) stage = stage_new("{ 'btd': 1, 'blackboard': { 'x': 1, 'name': 'low' }, 'root': { 'type': "
                                           "'Switch', 'of': 'x + 1', 'cases': ['low', '2'], 'children': [ { 'type': "
                                           "'FakeAction' }, { 'type': 'FakeAction' }, { 'type': 'FakeAction' } ] } }");
        const Script *of = root_expression(stage);

        g_assert_cmpuint(variables_match(stage->variables, 0, NULL, of, cases), ==, 1);
        g_assert_cmpuint(variables_match(stage->variables, 0, "name", NULL, cases), ==, 0);
        g_assert_cmpuint(variables_match(stage->variables, 0, "none", NULL, cases), ==, 2);
        set(stage, 0, "x", "{}");
        g_assert_cmpuint(variables_match(stage->variables, 0, NULL, of, cases), ==, UINT32_MAX);
        g_assert_cmpstr(variables_error(stage->variables)->kind, ==, CAUSE_EXPRESSION);
}

static void test_on_change(void) {
        g_autoptr(Stage) stage =
                stage_new("{ 'btd': 1, 'blackboard': { 'x': null }, 'root': { 'type': 'OnChange', 'of': "
                          "'x and x.n', 'child': { 'type': 'FakeAction' } } }");
        Variables *variables = stage->variables;
        const Script *of = root_expression(stage);

        g_assert_cmpint(variables_has_changed(variables, 0, of), ==, VERDICT_YES);
        g_assert_cmpint(variables_has_changed(variables, 0, of), ==, VERDICT_NO);
        set(stage, 0, "x", "{ \"n\": [1] }");
        g_assert_cmpint(variables_has_changed(variables, 0, of), ==, VERDICT_YES);
        set(stage, 0, "x", "{ \"n\": [1], \"m\": 2 }");
        g_assert_cmpint(variables_has_changed(variables, 0, of), ==, VERDICT_NO);
        set(stage, 0, "x", "7");
        g_assert_cmpint(variables_has_changed(variables, 0, of), ==, VERDICT_ERROR);
        g_assert_nonnull(strstr(variables_error(variables)->text, "attempt to index a number value"));
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/variables/beginning", test_beginning);
        g_test_add_func("/variables/guards", test_guards);
        g_test_add_func("/variables/hooks", test_hooks);
        g_test_add_func("/variables/next-element", test_next_element);
        g_test_add_func("/variables/for-each", test_for_each);
        g_test_add_func("/variables/element-text", test_element_text);
        g_test_add_func("/variables/label", test_label);
        g_test_add_func("/variables/only-child", test_only_child);
        g_test_add_func("/variables/no-list", test_no_list);
        g_test_add_func("/variables/subtree", test_subtree);
        g_test_add_func("/variables/changes-of-a-subtree-that-is-over", test_changes_of_a_subtree_that_is_over);
        g_test_add_func("/variables/wrong-inputs", test_wrong_inputs);
        g_test_add_func("/variables/wrong-outputs", test_wrong_outputs);
        g_test_add_func("/variables/precondition", test_precondition);
        g_test_add_func("/variables/switch", test_switch);
        g_test_add_func("/variables/on-change", test_on_change);
        return g_test_run();
}
