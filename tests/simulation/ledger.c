/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Records what leaves promise, what run records say, and what was done; reports each contradiction. */

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "clock.h"
#include "history.h"
#include "judge.h"
#include "ledger.h"
#include "life-limits.h"
#include "orders.h"
#include "trace.h"
#include "tree-files.h"
#include "troubles.h"

#define NODES_MAX 128u

typedef struct Leaf {
        Promise promise;
        bool once_a_run;
        unsigned lock;        /* 0: none */
        bool active;          /* begun, and not ended */
        bool busy;            /* its effect takes time, and has not ended */
        uint64_t span, since; /* how long it takes; when it began, in the time of its run */
        bool through_suspends;
        bool meddled; /* an administrator has done something with its unit */
        unsigned begun, rerun, succeeded, effects;
        unsigned asked; /* how often it has noted that it requests its process, since it has begun, and ... */
        bool answered;  /* ... that systemd has answered */
        unsigned asked_again;
} Leaf;

typedef struct Account {
        Leaf leaves[NODES_MAX];
        GPtrArray *runs; /* of Entry */
        bool expected, shared;
        bool loose; /* a record could not be written, so nothing is promised any more */
} Account;

/* A run. */
typedef struct Entry {
        unsigned tree, number;
        bool begun, finished, archived;
        bool forced;  /* a node was given an outcome */
        bool touched; /* one of its leaves was started */
        char *result;
        char *header;             /* of its run record, until the run starts: nobody was told of it before */
        GString *line;            /* the part of the next block that was written */
        unsigned ends[NODES_MAX]; /* how often each node has begun */
} Entry;

static struct {
        Account *accounts;
        unsigned n_accounts;
} ledger;

static void entry_free(void *data) {
        Entry *entry = data;

        g_string_free(entry->line, TRUE);
        g_free(entry->header);
        g_free(entry->result);
        g_free(entry);
}

void ledger_open(unsigned n_trees) {
        ledger.accounts = g_new0(Account, n_trees);
        ledger.n_accounts = n_trees;
        for (unsigned i = 0; i < n_trees; i++)
                ledger.accounts[i].runs = g_ptr_array_new_with_free_func(entry_free);
}

void ledger_close(void) {
        for (unsigned i = 0; i < ledger.n_accounts; i++)
                g_ptr_array_unref(ledger.accounts[i].runs);
        g_clear_pointer(&ledger.accounts, g_free);
        ledger.n_accounts = 0;
}

static Leaf *leaf_of(unsigned tree, unsigned node) {
        if (tree >= ledger.n_accounts || node >= NODES_MAX)
                g_error("there is no leaf %u of tree %u", node, tree);

        return &ledger.accounts[tree].leaves[node];
}

void ledger_promise(unsigned tree, unsigned node, Promise promise, bool once_a_run) {
        Leaf *leaf = leaf_of(tree, node);

        leaf->promise = promise;
        leaf->once_a_run = once_a_run;
}

void ledger_promise_span(unsigned tree, unsigned node, uint64_t span, bool through_suspends) {
        leaf_of(tree, node)->span = span;
        leaf_of(tree, node)->through_suspends = through_suspends;
}

/* The clock that a leaf uses. */
static uint64_t time_of(const Leaf *leaf, uint64_t time) {
        return time + (leaf->through_suspends ? clock_suspended() : 0);
}

void ledger_expect_run(unsigned tree) {
        ledger.accounts[tree].expected = true;
}

bool ledger_expects_run(unsigned tree) {
        return ledger.accounts[tree].expected;
}

void ledger_share(unsigned tree) {
        ledger.accounts[tree].shared = true;
}

void ledger_lock(unsigned tree, unsigned node, unsigned lock) {
        leaf_of(tree, node)->lock = lock;
}

/* NULL: it is not a run record. */
static Entry *entry_named(const char *path) {
        g_autofree char *name = g_path_get_basename(path);
        unsigned tree, number;
        Account *account;
        Entry *entry;
        int end = 0;

        if (sscanf(name, "t%u.%u.journal%n", &tree, &number, &end) != 2 || end == 0 || name[end] != '\0' ||
            tree >= ledger.n_accounts)
                return NULL;

        account = &ledger.accounts[tree];
        for (unsigned i = 0; i < account->runs->len; i++) {
                entry = account->runs->pdata[i];
                if (entry->number == number)
                        return entry;
        }

        entry = g_new0(Entry, 1);
        entry->tree = tree;
        entry->number = number;
        entry->line = g_string_new(NULL);
        g_ptr_array_add(account->runs, entry);
        return entry;
}

/* Of a run record that is still needed, for the case that the machine goes down. */
static bool is_spare(const char *path) {
        return strstr(path, "/state/running/");
}

