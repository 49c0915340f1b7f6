/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * What any node can say besides its name and parameters: guards, hooks, a lock, and how it takes a halt.
 */

#include "engine/machine.h"

typedef struct Extras {
        const Script *guards[GUARD_WHILE + 1];
        const Script *hooks[HOOK_MAX_];
        const char *lock;
        bool uninterruptible;
        uint64_t halt_timeout; /* SPAN_INFINITY: none; of actions only */
} Extras;

extern const Param extras_params[];

/* The flags of a node that says this, see tree_builder_set_flags(). */
unsigned extras_flags(const Extras *extras);
