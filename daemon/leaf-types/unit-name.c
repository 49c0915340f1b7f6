/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Checks and completes names of units, by the rules of systemd's unit_name_is_valid(). */

#include <errno.h>
#include <glib.h>
#include <string.h>
#include <systemd/sd-bus.h>

#include "basic/nearest.h"
#include "leaf-types/unit-name.h"

#define LENGTH_MAX 255u
#define ALLOWED "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ:-_.\\@"

static const char *const suffixes[] = {
        ".service", ".socket", ".target", ".device", ".mount", ".automount",
        ".swap",    ".timer",  ".path",   ".slice",  ".scope",
};

static bool has_type(const char *name) {
        for (size_t i = 0; i < G_N_ELEMENTS(suffixes); i++)
                if (g_str_has_suffix(name, suffixes[i]))
                        return true;

        return false;
}

static char *name_complaint(const char *name) {
        const char *wrong = name + strspn(name, ALLOWED), *at = strchr(name, '@'), *dot = strrchr(name, '.');

        if (*wrong)
                return g_strdup_printf("\"%s\" is not the name of a unit: it may have letters, digits and any of "
                                       "\":-_.\\@\"",
                                       name);
        if (strlen(name) > LENGTH_MAX)
                return g_strdup_printf("\"%.20s...\" is not the name of a unit: it is longer than %u characters", name,
                                       LENGTH_MAX);
        if (dot == name || at == name)
                return g_strdup_printf("\"%s\" is not the name of a unit: there is nothing before the \"%c\"", name,
                                       *name);
        if (at && at + 1 == dot)
                return g_strdup_printf("\"%s\" is a template: put the name of an instance behind the \"@\"", name);

        return NULL;
}

/* Of a name without a type. */
static char *suffix_complaint(const char *name) {
        const char *dot = strrchr(name, '.');
        Nearest nearest = { .word = dot };

        for (size_t i = 0; dot && i < G_N_ELEMENTS(suffixes); i++)
                nearest_offer(&nearest, suffixes[i]);

        return nearest.best
                       ? g_strdup_printf("\"%s\" is not the name of a unit: there is no suffix \"%s\"; did you mean "
                                         "\"%.*s%s\"?",
                                         name, dot, (int) (dot - name), name, nearest.best)
                       : NULL;
}

int unit_name_complete(const char *name, char **ret_name, char **ret_error) {
        g_autofree char *complete = NULL, *complaint = NULL;

        if (!*name) {
                *ret_error = g_strdup("the name of the unit is empty");
                return -EINVAL;
        }

        complete = has_type(name) ? g_strdup(name) : g_strconcat(name, ".service", NULL);
        complaint = name_complaint(complete) ?: (has_type(name) ? NULL : suffix_complaint(name));
        if (complaint) {
                *ret_error = g_steal_pointer(&complaint);
                return -EINVAL;
        }

        *ret_name = g_steal_pointer(&complete);
        return 0;
}

char *unit_name_path(const char *name) {
        char *path = NULL;
        int r = sd_bus_path_encode("/org/freedesktop/systemd1/unit", name, &path);

        if (r < 0)
                g_error("cannot make an object path: %s", g_strerror(-r)); /* no memory: as with g_new() */

        return path;
}
