/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Implements locks as queues of claims. A lock exists as long as there are claims. The first claim in the queue holds
 * it. */

#include "basic/locks.h"

/* How many claims of a deadlock a description shows. */
#define WAITS_SHOWN 5u

struct Locks {
        GHashTable *by_name; /* name -> Lock */
        unsigned n_parties;
};

struct LockParty {
        Locks *locks;
        GQueue claims; /* of LockClaim */
};

typedef struct Lock {
        Locks *locks;
        char *name;
        GQueue claims; /* of LockClaim, in order of claim */
} Lock;

struct LockClaim {
        Lock *lock;
        LockParty *party;
        GList link, party_link; /* links in the lists of the lock and the party */
        LockOwner owner;        /* its name is an own copy */
        void (*granted)(void *userdata);
        void *userdata;
};

static void lock_free(Lock *lock) {
        g_assert(g_queue_is_empty(&lock->claims));
        g_free(lock->name);
        g_free(lock);
}

Locks *locks_new(void) {
        Locks *locks = g_new0(Locks, 1);

        locks->by_name = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, (GDestroyNotify) lock_free);
        return locks;
}

void locks_free(Locks *locks) {
        if (!locks)
                return;

        g_assert(locks->n_parties == 0);
        g_hash_table_unref(locks->by_name);
        g_free(locks);
}

LockParty *lock_party_new(Locks *locks) {
        LockParty *party = g_new0(LockParty, 1);

        party->locks = locks;
        locks->n_parties++;
        return party;
}

void lock_party_free(LockParty *party) {
        if (!party)
                return;

        g_assert(g_queue_is_empty(&party->claims));
        party->locks->n_parties--;
        g_free(party);
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

LockClaim *lock_claim_new(LockParty *party, const char *name, const LockOwner *owner, void (*granted)(void *userdata),
                          void *userdata) {
        LockClaim *claim = g_new(LockClaim, 1);

        *claim = (LockClaim){
                .lock = get_lock(party->locks, name),
                .party = party,
                .link.data = claim,
                .party_link.data = claim,
                .owner = { .name = g_strdup(owner->name), .begin = owner->begin, .end = owner->end },
                .granted = granted,
                .userdata = userdata,
        };
        g_queue_push_tail_link(&claim->lock->claims, &claim->link);
        g_queue_push_tail_link(&party->claims, &claim->party_link);
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
        g_queue_unlink(&claim->party->claims, &claim->party_link);
        g_free((char *) claim->owner.name);
        g_free(claim);

        if (g_queue_is_empty(&lock->claims))
                g_hash_table_remove(lock->locks->by_name, lock->name);
        else if (held)
                holder_of(lock)->granted(holder_of(lock)->userdata);
}

bool lock_claim_is_held(const LockClaim *claim) {
        return holder_of(claim->lock) == claim;
}

static bool is_inside(const LockClaim *claim, const LockClaim *around) {
        return claim->party == around->party && claim->owner.begin > around->owner.begin &&
               claim->owner.end <= around->owner.end;
}

/* Follows the claims from a waiting one to those that its holder waits for, and so on. Returns the last claim before
 * the first one again; NULL: there is no cycle. reached: claim -> the claim from which it was reached. */
static const LockClaim *find_last_wait(const LockClaim *claim, GHashTable *reached) {
        g_autoptr(GPtrArray) waits = g_ptr_array_new();

        g_ptr_array_add(waits, (LockClaim *) claim);
        for (unsigned i = 0; i < waits->len; i++) {
                const LockClaim *wait = g_ptr_array_index(waits, i), *holder = holder_of(wait->lock);

                if (is_inside(claim, holder))
                        return wait;

                for (const GList *link = holder->party->claims.head; link; link = link->next) {
                        LockClaim *next = link->data;

                        if (!lock_claim_is_held(next) && is_inside(next, holder) &&
                            !g_hash_table_contains(reached, next)) {
                                g_hash_table_insert(reached, next, (LockClaim *) wait);
                                g_ptr_array_add(waits, next);
                        }
                }
        }

        return NULL;
}

bool lock_claim_is_deadlocked(const LockClaim *claim) {
        g_autoptr(GHashTable) reached = g_hash_table_new(NULL, NULL);

        return !lock_claim_is_held(claim) && find_last_wait(claim, reached);
}

static void append_wait(GString *text, const LockClaim *claim) {
        g_string_append_printf(text, "the lock '%s', which %s holds", claim->lock->name,
                               holder_of(claim->lock)->owner.name);
}

/* Appends the other claims of the deadlock, in the order of waiting. */
static void append_deadlock(GString *text, const LockClaim *claim) {
        g_autoptr(GHashTable) reached = g_hash_table_new(NULL, NULL);
        const LockClaim *last = find_last_wait(claim, reached);
        g_autoptr(GPtrArray) waits = g_ptr_array_new();

        if (!last)
                return;

        for (; last != claim; last = g_hash_table_lookup(reached, last))
                g_ptr_array_insert(waits, 0, (LockClaim *) last);

        g_string_append(text, "; a deadlock, since ");
        for (unsigned i = 0; i < MIN(waits->len, WAITS_SHOWN); i++) {
                const LockClaim *wait = g_ptr_array_index(waits, i);

                g_string_append_printf(text, "%s%s waits for ", i > 0 ? ", and " : "", wait->owner.name);
                append_wait(text, wait);
        }

        if (waits->len == 0)
                g_string_append(text, "that ends only after this");
        else if (waits->len > WAITS_SHOWN)
                g_string_append_printf(text, ", and so on (%u more)", waits->len - WAITS_SHOWN);
}

char *lock_claim_describe(const LockClaim *claim) {
        unsigned n_before = 0;
        GString *text;

        for (const GList *link = claim->link.prev; link; link = link->prev)
                n_before++;

        if (n_before == 0)
                return NULL;

        text = g_string_new(NULL);
        append_wait(text, claim);
        if (n_before > 1)
                g_string_append_printf(text, ", with %u more before it", n_before - 1);
        append_deadlock(text, claim);
        return g_string_free(text, false);
}
