/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * What trees of trees come to: those that would be too large are refused before they are made, and no part of loading
 * grows faster than what is loaded.
 */

#include <math.h>
#include <string.h>
#include <time.h>

#include "tree-files.h"

#define TOO_MANY                                                                                                       \
        "too many nodes: a tree has at most 1000000, counting what each SubTree uses, and the child of a ForEach as "  \
        "often as its 'concurrency' says"

static double cpu_seconds(void) {
        struct timespec now;

        g_assert_cmpint(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now), ==, 0);
        return (double) now.tv_sec + (double) now.tv_nsec * 1e-9;
}

/* Trees t0, t1, ... each of which uses the next one so many times; the root is a leaf, or uses t0. */
static GString *chain_text(unsigned n, unsigned uses, bool from_root) {
        GString *text = g_string_new("{'btd':1,'trees':{");

        for (unsigned i = 0; i < n; i++) {
                g_string_append_printf(text, "'t%u':{'root':{'type':'Sequence','children':[", i);
                for (unsigned u = 0; u < uses; u++)
                        g_string_append_printf(text, "%s{'type':'SubTree','tree':'t%u'}", u > 0 ? "," : "", i + 1);
                g_string_append(text, "]}},");
        }

        g_string_append_printf(text, "'t%u':{'root':{'type':'Do'}}},'root':%s}", n,
                               from_root ? "{'type':'SubTree','tree':'t0'}" : "{'type':'Do'}");
        return text;
}

static void assert_ends(const char *text, const char *first_message) {
        double begin = cpu_seconds();
        g_autofree char *messages = tree_file_messages(text);
        g_auto(GStrv) lines = g_strsplit(messages, "\n", -1);

        g_assert_nonnull(strstr(lines[0], first_message));
        g_assert_null(lines[1]);
        g_test_message("%.3f s", cpu_seconds() - begin);
        g_assert_cmpfloat(cpu_seconds() - begin, <, 1);
}

static void test_explosions(void) {
        g_autoptr(GString) doubled = chain_text(60, 2, true), unused = chain_text(60, 2, false);
        g_autoptr(GString) wide = chain_text(8, 50, true);

        /* t42 is the first, from below, that makes more than a million. */
        assert_ends(doubled->str, TOO_MANY " (in t42: Sequence/SubTree)");
        assert_ends(unused->str, TOO_MANY " (in t42: Sequence/SubTree)");
        assert_ends(wide->str, TOO_MANY " (in t4: Sequence/SubTree)");
        assert_ends("{'btd':1,'root':{'type':'ForEach','items':[1],'as':'a','concurrency':1000,'child':"
                    "{'type':'ForEach','items':[1],'as':'b','concurrency':999,'child':{'type':'Do'}}}}",
                    "t:1:136: error: " TOO_MANY " (in ForEach/ForEach)");
        assert_ends("{'btd':1,'trees':{'t':{'root':{'type':'ForEach','items':[1],'as':'a','concurrency':1000,'child':"
                    "{'type':'Do'}}}},'root':{'type':'ForEach','items':[1],'as':'a','concurrency':1000,'child':"
                    "{'type':'SubTree','tree':'t'}}}",
                    TOO_MANY " (in ForEach/SubTree)");
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
        g_assert_nonnull(strstr(messages, TOO_MANY));
}

