/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Defines the common attributes, which any node can have besides its name and parameters: guards, hooks, a lock, its
 * behavior when it is halted, whether it may fail, and whether it makes the run ready. The loader reads them, and a
 * definition stores them.
 */

#include "engine/machine.h"

/* The clock for the node's own times. */
typedef enum AttributeClock {
        ATTRIBUTE_CLOCK_MONOTONIC, /* stops while the machine is suspended */
        ATTRIBUTE_CLOCK_BOOTTIME,  /* continues */
} AttributeClock;

typedef struct CommonAttributes {
        const Script *guards[GUARD_WHILE + 1];
        const Script *hooks[HOOK_MAX_];
        const char *lock;
        bool uninterruptible;
        int clock;             /* AttributeClock */
        bool ready;            /* the run becomes ready when the node succeeds */
        bool may_fail;         /* its failure counts as a success */
        uint64_t halt_timeout; /* microseconds; SPAN_INFINITY: none; of actions only */
        /* Microseconds, of conditions only: how long it must be true, or false, before that counts. */
        uint64_t true_for, false_for;
} CommonAttributes;

extern const Param common_attribute_params[];

/* True if the key makes sense for nodes of the type: halt_timeout is for actions, clock for types with a time, for and
 * false_for are for conditions. */
bool common_attribute_applies(const Param *attribute, const NodeType *type);
/* True if nodes of the type have a time that their clock would measure. */
bool type_has_time(const NodeType *type);

/* The flags of a node with these attributes, see tree_builder_set_flags(). */
unsigned common_attributes_flags(const CommonAttributes *attributes);
