/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Named locks across all runs of the daemon: one holder at a time, the others wait in order.
 */

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct Locks Locks;

/* Those whose claims depend on each other: the nodes of one run. */
typedef struct LockParty LockParty;

/* Of one who holds a lock, or waits for it. */
typedef struct LockClaim LockClaim;

/* Who claims. */
typedef struct LockOwner {
        const char *name; /* for people: "boot.3 (Flash)"; borrowed */
        /* What is done while the lock is held: it is let go of only when all that its party claims inside of this range
         * has been let go of. */
        uint32_t begin, end;
} LockOwner;

Locks *locks_new(void);
/* No parties are left. */
void locks_free(Locks *locks);

LockParty *lock_party_new(Locks *locks);
/* No claims are left. */
void lock_party_free(LockParty *party);

/* Gets the lock, or waits for it: then granted() is called once, when another claim is freed. It may not free claims.
 */
LockClaim *lock_claim_new(LockParty *party, const char *name, const LockOwner *owner, void (*granted)(void *userdata),
                          void *userdata);
/* Lets go, or waits no more. */
void lock_claim_free(LockClaim *claim);

bool lock_claim_is_held(const LockClaim *claim);
/* Does it wait, by way of others, for itself? That begins when the last of them starts to wait, and lasts until
 * something other than a lock ends one of them. */
bool lock_claim_is_deadlocked(const LockClaim *claim);
/* "the lock 'disk', which boot.3 (Flash) holds", how many are to have it before, and the way of a deadlock. To be
 * freed; NULL: it is held. */
char *lock_claim_describe(const LockClaim *claim);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Locks, locks_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LockParty, lock_party_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LockClaim, lock_claim_free)
