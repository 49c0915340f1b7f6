/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tests expressions and code in a tree file: their compiled form, and the places of their errors. */

#include "script/scripts.h"
#include "tree-files.h"

static void test_params(void) {
        g_autoptr(Definition) definition = tree_file_good(
                "{'btd':1,'inputs':{'a':'any'},'root':{'type':'Sequence','children':[{'type':'Do','test':'a == "
                "({1})[1]',"
                "'code':'b = 2','outputs':{'z':'value.x','c':'value'}},{'type':'Do','outputs':['b','c']},{'type':'Do',"
                "'test':'a == ({1})[1]'}]}}");
        const Tree *tree = definition_tree(definition);
        const Do *first = tree->nodes[1].params, *second = tree->nodes[2].params, *third = tree->nodes[3].params;

        g_assert_cmpstr(script_code(first->test), ==, "a == ({1})[1]");
        g_assert_cmpstr(script_code(first->code), ==, "b = 2");
        g_assert_cmpstr(first->outputs[0].name, ==, "c");
        g_assert_cmpstr(first->outputs[1].name, ==, "z");
        g_assert_cmpstr(script_code(first->outputs[1].script), ==, "value.x");
        g_assert_null(first->outputs[2].name);
        g_assert_null(first->names);

        g_assert_cmpstr(second->names[1], ==, "c");
        g_assert_null(second->outputs);
        g_assert_null(second->test);

        /* The same is compiled only once. */
        g_assert_true(first->test == third->test);
}

static void test_any_node(void) {
        g_autoptr(Definition) definition = tree_file_good(
                "{'btd':1,'inputs':{'a':'any'},'root':{'type':'Sequence','skip_if':'a == 1','fail_if':'a == 2',"
                "'success_if':'a == 3','while':'a == 4','on_success':'b = 1','on_failure':'b = 2','on_halted':'b = 3',"
                "'always':'b = 4','children':[{'type':'Do'}]}}");
        static const struct {
                Guard guard;
                const char *code;
        } guards[] = {
                { GUARD_SKIP_IF, "a == 1" },
                { GUARD_FAIL_IF, "a == 2" },
                { GUARD_SUCCESS_IF, "a == 3" },
                { GUARD_WHILE, "a == 4" },
        };
        static const char *const hooks[] = { "b = 1", "b = 2", "b = 3", "b = 4" };

        for (size_t i = 0; i < G_N_ELEMENTS(guards); i++) {
                g_assert_cmpstr(script_code(definition_guard(definition, 0, guards[i].guard)), ==, guards[i].code);
                g_assert_null(definition_guard(definition, 1, guards[i].guard));
        }
        for (Hook hook = 0; hook < HOOK_MAX_; hook++) {
                g_assert_cmpstr(script_code(definition_hook(definition, 0, hook)), ==, hooks[hook]);
                g_assert_null(definition_hook(definition, 1, hook));
        }
}

static const struct {
        const char *text, *messages;
} bad[] = {
        /* The column is the one inside of the string, escapes counted as they are written. */
        { "{'btd':1,'root':{'type':'Do','test':'1 +'}}", "t:1:41: error: test: unexpected symbol at the end (in Do)" },
        { "{'btd':1,'root':{'type':'Do','test':'1 + )'}}", "t:1:42: error: test: unexpected symbol near ')' (in Do)" },
        { "{'btd':1,'root':{'type':'Do','test':'\\\"\\u00e9\\\" == \\t )'}}",
          "t:1:55: error: test: unexpected symbol near ')' (in Do)" },
        { "{'btd':1,\n'root':{'type':'Do','code':'x = 1\\ny = = 2'}}",
          "t:2:40: error: code: unexpected symbol near '=' (in Do)" },
        { "{'btd':1,'root':{'type':'Do','code':'\\ud83d\\ude00'}}",
          "t:1:38: error: code: unexpected symbol near '<\\240>'; a name has the letters a to z, digits and '_'; "
          "everything else stands in quotes (in Do)" },
        { "{'btd':1,'root':{'type':'Do','test':''}}", "t:1:38: error: test: the expression is empty (in Do)" },
        { "{'btd':1,'root':{'type':'Do','test':'x = 1'}}",
          "t:1:40: error: test: the end expected near '='; 'equal' is '==' (in Do)" },
        { "{'btd':1,'root':{'type':'Do','outputs':{'a':'1','b':'(','c':3}}}",
          "t:1:55: error: outputs.b: unexpected symbol at the end (in Do)\n"
          "t:1:61: error: outputs.c: expected an expression, a string or an array of lines, not 3; write it in "
          "double quotes (in Do)" },
        { "{'btd':1,'root':{'type':'Do','outputs':5}}",
          "t:1:40: error: outputs: expected an array of strings, not 5; write [\"5\"] (in Do)" },
        { "{'btd':1,'root':{'type':'Do','test':true,'code':['x = 1',2]}}",
          "t:1:37: error: test: expected an expression, a string or an array of lines, not true; write it in double "
          "quotes (in Do)\n"
          "t:1:58: error: code[1]: expected code, a string for each line, not 2; write it in double "
          "quotes (in Do)" },
        { "{'btd':1,'root':{'type':'Do','code':['x = 1','','y = \\\"a\\\" .. )'],'test':['x ==','  zz'],'while':[]}}",
          "t:1:63: error: code: unexpected symbol near ')' (in Do)\n"
          "t:1:85: error: test: nothing sets the variable 'zz'; if it comes from outside, declare it in 'inputs' (in "
          "Do)\n"
          "t:1:98: error: while: the list is empty; it needs at least one entry (in Do)" },
        { "{'btd':1,'root':{'type':'Sequence','skip_if':'(','on_halted':'if','children':[{'type':'Do'}]}}",
          "t:1:48: error: skip_if: unexpected symbol at the end (in Sequence)\n"
          "t:1:65: error: on_halted: unexpected symbol at the end (in Sequence)" },
};

static void test_bad(void) {
        for (size_t i = 0; i < G_N_ELEMENTS(bad); i++) {
                g_test_message("%s", bad[i].text);
                assert_tree_messages(bad[i].text, bad[i].messages);
        }
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);

        g_test_add_func("/definition-scripts/params", test_params);
        g_test_add_func("/definition-scripts/any-node", test_any_node);
        g_test_add_func("/definition-scripts/bad", test_bad);

        return g_test_run();
}
