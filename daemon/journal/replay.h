/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * A run as its journal tells it, input by input, up to the last record: then it is where the run was when the journal
 * was broken off. What the world was asked is answered from the journal; nothing is done in the world.
 *
 * If the journal breaks off while the run was at work, the rest of that work is done as if nothing more were known: an
 * action has not begun, a condition is not known, a lock is not free. So it is each time that another daemon has taken
 * the run up and it has gone on from there.
 */

#include "journal/journal.h"
#include "journal/progress.h"

typedef struct Replay Replay;

/* A leaf that was started and is of interest yet. */
typedef struct ReplayLeaf {
        NodeId node;
        uint32_t attempt; /* from 1 */
        Status status; /* of an action RUNNING, or how it has ended, which no tick has seen; of a condition its value */
        Cause *cause;  /* why, or NULL */
        bool begun;    /* an action that may have been started in the world; else it certainly was not */
        bool halted;   /* an action that is ending */
        bool remembers;      /* an action that has said something, see progress_remember() */
        json_object *memory; /* what it has said last, or NULL */
        uint64_t since;      /* when it was started */

        Replay *replay;
        GList link;
} ReplayLeaf;

/* The definition is that of the header, see journal-definition.h; both are borrowed. -EBADMSG: the journal does not fit
 * it, with a text for people. */
int replay_new(const Journal *journal, Definition *definition, Replay **ret_replay, char **ret_error);
/* The same, but it begins with the newest snapshot, where there is one. */
int replay_new_of_end(const Journal *journal, Definition *definition, Replay **ret_replay, char **ret_error);
void replay_free(Replay *replay);

/* One input further, with all that follows from it. 1; 0: there are no more; -EBADMSG: as above. */
int replay_step(Replay *replay, char **ret_error);
/* As far as the time, CLOCK_MONOTONIC microseconds, and no further; UINT64_MAX: to the end. */
int replay_until(Replay *replay, uint64_t time, char **ret_error);

/* Borrowed, as far as it has come. */
Progress *replay_progress(const Replay *replay);
/* How many of the records were read. */
unsigned replay_position(const Replay *replay);
/* The last of them says that the run has finished. */
bool replay_has_finished(const Replay *replay);

/* Of ReplayLeaf, in order of start; and of ProgressLock. Borrowed, until the next step. */
const GQueue *replay_leaves(const Replay *replay);
const GArray *replay_locks(const Replay *replay);

/* The progress, of which nobody knows the leaves any more: for progress_set_host() and progress_set_leaf(). The replay
 * is good for replay_leaves(), replay_locks() and replay_free() then. */
Progress *replay_take(Replay *replay);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Replay, replay_free)
