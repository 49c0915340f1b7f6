/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Owns the index of tokens: what has become of the run, or the last run of the series, that a user has started with
 * each token. It has limits of its own, see LIMITS in btd(8), and does not depend on the history. The token of a run
 * that has not finished is always known.
 *
 * A token is stored on the tmpfs at once, and on the disk within a second: it survives if btd is killed at any moment.
 */

#include "basic/disk-queue.h"
#include "basic/limit.h"
#include "record/run-record.h"
#include "record/up-clock.h"

/* The status of a run of which no btd knows how it ended. */
#define STATUS_LOST "lost"

typedef struct Tokens Tokens;

/* directory: on the disk, or NULL. runtime: on the tmpfs, or NULL. All others are borrowed. */
Tokens *tokens_new(const char *directory, const char *runtime, const Limits *limits, DiskQueue *disk, Timers *timers,
                   UpClock *clock);
void tokens_free(Tokens *tokens);
/* Reads both directories; call it once. */
void tokens_read(Tokens *tokens);

/* Stores the state of the last run with a token. The status is "running" until it has finished. Without inputs, those
 * that are known stay. uid: its owner. */
void tokens_set(Tokens *tokens, const RunSummary *state, uint32_t uid);
/* The runs that have not finished, and are not there any more, are lost. Call it when all runs are recovered. */
void tokens_lose(Tokens *tokens, bool (*is_there)(const char *run, void *userdata), void *userdata);

bool tokens_has(Tokens *tokens, const char *tree, const char *instance, const char *token);
/* ret_whole: false: the run record tells more, if the history still has it. */
bool tokens_find(Tokens *tokens, const char *tree, const char *instance, const char *token, RunSummary *ret_state,
                 bool *ret_whole);
unsigned tokens_count(const Tokens *tokens);

/* Writes everything to the disk at once, also what is stored later. */
void tokens_hurry(Tokens *tokens);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Tokens, tokens_free)
