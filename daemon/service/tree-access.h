/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Whether there is what a caller wants to do something to, and whether the tree itself lets him, by its key 'access':
 * before anybody is asked for a password.
 */

#include "runtime/manager.h"
#include "service/credentials.h"
#include "service/permission.h"

/* Adds the tree of a run to the deed. A negative errno, of those of the manager too, with a text for people. */
int tree_access_check(Manager *manager, Deed *deed, const Credentials *credentials, char **ret_error);
