/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Defines the members of Progress. Private to progress*.c and snapshot*.c: inputs are in progress.c and
 * progress-control.c, requests of the machine in progress-host.c, its reports in progress-record.c, and writing the run
 * record in progress-journal.c.
 */

#include "run/progress.h"

typedef struct ProgressValue {
        Status status;
        Cause *cause; /* or NULL */
} ProgressValue;

typedef struct NodeTimer {
        uint64_t span, deadline;
        uint64_t suspended; /* as of the run, when it was armed */
        bool armed;
} NodeTimer;

struct Progress {
        Definition *definition;
        const ProgressHost *host;
        void *userdata;
        JournalWriter *writer;            /* NULL: there is no run record */
        const ProgressObserver *observer; /* or NULL */
        void *observer_userdata;

        Variables *variables;
        Machine *machine; /* NULL after the run has finished */
        History *history;
        Causes forced;          /* the causes of forced outcomes */
        GHashTable *timers;     /* of NodeTimer, by node; NULL until there is one, as for */
        GArray *locks;          /* of ProgressLock; see progress_locks() */
        GHashTable *values;     /* of ProgressValue: last values of conditions, by node */
        GHashTable *broken;     /* of Cause: expressions that failed, by node */
        json_object *outputs;   /* of the leaf that is being started */
        Cause *last_evaluation; /* why the last evaluated condition is false, or NULL */
        NodeId refused;         /* the last SubTree or ForEach with wrong variables, until it has failed */
        uint32_t n_evaluations; /* evaluations of conditions in this input */
        Status status : 8;      /* small members are together, since there can be many runs */
        bool first_evaluation;  /* the last evaluation was the first since the condition was released */
        bool uses_boottime;

        bool busy;           /* the machine processes an input */
        bool halting;        /* requested, or after an ERROR */
        bool paused;         /* it gets no ticks, unless it is halting */
        bool moved;          /* see progress_take_moved() */
        GArray *breakpoints; /* of NodeId, sorted; NULL: none, as for */
        GArray *stops;       /* the breakpoints at which it is paused */
        Cause *why;          /* why it is halting */
        Cause *cause;        /* of the result: that of the run, with that of the root below it */
        uint64_t start, now; /* now: of this input */
        uint64_t suspended;  /* see progress_suspended() */
        uint64_t ready;      /* the time when a node made it ready; UINT64_MAX: none */
};

/* Call these before and after each call of the machine. */
void progress_begin(Progress *progress, uint64_t now);
void progress_end(Progress *progress);

extern const MachineHost progress_machine_host;

void progress_add_lock(Progress *progress, const ProgressLock *lock);
ProgressLock *progress_find_lock(const Progress *progress, NodeId node);

/* Takes the timer; the host is not told. */
void progress_put_timer(Progress *progress, NodeId node, NodeTimer *timer);
void progress_arm_timer(Progress *progress, NodeId node, uint64_t usec);
void progress_drop_timer(Progress *progress, NodeId node);
/* Does nothing if the timer is armed: that of a RateController continues after its child has ended, until the child may
 * start again. */
void progress_forget_timer(Progress *progress, NodeId node);
/* The time for which it was armed, in microseconds; 0: never. */
uint64_t progress_timer_span(const Progress *progress, NodeId node);
void progress_arm_again(Progress *progress);
void progress_mark_expired(Progress *progress, NodeId node);

/* Frees the leaf. */
void progress_drop_leaf(Progress *progress, NodeId node);

/* Mark and unmark the node as waiting at its breakpoint. */
void progress_stop_at(Progress *progress, NodeId node);
void progress_leave_stop(Progress *progress, NodeId node);
/* Continues all nodes that wait at a breakpoint. */
void progress_pass_breakpoints(Progress *progress);

/* Call the observer, if there is one. */
void progress_tell(const Progress *progress, NodeId node);
void progress_tell_computed(const Progress *progress, NodeId node);
/* Records a change that the machine reports; see MachineHost. */
void progress_record(Progress *progress, NodeId node, Status status, Reason reason);
/* Notes that an expression of the node failed. The first failure counts, because it is the one that ends the machine,
 * if any does, and by then the leaf may be gone or started again. */
void progress_note_broken(Progress *progress, NodeId node, Cause *why);
/* The cause of the run, passed on from the root; NULL: the root has succeeded. */
Cause *progress_root_cause(const Progress *progress);

/* Write a record, which is pending until progress_flush(). */
void progress_note(Progress *progress, RecordKind kind, NodeId node);
void progress_note_status(Progress *progress, RecordKind kind, NodeId node, Status status, const Cause *cause);
void progress_note_cause(Progress *progress, RecordKind kind, const Cause *cause);
/* values: an object, or NULL. */
void progress_note_values(Progress *progress, RecordKind kind, NodeId node, json_object *values);
/* Writes that a leaf is about to be started. noted: see definition_note_variables(), or NULL. */
void progress_note_begin(Progress *progress, RecordKind kind, NodeId node, json_object *noted);
void progress_note_number(Progress *progress, RecordKind kind, NodeId node, const char *name, uint64_t number);
void progress_note_breakpoint(Progress *progress, NodeId node, bool set);
/* Writes the status of a leaf that was just started, and the variables that it has set. */
void progress_note_start(Progress *progress, NodeId node, Status status, const Cause *cause);
/* Writes the value of a condition that was just evaluated, if it is new. */
void progress_note_evaluation(Progress *progress, NodeId node, Status status, Cause *cause);
/* The last value of the condition; NULL: not known. */
const ProgressValue *progress_value(const Progress *progress, NodeId node);
void progress_put_value(Progress *progress, NodeId node, Status status, const Cause *cause);
void progress_forget_value(Progress *progress, NodeId node);
void progress_flush(Progress *progress);
/* Writes a snapshot if one is due. Not while the run processes an input. */
void progress_note_snapshot(Progress *progress);
