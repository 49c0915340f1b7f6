/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Warns of users and groups that the key 'access' of a loaded tree names, but that do not exist: nobody else would
 * notice a name that is misspelled. They are looked up on a thread; the trees do not wait for this.
 */

#include "basic/workers.h"
#include "runtime/manager.h"

typedef struct UnknownAccounts UnknownAccounts;

/* Both are borrowed. Trees that the manager loads later are checked when they are loaded. */
UnknownAccounts *unknown_accounts_new(Manager *manager, Workers *workers);
void unknown_accounts_free(UnknownAccounts *accounts);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(UnknownAccounts, unknown_accounts_free)