/* NULL: it is not a run record, or it is in the history, where copies are. */
static Entry *entry_of(const char *path) {
        return strstr(path, "/history/") || is_spare(path) ? NULL : entry_named(path);
}

/* The next daemon removes a torn line before it continues the record. */
void ledger_note_opened(const char *path) {
        Entry *entry = entry_of(path);

        if (entry)
                g_string_truncate(entry->line, 0);
}

/* A run that is halted before its first tick has no record. */
static void check_finallys(const Entry *entry) {
        const Account *account = &ledger.accounts[entry->tree];

        if (!entry->touched && g_str_equal(entry->result, "halted"))
                return;

        for (unsigned i = 0; i < NODES_MAX && !account->loose && !entry->forced; i++)
                if (account->leaves[i].once_a_run && entry->ends[i] != 1)
                        violation("t%u.%u: the end of its Finally (#%u) was begun %u times", entry->tree, entry->number,
                                  i, entry->ends[i]);
}

/* The trees of these kinds of trouble have no errors. */
static void check_error(const Entry *entry, const char *details) {
        if ((troubles_have(TROUBLE_LIMITS) || troubles_have(TROUBLE_PROCESSOR)) &&
            !ledger.accounts[entry->tree].loose && g_str_equal(entry->result, "error"))
                violation("t%u.%u ends with an error: %s", entry->tree, entry->number, details);
}

static void note_finished(Entry *entry, const char *details) {
        char status[32] = "";

        if (entry->finished && !ledger.accounts[entry->tree].loose)
                violation("t%u.%u has finished twice", entry->tree, entry->number);
        entry->finished = true;
        for (unsigned i = 0; i < NODES_MAX; i++)
                leaf_of(entry->tree, i)->active = false;
        (void) sscanf(details, "{\"status\":\"%31[a-z]", status);
        entry->result = g_strdup(status);
        orders_note_finished(entry->tree, entry->number, details);
        history_note_finished(entry->tree, entry->number);
        check_error(entry, details);
        check_finallys(entry);
}

static void note_outcome(const Entry *entry, Leaf *leaf, unsigned node, uint64_t time, const char *details) {
        uint64_t took = time_of(leaf, time) - leaf->since;

        if (!g_str_has_prefix(details, "{\"status\":\"success\""))
                return;

        leaf->succeeded++;
        if (ledger.accounts[entry->tree].loose || ledger.accounts[entry->tree].shared || entry->forced)
                return;
        if (leaf->busy)
                violation("t%u #%u has succeeded, and what it waits for is not over", entry->tree, node);
        if (took < leaf->span)
                violation("t%u #%u has succeeded after %" PRIu64 " us, and takes %" PRIu64, entry->tree, node, took,
                          leaf->span);
}

/* Checks that no other leaf holds its lock. */
static void check_lock(unsigned tree, unsigned node, const Leaf *leaf) {
        for (unsigned i = 0; leaf->lock > 0 && i < ledger.n_accounts; i++)
                for (unsigned k = 0; k < NODES_MAX; k++) {
                        const Leaf *other = &ledger.accounts[i].leaves[k];

                        if (other != leaf && other->active && other->lock == leaf->lock && !ledger.accounts[i].loose)
                                violation("t%u #%u begins with the lock that t%u #%u has", tree, node, i, k);
                }
}

static void leaf_begins(Entry *entry, Leaf *leaf, unsigned node, uint64_t time) {
        check_lock(entry->tree, node, leaf);
        leaf->begun++;
        leaf->since = time_of(leaf, time);
        leaf->active = true;
        leaf->asked = 0;
        leaf->answered = false;
        entry->ends[node]++;
        entry->touched = true;
}

/* A process is requested again in one case: no daemon has noted that systemd has answered, and systemd has no trace of
 * the unit. (Its own name prevents a second start otherwise.) Somebody else has removed it then. */
static void note_memo(Leaf *leaf, const char *memo) {
        leaf->answered |= g_str_has_prefix(memo, "{\"unit\":true,\"confirmed\":true}");
        if (!g_str_has_prefix(memo, "{\"unit\":true}") || leaf->answered)
                return;

        leaf->asked++;
        if (leaf->asked > 1 &&
            (troubles_have(TROUBLE_STOP) || troubles_have(TROUBLE_RESET) || troubles_have(TROUBLE_FORGET)))
                leaf->asked_again++;
}

