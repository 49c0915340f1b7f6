/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Implements the functions of leaf.h that need no Activity: causes, subjects of messages, inheritances and timers. The
 * others are in activity.c. */

#include "run/leaf.h"

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

LogSubject leaf_log_subject(const Leaf *leaf) {
        return (LogSubject){ .tree = leaf->tree, .run = leaf->run, .node = leaf->name, .label = leaf->label };
}

void inheritance_use(Inheritance *inheritance) {
        inheritance->n_users++;
}

void inheritance_leave(Inheritance *inheritance) {
        if (--inheritance->n_users == 0)
                inheritance->unused(inheritance->userdata);
}

Timer *leaf_timer_new(const Leaf *leaf, uint64_t usec, TimerCallback callback, void *userdata) {
        uint64_t started = leaf->started + (leaf->clock == TIMER_BOOTTIME ? leaf->suspended : 0);

        if (usec >= UINT64_MAX - started)
                return NULL;

        return timer_new_on(leaf->services->timers, leaf->clock, started + usec, callback, userdata);
}
