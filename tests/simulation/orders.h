/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Checks who starts runs, and that an order is carried out once:
 *
 *   - A token starts a tree once, however often it is given, as long as its run is in the history; what the daemon says
 *     of a token is about its last run.
 *   - A tree is started automatically once, and again only if the stop of a daemon has halted its run.
 *   - A restart that is due comes, in the name of the same user, with the same token and the same variables.
 *   - What on_finished says is started once, after the last run of a series.
 *   - A run has the kept value that the run before has left.
 */

#include <stdbool.h>
#include <stdint.h>

void orders_open(void);
void orders_close(void);

/* To be called before the simulation begins: the tree is restarted so often if it fails. */
void orders_expect_restarts(unsigned tree, unsigned burst);
/* When a run of the tree has finished with one of the results ("success failure"), the target is started as an instance
 * with the name of this run and the number of the rule. */
void orders_expect_follower(unsigned tree, unsigned rule, unsigned target, const char *results);
/* The number of finished runs that the daemon keeps. */
void orders_set_history(unsigned most);
unsigned orders_history(void);

/* A run record begins with this line, and is there; a run ends. number: that of the run of its tree. */
void orders_note_begun(unsigned tree, unsigned number, const char *header);
void orders_note_finished(unsigned tree, unsigned number, const char *details);
/* A script of the run has set the kept variable "k", or others. */
void orders_note_computed(unsigned tree, unsigned number, const char *details);
/* In whose name the run was started. */
uint32_t orders_uid(unsigned tree, unsigned number);
/* The number was lost, and is used again. */
void orders_forget(unsigned tree, unsigned number);
/* A user asks for the end of the tree, so that nothing is due any more. */
void orders_note_halt(unsigned tree);
bool orders_was_halted(unsigned tree);

/* The last run of the token that has begun; 0: none. */
unsigned orders_last_of_token(unsigned tree, const char *token);
/* The result of the run; NULL: it has not finished. */
const char *orders_status(unsigned tree, unsigned number);
/* Must the daemon still know the token? */
bool orders_must_know(unsigned tree, const char *token);

/* After the simulation: what was due has come. */
void orders_check(unsigned tree);
