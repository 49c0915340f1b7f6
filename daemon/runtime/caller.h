/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Who asks the daemon for something, for those who ask later who it was.
 */

#include <stdint.h>

#include "basic/cause.h"

typedef struct Caller {
        uint32_t uid, pid; /* pid 0: not known */
        char *command;     /* what the process calls itself, or NULL */
        char *text;        /* "UID 0 (btctl)" */
} Caller;

/* Looks up what the process calls itself. */
void caller_init(Caller *caller, uint32_t uid, uint32_t pid);
void caller_clear(Caller *caller);

/* Why something is as it is since the caller wanted it so; CAUSE_HALTED: "halted by UID 0 (btctl)". */
Cause *caller_cause(const Caller *caller, const char *kind);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Caller, caller_clear)
