/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Gives kept variables to the next run, takes them from the current one, and shows and forgets them for a caller. Only
 * the variables that the tree itself declares are kept, not those of trees that it uses. */

#include <errno.h>
#include <json-c/linkhash.h>
#include <string.h>

#include "basic/excerpt.h"
#include "basic/log.h"
#include "run/instance.h"
#include "runtime/manager-state.h"

static const Declaration *inputs_of(const Definition *definition) {
        return definition_scope_info(definition, 0)->inputs;
}

bool manager_has_kept(const Definition *definition) {
        for (const Declaration *input = inputs_of(definition); input->name; input++)
                if (input->kept)
                        return true;

        return false;
}

json_object *manager_add_kept(const Manager *manager, const Definition *definition, const Order *order) {
        json_object *variables = json_object_new_object(),
                    *stored = kept_find(manager->kept, order->tree, order->instance), *value;

        if (order->variables) {
                json_object_object_foreach(order->variables, name, given)
                        json_object_object_add(variables, name, json_object_get(given));
        }

        for (const Declaration *input = inputs_of(definition); input->name; input++) {
                g_autofree char *problem = NULL;

                if (!input->kept)
                        continue;
                /* What was given at the first start is not newer than what the runs have made of it since. */
                if (!order->starter)
                        json_object_object_del(variables, input->name);
                if (json_object_object_get_ex(variables, input->name, NULL) ||
                    !json_object_object_get_ex(stored, input->name, &value))
                        continue;

                problem = declaration_problem(input, value);
                if (problem)
                        log_message(LOG_WARNING, &(LogSubject){ .tree = order->tree },
                                    "the kept value of '%s' is not used: %s", input->name, problem);
                else
                        json_object_object_add(variables, input->name, json_object_get(value));
        }

        return variables;
}

/* A variable that has its default, and of which nothing is stored, needs no room; then another default of the next
 * version of the tree applies. */
static void keep(Manager *manager, const Run *run, const Declaration *input, json_object *stored) {
        const char *tree = run_tree(run), *instance = run_instance(run);
        json_object *value, *before = NULL;
        bool is_stored = json_object_object_get_ex(stored, input->name, &before);

        if (!blackboard_get(run_blackboard(run), input->name, &value))
                return;
        if (!is_stored)
                before = input->fallback;
        if (value == before || blackboard_same_value(value, before))
                return;
        if (kept_set(manager->kept, tree, instance, input->name, value, limits_bind(run_caller(run))))
                return;

        log_message(LOG_WARNING, &(LogSubject){ .tree = tree, .run = run_id(run) },
                    "the value of '%s' is not kept: all kept variables have %u MiB at most", input->name,
                    (unsigned) ((limits_bind(run_caller(run)) ? KEPT_BYTES_MAX / 2 : KEPT_BYTES_MAX) >> 20));
}

void manager_keep(Manager *manager, const Run *run) {
        for (const Declaration *input = inputs_of(run_definition(run)); input->name; input++)
                if (input->kept)
                        keep(manager, run, input, kept_find(manager->kept, run_tree(run), run_instance(run)));
}

/* A removed tree can still have kept variables. */
static int check_place(Manager *manager, const char *tree, const char *instance, char **ret_error) {
        const LibraryEntry *entry;
        int r = instance_check(instance, ret_error);

        return r < 0 || kept_has_tree(manager->kept, tree) ? r : manager_find_tree(manager, tree, &entry, ret_error);
}

bool manager_keeps(const Manager *manager, const char *tree) {
        return kept_has_tree(manager->kept, tree);
}

int manager_get_kept(Manager *manager, const char *tree, const char *instance, json_object **ret_values,
                     char **ret_error) {
        json_object *values = kept_find(manager->kept, tree, instance);
        int r = check_place(manager, tree, instance, ret_error);

        if (r < 0)
                return r;

        *ret_values = json_object_new_object();
        if (values) {
                json_object_object_foreach(values, name, value)
                        json_object_object_add(*ret_values, name, json_object_get(value));
        }
        return 0;
}

/* NULL: one of the wanted names is not stored, with an error message. */
static GPtrArray *choose(json_object *values, const char *const *names, char **ret_error) {
        g_autoptr(GPtrArray) chosen = g_ptr_array_new_with_free_func(g_free);

        if (!*names && values) {
                json_object_object_foreach(values, name, value) {
                        (void) value;
                        g_ptr_array_add(chosen, g_strdup(name));
                }
        }

        for (; *names; names++) {
                g_autofree char *shown = excerpt(*names, strlen(*names));

                if (!json_object_object_get_ex(values, *names, NULL)) {
                        *ret_error = g_strdup_printf("no value of '%s' is kept", shown);
                        return NULL;
                }
                g_ptr_array_add(chosen, g_strdup(*names));
        }

        return g_steal_pointer(&chosen);
}

int manager_forget_kept(Manager *manager, const char *tree, const char *instance, const char *const *names,
                        const Caller *who, GPtrArray **ret_forgotten, char **ret_error) {
        const Run *run = runs_last(manager->runs, tree, instance);
        g_autoptr(GPtrArray) chosen = NULL;
        int r = manager_check_there(manager, ret_error);

        if (r >= 0)
                r = check_place(manager, tree, instance, ret_error);
        if (r < 0)
                return r;
        if (run && run_status(run) == STATUS_RUNNING) {
                *ret_error = g_strdup_printf("%s is running and has the kept variables; halt it first, or set them "
                                             "in it with 'btctl set'",
                                             run_id(run));
                return MANAGER_ALREADY_RUNNING;
        }
        chosen = choose(kept_find(manager->kept, tree, instance), names, ret_error);
        if (!chosen)
                return -ENOKEY;

        for (unsigned i = 0; i < chosen->len; i++) {
                const char *name = chosen->pdata[i];

                if (kept_forget(manager->kept, tree, instance, name))
                        log_message(LOG_NOTICE, &(LogSubject){ .tree = tree },
                                    "the kept value of '%s' was forgotten%s%s by %s", name,
                                    *instance ? " for instance " : "", instance, who->text);
        }
        kept_hurry(manager->kept);
        *ret_forgotten = g_steal_pointer(&chosen);
        return 0;
}
