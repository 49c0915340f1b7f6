/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Owns the named locks of all runs. One claim at a time holds a lock; the others wait in order.
 */

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct Locks Locks;

/* Claims that depend on each other: those of the nodes of one run. */
typedef struct LockParty LockParty;

/* Holds a lock, or waits for it. */
typedef struct LockClaim LockClaim;

/* The node that claims a lock. */
typedef struct LockOwner {
        const char *name; /* for messages: "boot.3 (Flash)"; borrowed */
        /* The nodes that run while the lock is held, as a range: the lock is released only after all claims of the same
         * party within this range have been released. */
        uint32_t begin, end;
} LockOwner;

Locks *locks_new(void);
/* There must be no parties left. */
void locks_free(Locks *locks);

LockParty *lock_party_new(Locks *locks);
/* There must be no claims left. */
void lock_party_free(LockParty *party);

/* Takes the lock, or queues for it. If it is queued, granted() is called once, when another claim is freed. granted()
 * must not free claims. Copies the name of the owner. */
LockClaim *lock_claim_new(LockParty *party, const char *name, const LockOwner *owner, void (*granted)(void *userdata),
                          void *userdata);
/* Releases the lock, or leaves the queue. */
void lock_claim_free(LockClaim *claim);

bool lock_claim_is_held(const LockClaim *claim);
/* Does the claim wait for itself, through other claims? A deadlock begins when the last of these claims starts to wait,
 * and lasts until one of them is freed for another reason. */
bool lock_claim_is_deadlocked(const LockClaim *claim);
/* Describes what the claim waits for: "the lock 'disk', which boot.3 (Flash) holds", then the number of claims ahead of
 * it, and the chain of a deadlock. The caller frees it. NULL: the claim holds the lock. */
char *lock_claim_describe(const LockClaim *claim);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Locks, locks_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LockParty, lock_party_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LockClaim, lock_claim_free)
