/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tests declared variables, and the check that each variable that is read can have been set. */

#include <errno.h>
#include <json-c/json_tokener.h>

#include "basic/cleanup.h"
#include "tree-files.h"

/* Everything here can have been set, in one way or another. */
static const char *const good[] = {
        "{'btd':1,'blackboard':{'a':1},'root':{'type':'Do','text':'{a}{@a}','test':'a > _G.a'}}",
        "{'btd':1,'inputs':{'a':'any'},'root':{'type':'Do','reads':'a'}}",
        /* Order does not count, since trees run again. */
        "{'btd':1,'root':{'type':'Sequence','children':[{'type':'Do','text':'{a}{b}{c}{d}{e}{f}'},"
        "{'type':'Do','writes':'a','list':['b','','c'],'outputs':{'d':'value'},'code':'e = 1',"
        "'on_failure':'f = value'},{'type':'Do','writes':'value'}]}}",
        "{'btd':1,'root':{'type':'Do','outputs':['a'],'fail_if':'a'}}",
        "{'btd':1,'blackboard':{'q':[]},'root':{'type':'Loop','queue':'q','variable':'e','child':{'type':'Do','reads':'"
        "e'}}}",
        "{'btd':1,'root':{'type':'ForEach','items':[1],'as':'e','index':'i','child':{'type':'Do','text':'{e}{i}',"
        "'reads':'e'}}}",
        /* What is set below a ForEach is set around it, too. */
        "{'btd':1,'root':{'type':'Sequence','children':[{'type':'ForEach','items':[1],'as':'e','child':"
        "{'type':'Do','writes':'x'}},{'type':'Do','text':'{x}'}]}}",
        /* From below, the outermost scope. */
        "{'btd':1,'trees':{'t':{'root':{'type':'Do','writes':'@x','code':'_G.y = 1'}}},'root':{'type':'Sequence',"
        "'children':[{'type':'Do','text':'{x}{@y}'},{'type':'SubTree','tree':'t'}]}}",
        "{'btd':1,'trees':{'t':{'outputs':{'o':'any'},'root':{'type':'Do','writes':'o','text':'{@x}'}}},'root':{'type':"
        "'SubTree','tree':'t','outputs':{'o':'@x'}}}",
        /* The instance of the run. */
        "{'btd':1,'trees':{'t':{'root':{'type':'Do','text':'{unit_escape:@instance}'}}},'root':{'type':'Sequence',"
        "'children':[{'type':'Do','text':'{instance}','test':'_G.instance'},{'type':'SubTree','tree':'t'}]}}",
        /* What is not known of a tree at the top is not held against others. */
        "{'btd':1,'trees':{'t':{'root':{'type':'Do','text':'{@x}'}}},'root':{'type':'Do'}}",
};

static void test_good(void) {
        for (size_t i = 0; i < G_N_ELEMENTS(good); i++) {
                g_autofree char *messages = tree_file_messages(good[i]);

                g_test_message("%s", good[i]);
                g_assert_cmpstr(messages, ==, "");
        }
}