static void note_leaf(Entry *entry, Leaf *leaf, unsigned node, uint64_t time, const char *kind, const char *details) {
        if (leaf->promise == PROMISE_LIVE)
                return;

        if (g_str_equal(kind, "begin") || (g_str_equal(kind, "rerun") && !leaf->active)) {
                /* The entry of its start may have been torn. */
                leaf_begins(entry, leaf, node, time);
        } else if (g_str_equal(kind, "rerun")) {
                leaf->rerun++;
        } else if (g_str_equal(kind, "note")) {
                note_memo(leaf, details);
        } else if (g_str_equal(kind, "ended") || g_str_equal(kind, "stopped")) {
                leaf->active = false;
                note_outcome(entry, leaf, node, time, details);
        } else if (g_str_equal(kind, "at-once") && !g_str_has_prefix(details, "{\"status\":\"running\"")) {
                leaf->active = false;
                note_outcome(entry, leaf, node, time, details);
        }
}

/* The number may have been used before, while the disk was full. */
static void entry_begins(Entry *entry) {
        g_autofree char *header = g_steal_pointer(&entry->header);
        GString *line = entry->line;

        ledger.accounts[entry->tree].loose |= limits_are_low();
        if (entry->begun)
                orders_forget(entry->tree, entry->number);
        if (entry->begun && !ledger.accounts[entry->tree].loose)
                violation("t%u.%u begins twice", entry->tree, entry->number);

        g_free(entry->result);
        *entry = (Entry){ .tree = entry->tree, .number = entry->number, .begun = true, .line = line };
        orders_note_begun(entry->tree, entry->number, header);
        history_note_begun(entry->tree, entry->number, orders_uid(entry->tree, entry->number));
}

static void note_line(Entry *entry, const char *line) {
        uint64_t time;
        char kind[32];
        unsigned node;
        int end = 0;

        if (g_str_has_prefix(line, "btd-journal ")) {
                g_free(entry->header);
                entry->header = g_strdup(line);
                return;
        }

        trace("t%u.%u | %s", entry->tree, entry->number, line);
        if (sscanf(line, "%" SCNu64 " %31s %n", &time, kind, &end) < 2)
                return;

        if (g_str_equal(kind, "start") && entry->header)
                entry_begins(entry);
        if (g_str_equal(kind, "finished")) {
                note_finished(entry, line + end);
                return;
        }
        if (g_str_equal(kind, "computed"))
                orders_note_computed(entry->tree, entry->number, line + end);
        if (sscanf(line + end, "#%u %n", &node, &end) < 1)
                return;

        entry->forced |= g_str_equal(kind, "force");
        line = strchr(line, '#');
        line = strchr(line, ' ') + 1;
        note_leaf(entry, leaf_of(entry->tree, node), node, time, kind, line);
        judge_note_line(entry->tree, entry->number, node, kind, line,
                        !ledger.accounts[entry->tree].loose && !entry->forced);
}

/* A line says before its checksum whether its block continues. */
static bool ends_block(const char *start, const char *newline) {
        static const char more[] = " + 01234567";
        size_t n = strlen(more);

        return newline - start <= (ptrdiff_t) n || memcmp(newline - n, more, strlen(" + ")) != 0;
}

/* A block counts only when all of it has been written. */
void ledger_note_written(const char *path, const char *bytes, uint64_t n) {
        Entry *entry = entry_of(path);
        size_t begin = 0;
        const char *newline;

        if (!entry)
                return;

        g_string_append_len(entry->line, bytes, (gssize) n);
        while ((newline = memchr(entry->line->str + begin, '\n', entry->line->len - begin))) {
                const char *start = entry->line->str + begin;
                size_t length = (size_t) (newline + 1 - entry->line->str);
                g_autofree char *block = NULL;
                g_auto(GStrv) lines = NULL;

                begin = length;
                if (!ends_block(start, newline))
                        continue;

                block = g_strndup(entry->line->str, length - 1);
                lines = g_strsplit(block, "\n", -1);
                g_string_erase(entry->line, 0, (gssize) length);
                begin = 0;
                for (unsigned i = 0; lines[i]; i++)
                        note_line(entry, lines[i]);
        }
}

static void note_archived(Entry *entry) {
        entry->archived = true;
        history_note_archived(entry->tree, entry->number);
}

void ledger_note_moved(const char *from, const char *to) {
        Entry *entry = entry_of(from);

        if (!entry)
                return;

        trace("%s is moved to %s", from, to);
        if (strstr(to, "/finished/") || strstr(to, "/history/"))
                note_archived(entry);
        else if (entry->begun && !ledger.accounts[entry->tree].loose)
                violation("the run record of t%u.%u is put aside: %s", entry->tree, entry->number, to);
}

void ledger_note_removed(const char *path) {
        Entry *entry = is_spare(path) ? NULL : entry_named(path);

        trace("%s is removed", path);
        if (entry)
                history_note_removed(entry->tree, entry->number, path, !ledger.accounts[entry->tree].loose);
        if (entry && entry->begun && !entry->finished && !ledger.accounts[entry->tree].loose)
                violation("the run record of t%u.%u is removed, and the run has not finished", entry->tree,
                          entry->number);
}

