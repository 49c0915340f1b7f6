/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Sends RunFinished for each run, also for those that finish while btd is not on the bus or while its connection is
 * lost: then when it has its name again. So a client that waits for this signal always gets it; in rare cases twice.
 */

#include <systemd/sd-bus.h>

#include "basic/timers.h"
#include "runtime/manager.h"

typedef struct FinishedRuns FinishedRuns;

/* Borrows the timers and the manager, and observes the manager. */
FinishedRuns *finished_runs_new(Timers *timers, Manager *manager);
void finished_runs_free(FinishedRuns *finished);

/* btd has its name on this bus, which is borrowed: sends what has not been received. */
void finished_runs_open(FinishedRuns *finished, sd_bus *bus);
/* The end of a run, also of one that is not listed any more, until the bus has received its signal; of one that this
 * btd could not recover, always. False: unknown. */
bool finished_runs_find(const FinishedRuns *finished, const char *id, RunSummary *ret_outcome);
void finished_runs_close(FinishedRuns *finished);
/* Sends what is new, if btd has its name. Call it after all other signals about a run that has finished. */
void finished_runs_send(FinishedRuns *finished);
