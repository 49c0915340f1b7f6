/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Reads what a unit has written last from the journal, on a thread, for the cause of its failure. The unit must still
 * be there: without it, the journal could not tell whose lines they are.
 */

#include "run/leaf.h"

typedef struct LogTail LogTail;

/* Called once, from the main loop. words: see log_tail_quote(); NULL also if the journal does not answer. */
typedef void (*LogTailRead)(const char *words, void *userdata);

/* The services of the leaf must have journal_readers. */
LogTail *log_tail_new(Leaf *leaf, const char *unit, const char *invocation_id, LogTailRead read, void *userdata);
void log_tail_free(LogTail *tail);

/* The last lines of the text, as one text without secrets: "no such file; exiting now". NULL: there are none. To be
 * freed. cut: the text has no beginning, so a part of a secret can be there. */
char *log_tail_quote(Leaf *leaf, const char *text, size_t length, bool cut);

/* How many bytes of a text to keep for that. Secrets are hidden before the text is cut, and only a whole secret can be
 * found. */
size_t log_tail_room(Leaf *leaf);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(LogTail, log_tail_free)
