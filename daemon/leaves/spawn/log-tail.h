/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Reads what a unit has written last from the journal, on a thread. The unit must still be there: without it, the
 * journal could not tell whose lines they are.
 */

#include <stddef.h>

#include "basic/timers.h"
#include "basic/workers.h"

typedef struct LogTail LogTail;

/* Called once, from the main loop. text: its lines; NULL: there are none, or the journal does not answer. cut: there
 * were more than have room. */
typedef void (*LogTailRead)(const char *text, bool cut, void *userdata);

/* room: for the bytes of the text. */
LogTail *log_tail_new(Workers *workers, Timers *timers, const char *unit, const char *invocation_id, size_t room,
                      LogTailRead read, void *userdata);
void log_tail_free(LogTail *tail);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(LogTail, log_tail_free)
