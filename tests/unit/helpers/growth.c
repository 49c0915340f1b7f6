/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <string.h>

#include "growth.h"
#include "large-trees.h"
#include "tree-files.h"

/* Those of the tree files, and these. */
static const NodeType *const *const *tables(void) {
        static const NodeType *const *all[4];

        all[0] = tree_file_tables[0];
        all[1] = tree_file_tables[1];
        all[2] = large_tree_leaves;
        return all;
}

/* Names that are all different, and parameters that are not the defaults. */
static GString *text_of_names(uint32_t n) {
        GString *text = g_string_new("{'btd':1,'root':{'type':'Parallel','children':[");

        for (uint32_t i = 0; i < n; i++)
                g_string_append_printf(text, "%s{'type':'Delay','name':'d%u','delay':'%us','child':%s}",
                                       i > 0 ? "," : "", i, i, "{'type':'Good','skip_if':'unwanted'}");

        g_string_append(text, "]}}");
        return text;
}

static GString *text_of_sequence(uint32_t n) {
        return large_tree_wide("Sequence", "Good", n, NULL);
}

/* A mistake in each node. */
static GString *text_of_mistakes(uint32_t n) {
        return large_tree_wide("Sequence", "God", n, NULL);
}

/* A mistake in each element of a list. The places of those that are kept are searched for, each from the first one. */
static GString *text_of_elements(uint32_t n) {
        GString *text = g_string_new("{'btd':1,'root':{'type':'Do','list':[0");

        large_tree_append(text, ",0", n);
        g_string_append(text, "]}}");
        return text;
}

/* Warnings at the bottom of a deep tree, each of which would have to look far up and down. */
static GString *text_of_warnings(uint32_t n) {
        GString *text = g_string_new("{'btd':1,'root':");

        large_tree_append(text, "{'type':'ReactiveSequence','children':[", 900);
        for (uint32_t i = 0; i < n; i++)
                g_string_append_printf(text, "%s{'type':'ReactiveSequence','children':[%s,%s]}", i > 0 ? "," : "",
                                       "{'type':'Act'}", "{'type':'Act'}");

        large_tree_append(text, "]}", 900);
        g_string_append(text, "}");
        return text;
}

/* Trees that use one another two deep, each with inputs. */
static GString *text_of_trees(uint32_t n) {
        GString *text =
                g_string_new("{'btd':1,'trees':{'leaf':{'inputs':{'x':'any'},'outputs':{'y':'any'},'root':{'type':"
                             "'Do','text':'{x}','writes':'y'}}");

        for (uint32_t i = 0; i < n; i++)
                g_string_append_printf(text,
                                       ",'t%u':{'blackboard':{'a':1},'root':{'type':'SubTree','tree':'leaf','inputs':"
                                       "{'x':'{a}'},'outputs':{'y':'b'}}}",
                                       i);
        g_string_append(text, "},'root':{'type':'Sequence','children':[{'type':'Do'}");
        for (uint32_t i = 0; i < n; i++)
                g_string_append_printf(text, ",{'type':'SubTree','tree':'t%u'}", i);
        g_string_append(text, "]}}");
        return text;
}

/* Names that are all different, read and set. */
static GString *text_of_variables(uint32_t n) {
        GString *text = g_string_new("{'btd':1,'root':{'type':'Sequence','children':[{'type':'Do'}");

        for (uint32_t i = 0; i < n; i++)
                g_string_append_printf(text, ",{'type':'Do','text':'{a%u} {b%u}','writes':'a%u','list':['b%u']}", i,
                                       n - 1 - i, i, i);
        g_string_append(text, "]}}");
        return text;
}

/* None of them is set, and each looks much like another one. */
static GString *text_of_unset(uint32_t n) {
        GString *text = g_string_new("{'btd':1,'root':{'type':'Sequence','children':[{'type':'Do'}");

        for (uint32_t i = 0; i < n; i++)
                g_string_append_printf(text, ",{'type':'Do','text':'{name%u}','writes':'nam%u'}", i, i);
        g_string_append(text, "]}}");
        return text;
}

static GString *text_of_scripts(uint32_t n) {
        GString *text =
                g_string_new("{'btd':1,'inputs':{'a':'any'},'root':{'type':'Sequence','children':[{'type':'Do'}");

        for (uint32_t i = 0; i < n; i++)
                g_string_append_printf(text, ",{'type':'Do','test':'a == %u','fail_if':'a == 1'}", i);
        g_string_append(text, "]}}");
        return text;
}

/* One tree of many inputs, all of which are given, in one string and as keys. */
static GString *text_of_inputs(uint32_t n) {
        GString *text = g_string_new("{'btd':1,'trees':{'t':{'inputs':{'a':'any'");

        for (uint32_t i = 0; i < n; i++)
                g_string_append_printf(text, ",'a%u':{'type':'int','default':%u}", i, i);
        g_string_append(text, "},'root':{'type':'Do','text':'{a}");
        for (uint32_t i = 0; i < n; i++)
                g_string_append_printf(text, "\\u007ba%u}", i);
        g_string_append(text, "'}}},'root':{'type':'SubTree','tree':'t','inputs':{'a':1");
        for (uint32_t i = 0; i < n; i++)
                g_string_append_printf(text, ",'a%u':%u", i, i);
        g_string_append(text, "}}}");
        return text;
}

