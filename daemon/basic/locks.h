/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Named locks across all runs of the daemon: one holder at a time, the others wait in order.
 */

#include <glib.h>
#include <stdbool.h>

typedef struct Locks Locks;

/* Of one who holds a lock, or waits for it. */
typedef struct LockClaim LockClaim;

Locks *locks_new(void);
/* No claims are left. */
void locks_free(Locks *locks);

/* Gets the lock, or waits for it: then granted() is called once, when another claim is freed. It may not free claims.
 * owner: who it is, for people: "boot.3 (Flash)". */
LockClaim *lock_claim_new(Locks *locks, const char *name, const char *owner, void (*granted)(void *userdata),
                          void *userdata);
/* Lets go, or waits no more. */
void lock_claim_free(LockClaim *claim);

bool lock_claim_is_held(const LockClaim *claim);
/* "the lock 'disk', which boot.3 (Flash) holds", and how many are to have it before. To be freed; NULL: it is held. */
char *lock_claim_describe(const LockClaim *claim);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Locks, locks_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LockClaim, lock_claim_free)
