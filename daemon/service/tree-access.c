/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A run is judged by the tree that it was started with. Names are looked up when somebody asks, since users and groups
 * come and go. */

#include <grp.h>
#include <pwd.h>

#include "service/tree-access.h"

static const Definition *find_definition(Manager *manager, const Deed *deed) {
        const Run *run = deed->run ? manager_run(manager, deed->run) : NULL;
        const LibraryEntry *entry = deed->tree ? manager_tree(manager, deed->tree) : NULL;

        return run ? run_definition(run) : entry ? entry->definition : NULL;
}

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

bool tree_access_permits(Manager *manager, const Deed *deed, const Credentials *credentials, char **ret_error) {
        const Definition *definition = find_definition(manager, deed);
        const char *const *who = NULL;
        g_autofree char *names = NULL, *text = NULL;

        if (definition && deed->permission < (Permission) ACCESS_MAX_)
                who = definition_access(definition)->who[deed->permission];
        if (!who || is_one_of(who, credentials))
                return true;

        names = g_strjoinv(", ", (char **) who);
        text = deed_describe(deed);
        *ret_error = g_strdup_printf("you may not %s: the tree lets only root%s%s do this", text, *names ? " and " : "",
                                     names);
        return false;
}