/* The lost entry may be any. */
void ledger_note_failed(const char *path) {
        for (unsigned i = 0; i < ledger.n_accounts; i++)
                ledger.accounts[i].loose = true;
}

void ledger_effect(unsigned tree, unsigned node, const char *what) {
        Leaf *leaf = leaf_of(tree, node);
        unsigned most = leaf->begun + leaf->asked_again + (leaf->promise == PROMISE_AGAIN ? leaf->rerun : 0);

        leaf->effects++;
        trace("effect %u of t%u #%u (%s)", leaf->effects, tree, node, what);
        if (leaf->promise != PROMISE_NONE && leaf->effects > most && !ledger.accounts[tree].loose)
                violation("t%u #%u (%s) has had %u effects, and was begun %u times", tree, node, what, leaf->effects,
                          most);
}

void ledger_effect_begins(unsigned tree, unsigned node) {
        leaf_of(tree, node)->busy = true;
}

void ledger_effect_ends(unsigned tree, unsigned node) {
        leaf_of(tree, node)->busy = false;
}

void ledger_meddle(unsigned tree, unsigned node) {
        leaf_of(tree, node)->meddled = true;
}

bool ledger_has_leaf(unsigned tree, unsigned node) {
        return tree < ledger.n_accounts && node < NODES_MAX;
}

bool ledger_was_asked_again(unsigned tree, unsigned node) {
        return leaf_of(tree, node)->asked_again > 0;
}

unsigned ledger_n_begun(unsigned tree, unsigned node) {
        return leaf_of(tree, node)->begun;
}

char **ledger_running(void) {
        GPtrArray *names = g_ptr_array_new();

        for (unsigned i = 0; i < ledger.n_accounts; i++)
                for (unsigned k = 0; k < ledger.accounts[i].runs->len; k++) {
                        const Entry *entry = ledger.accounts[i].runs->pdata[k];

                        if (entry->begun && !entry->finished)
                                g_ptr_array_add(names, g_strdup_printf("t%u.%u", i, entry->number));
                }

        g_ptr_array_add(names, NULL);
        return (char **) g_ptr_array_free(names, FALSE);
}

bool ledger_has_run(unsigned tree) {
        const GPtrArray *runs = ledger.accounts[tree].runs;

        for (unsigned k = 0; k < runs->len; k++)
                if (((const Entry *) runs->pdata[k])->begun)
                        return true;

        return false;
}

unsigned ledger_n_runs(void) {
        unsigned n = 0;

        for (unsigned i = 0; i < ledger.n_accounts; i++)
                for (unsigned k = 0; k < ledger.accounts[i].runs->len; k++)
                        n += ((const Entry *) ledger.accounts[i].runs->pdata[k])->begun;

        return n;
}

bool ledger_is_strict(unsigned tree) {
        const Account *account = &ledger.accounts[tree];
        bool forced = false;

        for (unsigned k = 0; k < account->runs->len; k++)
                forced |= ((const Entry *) account->runs->pdata[k])->forced;

        return !account->loose && !forced;
}

static void check_leaf(unsigned tree, unsigned node, const Leaf *leaf) {
        if (leaf->promise == PROMISE_EXACTLY && leaf->effects < leaf->succeeded && !leaf->meddled)
                violation("t%u #%u has succeeded %u times, but has had %u effects", tree, node, leaf->succeeded,
                          leaf->effects);
}

static void check_run(const Entry *entry) {
        if (entry->begun && !entry->finished)
                violation("t%u.%u has not finished", entry->tree, entry->number);
        else if (entry->begun && !entry->archived)
                violation("t%u.%u has finished, but its run record is not kept", entry->tree, entry->number);
}

void ledger_check(void) {
        history_check();
        for (unsigned i = 0; i < ledger.n_accounts; i++) {
                const Account *account = &ledger.accounts[i];

                if (account->loose)
                        continue;

                for (unsigned node = 0; node < NODES_MAX && !account->shared; node++)
                        check_leaf(i, node, &account->leaves[node]);
                for (unsigned k = 0; k < account->runs->len; k++)
                        check_run(account->runs->pdata[k]);
                orders_check(i);
                /* A user may have halted it while it waited. */
                if (account->expected && account->runs->len == 0 && tree_files_are_wanted(i) && !orders_was_halted(i))
                        violation("t%u says \"autostart\", but was not started", i);
        }
}

/* A run that was halted or has failed may have fewer effects. A cancelled job may continue, so that the next one finds
 * it running. */
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

                        /* A number can be skipped. */
                        if (entry->begun)
                                g_string_append_printf(text, "t%u: %s\n", i, entry->result ?: "?");
                }
                for (unsigned node = 0; node < NODES_MAX; node++)
                        summarize_leaf(text, i, node, &account->leaves[node]);
        }

        return g_string_free(text, FALSE);
}
