/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Whether a tree itself keeps a caller out, by its key 'access'.
 */

#include <stdbool.h>

#include "runtime/manager.h"
#include "service/credentials.h"
#include "service/permission.h"

/* False: with a text for people. */
bool tree_access_permits(Manager *manager, const Deed *deed, const Credentials *credentials, char **ret_error);
