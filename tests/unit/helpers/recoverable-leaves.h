/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Simulates leaves for tests of recovery: Recoverable (has something in the world that is still there after a restart
 * unless it was lost), Reader (the same, but must be read first), Lossy (with "on_recover"), Plain (is started again),
 * Quick (ends at once), Watch (a condition); and the leaves that only compute. A test finds them by the node's name.
 */

#include "run/leaf.h"

extern const NodeType *const *const recoverable_tables[];
/* For LeafServices. */
const LeafKind *recoverable_kind_of(const NodeType *type);

/* The calls for the leaves of that name since recoverable_reset(): "start recover halt clean ". */
const char *recoverable_events(const char *name);
/* The memo with which the last of them was recovered. */
const char *recoverable_memo(const char *name);
/* The parameter "what" of the last one, as JSON; NULL: it has none. */
const char *recoverable_what(const char *name);
bool recoverable_is_alive(const char *name);

/* Stores a memo for the recovery of a Recoverable leaf. */
void recoverable_set_memo(const char *name, const char *text);
void recoverable_end(const char *name, Status status);
void recoverable_set_value(const char *name, Status value);
/* Why the condition is false. */
void recoverable_set_reason(const char *name, const char *reason);
/* The value of the condition when it begins; RUNNING: not known yet. */
void recoverable_begin_with(const char *name, Status value);
/* The answer of recover: IDLE, or an outcome. */
void recoverable_recover_with(const char *name, Status status);
void recoverable_output(const char *name, const char *key, int value);
/* From now on Recoverable leaves answer a halt with "ending". */
void recoverable_stubborn(const char *name);
void recoverable_lost(const char *name);
/* For Readers: see leaf_read(). */
void recoverable_read(const char *name, uint64_t ended);

void recoverable_reset(void);