/* What needs the leaf of these tests; other errors are in tests/messages/trees.txt. */
static const struct {
        const char *text, *messages;
} bad[] = {
        /* What cannot have been set, each once. */
        { "{'btd':1,'blackboard':{'unit':1},'root':{'type':'Do','text':'a {unti} {unti} {x}','reads':'y','any':"
          "[{'k':['{z}']}]}}",
          "t:1:65: error: text: nothing sets the variable 'unti'; did you mean 'unit'? (in Do)\n"
          "t:1:79: error: text: nothing sets the variable 'x'; if it comes from outside, declare it in 'inputs' (in "
          "Do)\n"
          "t:1:91: error: reads: nothing sets the variable 'y'; if it comes from outside, declare it in 'inputs' (in "
          "Do)\n"
          "t:1:110: error: any: nothing sets the variable 'z'; if it comes from outside, declare it in 'inputs' (in "
          "Do)" },
        { "{'btd':1,'root':{'type':'Do','test':'1 + \\n nothing > 2 or value','code':'a = b + 1','while':'not c'}}",
          "t:1:45: error: test: nothing sets the variable 'nothing'; if it comes from outside, declare it in 'inputs' "
          "(in Do)\n"
          "t:1:79: error: code: nothing sets the variable 'b'; if it comes from outside, declare it in 'inputs' (in "
          "Do)\n"
          "t:1:99: error: while: nothing sets the variable 'c'; if it comes from outside, declare it in 'inputs' (in "
          "Do)" },
        { "{'btd':1,'root':{'type':'Do','test':'\\\"x\\\" .. y == z'}}",
          "t:1:47: error: test: nothing sets the variable 'y'; if it comes from outside, declare it in 'inputs' (in "
          "Do)\n"
          "t:1:52: error: test: nothing sets the variable 'z'; if it comes from outside, declare it in 'inputs' (in "
          "Do)" },
        { "{'btd':1,'blackboard':{'x':1},'root':{'type':'Do','text':'{@y} {@z}','test':'_G.xx'}}",
          "t:1:60: error: text: nothing sets the variable '@y'; if it comes from outside, declare it in 'inputs' of "
          "the tree at the top (in Do)\n"
          "t:1:65: error: text: nothing sets the variable '@z'; if it comes from outside, declare it in 'inputs' of "
          "the tree at the top (in Do)\n"
          "t:1:81: error: test: nothing sets the variable '@xx'; if it comes from outside, declare it in 'inputs' of "
          "the tree at the top (in Do)" },
        { "{'btd':1,'trees':{'t':{'root':{'type':'Do','text':'a {unit_escape:instance}'}}},'root':{'type':'SubTree',"
          "'tree':'t'}}",
          "t:1:67: error: text: nothing sets the variable 'instance'; that of the run is '@instance' here (in "
          "t: Do)" },
        { "{'btd':1,'trees':{'t':{'root':{'type':'Do','test':'instance'}}},'root':{'type':'SubTree','tree':'t'}}",
          "t:1:52: error: test: nothing sets the variable 'instance'; that of the run is '_G.instance' here "
          "(in "
          "t: Do)" },

        /* Names. */
        { "{'btd':1,'root':{'type':'Do','writes':'9','reads':'a b','list':['x','-'],'outputs':{'@':'1'}}}",
          "t:1:39: error: writes: '9' cannot be the name of a variable (a letter or '_', then letters, digits, '_' "
          "and '-') (in Do)\n"
          "t:1:51: error: reads: 'a b' cannot be the name of a variable (a letter or '_', then letters, digits, '_' "
          "and '-') (in Do)\n"
          "t:1:69: error: list[1]: '-' cannot be the name of a variable (a letter or '_', then letters, digits, '_' "
          "and '-') (in Do)\n"
          "t:1:85: error: outputs: '@' cannot be the name of a variable (a letter or '_', then letters, digits, '_' "
          "and '-') (in Do)" },
};

static void test_bad(void) {
        for (size_t i = 0; i < G_N_ELEMENTS(bad); i++) {
                g_test_message("%s", bad[i].text);
                assert_tree_messages(bad[i].text, bad[i].messages);
        }
}

/* A tree that sets such a variable has its own. */
static void test_instance(void) {
        static const struct {
                const char *text;
                bool reads;
        } cases[] = {
                { "{'btd':1,'root':{'type':'Do','text':'{instance}'}}", true },
                { "{'btd':1,'trees':{'t':{'root':{'type':'Do','test':'_G.instance'}}},'root':{'type':'SubTree','tree':"
                  "'t'}}",
                  true },
                { "{'btd':1,'root':{'type':'Do','text':'{{instance}'}}", false },
                { "{'btd':1,'inputs':{'instance':'string'},'root':{'type':'Do','text':'{instance}'}}", false },
                { "{'btd':1,'root':{'type':'Do','text':'{instance}','writes':'instance'}}", false },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autoptr(Definition) definition = tree_file_good(cases[i].text);

                g_test_message("%s", cases[i].text);
                g_assert_true((definition_own_variables(definition) == OWN_INSTANCE) == cases[i].reads);
        }
}

/* "{\"n\":1}" for a tree that declares some: the text of the error, or "". */
static char *start(const char *variables) {
        g_autoptr(Definition) definition = tree_file_good(
                "{'btd':1,'inputs':{'unit':{'type':'string','description':'What to "
                "start'},'n':{'type':'int','default':3},"
                "'o':{'type':'object','default':null},'x':{'type':'any','default':0}},'blackboard':{'mode':'eco'},"
                "'root':{'type':'Do'}}");
        g_autoptr(json_object) given = variables ? json_tokener_parse(variables) : NULL;
        char *error = NULL;
        int r = definition_check_start(definition, given, &error);

        g_assert_true((r < 0) == (error != NULL));
        return error ?: g_strdup("");
}

