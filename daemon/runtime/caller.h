/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Describes the user and process that requested something, for logs and causes.
 */

#include <stdint.h>

#include "basic/cause.h"

typedef struct Caller {
        uint32_t uid, pid; /* pid 0: unknown */
        char *command;     /* name of the process, or NULL */
        char *text;        /* "UID 0 (btctl)" */
} Caller;

/* Reads the name of the process. */
void caller_init(Caller *caller, uint32_t uid, uint32_t pid);
void caller_copy(const Caller *caller, Caller *ret_copy);
void caller_clear(Caller *caller);

/* Makes a cause that names the caller, for example CAUSE_HALTED: "halted by UID 0 (btctl)". */
Cause *caller_cause(const Caller *caller, const char *kind);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Caller, caller_clear)