/* All wrong: names that are not declared, in one object each. */
static GString *text_of_wrong_inputs(uint32_t n) {
        GString *text = g_string_new("{'btd':1,'trees':{'t':{'inputs':{'a':'any'},'root':{'type':'Do','text':'{a}'}}},"
                                     "'root':{'type':'SubTree','tree':'t','inputs':{'a':1");

        for (uint32_t i = 0; i < n; i++)
                g_string_append_printf(text, ",'aa%u':%u", i, i);
        g_string_append(text, "},'outputs':{'x':'y'");
        for (uint32_t i = 0; i < n; i++)
                g_string_append_printf(text, ",'aa%u':'y%u'", i, i);
        g_string_append(text, "}}}");
        return text;
}

static GString *text_of_copies(uint32_t n) {
        GString *text =
                g_string_new("{'btd':1,'trees':{'t':{'root':{'type':'ForEach','items':[1],'as':'e','concurrency':"
                             "10,'child':{'type':'Do','text':'{e}','lock':'l'}}}},'root':{'type':'Sequence',"
                             "'children':[{'type':'Do'}");

        for (uint32_t i = 0; i < n; i++)
                g_string_append(text, ",{'type':'SubTree','tree':'t'}");
        g_string_append(text, "]}}");
        return text;
}

static GString *text_of_parallel(uint32_t n) {
        return large_tree_wide("Parallel", "Act", n, NULL);
}

static GString *text_of_parallel_all(uint32_t n) {
        return large_tree_wide("ParallelAll", "Act", n, NULL);
}

static GString *text_of_ordered(uint32_t n) {
        return large_tree_wide("Sequence", "Act", n, NULL);
}

static GString *text_of_async(uint32_t n) {
        return large_tree_wide("AsyncSequence", "Act", n, NULL);
}

static GString *text_of_reactive(uint32_t n) {
        return large_tree_wide("ReactiveFallback", "Check", n, "Act");
}

static void run_at_once(Machine *machine, uint32_t n) {
        for (int i = 0; i < 10; i++) {
                machine_start(machine);
                g_assert_cmpint(machine_tick(machine), ==, STATUS_SUCCESS);
        }
}

/* The children end one by one, each with a tick of its own. */
static void run_ends(Machine *machine, uint32_t n) {
        machine_start(machine);
        g_assert_cmpint(machine_tick(machine), ==, STATUS_RUNNING);
        for (NodeId leaf = 1; leaf <= n; leaf++) {
                machine_leaf_ended(machine, leaf, STATUS_SUCCESS);
                g_assert_cmpint(machine_tick(machine), ==, leaf < n ? STATUS_RUNNING : STATUS_SUCCESS);
        }
}

/* The conditions before a running action change one by one, but not their outcome. */
static void run_changes(Machine *machine, uint32_t n) {
        machine_start(machine);
        g_assert_cmpint(machine_tick(machine), ==, STATUS_RUNNING);
        for (NodeId leaf = 1; leaf <= n; leaf++) {
                machine_condition_changed(machine, leaf);
                g_assert_cmpint(machine_tick(machine), ==, STATUS_RUNNING);
        }

        machine_halt(machine);
        g_assert_cmpint(machine_tick(machine), ==, STATUS_HALTED);
}

const GrowthCase growth_cases[] = {
        { "load a sequence", 5000, text_of_sequence },
        { "load names", 2000, text_of_names },
        { "load mistakes", 2000, text_of_mistakes },
        { "load wrong elements", DIAGNOSTICS_MAX, text_of_elements },
        { "load warnings", 1000, text_of_warnings },
        { "load levels", 5000, large_tree_deep },
        { "load trees", 1000, text_of_trees },
        { "load variables", 2000, text_of_variables },
        { "load variables that are not set", 2000, text_of_unset },
        { "load scripts", 1000, text_of_scripts },
        { "load inputs", 2000, text_of_inputs },
        { "load wrong inputs", 2000, text_of_wrong_inputs },
        { "load copies", 1000, text_of_copies },
        { "run a Sequence of immediate leaves", 10000, text_of_sequence, run_at_once },
        { "run a Parallel", 10000, text_of_parallel, run_ends },
        { "run a ParallelAll", 10000, text_of_parallel_all, run_ends },
        { "run a Sequence", 10000, text_of_ordered, run_ends },
        { "run an AsyncSequence", 10000, text_of_async, run_ends },
        { "run a ReactiveFallback", 10000, text_of_reactive, run_changes },
        {},
};

double growth_cost(const GrowthCase *growth_case, uint32_t n, double (*now)(void)) {
        g_autoptr(GString) text = growth_case->text(n);
        g_autoptr(Diagnostics) diagnostics = diagnostics_new("t");
        g_autoptr(Definition) definition = NULL;
        g_autoptr(Machine) machine = NULL;
        double begin, cost;

        g_strdelimit(text->str, "'", '"');
        begin = now();
        (void) definition_load_text(text->str, text->len, tables(), NULL, diagnostics, &definition);
        cost = now() - begin;
        if (!growth_case->run)
                return cost;

        g_assert_cmpuint(diagnostics_count(diagnostics), ==, 0);
        machine = machine_new(definition_tree(definition), &large_tree_host, NULL, 1);
        begin = now();
        growth_case->run(machine, n);
        return now() - begin;
}