static void test_start(void) {
        static const struct {
                const char *variables, *error;
        } cases[] = {
                { "{\"unit\":\"a\"}", "" },
                { "{\"unit\":\"a\",\"n\":5,\"o\":{},\"x\":[1],\"mode\":7}", "" },
                { "{\"unit\":\"a\",\"n\":5.0,\"o\":null}", "" },
                { NULL, "the input 'unit' (string, \"What to start\") is missing" },
                { "{}", "the input 'unit' (string, \"What to start\") is missing" },
                { "{\"unit\":5}", "expected a string for 'unit', but got 5" },
                { "{\"unit\":\"a\",\"n\":null}", "expected a whole number for 'n', but got null" },
                { "{\"unit\":\"a\",\"n\":1.5}", "expected a whole number for 'n', but got 1.5" },
                { "{\"unit\":\"a\",\"o\":[]}", "expected an object for 'o', but got []" },
                { "{\"unit\":\"a\",\"uint\":1}", "no input 'uint'; did you mean 'unit'?" },
                { "{\"unit\":\"a\",\"turnip\":1}",
                  "no input 'turnip'; only variables that the file has in 'inputs' or 'blackboard' can be given" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autofree char *error = start(cases[i].variables);

                g_assert_cmpstr(error, ==, cases[i].error);
        }
}

/* What can be set while a tree runs is what it names, in its outermost scope. */
static void test_set(void) {
        static const struct {
                const char *variables, *error;
        } cases[] = {
                { "{}", "" },
                { "{\"n\":5,\"mode\":7,\"made\":1,\"code\":1,\"out\":null,\"below\":1}", "" },
                { "{\"n\":1.5}", "expected a whole number for 'n', but got 1.5" },
                { "{\"mode\":1,\"mdoe\":7}", "the tree has no variable 'mdoe'; did you mean 'mode'?" },
                { "{\"maed\":1}", "the tree has no variable 'maed'; did you mean 'made'?" },
                { "{\"@below\":1}", "the tree has no variable '@below'; did you mean 'below'?" },
                /* Others are of a SubTree, or of the elements of a ForEach. */
                { "{\"inner\":1}", "the tree has no variable 'inner'; its variables are those of its 'inputs' and "
                                   "'blackboard', and what its nodes set" },
                { "{\"element\":1}", "the tree has no variable 'element'; its variables are those of its 'inputs' and "
                                     "'blackboard', and what its nodes set" },
        };
        g_autoptr(Definition) definition = tree_file_good(
                "{'btd':1,'inputs':{'n':{'type':'int','default':3}},'blackboard':{'mode':'eco'},"
                "'trees':{'t':{'blackboard':{'inner':1},'root':{'type':'Do','writes':'@below'}}},"
                "'root':{'type':'Sequence','children':[{'type':'Do','writes':'made','code':'code = "
                "1','outputs':['out']},"
                "{'type':'ForEach','items':[1],'as':'element','child':{'type':'SubTree','tree':'t'}}]}}");

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autoptr(json_object) variables = json_tokener_parse(cases[i].variables);
                g_autofree char *error = NULL;
                int r = definition_check_set(definition, variables, &error);

                g_assert_cmpint(r, ==, error ? -EINVAL : 0);
                g_assert_cmpstr(error ?: "", ==, cases[i].error);
        }
}

static void test_types(void) {
        static const struct {
                VariableType type;
                const char *good, *bad;
        } cases[] = {
                { VARIABLE_ANY, "[1,1.5,true,null,\"x\",{},[]]", "[]" },
                { VARIABLE_BOOL, "[true,false]", "[0,null,\"true\"]" },
                { VARIABLE_INT, "[0,-1,5.0]", "[1.5,\"1\",null,true]" },
                { VARIABLE_NUMBER, "[0,1.5]", "[\"1\",null,true]" },
                { VARIABLE_STRING, "[\"\",\"x\"]", "[1,null,[\"x\"]]" },
                { VARIABLE_LIST, "[[],[1]]", "[{},null,\"x\"]" },
                { VARIABLE_OBJECT, "[{}]", "[[],null,\"{}\"]" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                Declaration declaration = { .name = "v", .type = cases[i].type, .required = true };
                g_autoptr(json_object) good_values = json_tokener_parse(cases[i].good);
                g_autoptr(json_object) bad_values = json_tokener_parse(cases[i].bad);

                for (size_t v = 0; v < json_object_array_length(good_values); v++) {
                        g_autofree char *problem =
                                declaration_problem(&declaration, json_object_array_get_idx(good_values, v));

                        g_assert_cmpstr(problem, ==, NULL);
                }
                for (size_t v = 0; v < json_object_array_length(bad_values); v++) {
                        g_autofree char *problem =
                                declaration_problem(&declaration, json_object_array_get_idx(bad_values, v));

                        g_assert_nonnull(problem);
                }
        }
}

/* The daemon has nothing to give it. */
static void test_autostart(void) {
        g_autofree char *messages =
                                tree_file_messages("{'btd':1,'autostart':true,'inputs':{'a':{'type':'int','default':1},"
                                                   "'b':'int'},'root':{'type':'Do'}}"),
                        *by_hand = tree_file_messages("{'btd':1,'inputs':{'b':'int'},'root':{'type':'Do'}}");

        g_assert_cmpstr(messages, ==,
                        "t:1:22: warning: autostart: btd cannot start it, because the input 'b' has no default");
        g_assert_cmpstr(by_hand, ==, "");
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);

        g_test_add_func("/definition-variables/autostart", test_autostart);
        g_test_add_func("/definition-variables/good", test_good);
        g_test_add_func("/definition-variables/bad", test_bad);
        g_test_add_func("/definition-variables/instance", test_instance);
        g_test_add_func("/definition-variables/start", test_start);
        g_test_add_func("/definition-variables/set", test_set);
        g_test_add_func("/definition-variables/types", test_types);

        return g_test_run();
}
