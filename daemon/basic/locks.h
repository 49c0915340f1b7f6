/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Owns the named locks of all runs. One request at a time holds a lock; the others wait in order.
 */

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct Locks Locks;

/* Requests that depend on each other: those of the nodes of one run. */
typedef struct LockParty LockParty;

/* Holds a lock, or waits for it. */
typedef struct LockRequest LockRequest;

/* The node that requests a lock. */
typedef struct LockOwner {
        const char *name; /* for messages: "boot.3 (Flash)"; borrowed */
        /* The nodes that run while the lock is held, as a range: the lock is released only after all requests of the
         * same party within this range have been released. */
        uint32_t begin, end;
} LockOwner;

Locks *locks_new(void);
/* There must be no parties left. */
void locks_free(Locks *locks);

LockParty *lock_party_new(Locks *locks);
/* There must be no requests left. */
void lock_party_free(LockParty *party);

/* Would a request get the lock at once? */
bool locks_is_free(const Locks *locks, const char *name);

/* Takes the lock, or queues for it. If it is queued, granted() is called once, when another request is freed. granted()
 * must not free requests. Copies the name of the owner. */
LockRequest *lock_request_new(LockParty *party, const char *name, const LockOwner *owner,
                              void (*granted)(void *userdata), void *userdata);
/* Releases the lock, or leaves the queue. */
void lock_request_free(LockRequest *request);

bool lock_request_is_held(const LockRequest *request);
/* Does the request wait for itself, through other requests? A deadlock begins when the last of these requests starts to
 * wait, and lasts until one of them is freed for another reason. */
bool lock_request_is_deadlocked(const LockRequest *request);
/* Describes what the request waits for: "the lock 'disk', which boot.3 (Flash) holds", then the number of requests
 * ahead of it, and the chain of a deadlock. The caller frees it. NULL: the request holds the lock. */
char *lock_request_describe(const LockRequest *request);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Locks, locks_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LockParty, lock_party_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LockRequest, lock_request_free)
