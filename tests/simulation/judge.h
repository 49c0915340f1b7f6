/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Compares what the run records say about leaves with what the witness has seen:
 *
 *   - A leaf that starts a unit succeeds only if the unit was up after its request; likewise down, executed anew, or,
 *     for a process, ended well.
 *   - What has ended in time while no daemon was there has not timed out.
 *   - A job that another leaf waits for is not cancelled.
 */

#include <stdbool.h>
#include <stdint.h>

typedef enum Request {
        REQUEST_NONE,
        REQUEST_START,
        REQUEST_STOP,
        REQUEST_RESTART,
        REQUEST_RELOAD,
        REQUEST_PROCESS, /* in a transient unit */
        REQUEST_SLEEP,
} Request;

void judge_open(void);
void judge_close(void);

/* To be called before the simulation begins. The unit is the one with the numbers of another leaf, or its own. */
void judge_expect(unsigned tree, unsigned node, Request request, unsigned unit_tree, unsigned unit_node);
void judge_expect_sleep(unsigned tree, unsigned node, uint64_t usec, bool through_suspends);
/* The leaf has a time limit; limiter: the Timeout around it, or the leaf itself. */
void judge_expect_limit(unsigned tree, unsigned node, unsigned limiter, uint64_t usec);

/* The next daemon begins. */
void judge_note_life(void);
/* A line of a run record about a node. strict: the record is complete, and nobody has forced an outcome. */
void judge_note_line(unsigned tree, unsigned run, unsigned node, const char *kind, const char *details, bool strict);
