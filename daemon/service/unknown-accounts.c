/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Looks up the accounts of all trees that were loaded since the last look, and logs a warning for each that is
 * missing. */

#include "service/unknown-accounts.h"
#include "basic/log.h"
#include "service/credentials.h"

struct UnknownAccounts {
        Manager *manager;
        Workers *workers;
        GHashTable *unchecked; /* names of trees */
        Accounts *accounts;    /* of the lookup that is running; NULL: none */
};

/* False: not all of them are known yet, so nothing is logged. */
static bool check(const LibraryEntry *entry, Accounts *accounts) {
        const Access *access = definition_access(entry->definition);
        g_autoptr(GHashTable) missing = g_hash_table_new(g_str_hash, g_str_equal);
        bool all_known = true;
        GHashTableIter i;
        gpointer name;

        for (unsigned verb = 0; verb < ACCESS_MAX_; verb++)
                for (const char *const *who = access->who[verb]; who && *who; who++) {
                        int64_t id;

                        if (!accounts_find(accounts, *who, &id))
                                all_known = false;
                        else if (id == ACCOUNTS_NONE)
                                g_hash_table_add(missing, (char *) *who);
                }
        if (!all_known)
                return false;

        g_hash_table_iter_init(&i, missing);
        while (g_hash_table_iter_next(&i, &name, NULL)) {
                const char *who = name;
                bool group = *who == '@';

                log_message(LOG_WARNING, &(LogSubject){ .tree = entry->name },
                            "%s: 'access' names the %s '%s', but there is no such %s now", entry->path,
                            group ? "group" : "user", who + group, group ? "group" : "user");
        }

        return true;
}

/* The ids are kept only until all trees are checked, because accounts can change. */
static void check_all(void *userdata) {
        UnknownAccounts *unknown = userdata;
        GHashTableIter i;
        gpointer name;

        g_hash_table_iter_init(&i, unknown->unchecked);
        while (g_hash_table_iter_next(&i, &name, NULL)) {
                const LibraryEntry *entry = manager_tree(unknown->manager, name);

                if (!entry || !entry->definition || check(entry, unknown->accounts))
                        g_hash_table_iter_remove(&i);
        }

        if (g_hash_table_size(unknown->unchecked) > 0)
                accounts_look_up(unknown->accounts, unknown->workers, check_all, unknown);
        else
                g_clear_pointer(&unknown->accounts, accounts_free);
}

static void on_tree(const LibraryEntry *entry, void *userdata) {
        UnknownAccounts *unknown = userdata;

        g_hash_table_add(unknown->unchecked, g_strdup(entry->name));
        if (unknown->accounts)
                return;

        unknown->accounts = accounts_new();
        check_all(unknown);
}

static const ManagerObserver observer = { .tree_added = on_tree, .tree_changed = on_tree };

UnknownAccounts *unknown_accounts_new(Manager *manager, Workers *workers) {
        UnknownAccounts *unknown = g_new0(UnknownAccounts, 1);

        unknown->manager = manager;
        unknown->workers = workers;
        unknown->unchecked = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        manager_observe(manager, &observer, unknown);
        return unknown;
}

void unknown_accounts_free(UnknownAccounts *unknown) {
        if (!unknown)
                return;

        manager_unobserve(unknown->manager, &observer, unknown);
        accounts_free(unknown->accounts);
        g_hash_table_unref(unknown->unchecked);
        g_free(unknown);
}
