/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Checks whether the target of a request exists, and whether the key 'access' of its tree permits the caller. This
 * comes before polkit, so that nobody is asked for a password in vain.
 */

#include "runtime/manager.h"
#include "service/accounts.h"
#include "service/credentials.h"
#include "service/permission.h"

/* The accounts must be looked up first; then check again. Sets no text. */
#define TREE_ACCESS_NOT_KNOWN (-EINPROGRESS)

/* Sets the tree in a request about a run. Returns a negative errno, which can be one of the manager's, with an error
 * message. */
int tree_access_check(Manager *manager, Request *request, const Credentials *credentials, Accounts *accounts,
                      char **ret_error);
