/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Defines the permissions, each with its polkit action and its verb. The 'access' of a tree can restrict all but the
 * last ones.
 */

#include <glib.h>

#include "definition/header.h"

typedef enum Permission {
        PERMISSION_START = ACCESS_START,
        PERMISSION_HALT = ACCESS_HALT,
        PERMISSION_CONTROL = ACCESS_CONTROL, /* pause, resume, step, breakpoints */
        PERMISSION_SET = ACCESS_SET,
        PERMISSION_FORCE = ACCESS_FORCE,
        PERMISSION_RELOAD,
        PERMISSION_LOAD, /* load and run any tree; equivalent to root */
        PERMISSION_MAX_,
} Permission;

/* A request: the permission that it needs and its target. */
typedef struct Request {
        Permission permission;
        char *tree, *run; /* names, or NULL */
} Request;

void request_clear(Request *request);

/* For example "org.btd1.start". */
const char *permission_action(Permission permission);
/* For example "start". */
const char *permission_verb(Permission permission);
/* For example "start 'boot'" or "reload". The caller frees it. */
char *request_describe(const Request *request);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Request, request_clear)
