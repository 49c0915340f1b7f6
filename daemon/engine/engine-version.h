/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The version of the order in which this engine does things. The order is part of the format of run records: a daemon
 * recovers a run by giving the recorded inputs to its own engine again.
 */

#include <stdint.h>

/*
 * 2: skipped children of a Parallel wait for a change, not for the interval; a Loop continues at once; the conditions
 * that led to an action that waits for another one to end are evaluated again; a reactive node forgets the rounds of a
 * child that was skipped.
 *
 * Increment it with each change after which the same inputs give other effects, or the same effects in another order: a
 * leaf is started or halted, a timer armed or disarmed, a lock acquired or released, a condition evaluated, a
 * breakpoint reached. Also if the meaning of a number in a NodeImage changes. Nothing else depends on it: a daemon
 * compares the replayed effects with the recorded ones, whatever the versions are. The version tells users why a run
 * could not be recovered, and testers which golden records to add (tests/journals/README.md).
 */
#define ENGINE_VERSION 2u

/* The version of this daemon's engine. */
uint32_t engine_version(void);
