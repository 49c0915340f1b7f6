/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tests trees that use other trees: the expanded tree, the scopes of variables, and the errors. */

#include "script/blackboard.h"
#include "tree-files.h"

/* "Sequence(a b(c))": names, with what is below each in brackets. */
static void append_node(GString *text, const Tree *tree, NodeId node) {
        g_string_append_printf(text, "%s%s", text->len > 0 && !g_str_has_suffix(text->str, "(") ? " " : "",
                               tree_node_name(tree, node));
        if (tree->nodes[node].n_children == 0)
                return;

        g_string_append_c(text, '(');
        for (NodeId child = node + 1; child < tree->nodes[node].end; child = tree->nodes[child].end)
                append_node(text, tree, child);
        g_string_append_c(text, ')');
}

static void assert_shape(const Definition *definition, const char *expected) {
        g_autoptr(GString) text = g_string_new(NULL);

        append_node(text, definition_tree(definition), 0);
        g_assert_cmpstr(text->str, ==, expected);
}

/* The scope of each node: "0011220". */
static void assert_scopes(const Definition *definition, const char *expected) {
        g_autoptr(GString) text = g_string_new(NULL);

        for (NodeId node = 0; node < definition_tree(definition)->n_nodes; node++)
                g_string_append_printf(text, "%u", definition_scope(definition, node));

        g_assert_cmpstr(text->str, ==, expected);
}

static void test_one_scope(void) {
        g_autoptr(Definition) definition =
                tree_file_good("{'btd':1,'inputs':{'a':'int'},'outputs':{'o':'any'},'blackboard':{'b':1},"
                               "'root':{'type':'Sequence','children':[{'type':'Do','writes':'o'},{'type':'Do'}]}}");
        const ScopeInfo *scope = definition_scope_info(definition, 0);

        g_assert_cmpuint(definition_n_scopes(definition), ==, 1);
        assert_scopes(definition, "000");
        g_assert_cmpint(scope->kind, ==, SCOPE_OUTERMOST);
        g_assert_cmpuint(scope->node, ==, 0);
        g_assert_cmpuint(scope->parent, ==, 0);
        g_assert_null(scope->names);
        g_assert_cmpstr(scope->inputs[0].name, ==, "a");
        g_assert_null(scope->inputs[1].name);
        g_assert_cmpstr(scope->outputs[0].name, ==, "o");
        g_assert_true(scope->blackboard == definition_blackboard(definition));
}

static void test_subtree(void) {
        g_autoptr(Definition) definition = tree_file_good(
                "{'btd':1,'trees':{'pair':{'description':'two','inputs':{'x':{'type':'int','default':3,'description':'"
                "n'}},"
                "'outputs':{'y':'any'},'blackboard':{'z':0},"
                "'root':{'type':'Sequence','children':[{'type':'Do','name':'a','writes':'y'},"
                "{'type':'Do','name':'b','text':'{x}{z}'}]}}},"
                "'root':{'type':'Fallback','children':[{'type':'Do','name':'first'},"
                "{'type':'SubTree','tree':'pair','inputs':{'x':5},'outputs':{'y':'got'}},"
                "{'type':'SubTree','name':'again','tree':'pair'},{'type':'Do','name':'last','text':'{got}'}]}}");
        const ScopeInfo *scope = definition_scope_info(definition, 2);
        const Tree *tree = definition_tree(definition);

        assert_shape(definition, "Fallback(first pair(Sequence(a b)) again(Sequence(a b)) last)");
        assert_scopes(definition, "00011102220");
        g_assert_cmpuint(definition_n_scopes(definition), ==, 3);
        g_assert_cmpint(scope->kind, ==, SCOPE_SUBTREE);
        g_assert_cmpuint(scope->node, ==, 6);
        g_assert_cmpuint(scope->parent, ==, 0);
        g_assert_cmpstr(scope->inputs[0].name, ==, "x");
        g_assert_cmpint(scope->inputs[0].type, ==, VARIABLE_INT);
        g_assert_false(scope->inputs[0].required);
        g_assert_cmpint(json_object_get_int(scope->inputs[0].fallback), ==, 3);
        g_assert_cmpstr(scope->inputs[0].description, ==, "n");
        g_assert_true(json_object_object_get_ex(scope->blackboard, "z", NULL));

        /* Copies share what does not change. */
        g_assert_true(tree->nodes[4].params == tree->nodes[8].params);
}

