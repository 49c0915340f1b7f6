/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <glib.h>

#include "clock.h"
#include "ledger.h"
#include "trace.h"
#include "witness.h"

static struct {
        GHashTable *seen;     /* of Seen, by the numbers of the leaf */
        GHashTable *executed; /* the names of transient units */
} witness;

void witness_open(void) {
        witness.seen = g_hash_table_new_full(g_direct_hash, g_direct_equal, NULL, g_free);
        witness.executed = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
}

void witness_close(void) {
        g_clear_pointer(&witness.seen, g_hash_table_unref);
        g_clear_pointer(&witness.executed, g_hash_table_unref);
}

static Seen *seen_of(unsigned tree, unsigned node) {
        void *key = GUINT_TO_POINTER(tree << 16 | node);
        Seen *seen = g_hash_table_lookup(witness.seen, key);

        if (!seen) {
                seen = g_new0(Seen, 1);
                g_hash_table_insert(witness.seen, key, seen);
        }
        return seen;
}

/* Until now, it is what it is. */
static void seen_update(Seen *seen) {
        if (seen->condition == CONDITION_UP)
                seen->up = clock_now();
        else if (seen->condition == CONDITION_DOWN)
                seen->down = clock_now();
}

void witness_state(unsigned tree, unsigned node, const char *active) {
        Seen *seen = seen_of(tree, node);

        seen_update(seen);
        if (g_str_equal(active, "active") || g_str_equal(active, "reloading"))
                seen->condition = CONDITION_UP;
        else if (g_str_equal(active, "inactive") || g_str_equal(active, "failed"))
                seen->condition = CONDITION_DOWN;
        else
                seen->condition = CONDITION_BETWEEN;
        seen_update(seen);
}

void witness_success(unsigned tree, unsigned node) {
        seen_of(tree, node)->up = clock_now();
}

void witness_executed(unsigned tree, unsigned node) {
        seen_of(tree, node)->executed = clock_now();
}

void witness_transient(unsigned tree, unsigned node, const char *unit) {
        if (!g_hash_table_add(witness.executed, g_strdup(unit)) && ledger_is_strict(tree) &&
            !ledger_was_asked_again(tree, node))
                violation("%s has executed its process a second time", unit);
}

void witness_ended(unsigned tree, unsigned node) {
        seen_of(tree, node)->ended = clock_now();
        seen_of(tree, node)->ended_boot = clock_now() + clock_suspended();
}

void witness_forgotten(unsigned tree, unsigned node) {
        seen_of(tree, node)->ended = 0;
}

void witness_cancelled(unsigned tree, unsigned node, bool by_daemon) {
        Seen *seen = seen_of(tree, node);

        *(by_daemon ? &seen->by_daemon : &seen->by_other) = clock_now();
}

Seen witness_seen(unsigned tree, unsigned node) {
        Seen *seen = seen_of(tree, node);

        seen_update(seen);
        return *seen;
}
