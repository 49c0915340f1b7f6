/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Remembers what the units of the simulated systemd have really done, also after systemd has forgotten it. A unit has
 * the numbers of the tree and the leaf in its name.
 */

#include <stdbool.h>
#include <stdint.h>

typedef enum Condition {
        CONDITION_DOWN, /* inactive or failed */
        CONDITION_BETWEEN,
        CONDITION_UP,
} Condition;

/* The times are those of clock_now(); 0: never. */
typedef struct Seen {
        uint64_t up, down; /* when the unit was last up, or its process ended well; and when it was last down */
        uint64_t executed; /* when its process was started last */
        uint64_t ended, ended_boot;   /* when its last job, or its transient process, has ended; with suspends */
        uint64_t by_daemon, by_other; /* when its last job was cancelled */
        Condition condition;
} Seen;

void witness_open(void);
void witness_close(void);

void witness_state(unsigned tree, unsigned node, const char *active);
/* The process of a unit that is not active after it has ended well. */
void witness_success(unsigned tree, unsigned node);
void witness_executed(unsigned tree, unsigned node);
/* A transient unit executes its process. It must do so once, so a second time is a violation, see
 * ledger_was_asked_again(). */
void witness_transient(unsigned tree, unsigned node, const char *unit);
void witness_ended(unsigned tree, unsigned node);
/* systemd has no trace of it any more, so nobody can know when it ended. */
void witness_forgotten(unsigned tree, unsigned node);
void witness_cancelled(unsigned tree, unsigned node, bool by_daemon);

Seen witness_seen(unsigned tree, unsigned node);
