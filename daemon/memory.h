/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Returns unused memory to the system, some time after runs have ended or trees were reloaded. Otherwise the allocator
 * keeps it in many small pieces.
 */

#include "basic/timers.h"
#include "runtime/manager.h"

typedef struct Memory Memory;

/* Borrows all arguments, and observes the manager. */
Memory *memory_new(Timers *timers, Manager *manager);
void memory_free(Memory *memory);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Memory, memory_free)
