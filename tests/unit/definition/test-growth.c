/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Tests that no part of loading and running grows faster than the tree: ten times as much is some ten times the work.
 * Quadratic would be a hundred times. Trees that would be too large are refused before they are made.
 */

#include <string.h>

#include "growth.h"
#include "tree-files.h"
#include "work.h"

static double work(void) {
        return (double) work_done();
}

static void test_growth(const void *data) {
        const GrowthCase *growth_case = data;
        double few = growth_cost(growth_case, growth_case->n, work),
               many = growth_cost(growth_case, 10 * growth_case->n, work);

        g_test_message("%.0f blocks, and %.1f times as many for 10 times as much", few, many / few);
        g_assert_cmpfloat(few, >, growth_case->n);
        g_assert_cmpfloat(many / few, <, 11);
}

/* To refuse it is less work than to make a tree of a million nodes, which is some 160 million basic blocks. */
static void assert_refused(const char *text, const char *first_message) {
        uint64_t begin = work_done();
        g_autofree char *messages = tree_file_messages(text);
        g_auto(GStrv) lines = g_strsplit(messages, "\n", -1);

        g_assert_nonnull(strstr(lines[0], first_message));
        g_assert_null(lines[1]);
        g_test_message("%" G_GUINT64_FORMAT " basic blocks", work_done() - begin);
        g_assert_cmpuint(work_done() - begin, >, 0);
        g_assert_cmpuint(work_done() - begin, <, 100000000);
}

static void test_explosions(void) {
        g_autoptr(GString) doubled = tree_file_chain(60, 2, true), unused = tree_file_chain(60, 2, false);
        g_autoptr(GString) wide = tree_file_chain(8, 50, true);

        /* t42 is the first, from below, that makes more than a million. */
        assert_refused(doubled->str, TOO_MANY_NODES " (in t42: Sequence/SubTree)");
        assert_refused(unused->str, TOO_MANY_NODES " (in t42: Sequence/SubTree)");
        assert_refused(wide->str, TOO_MANY_NODES " (in t4: Sequence/SubTree)");
        assert_refused("{'btd':1,'root':{'type':'ForEach','items':[1],'as':'a','concurrency':1000,'child':"
                       "{'type':'ForEach','items':[1],'as':'b','concurrency':999,'child':{'type':'Do'}}}}",
                       "t:1:136: error: " TOO_MANY_NODES " (in ForEach/ForEach)");
        assert_refused(
                "{'btd':1,'trees':{'t':{'root':{'type':'ForEach','items':[1],'as':'a','concurrency':1000,'child':"
                "{'type':'Do'}}}},'root':{'type':'ForEach','items':[1],'as':'a','concurrency':1000,'child':"
                "{'type':'SubTree','tree':'t'}}}",
                TOO_MANY_NODES " (in ForEach/SubTree)");
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);

        for (const GrowthCase *growth_case = growth_cases; growth_case->name; growth_case++) {
                g_autofree char *path = g_strconcat("/growth/", growth_case->name, NULL);

                g_test_add_data_func(g_strdelimit(path, " ", '-'), growth_case, test_growth);
        }

        g_test_add_func("/growth/explosions", test_explosions);
        return g_test_run();
}
