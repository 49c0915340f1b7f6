/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tests messages about mistakes that are only possible with the node types of this test. */

#include <errno.h>
#include <string.h>

#include "basic/cleanup.h"
#include "definition/definition.h"
#include "definition/sources.h"
#include "engine/tree.h"

typedef struct Values {
        uint64_t least, most;
        int64_t seven, few, any;
        const char *shown, *name, *fixed, *checked;
        const NamedScript *results;
} Values;

static char *short_problem(const char *text) {
        return strlen(text) > 20 ? g_strdup("it is too long") : NULL;
}

static const TextFormat short_format = { .name = "a short text", .problem = short_problem };

static const Param limits_params[] = {
        { .name = "least", .kind = PARAM_SPAN, .offset = offsetof(Values, least), .min = 1000, .doc = "a span" },
        { .name = "most", .kind = PARAM_SPAN, .offset = offsetof(Values, most), .max = 5000000, .doc = "a span" },
        { .name = "seven", .kind = PARAM_INT, .offset = offsetof(Values, seven), .min = 7, .max = 7, .doc = "7" },
        { .name = "few", .kind = PARAM_INT, .offset = offsetof(Values, few), .min = 1, .max = 3, .doc = "a few" },
        { .name = "any", .kind = PARAM_INT, .offset = offsetof(Values, any), .doc = "a number" },
        { .name = "shown", .kind = PARAM_STRING, .offset = offsetof(Values, shown), .shown = true, .doc = "a text" },
        { .name = "name", .kind = PARAM_STRING, .offset = offsetof(Values, name), .reads = true, .doc = "a name" },
        { .name = "fixed", .kind = PARAM_STRING, .offset = offsetof(Values, fixed), .literal = true, .doc = "a text" },
        { .name = "checked",
          .kind = PARAM_STRING,
          .offset = offsetof(Values, checked),
          .format = &short_format,
          .doc = "a short text" },
        { .name = "results", .kind = PARAM_EXPRESSIONS, .offset = offsetof(Values, results), .doc = "expressions" },
        {},
};

static const NodeType limits_type = {
        .name = "Limits",
        .class = NODE_ACTION,
        .params = limits_params,
        .params_size = sizeof(Values),
        .summary = "Takes not everything",
};
static const NodeType single_type = {
        .name = "Single", .class = NODE_CONTROL, .min_children = 1, .max_children = 1, .summary = "Takes one"
};
static const NodeType two_type = {
        .name = "Two", .class = NODE_CONTROL, .min_children = 2, .max_children = 2, .summary = "Takes two"
};
static const NodeType some_type = { .name = "Some",
                                    .class = NODE_CONTROL,
                                    .min_children = 1,
                                    .max_children = UINT32_MAX,
                                    .summary = "Takes one or more" };
static const NodeType several_type = {
        .name = "Several", .class = NODE_CONTROL, .min_children = 2, .max_children = UINT32_MAX, .summary = "Takes many"
};

static const NodeType *const types[] = { &limits_type, &single_type, &two_type, &some_type, &several_type, NULL };
static const NodeType *const *const tables[] = { engine_types, types, NULL };

/* Written with ' for ". */
static char *messages_of(const char *written, const DefinitionSources *sources) {
        g_autofree char *text = g_strdelimit(g_strdup(written), "'", '"');
        g_autoptr(Diagnostics) diagnostics = diagnostics_new("t");
        g_autoptr(Definition) definition = NULL;
        g_autoptr(GString) messages = g_string_new(NULL);

        (void) definition_load_text(text, strlen(text), tables, sources, diagnostics, &definition);
        for (size_t i = 0; i < diagnostics_count(diagnostics); i++) {
                g_autofree char *message = diagnostics_format(diagnostics, i);

                g_string_append_printf(messages, "%s%s", i > 0 ? "\n" : "", message);
        }

        return g_strdup(messages->str);
}

static const struct {
        const char *root, *message;
} nodes[] = {
        { "'type':'Single','children':[]", "a Single takes exactly 1 child, not 0 (in Single)" },
        { "'type':'Two','children':[]", "a Two takes exactly 2 children, not 0 (in Two)" },
        { "'type':'Some','children':[]", "a Some takes at least 1 child, not 0 (in Some)" },
        { "'type':'Several','children':[]", "a Several takes at least 2 children, not 0 (in Several)" },
        { "'type':'Limits','least':'1us'", "least: \"1us\" is out of range; it must be at least 1ms (in Limits)" },
        { "'type':'Limits','most':'6s'", "most: \"6s\" is out of range; it must be at most 5s (in Limits)" },
        { "'type':'Limits','seven':8", "seven: 8 is out of range; it must be 7 (in Limits)" },
        { "'type':'Limits','few':4", "few: 4 is out of range; it must be between 1 and 3 (in Limits)" },
        { "'type':'Limits','any':1e300", "any: 1e300 is out of range; it must be a 64-bit number (in Limits)" },
        { "'type':'Limits','results':['a']", "results: expected an object of expressions, not [\"a\"] (in Limits)" },
        { "'type':'Limits','shown':'{secret:pass}'",
          "shown: a secret cannot be used here, because everybody can read this (in Limits)" },
        { "'type':'Limits','name':'{x}'", "name: expected the name of a variable as it is, without braces (in {x})" },
        { "'type':'Limits','fixed':'{x}'", "fixed: a variable cannot be used here, because this must be known before "
                                           "the run; write '{{' for a brace (in "
                                           "Limits)" },
        { "'type':'Limits','lock':'a','lock':'b'", "'lock' is given twice (in Limits)" },
        { "'type':'Limits','clock':'boot'",
          "clock: \"boot\" is none of \"monotonic\", \"boottime\"; did you mean \"boottime\"? (in Limits)" },
        { "'type':'Limits','checked':'longer than it may be'", "checked: it is too long (in Limits)" },
};

