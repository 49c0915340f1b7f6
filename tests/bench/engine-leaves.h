/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The leaf that the engine and its hand-written equivalents call. It is in a translation unit of its own, so that no
 * compiler can look through the call.
 */

#include "engine/machine.h"

/* What the leaves answer, by node. */
extern const Status *leaf_answers;

Status leaf_answer(Machine *machine, NodeId node);
