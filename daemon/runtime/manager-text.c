/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Runs of trees that are in no file: such a tree is there as long as its run is. */

#include <errno.h>

#include "definition/tree-name.h"
#include "runtime/manager-state.h"

int manager_check_text_name(Manager *manager, const char *name, char **ret_error) {
        if (!tree_name_valid(name))
                *ret_error = g_strdup_printf("the name of a tree consists of letters, digits, '_' and '-', %u at most",
                                             TREE_NAME_MAX);
        else if (library_get(manager->library, name))
                *ret_error = g_strdup_printf("there is a tree '%s' already; start that one, or give this another name",
                                             name);
        else
                return 0;

        return -EINVAL;
}

/* The first is told, as of a file with errors. */
static char *describe_errors(const char *name, const Diagnostics *diagnostics) {
        size_t n = diagnostics_count_errors(diagnostics), first = 0;
        g_autofree char *error = NULL;

        while (diagnostics_get(diagnostics, first)->warning)
                first++;

        error = diagnostics_format(diagnostics, first);
        if (n == 1)
                return g_strdup_printf("tree '%s' has errors: %s", name, error);

        return g_strdup_printf("tree '%s' has %zu errors, which 'btctl validate' shows; the first one: %s", name, n,
                               error);
}

static int load(Manager *manager, const char *name, const char *text, Definition **ret_definition, char **ret_error) {
        g_autofree char *file = g_strconcat(name, TREE_SUFFIX, NULL);
        g_autoptr(Diagnostics) diagnostics = diagnostics_new(file);
        g_autoptr(Definition) definition = NULL;

        if (library_load_text(manager->library, text, diagnostics, &definition) < 0) {
                *ret_error = describe_errors(name, diagnostics);
                return MANAGER_TREE_BROKEN;
        }
        if (!definition_tree(definition)) {
                *ret_error = g_strdup_printf("tree '%s' has no 'root'", name);
                return MANAGER_TREE_BROKEN;
        }
        if (definition_restart(definition)->when != RESTART_NO) {
                *ret_error = g_strdup_printf("tree '%s' cannot be started again, since it is in no file; leave out "
                                             "'restart'",
                                             name);
                return MANAGER_TREE_BROKEN;
        }

        *ret_definition = g_steal_pointer(&definition);
        return 0;
}

int manager_start_text(Manager *manager, const char *name, const char *text, json_object *variables, const Caller *who,
                       Run **ret_run, char **ret_error) {
        Order order = { .instance = "", .variables = variables, .starter = who->text, .uid = who->uid };
        g_autoptr(Definition) definition = NULL;
        int r;

        r = manager_check_order(manager, &order, ret_error);
        if (r < 0)
                return r;
        r = manager_check_text_name(manager, name, ret_error);
        if (r < 0)
                return r;
        r = load(manager, name, text, &definition, ret_error);
        if (r < 0)
                return r;

        return manager_carry_out(manager, name, definition, &order, ret_run, ret_error);
}
