/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Owns what a request is and whether its tree permits it: the permissions, each with its polkit action and its verb,
 * and the check of the key 'access', which can restrict all but the last ones. This check comes before polkit, so that
 * nobody is asked for a password in vain.
 */

#include <glib.h>

#include "definition/header.h"
#include "runtime/manager.h"
#include "service/credentials.h"

typedef enum Permission {
        PERMISSION_START = ACCESS_START,
        PERMISSION_HALT = ACCESS_HALT,
        PERMISSION_CONTROL = ACCESS_CONTROL, /* pause, resume, step, breakpoints */
        PERMISSION_SET = ACCESS_SET,
        PERMISSION_FORCE = ACCESS_FORCE,
        PERMISSION_RELOAD,
        PERMISSION_LOG,  /* level and target of the log */
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

/* The accounts must be looked up first; then check again. Sets no text. */
#define TREE_ACCESS_NOT_KNOWN (-EINPROGRESS)

/* Sets the tree in a request about a run. Returns a negative errno, which can be one of the manager's, with an error
 * message. */
int tree_access_check(Manager *manager, Request *request, const Credentials *credentials, Accounts *accounts,
                      char **ret_error);
