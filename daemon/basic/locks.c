/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A lock is there while somebody claims it; the first in its queue holds it. */

#include "basic/locks.h"

struct Locks {
        GHashTable *by_name; /* of Lock */
};

typedef struct Lock {
        Locks *locks;
        char *name;
        GQueue claims; /* of LockClaim, in order of claim */
} Lock;

struct LockClaim {
        Lock *lock;
        GList link; /* of its claims */
        char *owner;
        void (*granted)(void *userdata);
        void *userdata;
};

static void lock_free(Lock *lock) {
        g_assert(g_queue_is_empty(&lock->claims));
        g_free(lock->name);
        g_free(lock);
}

Locks *locks_new(void) {
        Locks *locks = g_new(Locks, 1);

        locks->by_name = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, (GDestroyNotify) lock_free);
        return locks;
}

void locks_free(Locks *locks) {
        if (!locks)
                return;

        g_assert(g_hash_table_size(locks->by_name) == 0);
        g_hash_table_unref(locks->by_name);
        g_free(locks);
}

static Lock *get_lock(Locks *locks, const char *name) {
        Lock *lock = g_hash_table_lookup(locks->by_name, name);

        if (!lock) {
                lock = g_new0(Lock, 1);
                lock->locks = locks;
                lock->name = g_strdup(name);
                g_hash_table_insert(locks->by_name, lock->name, lock);
        }

        return lock;
}

static const LockClaim *holder_of(const Lock *lock) {
        return lock->claims.head->data;
}

LockClaim *lock_claim_new(Locks *locks, const char *name, const char *owner, void (*granted)(void *userdata),
                          void *userdata) {
        LockClaim *claim = g_new(LockClaim, 1);

        *claim = (LockClaim){
                .lock = get_lock(locks, name),
                .link.data = claim,
                .owner = g_strdup(owner),
                .granted = granted,
                .userdata = userdata,
        };
        g_queue_push_tail_link(&claim->lock->claims, &claim->link);
        return claim;
}

void lock_claim_free(LockClaim *claim) {
        Lock *lock;
        bool held;

        if (!claim)
                return;

        lock = claim->lock;
        held = lock_claim_is_held(claim);
        g_queue_unlink(&lock->claims, &claim->link);
        g_free(claim->owner);
        g_free(claim);

        if (g_queue_is_empty(&lock->claims))
                g_hash_table_remove(lock->locks->by_name, lock->name);
        else if (held)
                holder_of(lock)->granted(holder_of(lock)->userdata);
}

bool lock_claim_is_held(const LockClaim *claim) {
        return holder_of(claim->lock) == claim;
}

char *lock_claim_describe(const LockClaim *claim) {
        const LockClaim *holder = holder_of(claim->lock);
        unsigned n_before = 0;

        for (const GList *link = claim->link.prev; link; link = link->prev)
                n_before++;

        if (n_before == 0)
                return NULL;
        if (n_before == 1)
                return g_strdup_printf("the lock '%s', which %s holds", claim->lock->name, holder->owner);

        return g_strdup_printf("the lock '%s', which %s holds, with %u more before it", claim->lock->name,
                               holder->owner, n_before - 1);
}
