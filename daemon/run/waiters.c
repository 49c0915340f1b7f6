/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Finds out which units wait for runs. The cgroup of a process tells its unit. A process that has ended does not wait
 * any more. */

#include <glib.h>
#include <systemd/sd-login.h>

#include "basic/boot-file.h"
#include "basic/cause.h"
#include "basic/cleanup.h"
#include "basic/foreach.h"
#include "run/waiters.h"

#define FILE_NAME "waiters"

typedef struct Waiter {
        char *tree, *instance, *unit;
        bool stop; /* it waits for the end of a halt */
        uint32_t pid;
} Waiter;

struct Waiters {
        bool user;
        char *directory;
        char *own;   /* the unit of btd, or NULL */
        GArray *all; /* Waiter */
};

static void on_dropped(void *data) {
        Waiter *waiter = data;

        g_free(waiter->tree);
        g_free(waiter->instance);
        g_free(waiter->unit);
}

char *waiters_unit_of(bool user, uint32_t pid) {
        char *unit = NULL;
        int r = user ? sd_pid_get_user_unit((pid_t) pid, &unit) : sd_pid_get_unit((pid_t) pid, &unit);

        return r >= 0 ? unit : NULL;
}

static void add(Waiters *waiters, const char *tree, const char *instance, const char *unit, bool stop, uint32_t pid) {
        Waiter waiter = {
                .tree = g_strdup(tree),
                .instance = g_strdup(instance),
                .unit = g_strdup(unit),
                .stop = stop,
                .pid = pid,
        };

        g_array_append_val(waiters->all, waiter);
}

static void forget_gone(Waiters *waiters) {
        for (unsigned i = waiters->all->len; i-- > 0;) {
                const Waiter *waiter = &g_array_index(waiters->all, Waiter, i);
                g_autofree char *now = waiters_unit_of(waiters->user, waiter->pid);

                if (g_strcmp0(now, waiter->unit) != 0)
                        g_array_remove_index_fast(waiters->all, i);
        }
}

Waiters *waiters_new(bool user, const char *directory) {
        g_autoptr(json_object) all = boot_file_read(directory, FILE_NAME);
        Waiters *waiters = g_new(Waiters, 1);

        *waiters = (Waiters){
                .user = user,
                .directory = g_strdup(directory),
                .all = g_array_new(FALSE, FALSE, sizeof(Waiter)),
        };
        waiters->own = waiters_unit_of(user, 0);
        g_array_set_clear_func(waiters->all, on_dropped);
        for (size_t i = 0; json_object_is_type(all, json_type_array) && i < json_object_array_length(all); i++) {
                json_object *json = json_object_array_get_idx(all, i), *tree, *instance, *unit, *pid, *stop = NULL;

                (void) json_object_object_get_ex(json, "stop", &stop);
                if (json_object_object_get_ex(json, "tree", &tree) &&
                    json_object_object_get_ex(json, "instance", &instance) &&
                    json_object_object_get_ex(json, "unit", &unit) && json_object_object_get_ex(json, "pid", &pid))
                        add(waiters, json_object_get_string(tree), json_object_get_string(instance),
                            json_object_get_string(unit), json_object_get_boolean(stop),
                            (uint32_t) json_object_get_int64(pid));
        }

        return waiters;
}

void waiters_free(Waiters *waiters) {
        if (!waiters)
                return;

        g_array_unref(waiters->all);
        g_free(waiters->directory);
        g_free(waiters->own);
        g_free(waiters);
}

static bool is_of(const Waiter *waiter, const char *tree, const char *instance, bool stop) {
        return waiter->stop == stop && g_str_equal(waiter->tree, tree) && g_str_equal(waiter->instance, instance);
}

/* A client repeats its request after each restart of btd. */
void waiters_add(Waiters *waiters, const char *tree, const char *instance, bool stop, uint32_t pid) {
        g_autofree char *unit = pid > 0 ? waiters_unit_of(waiters->user, pid) : NULL;
        json_object *all;

        forget_gone(waiters);
        ARRAY_FOREACH(const Waiter, waiter, waiters->all)
                if (waiter->pid == pid && is_of(waiter, tree, instance, stop))
                        return;
        if (!unit)
                return;

        add(waiters, tree, instance, unit, stop, pid);
        all = json_object_new_array();
        ARRAY_FOREACH(const Waiter, waiter, waiters->all)
                json_object_array_add(all, facts_new("tree", json_object_new_string(waiter->tree), "instance",
                                                     json_object_new_string(waiter->instance), "unit",
                                                     json_object_new_string(waiter->unit), "stop",
                                                     json_object_new_boolean(waiter->stop), "pid",
                                                     json_object_new_int64(waiter->pid), NULL));
        boot_file_write(waiters->directory, FILE_NAME, all);
}

bool waiters_are_in(const Waiters *waiters, const char *unit) {
        return waiters->own && (!unit || g_str_equal(waiters->own, unit));
}

bool waiters_has(Waiters *waiters, const char *tree, const char *instance, bool stop, const char *unit) {
        forget_gone(waiters);
        ARRAY_FOREACH(const Waiter, waiter, waiters->all)
                if (is_of(waiter, tree, instance, stop) && (!unit || g_str_equal(waiter->unit, unit)))
                        return true;

        return false;
}
