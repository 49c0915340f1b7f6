/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Finds the references in the text of a test by their form; no other text of a test has it. */

#include <glib.h>

#include "inputs.h"

static void add_matches(GHashTable *names, const char *pattern, const char *node) {
        g_autoptr(GRegex) regex = g_regex_new(pattern, 0, 0, NULL);
        g_autoptr(GMatchInfo) match = NULL;

        for (g_regex_match(regex, node, 0, &match); g_match_info_matches(match); g_match_info_next(match, NULL))
                g_hash_table_add(names, g_match_info_fetch(match, 1));
}

char *inputs_of(const char *node) {
        g_autoptr(GHashTable) names = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        GString *inputs = g_string_new("{");
        GHashTableIter iter;
        void *name;

        add_matches(names, "\\{([A-Za-z_]+)\\}", node);
        add_matches(names, "['\"](?:skip_if|fail_if|success_if|while|if|variable|queue)['\"]: *['\"]([A-Za-z_]+)",
                    node);

        g_hash_table_iter_init(&iter, names);
        while (g_hash_table_iter_next(&iter, &name, NULL))
                g_string_append_printf(inputs, "%s\"%s\": \"any\"", inputs->len > 1 ? ", " : "", (char *) name);

        g_string_append_c(inputs, '}');
        return g_string_free(inputs, FALSE);
}
