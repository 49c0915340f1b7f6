/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Compares what leaves were to do, according to the run records, with what was done in the world. It reads the records
 * as they are written, so that an effect without a reason is found at once.
 *
 * Trees and nodes have numbers: tree 3 is called "t3", and its runs "t3.1", "t3.2", ...
 */

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef enum Promise {
        PROMISE_NONE,    /* its effects are not counted */
        PROMISE_ONCE,    /* each start of the leaf has at most one effect */
        PROMISE_EXACTLY, /* ... and exactly one if it succeeds */
        PROMISE_AGAIN,   /* a recovery may repeat it */
        PROMISE_LIVE,    /* a condition: it may begin any number of times */
} Promise;

void ledger_open(unsigned n_trees);
void ledger_close(void);

/* To be called before the simulation begins. once_a_run: the leaf is the clean-up of a Finally that is the root. */
void ledger_promise(unsigned tree, unsigned node, Promise promise, bool once_a_run);
/* The leaf must not succeed before this time, in microseconds; through_suspends: suspends of the machine count, too. */
void ledger_promise_span(unsigned tree, unsigned node, uint64_t span, bool through_suspends);
/* The tree is started automatically. */
void ledger_expect_run(unsigned tree);
bool ledger_expects_run(unsigned tree);
/* Several runs of the tree at a time: one effect can be enough for the leaves of two. */
void ledger_share(unsigned tree);
/* The leaf holds the lock while it runs. */
void ledger_lock(unsigned tree, unsigned node, unsigned lock);

/* The hooks for files, see kernel.h. */
void ledger_note_opened(const char *path);
void ledger_note_written(const char *path, const char *bytes, uint64_t n);
void ledger_note_moved(const char *from, const char *to);
void ledger_note_removed(const char *path);
void ledger_note_failed(const char *path);

/* A leaf has had its effect in the world. what: for messages. */
void ledger_effect(unsigned tree, unsigned node, const char *what);
/* An effect that takes time: the leaf must not succeed before it ends. */
void ledger_effect_begins(unsigned tree, unsigned node);
void ledger_effect_ends(unsigned tree, unsigned node);
/* An administrator has done to its unit what the leaf was to do, so that it can succeed without its own effect. */
void ledger_meddle(unsigned tree, unsigned node);
bool ledger_has_leaf(unsigned tree, unsigned node);
/* Its process was requested again, since it was not known whether systemd had received the request. */
bool ledger_was_asked_again(unsigned tree, unsigned node);
/* How often the leaf has been started. */
unsigned ledger_n_begun(unsigned tree, unsigned node);

/* The names of the runs that were begun and have not finished. Free with g_strfreev(). */
char **ledger_running(void);
unsigned ledger_n_runs(void);
bool ledger_has_run(unsigned tree);
/* No record of the tree was lost by a disk error, and no node was forced. */
bool ledger_is_strict(unsigned tree);
/* After the simulation: what is missing is a violation. */
void ledger_check(void);
/* The results of all runs, to be compared with another simulation. To be freed. */
char *ledger_summary(void);