static void test_nested_scopes(void) {
        g_autoptr(Definition) definition =
                tree_file_good("{'btd':1,'trees':{'inner':{'root':{'type':'Do','name':'i'}},"
                               "'outer':{'root':{'type':'SubTree','tree':'inner'}}},"
                               "'root':{'type':'Sequence','children':[{'type':'SubTree','tree':'outer'},"
                               "{'type':'SubTree','tree':'inner'}]}}");

        assert_shape(definition, "Sequence(outer(inner(i)) inner(i))");
        assert_scopes(definition, "001203");
        g_assert_cmpuint(definition_scope_info(definition, 2)->parent, ==, 1);
        g_assert_cmpuint(definition_scope_info(definition, 3)->parent, ==, 0);
}

static void test_for_each(void) {
        g_autoptr(Definition) definition = tree_file_good("{'btd':1,'blackboard':{'all':[]},'root':{'type':'Sequence','"
                                                          "children':[{'type':'ForEach','items':'{all}',"
                                                          "'as':'e','index':'n','concurrency':3,'child':{'type':'"
                                                          "Inverter','child':{'type':'Do','text':'{e}{n}'}}},"
                                                          "{'type':'Do'}]}}");
        const ScopeInfo *scope = definition_scope_info(definition, 2);

        assert_shape(definition, "Sequence(ForEach(Inverter[1](Do) Inverter[2](Do) Inverter[3](Do)) Do)");
        assert_scopes(definition, "001122330");
        g_assert_cmpint(scope->kind, ==, SCOPE_LOCAL);
        g_assert_cmpuint(scope->node, ==, 4);
        g_assert_cmpuint(scope->parent, ==, 0);
        g_assert_cmpstr(scope->names[0], ==, "e");
        g_assert_cmpstr(scope->names[1], ==, "n");
        g_assert_null(scope->names[2]);
        g_assert_null(scope->inputs);
}

static void test_for_each_nested(void) {
        g_autoptr(Definition) definition =
                tree_file_good("{'btd':1,'trees':{'t':{'root':{'type':'Do','name':'t'}}},'root':{'type':'ForEach','"
                               "items':[1],'as':'a',"
                               "'concurrency':2,'child':{'type':'ForEach','items':[1],'as':'b','concurrency':2,"
                               "'child':{'type':'SubTree','tree':'t'}}}}");

        assert_shape(definition, "ForEach(ForEach[1](t[1](t) t[2](t)) ForEach[2](t[1](t) t[2](t)))");
        /* Each inner ForEach is in a scope of the outer, its children in theirs, and what they use in another. */
        assert_scopes(definition, "0123456"
                                  "78910");
        g_assert_cmpuint(definition_scope_info(definition, 2)->parent, ==, 1);
        g_assert_cmpuint(definition_scope_info(definition, 3)->parent, ==, 2);
}

/* Each copy of a parameter with references has them; each copy of a node what it says besides. */
static void test_copies_are_whole(void) {
        g_autoptr(Definition) definition = tree_file_good(
                "{'btd':1,'trees':{'t':{'inputs':{'x':'any'},'root':{'type':'Do','text':'{x}','lock':'l','fail_if':'x',"
                "'always':'y = 1','uninterruptible':true,'halt_timeout':'5s'}}},'root':{'type':'Sequence','children':["
                "{'type':'SubTree','tree':'t','inputs':{'x':1}},{'type':'SubTree','tree':'t','inputs':{'x':2}}]}}");
        const Tree *tree = definition_tree(definition);
        g_autoptr(Blackboard) blackboard = blackboard_new(&limits_default);

        blackboard_set(blackboard, "x", json_object_new_string("hello"));
        for (NodeId node = 2; node <= 4; node += 2) {
                g_autofree char *error = NULL;
                g_auto(Params) params = {};

                g_assert_cmpint(definition_params(definition, node, blackboard, &params, &error), ==, 0);
                g_assert_cmpstr(((const Do *) params.values)->text, ==, "hello");
                g_assert_cmpuint(tree->nodes[node].flags &
                                         (NODE_GUARDED | NODE_HOOKED | NODE_LOCKED | NODE_UNINTERRUPTIBLE),
                                 ==, NODE_GUARDED | NODE_HOOKED | NODE_LOCKED | NODE_UNINTERRUPTIBLE);
                g_assert_nonnull(definition_guard(definition, node, GUARD_FAIL_IF));
                g_assert_null(definition_guard(definition, node, GUARD_WHILE));
                g_assert_nonnull(definition_hook(definition, node, HOOK_ALWAYS));
                g_assert_null(definition_hook(definition, node, HOOK_HALTED));
                g_assert_cmpstr(definition_lock(definition, node), ==, "l");
                g_assert_cmpuint(definition_halt_timeout(definition, node), ==, 5 * G_USEC_PER_SEC);
        }

        g_assert_null(definition_guard(definition, 1, GUARD_FAIL_IF));
        g_assert_null(definition_lock(definition, 1));
        g_assert_true(definition_halt_timeout(definition, 1) == SPAN_INFINITY);
}

