/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Implements locks as queues of requests. A lock exists as long as there are requests. The first request in the queue
 * holds it. */

#include "basic/locks.h"

/* How many requests of a deadlock a description shows. */
#define WAITS_SHOWN 5u

struct Locks {
        GHashTable *by_name; /* name -> Lock */
        unsigned n_parties;
};

struct LockParty {
        Locks *locks;
        GQueue requests; /* of LockRequest */
};

typedef struct Lock {
        Locks *locks;
        char *name;
        GQueue requests; /* of LockRequest, in order of request */
} Lock;

struct LockRequest {
        Lock *lock;
        LockParty *party;
        GList link, party_link; /* links in the lists of the lock and the party */
        LockOwner owner;        /* its name is an own copy */
        void (*granted)(void *userdata);
        void *userdata;
};

static void lock_free(Lock *lock) {
        g_assert(g_queue_is_empty(&lock->requests));
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

        g_assert(g_queue_is_empty(&party->requests));
        party->locks->n_parties--;
        g_free(party);
}

static const LockRequest *holder_of(const Lock *lock) {
        return lock->requests.head->data;
}

LockRequest *lock_request_new(LockParty *party, const char *name, const LockOwner *owner,
                              void (*granted)(void *userdata), void *userdata) {
        LockRequest *request = g_new(LockRequest, 1);
        Lock *lock = g_hash_table_lookup(party->locks->by_name, name);

        if (!lock) {
                lock = g_new0(Lock, 1);
                lock->locks = party->locks;
                lock->name = g_strdup(name);
                g_hash_table_insert(party->locks->by_name, lock->name, lock);
        }

        *request = (LockRequest){
                .lock = lock,
                .party = party,
                .link.data = request,
                .party_link.data = request,
                .owner = { .name = g_strdup(owner->name), .begin = owner->begin, .end = owner->end },
                .granted = granted,
                .userdata = userdata,
        };
        g_queue_push_tail_link(&request->lock->requests, &request->link);
        g_queue_push_tail_link(&party->requests, &request->party_link);
        return request;
}

void lock_request_free(LockRequest *request) {
        Lock *lock;
        bool held;

        if (!request)
                return;

        lock = request->lock;
        held = lock_request_is_held(request);
        g_queue_unlink(&lock->requests, &request->link);
        g_queue_unlink(&request->party->requests, &request->party_link);
        g_free((char *) request->owner.name);
        g_free(request);

        if (g_queue_is_empty(&lock->requests))
                g_hash_table_remove(lock->locks->by_name, lock->name);
        else if (held)
                holder_of(lock)->granted(holder_of(lock)->userdata);
}

bool locks_is_free(const Locks *locks, const char *name) {
        return !g_hash_table_contains(locks->by_name, name);
}

bool lock_request_is_held(const LockRequest *request) {
        return holder_of(request->lock) == request;
}

static bool is_inside(const LockRequest *request, const LockRequest *around) {
        return request->party == around->party && request->owner.begin > around->owner.begin &&
               request->owner.end <= around->owner.end;
}

/* Follows the requests from a waiting one to those that its holder waits for, and so on. Returns the last request
 * before the first one again; NULL: there is no cycle. reached: request -> the request from which it was reached. */
static const LockRequest *find_last_wait(const LockRequest *request, GHashTable *reached) {
        g_autoptr(GPtrArray) waits = g_ptr_array_new();

        g_ptr_array_add(waits, (LockRequest *) request);
        for (unsigned i = 0; i < waits->len; i++) {
                const LockRequest *wait = g_ptr_array_index(waits, i), *holder = holder_of(wait->lock);

                if (is_inside(request, holder))
                        return wait;

                for (const GList *link = holder->party->requests.head; link; link = link->next) {
                        LockRequest *next = link->data;

                        if (!lock_request_is_held(next) && is_inside(next, holder) &&
                            !g_hash_table_contains(reached, next)) {
                                g_hash_table_insert(reached, next, (LockRequest *) wait);
                                g_ptr_array_add(waits, next);
                        }
                }
        }

        return NULL;
}

bool lock_request_is_deadlocked(const LockRequest *request) {
        g_autoptr(GHashTable) reached = g_hash_table_new(NULL, NULL);

        return !lock_request_is_held(request) && find_last_wait(request, reached);
}

static void append_wait(GString *text, const LockRequest *request) {
        g_string_append_printf(text, "the lock '%s', which %s holds", request->lock->name,
                               holder_of(request->lock)->owner.name);
}

/* Appends the other requests of the deadlock, in the order of waiting. */
static void append_deadlock(GString *text, const LockRequest *request) {
        g_autoptr(GHashTable) reached = g_hash_table_new(NULL, NULL);
        const LockRequest *last = find_last_wait(request, reached);
        g_autoptr(GPtrArray) waits = g_ptr_array_new();

        if (!last)
                return;

        for (; last != request; last = g_hash_table_lookup(reached, last))
                g_ptr_array_insert(waits, 0, (LockRequest *) last);

        g_string_append(text, "; a deadlock, because ");
        for (unsigned i = 0; i < MIN(waits->len, WAITS_SHOWN); i++) {
                const LockRequest *wait = g_ptr_array_index(waits, i);

                g_string_append_printf(text, "%s%s waits for ", i > 0 ? ", and " : "", wait->owner.name);
                append_wait(text, wait);
        }

        if (waits->len == 0)
                g_string_append(text, "that ends only after this");
        else if (waits->len > WAITS_SHOWN)
                g_string_append_printf(text, ", and so on (%u more)", waits->len - WAITS_SHOWN);
}

char *lock_request_describe(const LockRequest *request) {
        unsigned n_before = 0;
        GString *text;

        for (const GList *link = request->link.prev; link; link = link->prev)
                n_before++;

        if (n_before == 0)
                return NULL;

        text = g_string_new(NULL);
        append_wait(text, request);
        if (n_before > 1)
                g_string_append_printf(text, ", with %u more before it", n_before - 1);
        append_deadlock(text, request);
        return g_string_free(text, false);
}
