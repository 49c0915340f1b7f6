/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * What leaves were to do, as far as it stands in the journals, beside what was really done in the world. The journals
 * are read as they are written, so that an effect without a reason is found at once.
 *
 * Trees and nodes go by their numbers: tree 3 is called "t3", and its runs "t3.1", "t3.2", ...
 */

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef enum Promise {
        PROMISE_NONE,    /* it has no effect that is counted */
        PROMISE_ONCE,    /* each start of the leaf has one effect at most */
        PROMISE_EXACTLY, /* ... and when it has succeeded it has had one */
        PROMISE_AGAIN,   /* a recovery may repeat it */
        PROMISE_LIVE,    /* it is a condition: whether it begins once more is of no account */
} Promise;

void ledger_open(unsigned n_trees);
void ledger_close(void);

/* Of a leaf, before anything happens. once_a_run: it is the end of a Finally that is the root. */
void ledger_promise(unsigned tree, unsigned node, Promise promise, bool once_a_run);
/* It has not succeeded before it has taken so long, in microseconds; through_suspends: those of the machine count, too.
 */
void ledger_promise_span(unsigned tree, unsigned node, uint64_t span, bool through_suspends);
/* The tree is started by itself. */
void ledger_expect_run(unsigned tree);
bool ledger_expects_run(unsigned tree);
/* The leaf has the lock while it runs. */
void ledger_lock(unsigned tree, unsigned node, unsigned lock);

/* Of files, see kernel.h. */
void ledger_note_opened(const char *path);
void ledger_note_written(const char *path, const char *bytes, uint64_t n);
void ledger_note_moved(const char *from, const char *to);
void ledger_note_removed(const char *path);
void ledger_note_failed(const char *path);

/* A leaf has had its effect in the world. what: for people. */
void ledger_effect(unsigned tree, unsigned node, const char *what);
/* What the effect has begun is over: the leaf has not succeeded before. */
void ledger_effect_begins(unsigned tree, unsigned node);
void ledger_effect_ends(unsigned tree, unsigned node);
/* How often the leaf has been started. */
unsigned ledger_n_begun(unsigned tree, unsigned node);

/* The names of the runs that were begun and have not finished. Free with g_strfreev(). */
char **ledger_running(void);
unsigned ledger_n_runs(void);
bool ledger_has_run(unsigned tree);
/* Nothing of the tree was lost to a disk, or forced by a user. */
bool ledger_is_strict(unsigned tree);
/* When all is over: what is missing is a violation. */
void ledger_check(void);
/* What has become of all runs, to be compared with another one. To be freed. */
char *ledger_summary(void);