/* What the places of messages are is tested elsewhere. */
static void assert_ends(const char *messages, const char *message) {
        g_autofree char *expected = g_strconcat(" error: ", message, NULL);

        g_test_message("%s", messages);
        g_assert_null(strchr(messages, '\n'));
        g_assert_true(g_str_has_suffix(messages, expected));
}

static void test_nodes(void) {
        for (size_t i = 0; i < G_N_ELEMENTS(nodes); i++) {
                g_autofree char *text = g_strdup_printf("{'btd':1,'root':{%s}}", nodes[i].root);
                g_autofree char *messages = messages_of(text, NULL);

                assert_ends(messages, nodes[i].message);
        }
}

static void test_variables(void) {
        static const char *const texts[][2] = {
                { "{'btd':1,'outputs':{'photo':'any'},'root':{'type':'Limits'}}",
                  "outputs: nothing in the tree sets 'photo'" },
                { "{'btd':1,'blackboard':{'speed':1},'trees':{'t':{'root':{'type':'Limits','shown':'{@sped}'}}},'root':"
                  "{'type':'SubTree','tree':'t'}}",
                  "shown: nothing sets the variable '@sped'; did you mean '@speed'? (in t: Limits)" },
                { "{'btd':1,'trees':{'t':{'root':{'type':'Limits','shown':'{@sped}'}}},'root':{'type':'SubTree','tree':"
                  "'t'}}",
                  "shown: nothing sets the variable '@sped'; if it comes from outside, declare it in 'inputs' of the "
                  "tree at the top (in t: Limits)" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(texts); i++) {
                g_autofree char *messages = messages_of(texts[i][0], NULL);

                assert_ends(messages, texts[i][1]);
        }
}

/* Only the first of a long circle are named. */
static void test_long_circle(void) {
        g_autoptr(GString) text = g_string_new("{'btd':1,'trees':{");
        g_autoptr(GString) message = g_string_new("tree: a tree cannot be part of itself: ");
        g_autofree char *messages = NULL;

        for (unsigned i = 0; i < 40; i++)
                g_string_append_printf(text, "%s't%u':{'root':{'type':'SubTree','tree':'t%u'}}", i > 0 ? "," : "", i,
                                       (i + 1) % 40);
        g_string_append(text, "},'root':{'type':'SubTree','tree':'t0'}}");
        for (unsigned i = 0; i < 30; i++)
                g_string_append_printf(message, "t%u uses ", i);
        g_string_append(message, "... uses t0 (in t39: SubTree)");

        messages = messages_of(text->str, NULL);
        assert_ends(messages, message->str);
}

static char *on_find(const char *file, void *userdata) {
        return g_strdup(file);
}

static int on_read(const char *path, char **ret_text, size_t *ret_length, char **ret_error, void *userdata) {
        *ret_text = g_strdup(g_str_has_prefix(path, "broken")
                                     ? "{"
                                     : "{\"btd\":1,\"trees\":{\"a\":{\"root\":{\"type\":\"Limits\"}}}}");
        *ret_length = strlen(*ret_text);
        return 0;
}

/* Of a text that is in no file. */
static void test_includes(void) {
        DefinitionSources sources = { .find = on_find, .read = on_read };
        g_autofree char *twice =
                messages_of("{'btd':1,'include':['other.json'],'trees':{'a':{'root':{'type':'Limits'}}},"
                            "'root':{'type':'SubTree','tree':'a'}}",
                            &sources);
        g_autofree char *broken = messages_of("{'btd':1,'include':['broken.json'],'root':{'type':'Limits'}}", &sources);

        assert_ends(twice, "trees: there is a tree 'a' in 'the tree', too; rename one (the tree includes other.json)");
        g_assert_cmpstr(broken, ==,
                        "t:1:21: error: include: 'broken.json' cannot be used, because it has errors\n"
                        "broken.json:1:2: error: unexpected end of file: expected a key in double quotes, or '}'; the "
                        "'{' in line 1 is not closed");
}

/* There is nothing at the beginning of a process's memory. */
static void test_unreadable(void) {
        g_autofree char *error = NULL, *text = NULL;
        size_t length;

        g_assert_cmpint(source_read("/proc/self/mem", &text, &length, &error), ==, -EIO);
        g_assert_cmpstr(error, ==, "cannot be read: Input/output error");
}

int main(int argc, char *argv[]) {
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/definition-messages/nodes", test_nodes);
        g_test_add_func("/definition-messages/variables", test_variables);
        g_test_add_func("/definition-messages/long-circle", test_long_circle);
        g_test_add_func("/definition-messages/includes", test_includes);
        g_test_add_func("/definition-messages/unreadable", test_unreadable);
        return g_test_run();
}
