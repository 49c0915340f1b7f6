/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* In place of scripts.c in a btd that was built without Lua: there is no script, because none can be compiled. */

#include <errno.h>
#include <glib.h>

#include "script/scripts.h"

struct Scripts {
        char unused;
};

Scripts *scripts_new(void) {
        return g_new0(Scripts, 1);
}

void scripts_free(Scripts *scripts) {
        g_free(scripts);
}

static int refuse(const char *what, char **ret_error, size_t *ret_offset) {
        *ret_error = g_strdup_printf("this btd was built without Lua: it has no %s", what);
        *ret_offset = 0;
        return -EOPNOTSUPP;
}

int scripts_compile(Scripts *scripts, ScriptKind kind, const char *code, const char *const *extra,
                    const char *const *members, GPtrArray *libraries, const Script **ret, char **ret_error,
                    size_t *ret_offset) {
        return refuse(kind == SCRIPT_CODE ? "scripts" : "expressions", ret_error, ret_offset);
}

int scripts_add_library(Scripts *scripts, const char *name, const char *code, const Library **ret, char **ret_error,
                        size_t *ret_offset) {
        return refuse("Lua files", ret_error, ret_offset);
}

const char *const *library_defines(const Library *library) {
        g_assert_not_reached();
}

size_t library_find(const Library *library, const char *name) {
        g_assert_not_reached();
}

const char *library_lacks(const Library *library, const GPtrArray *libraries) {
        g_assert_not_reached();
}

int library_try(const Library *library, const GPtrArray *libraries, char **ret_error, size_t *ret_offset) {
        g_assert_not_reached();
}

const char *script_code(const Script *script) {
        g_assert_not_reached();
}

void script_set_lines(const Script *script, const char *file, const uint32_t *lines) {
        g_assert_not_reached();
}

const char *const *script_reads(const Script *script) {
        g_assert_not_reached();
}

const char *const *script_writes(const Script *script) {
        g_assert_not_reached();
}

const GArray *script_demands(const Script *script) {
        g_assert_not_reached();
}

int script_test(const Script *script, const Blackboard *blackboard, json_object *const *extra, bool *ret_truth,
                char **ret_error) {
        g_assert_not_reached();
}

int script_evaluate(const Script *script, const Blackboard *blackboard, json_object *const *extra,
                    json_object **ret_value, char **ret_error) {
        g_assert_not_reached();
}

int script_run(const Script *script, Blackboard *blackboard, json_object **ret_set, char **ret_error) {
        g_assert_not_reached();
}
