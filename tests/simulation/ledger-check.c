/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What has become of everything, when all is over. */

#include "ledger-state.h"
#include "trace.h"

static void check_leaf(unsigned tree, unsigned node, const Leaf *leaf) {
        if (leaf->promise == PROMISE_EXACTLY && leaf->effects < leaf->succeeded)
                violation("t%u #%u has succeeded %u times, but has had %u effects", tree, node, leaf->succeeded,
                          leaf->effects);
}

static void check_run(const Entry *entry) {
        if (entry->begun && !entry->finished)
                violation("t%u.%u has not finished", entry->tree, entry->number);
        else if (entry->begun && !entry->archived)
                violation("t%u.%u has finished, but its journal is not kept", entry->tree, entry->number);
}

void ledger_check(void) {
        for (unsigned i = 0; i < ledger.n_accounts; i++) {
                const Account *account = &ledger.accounts[i];

                if (account->loose)
                        continue;

                for (unsigned node = 0; node < NODES_MAX; node++)
                        check_leaf(i, node, &account->leaves[node]);
                for (unsigned k = 0; k < account->runs->len; k++)
                        check_run(account->runs->pdata[k]);
                if (account->expected && account->runs->len == 0)
                        violation("t%u says \"autostart\", but was not started", i);
        }
}

/* Of one that was halted, or has failed, there may be less; what a cancelled job has begun goes on, so that the next
 * one may find it under way. */
static void summarize_leaf(GString *text, unsigned tree, unsigned node, const Leaf *leaf) {
        if (leaf->begun == 0)
                return;

        g_string_append_printf(text, "t%u #%u: %u begun, %u succeeded", tree, node, leaf->begun, leaf->succeeded);
        if (leaf->begun == leaf->succeeded && leaf->promise != PROMISE_AGAIN)
                g_string_append_printf(text, ", %u effects", MIN(leaf->effects, leaf->begun));
        g_string_append_c(text, '\n');
}

char *ledger_summary(void) {
        GString *text = g_string_new(NULL);

        for (unsigned i = 0; i < ledger.n_accounts; i++) {
                const Account *account = &ledger.accounts[i];

                for (unsigned k = 0; k < account->runs->len; k++) {
                        const Entry *entry = account->runs->pdata[k];

                        /* A number can be lost on the way. */
                        if (entry->begun)
                                g_string_append_printf(text, "t%u: %s\n", i, entry->result ?: "?");
                }
                for (unsigned node = 0; node < NODES_MAX; node++)
                        summarize_leaf(text, i, node, &account->leaves[node]);
        }

        return g_string_free(text, FALSE);
}