static void test_depth(void) {
        g_autoptr(GString) deepest = chain_text(499, 1, true), deeper = chain_text(500, 1, true);
        g_autoptr(Definition) definition = tree_file_good(deepest->str);

        /* The SubTree at the top, 499 times two levels, and the leaf. */
        g_assert_cmpuint(definition_tree(definition)->n_nodes, ==, 1000);
        assert_ends(deeper->str, "error: nested too deeply: with the tree that is used here, there are more than "
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

/* Ten times as much takes some ten times as long, and more where it no longer fits into caches that others use, too.
 * Quadratic would be a hundred times. */
static void assert_linear(GString *(*text_for)(unsigned n), unsigned n) {
        g_autoptr(GString) few = text_for(n), many = text_for(10 * n);
        double least = INFINITY;

        for (unsigned i = 0; i < 5; i++) {
                double begin = cpu_seconds(), middle;

                g_free(tree_file_messages(few->str));
                middle = cpu_seconds();
                g_free(tree_file_messages(many->str));
                least = MIN(least, (cpu_seconds() - middle) / (middle - begin));
        }

        g_test_message("10 times as much takes %.1f times as long", least);
        g_assert_cmpfloat(least, <, 25);
}

/* Trees that use one another two deep, each with inputs. */
static GString *text_of_trees(unsigned n) {
        GString *text =
                g_string_new("{'btd':1,'trees':{'leaf':{'inputs':{'x':'any'},'outputs':{'y':'any'},'root':{'type':"
                             "'Do','text':'{x}','writes':'y'}}");

        for (unsigned i = 0; i < n; i++)
                g_string_append_printf(text,
                                       ",'t%u':{'blackboard':{'a':1},'root':{'type':'SubTree','tree':'leaf','inputs':"
                                       "{'x':'{a}'},'outputs':{'y':'b'}}}",
                                       i);
        g_string_append(text, "},'root':{'type':'Sequence','children':[{'type':'Do'}");
        for (unsigned i = 0; i < n; i++)
                g_string_append_printf(text, ",{'type':'SubTree','tree':'t%u'}", i);
        g_string_append(text, "]}}");
        return text;
}

/* Names that are all different, read and set. */
static GString *text_of_variables(unsigned n) {
        GString *text = g_string_new("{'btd':1,'root':{'type':'Sequence','children':[{'type':'Do'}");

        for (unsigned i = 0; i < n; i++)
                g_string_append_printf(text, ",{'type':'Do','text':'{a%u} {b%u}','writes':'a%u','list':['b%u']}", i,
                                       n - 1 - i, i, i);
        g_string_append(text, "]}}");
        return text;
}

/* None of them is set, and each looks much like another one. */
static GString *text_of_unset(unsigned n) {
        GString *text = g_string_new("{'btd':1,'root':{'type':'Sequence','children':[{'type':'Do'}");

        for (unsigned i = 0; i < n; i++)
                g_string_append_printf(text, ",{'type':'Do','text':'{name%u}','writes':'nam%u'}", i, i);
        g_string_append(text, "]}}");
        return text;
}

static GString *text_of_scripts(unsigned n) {
        GString *text =
                g_string_new("{'btd':1,'inputs':{'a':'any'},'root':{'type':'Sequence','children':[{'type':'Do'}");

        for (unsigned i = 0; i < n; i++)
                g_string_append_printf(text, ",{'type':'Do','test':'a == %u','fail_if':'a == 1'}", i);
        g_string_append(text, "]}}");
        return text;
}

/* One tree of many inputs, all of which are given, in one string and as keys. */
static GString *text_of_inputs(unsigned n) {
        GString *text = g_string_new("{'btd':1,'trees':{'t':{'inputs':{'a':'any'");

        for (unsigned i = 0; i < n; i++)
                g_string_append_printf(text, ",'a%u':{'type':'int','default':%u}", i, i);
        g_string_append(text, "},'root':{'type':'Do','text':'{a}");
        for (unsigned i = 0; i < n; i++)
                g_string_append_printf(text, "\\u007ba%u}", i);
        g_string_append(text, "'}}},'root':{'type':'SubTree','tree':'t','inputs':{'a':1");
        for (unsigned i = 0; i < n; i++)
                g_string_append_printf(text, ",'a%u':%u", i, i);
        g_string_append(text, "}}}");
        return text;
}

/* All wrong: names that are not declared, in one object each. */
static GString *text_of_wrong_inputs(unsigned n) {
        GString *text = g_string_new("{'btd':1,'trees':{'t':{'inputs':{'a':'any'},'root':{'type':'Do','text':'{a}'}}},"
                                     "'root':{'type':'SubTree','tree':'t','inputs':{'a':1");

        for (unsigned i = 0; i < n; i++)
                g_string_append_printf(text, ",'aa%u':%u", i, i);
        g_string_append(text, "},'outputs':{'x':'y'");
        for (unsigned i = 0; i < n; i++)
                g_string_append_printf(text, ",'aa%u':'y%u'", i, i);
        g_string_append(text, "}}}");
        return text;
}

static GString *text_of_copies(unsigned n) {
        GString *text =
                g_string_new("{'btd':1,'trees':{'t':{'root':{'type':'ForEach','items':[1],'as':'e','concurrency':"
                             "10,'child':{'type':'Do','text':'{e}','lock':'l'}}}},'root':{'type':'Sequence',"
                             "'children':[{'type':'Do'}");

        for (unsigned i = 0; i < n; i++)
                g_string_append(text, ",{'type':'SubTree','tree':'t'}");
        g_string_append(text, "]}}");
        return text;
}

static void test_linear(void) {
        assert_linear(text_of_trees, 2000);
        assert_linear(text_of_variables, 5000);
        assert_linear(text_of_unset, 2000);
        assert_linear(text_of_scripts, 2000);
        assert_linear(text_of_inputs, 5000);
        assert_linear(text_of_wrong_inputs, 2000);
        assert_linear(text_of_copies, 2000);
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);

        g_test_add_func("/definition-size/explosions", test_explosions);
        g_test_add_func("/definition-size/counted-exactly", test_counted_exactly);
        g_test_add_func("/definition-size/depth", test_depth);
        g_test_add_func("/definition-size/limits", test_limits);
        g_test_add_func("/definition-size/linear", test_linear);

        return g_test_run();
}
