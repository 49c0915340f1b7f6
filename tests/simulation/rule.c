/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <glib.h>

#include "rule.h"

BusRule *bus_rule_new(const char *text) {
        g_autoptr(GPtrArray) parts = g_ptr_array_new_with_free_func(g_free);
        g_auto(GStrv) pairs = g_strsplit(text, ",", -1);
        BusRule *rule = g_new(BusRule, 1);

        for (char **pair = pairs; *pair; pair++) {
                const char *equals = strchr(*pair, '=');
                size_t length = strlen(equals + 1);

                g_ptr_array_add(parts, g_strndup(*pair, (size_t) (equals - *pair)));
                g_ptr_array_add(parts, g_strndup(equals + 2, length - 2));
        }
        g_ptr_array_add(parts, NULL);

        rule->text = g_strdup(text);
        rule->parts = (char **) g_ptr_array_steal(parts, NULL);
        return rule;
}

void bus_rule_free(BusRule *rule) {
        g_strfreev(rule->parts);
        g_free(rule->text);
        g_free(rule);
}

bool bus_rule_fits(const BusRule *rule, const char *sender, const char *unique, const char *path, const char *interface,
                   const char *member, const char *arg0) {
        for (char **part = rule->parts; *part; part += 2) {
                const char *key = part[0], *value = part[1];

                if ((g_str_equal(key, "sender") && !g_str_equal(value, sender) && !g_str_equal(value, unique)) ||
                    (g_str_equal(key, "path") && !g_str_equal(value, path)) ||
                    (g_str_equal(key, "interface") && !g_str_equal(value, interface)) ||
                    (g_str_equal(key, "member") && !g_str_equal(value, member)) ||
                    (g_str_equal(key, "arg0") && g_strcmp0(value, arg0) != 0))
                        return false;
        }

        return true;
}
