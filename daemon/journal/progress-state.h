/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * What a progress is made of. For its own files only: its inputs are in progress.c and progress-control.c, what its
 * machine asks for in progress-host.c, what is kept of what the machine tells in progress-record.c, and what is written
 * down of all that in progress-journal.c.
 */

#include "journal/progress.h"

typedef struct ProgressValue {
        Status status;
        Cause *cause; /* or NULL */
} ProgressValue;

typedef struct NodeTimer {
        uint64_t span, deadline;
        bool armed;
} NodeTimer;

struct Progress {
        Definition *definition;
        const ProgressHost *host;
        void *userdata;
        JournalWriter *writer;            /* NULL: nothing is written down */
        const ProgressObserver *observer; /* or NULL */
        void *observer_userdata;

        Variables *variables;
        Machine *machine; /* NULL when it is over */
        History *history;
        Causes *forced;       /* of outcomes that nodes have been given */
        GHashTable *timers;   /* of NodeTimer, by node; NULL until there is one, as with */
        GArray *locks;        /* of ProgressLock */
        GHashTable *values;   /* of ProgressValue: what was seen of conditions last, by node */
        GHashTable *broken;   /* of Cause: what could not be evaluated, by node */
        json_object *outputs; /* of the leaf that is being started */
        Cause *last_look;     /* why the condition that was looked at last is false, or NULL */
        NodeId refused;       /* the last SubTree or ForEach for which its variables were wrong, until it has failed */
        bool first_look;      /* ... for the first time since it was released */
        uint32_t n_looks;     /* since it is at work */

        Status status;
        bool busy;           /* the machine is at work */
        bool halting;        /* asked to, or in error */
        bool paused;         /* it gets no ticks, unless it is halting */
        bool moved;          /* see progress_take_moved() */
        GArray *breakpoints; /* of NodeId, in order; NULL: none, as with */
        GArray *stops;       /* those that it stands at */
        Cause *why;          /* it is halting */
        Cause *cause;        /* of its result: of the run itself, and goes on with that of the root */
        uint64_t start, now; /* now: of this input */
};

/* Around everything that is said to the machine. */
void progress_begin(Progress *progress, uint64_t now);
void progress_end(Progress *progress);

extern const MachineHost progress_machine_host;

ProgressLock *progress_find_lock(const Progress *progress, NodeId node);

/* Takes the timer; nobody is told. */
void progress_put_timer(Progress *progress, NodeId node, NodeTimer *timer);
void progress_arm_timer(Progress *progress, NodeId node, uint64_t usec);
void progress_drop_timer(Progress *progress, NodeId node);
/* Unless it is armed: a RateController's outlasts its child, until that may start again. */
void progress_forget_timer(Progress *progress, NodeId node);
/* For how long it was armed; 0: never. */
uint64_t progress_timer_span(const Progress *progress, NodeId node);
void progress_arm_again(Progress *progress);
void progress_mark_expired(Progress *progress, NodeId node);

/* Frees the leaf. */
void progress_drop_leaf(Progress *progress, NodeId node);

/* The node waits at its breakpoint; it does not any more. */
void progress_stop_at(Progress *progress, NodeId node);
void progress_leave_stop(Progress *progress, NodeId node);
/* Whatever it stands at, it goes on. */
void progress_pass_breakpoints(Progress *progress);

/* The observer, if there is one. */
void progress_tell(const Progress *progress, NodeId node);
void progress_tell_computed(const Progress *progress, NodeId node);
/* What the machine has told; see MachineHost. */
void progress_record(Progress *progress, NodeId node, Status status, Reason reason);
/* Something of the node could not be evaluated. The first time counts: that is what the machine ends for, if it does,
 * and by then the leaf may be gone, or under way again. */
void progress_note_broken(Progress *progress, NodeId node, Cause *why);
/* Of the run, handed on from the root; NULL: that has succeeded. */
Cause *progress_root_cause(const Progress *progress);

/* Writes it down, which reaches the kernel by progress_flush() at the latest. */
void progress_note(Progress *progress, RecordKind kind, NodeId node);
void progress_note_status(Progress *progress, RecordKind kind, NodeId node, Status status, const Cause *cause);
void progress_note_cause(Progress *progress, RecordKind kind, const Cause *cause);
/* values: an object, or NULL. */
void progress_note_values(Progress *progress, RecordKind kind, NodeId node, json_object *values);
void progress_note_breakpoint(Progress *progress, NodeId node, bool set);
/* Of a leaf that has just been started, with what it has set. */
void progress_note_start(Progress *progress, NodeId node, Status status, const Cause *cause);
/* Of a condition that was just looked at: what is new. */
void progress_note_look(Progress *progress, NodeId node, Status status, Cause *cause);
/* What was seen of it last; NULL: nothing, so that it is not known. */
const ProgressValue *progress_value(const Progress *progress, NodeId node);
void progress_put_value(Progress *progress, NodeId node, Status status, const Cause *cause);
void progress_forget_value(Progress *progress, NodeId node);
void progress_flush(Progress *progress);
/* All that there is to it now, where it is time for that; while it is not at work. */
void progress_note_snapshot(Progress *progress);
