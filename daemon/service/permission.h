/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * What has to be permitted: the verbs, each with its polkit action and its words. A tree can have a say in all but the
 * last ones.
 */

#include <glib.h>

#include "definition/access.h"

typedef enum Permission {
        PERMISSION_START = ACCESS_START,
        PERMISSION_HALT = ACCESS_HALT,
        PERMISSION_CONTROL = ACCESS_CONTROL, /* pause, resume, step, breakpoints */
        PERMISSION_SET = ACCESS_SET,
        PERMISSION_FORCE = ACCESS_FORCE,
        PERMISSION_RELOAD,
        PERMISSION_LOAD, /* to run any tree at all, as powerful as root */
        PERMISSION_MAX_,
} Permission;

/* What is to be done to what. */
typedef struct Deed {
        Permission permission;
        char *tree, *run; /* names, or NULL: none in particular */
} Deed;

void deed_clear(Deed *deed);

/* "org.btd1.start" */
const char *permission_action(Permission permission);
/* "start" */
const char *permission_verb(Permission permission);
/* "start 'boot'", "reload". To be freed. */
char *deed_describe(const Deed *deed);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Deed, deed_clear)
