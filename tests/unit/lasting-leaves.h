/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Leaves for tests of what a daemon leaves to the next one, found by the node's name: Lasting (something in the world,
 * which is there after a restart unless it was lost), Lossy (with "on_recover"), Plain (is simply started again), Quick
 * (over at once), Watch (a condition); and with those that only compute.
 */

#include "run/leaf.h"

extern const NodeType *const *const lasting_tables[];
/* For LeafServices. */
const LeafKind *lasting_kind_of(const NodeType *type);

/* What has been done to those of the name since lasting_reset(): "start recover halt clean ". */
const char *lasting_events(const char *name);
/* What the last one of them, which is alive, was told when it was recovered. */
const char *lasting_memory(const char *name);
/* The parameter "what" of the last one, as JSON; NULL: it has none. */
const char *lasting_what(const char *name);
bool lasting_is_alive(const char *name);

/* Makes a Lasting one remember it. */
void lasting_remember(const char *name, const char *text);
void lasting_end(const char *name, Status status);
void lasting_set_value(const char *name, Status value);
/* What the condition is when it begins; RUNNING: not known yet. */
void lasting_begin_with(const char *name, Status value);
/* What recover answers: IDLE, or an outcome. */
void lasting_recover_with(const char *name, Status status);
void lasting_output(const char *name, const char *key, int value);
/* From now on Lasting ones answer their halt with "ending". */
void lasting_stubborn(const char *name);
void lasting_lost(const char *name);

void lasting_reset(void);
