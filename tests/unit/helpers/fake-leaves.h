/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Simulates leaves that do what a test says, when it says so: FakeAction (ends when told; with "stubborn" its halt
 * takes until it is told), FakeCondition (its value is what it was told), FakeDeed (the same, but it acts when it
 * starts; its text is its obstacle), FakeNow (completes at once). A test finds them by the node's name.
 */

#include "run/leaf.h"

/* The engine's types and these: what definition_load_text() takes. */
extern const NodeType *const *const *const fake_tables;
/* For LeafServices: of these, Condition and Script. */
const LeafKind *fake_kind_of(const NodeType *type);

/* Is there an activity of that name, which has not been released? */
bool fake_is_alive(const char *name);
/* How often one of that name has been started, and told to stop, since fake_reset(). */
unsigned fake_starts(const char *name);
unsigned fake_halts(const char *name);
uint32_t fake_attempt(const char *name);

/* cause may be NULL. */
void fake_end(const char *name, Status status, const char *cause);
/* With a cause of that kind; takes the facts. */
void fake_fail(const char *name, const char *kind, json_object *facts, const char *cause);
/* As one whose expression cannot be evaluated. */
void fake_break(const char *name, const char *cause);
void fake_set_value(const char *name, Status value, const char *cause);
void fake_set_output(const char *name, const char *key, json_object *value);

void fake_reset(void);
