/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Owns the numeric ids of the users and groups that the key 'access' of a tree names, for one operation. Name services
 * can be slow, so they are asked on a thread. A caller that needs an id that is not known yet must retry when the
 * lookup is done.
 */

#include "basic/workers.h"

typedef struct Accounts Accounts;

/* At first, no id is known. */
Accounts *accounts_new(void);
void accounts_free(Accounts *accounts);

#define ACCOUNTS_NONE INT64_C(-1)

/* name: a user, or a group with '@' before it. ACCOUNTS_NONE: it does not exist. False: the id is not known yet; the
 * next accounts_look_up() includes it. */
bool accounts_find(Accounts *accounts, const char *name, int64_t *ret_id);

/* Looks up all unknown names. Calls known() when it is done. */
void accounts_look_up(Accounts *accounts, Workers *workers, void (*known)(void *userdata), void *userdata);
/* Is a lookup running? */
bool accounts_are_looked_up(const Accounts *accounts);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Accounts, accounts_free)
