/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Maps permissions to the actions of the file org.btd1.policy, describes requests, and decides by the key 'access' of
 * trees. For a run, the tree that it was started with decides. */

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "basic/excerpt.h"
#include "service/permission.h"

typedef struct Words {
        const char *action, *verb, *phrase;
} Words;

static const Words words[PERMISSION_MAX_] = {
        [PERMISSION_START] = { "org.btd1.start", "start", "start" },
        [PERMISSION_HALT] = { "org.btd1.halt", "halt", "halt" },
        [PERMISSION_CONTROL] = { "org.btd1.control", "control", "control" },
        [PERMISSION_SET] = { "org.btd1.set", "set", "set variables of" },
        [PERMISSION_FORCE] = { "org.btd1.force", "force", "force an outcome in" },
        [PERMISSION_LOAD] = { "org.btd1.load", "load", "run a tree of your own as" },
        [PERMISSION_RELOAD] = { "org.btd1.reload", "reload", "reload" },
        [PERMISSION_LOG] = { "org.btd1.log", "log", "change the log" },
};

const char *permission_action(Permission permission) {
        return words[permission].action;
}

const char *permission_verb(Permission permission) {
        return words[permission].verb;
}

char *request_describe(const Request *request) {
        const char *object = request->run ?: request->tree, *verb = words[request->permission].phrase;
        g_autofree char *shown = object ? excerpt(object, strlen(object)) : NULL;

        return shown ? g_strdup_printf("%s '%s'", verb, shown) : g_strdup(verb);
}

void request_clear(Request *request) {
        g_clear_pointer(&request->tree, g_free);
        g_clear_pointer(&request->run, g_free);
}

/* 1: yes, 0: no, or a negative errno. */
static int is_one_of(const char *const *who, const Credentials *credentials, Accounts *accounts) {
        int is_not = 0;

        for (; *who; who++) {
                bool is_group = **who == '@', fits;
                int64_t id;

                if (!accounts_find(accounts, *who, &id)) {
                        is_not = TREE_ACCESS_NOT_KNOWN;
                        continue;
                }

                fits = !is_group && credentials->uid == id;
                for (size_t i = 0; is_group && i < credentials->n_groups; i++)
                        fits |= credentials->groups[i] == id;
                if (fits && id != ACCOUNTS_NONE)
                        return 1;
        }

        return is_not;
}

static int check(const Definition *definition, const Request *request, const Credentials *credentials,
                 Accounts *accounts, char **ret_error) {
        const char *const *who = definition ? definition_access(definition)->who[request->permission] : NULL;
        g_autofree char *names = NULL, *text = NULL;
        int r = who ? is_one_of(who, credentials, accounts) : 1;

        if (r != 0)
                return r;

        names = g_strjoinv(", ", (char **) who);
        text = request_describe(request);
        *ret_error = g_strdup_printf("you may not %s: the tree lets only root%s%s do this", text, *names ? " and " : "",
                                     names);
        return -EACCES;
}

/* Halting a tree halts its runs, also those of a removed tree, which can have kept variables, too. */
static int check_tree(Manager *manager, const Request *request, const Credentials *credentials, Accounts *accounts,
                      char **ret_error) {
        const GPtrArray *runs = runs_list(manager->runs);
        const LibraryEntry *entry = manager_tree(manager, request->tree);
        bool halts = request->permission == PERMISSION_HALT,
             found = entry || (request->permission == PERMISSION_SET && manager_keeps(manager, request->tree));
        int r = check(entry ? entry->definition : NULL, request, credentials, accounts, ret_error);

        for (unsigned i = 0; r >= 0 && halts && i < runs->len; i++) {
                const Run *run = runs->pdata[i];

                if (run_status(run) != STATUS_RUNNING || !g_str_equal(run_tree(run), request->tree))
                        continue;

                found = true;
                r = check(run_definition(run), request, credentials, accounts, ret_error);
        }

        return r >= 0 && !found ? manager_find_tree(manager, request->tree, &entry, ret_error) : r;
}

int tree_access_check(Manager *manager, Request *request, const Credentials *credentials, Accounts *accounts,
                      char **ret_error) {
        Run *run;
        int r;

        if (request->permission == PERMISSION_RELOAD || request->permission == PERMISSION_LOG)
                return 0;
        if (request->permission == PERMISSION_LOAD)
                return manager_check_text_name(manager, request->tree, ret_error);
        if (!request->run)
                return check_tree(manager, request, credentials, accounts, ret_error);

        r = manager_find_run(manager, request->run, &run, ret_error);
        if (r < 0)
                return r;

        request->tree = request->tree ?: g_strdup(run_tree(run));
        return check(run_definition(run), request, credentials, accounts, ret_error);
}
