/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A run is judged by the tree that it was started with. Names are looked up when somebody asks, since users and groups
 * come and go. */

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdbool.h>

#include "service/tree-access.h"

static bool is_user(const char *name, const Credentials *credentials) {
        const struct passwd *user = getpwnam(name);

        return user && user->pw_uid == credentials->uid;
}

static bool is_in_group(const char *name, const Credentials *credentials) {
        const struct group *group = getgrnam(name);

        for (size_t i = 0; group && i < credentials->n_groups; i++)
                if (credentials->groups[i] == group->gr_gid)
                        return true;

        return false;
}

static bool is_one_of(const char *const *who, const Credentials *credentials) {
        for (; *who; who++)
                if (**who == '@' ? is_in_group(*who + 1, credentials) : is_user(*who, credentials))
                        return true;

        return false;
}

static int check(const Definition *definition, const Deed *deed, const Credentials *credentials, char **ret_error) {
        const char *const *who = definition ? definition_access(definition)->who[deed->permission] : NULL;
        g_autofree char *names = NULL, *text = NULL;

        if (!who || is_one_of(who, credentials))
                return 0;

        names = g_strjoinv(", ", (char **) who);
        text = deed_describe(deed);
        *ret_error = g_strdup_printf("you may not %s: the tree lets only root%s%s do this", text, *names ? " and " : "",
                                     names);
        return -EACCES;
}

static int check_run(Manager *manager, Deed *deed, const Credentials *credentials, char **ret_error) {
        Run *run;
        int r = manager_find_run(manager, deed->run, &run, ret_error);

        if (r < 0)
                return r;

        deed->tree = deed->tree ?: g_strdup(run_tree(run));
        return check(run_definition(run), deed, credentials, ret_error);
}

/* To halt a tree is to halt its runs, also those of a tree that is gone. */
static int check_tree(Manager *manager, const Deed *deed, const Credentials *credentials, char **ret_error) {
        const GPtrArray *runs = manager_runs(manager);
        const LibraryEntry *entry = manager_tree(manager, deed->tree);
        bool halts = deed->permission == PERMISSION_HALT, found = entry;
        int r = check(entry ? entry->definition : NULL, deed, credentials, ret_error);

        for (unsigned i = 0; r >= 0 && halts && i < runs->len; i++) {
                const Run *run = runs->pdata[i];

                if (run_status(run) != STATUS_RUNNING || !g_str_equal(run_tree(run), deed->tree))
                        continue;

                found = true;
                r = check(run_definition(run), deed, credentials, ret_error);
        }

        return r >= 0 && !found ? manager_find_tree(manager, deed->tree, &entry, ret_error) : r;
}

int tree_access_check(Manager *manager, Deed *deed, const Credentials *credentials, char **ret_error) {
        switch (deed->permission) {
        case PERMISSION_RELOAD:
                return 0;
        case PERMISSION_LOAD:
                return manager_check_text_name(manager, deed->tree, ret_error);
        default:
                return deed->run ? check_run(manager, deed, credentials, ret_error)
                                 : check_tree(manager, deed, credentials, ret_error);
        }
}
