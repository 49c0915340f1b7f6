/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Gives memory that is not needed any more back to the system, some time after runs have ended or trees were loaded
 * anew: the allocator keeps it, spread over many small pieces.
 */

#include "basic/timers.h"
#include "runtime/manager.h"

typedef struct Memory Memory;

/* Everything is borrowed. The manager is observed from now on. */
Memory *memory_new(Timers *timers, Manager *manager);
void memory_free(Memory *memory);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Memory, memory_free)