/* Inputs with references are those of the SubTree, filled in from around it. */
static void test_inputs_are_filled_in(void) {
        g_autoptr(Definition) definition =
                tree_file_good("{'btd':1,'inputs':{'n':'int'},'trees':{'t':{'inputs':{'x':'int','y':'string'},"
                               "'root':{'type':'Do','text':'{x}{y}'}}},"
                               "'root':{'type':'SubTree','tree':'t','inputs':{'x':'{n}','y':'a{n}'}}}");
        g_autoptr(Blackboard) blackboard = blackboard_new(&limits_default);
        g_autofree char *error = NULL;
        g_auto(Params) params = {};

        blackboard_set(blackboard, "n", json_object_new_int(5));
        g_assert_cmpint(definition_params(definition, 0, blackboard, &params, &error), ==, 0);
        g_assert_cmpstr(
                json_object_to_json_string_ext(((const SubTreeParams *) params.values)->inputs, JSON_C_TO_STRING_PLAIN),
                ==, "{\"x\":5,\"y\":\"a5\"}");
}

/* What needs the leaf of these tests; other errors are in tests/messages/trees.txt. */
static const struct {
        const char *text, *messages;
} bad[] = {
        /* What was hardly misspelt is judged as what was meant. */
        { "{'btd':1,'root':{'type':'Sequence','children':[{'type':'SubTre','tree':'x'},{'type':'ForEac','items':[],'as'"
          ":"
          "'9','child':{'type':'Do'}},{'type':'Dp','text':'{secret:x}'}]}}",
          "t:1:56: error: unknown type 'SubTre'; did you mean 'SubTree'? (in Sequence/SubTre)\n"
          "t:1:72: error: tree: there is no tree 'x', neither in 'trees' nor on the search path (in Sequence/SubTre)\n"
          "t:1:85: error: unknown type 'ForEac'; did you mean 'ForEach'? (in Sequence/ForEac)\n"
          "t:1:110: error: as: '9' cannot be the name of a variable (a letter or '_', then letters, digits, '_' and "
          "'-') (in Sequence/ForEac)\n"
          "t:1:145: error: unknown type 'Dp'; did you mean 'Do'? (in Sequence/Dp)" },
};

static void test_bad(void) {
        for (size_t i = 0; i < G_N_ELEMENTS(bad); i++) {
                g_test_message("%s", bad[i].text);
                assert_tree_messages(bad[i].text, bad[i].messages);
        }
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);

        g_test_add_func("/definition-trees/one-scope", test_one_scope);
        g_test_add_func("/definition-trees/subtree", test_subtree);
        g_test_add_func("/definition-trees/nested-scopes", test_nested_scopes);
        g_test_add_func("/definition-trees/for-each", test_for_each);
        g_test_add_func("/definition-trees/for-each-nested", test_for_each_nested);
        g_test_add_func("/definition-trees/copies-are-whole", test_copies_are_whole);
        g_test_add_func("/definition-trees/inputs-are-filled-in", test_inputs_are_filled_in);
        g_test_add_func("/definition-trees/bad", test_bad);

        return g_test_run();
}
