/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What leaves say in words of their own, put together here for whoever runs them. */

#include "leaves/leaf.h"

static void G_GNUC_PRINTF(4, 0)
        give_cause(Leaf *leaf, const char *kind, json_object *facts, const char *format, va_list args) {
        g_autofree char *text = g_strdup_vprintf(format, args);
        Cause *cause = cause_new(kind, facts, text);

        cause->node = leaf->node;
        leaf_give_cause(leaf, cause);
}

void leaf_set_cause(Leaf *leaf, const char *format, ...) {
        va_list args;

        va_start(args, format);
        give_cause(leaf, CAUSE_FAILED, NULL, format, args);
        va_end(args);
}

void leaf_set_cause_of(Leaf *leaf, const char *kind, json_object *facts, const char *format, ...) {
        va_list args;

        va_start(args, format);
        give_cause(leaf, kind, facts, format, args);
        va_end(args);
}
