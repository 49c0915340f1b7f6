/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Limits of the size of trees that use trees: those that would be too large are refused.
 */

#include <string.h>

#include "tree-files.h"

static void assert_refused(const char *text, const char *first_message) {
        g_autofree char *messages = tree_file_messages(text);
        g_auto(GStrv) lines = g_strsplit(messages, "\n", -1);

        g_assert_nonnull(strstr(lines[0], first_message));
        g_assert_null(lines[1]);
}

static char *counted_text(const char *fill) {
        return g_strdup_printf(
                "{'btd':1,'root':{'type':'Sequence','children':[{'type':'ForEach','items':[1],'as':'a','concurrency':"
                "1000,'child':{'type':'ForEach','items':[1],'as':'b','concurrency':997,'child':{'type':'Do'}}},%s]}}",
                fill);
}

static void test_counted_exactly(void) {
        g_autoptr(GString) fill = g_string_new("{'type':'Do'}");
        g_autofree char *fits = NULL, *does_not = NULL, *messages = NULL;
        g_autoptr(Definition) definition = NULL;

        /* 2 + 1000 * (1 + 997) = 998002 nodes, and 1998 more. */
        for (unsigned i = 1; i < 1998; i++)
                g_string_append(fill, ",{'type':'Do'}");
        fits = counted_text(fill->str);
        g_string_append(fill, ",{'type':'Do'}");
        does_not = counted_text(fill->str);

        definition = tree_file_good(fits);
        g_assert_cmpuint(definition_tree(definition)->n_nodes, ==, TREE_NODES_MAX);
        g_assert_cmpuint(definition_n_scopes(definition), ==, 1 + 1000 + 997000);
        messages = tree_file_messages(does_not);
        g_assert_nonnull(strstr(messages, TOO_MANY_NODES));
}

static void test_depth(void) {
        g_autoptr(GString) deepest = tree_file_chain(499, 1, true), deeper = tree_file_chain(500, 1, true);
        g_autoptr(Definition) definition = tree_file_good(deepest->str);

        /* The SubTree at the top, 499 times two levels, and the leaf. */
        g_assert_cmpuint(definition_tree(definition)->n_nodes, ==, 1000);
        assert_refused(deeper->str, "error: nested too deeply: with the tree that is used here, there are more than "
                                    "1000 levels (in t0: Sequence/SubTree)");
}

#define USES_ONE "{'type':'Sequence','children':[{'type':'Do'},{'type':'SubTree','tree':'one'}]}"

/* The limits are those that this load was given. */
static void test_limits(void) {
        static const struct {
                unsigned nodes, levels;
                const char *root, *message;
        } cases[] = {
                { 3, 9, USES_ONE,
                  "t:1:126: error: too many nodes: a tree has at most 3, counting what each SubTree uses, and the "
                  "child of a ForEach as often as its 'concurrency' says (in Sequence/SubTree)" },
                { 9, 2, USES_ONE,
                  "t:1:126: error: nested too deeply: with the tree that is used here, there are more than 2 levels "
                  "(in Sequence/SubTree)" },
                { 4, 3, USES_ONE, "" },
                { 9, 9,
                  "{'type':'ForEach','items':[1],'as':'a','concurrency':3,'child':{'type':'ForEach','items':[1],"
                  "'as':'b','concurrency':2,'child':{'type':'Do'}}}",
                  "t:1:172: error: too many nodes: a tree has at most 9, counting what each SubTree uses, and the "
                  "child of a ForEach as often as its 'concurrency' says (in ForEach/ForEach)" },
                { 8, 9,
                  "{'type':'ForEach','items':[1],'as':'a','concurrency':8,'child':{'type':'SubTree','tree':'one'}}",
                  "t:1:144: error: too many nodes: a tree has at most 8, counting what each SubTree uses, and the "
                  "child of a ForEach as often as its 'concurrency' says (in ForEach/SubTree)" },
                { 2, 9, "{'type':'Sequence','children':[{'type':'Do'},{'type':'Do'}]}",
                  "t:1:101: error: a tree has at most 2 nodes (in Sequence)" },
                { 9, 2, "{'type':'Inverter','child':{'type':'Inverter','child':{'type':'Do'}}}",
                  "t:1:110: error: nested too deeply: a tree has at most 2 levels (in Inverter/Inverter)" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autofree char *text = g_strdup_printf("{'btd':1,'trees':{'one':{'root':{'type':'Do'}}},'root':%s}",
                                                        cases[i].root),
                                *message = NULL;
                g_autoptr(Diagnostics) diagnostics = diagnostics_new("t");
                g_autoptr(Definition) definition = NULL;
                Limits limits = limits_default;
                const DefinitionSources sources = { .limits = &limits };

                g_strdelimit(text, "'", '"');
                limits.max[LIMIT_NODES] = cases[i].nodes;
                limits.max[LIMIT_DEPTH] = cases[i].levels;
                (void) definition_load_text(text, strlen(text), tree_file_tables, &sources, diagnostics, &definition);
                g_assert_cmpuint(diagnostics_count(diagnostics), <=, 1);
                message = definition ? g_strdup("") : diagnostics_format(diagnostics, 0);
                g_assert_cmpstr(message, ==, cases[i].message);
                if (definition)
                        g_assert_cmpmem(definition_limits(definition), sizeof(limits), &limits, sizeof(limits));
        }
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);

        g_test_add_func("/definition-size/counted-exactly", test_counted_exactly);
        g_test_add_func("/definition-size/depth", test_depth);
        g_test_add_func("/definition-size/limits", test_limits);

        return g_test_run();
}
