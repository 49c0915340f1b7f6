/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Describes callers. The name of a process may be invisible to btd, and is not trustworthy: a process sets it
 * itself. */

#include <inttypes.h>

#include "runtime/caller.h"

void caller_init(Caller *caller, uint32_t uid, uint32_t pid) {
        g_autofree char *path = g_strdup_printf("/proc/%" PRIu32 "/comm", pid), *name = NULL;

        *caller = (Caller){ .uid = uid, .pid = pid };
        if (pid > 0 && g_file_get_contents(path, &name, NULL, NULL))
                caller->command = g_utf8_make_valid(g_strchomp(name), -1);
        caller->text = caller->command ? g_strdup_printf("UID %" PRIu32 " (%s)", uid, caller->command)
                                       : g_strdup_printf("UID %" PRIu32, uid);
}

void caller_copy(const Caller *caller, Caller *ret_copy) {
        *ret_copy = *caller;
        ret_copy->command = g_strdup(caller->command);
        ret_copy->text = g_strdup(caller->text);
}

void caller_clear(Caller *caller) {
        g_clear_pointer(&caller->command, g_free);
        g_clear_pointer(&caller->text, g_free);
}

Cause *caller_cause(const Caller *caller, const char *kind) {
        g_autofree char *text = g_strdup_printf("%s by %s", kind, caller->text);
        json_object *pid = caller->pid > 0 ? json_object_new_int64(caller->pid) : NULL;

        return cause_new(kind,
                         facts_new("uid", json_object_new_int64(caller->uid), "pid", pid, "command",
                                   fact_text(caller->command), NULL),
                         text);
}
