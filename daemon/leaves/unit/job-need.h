/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Asks the service manager whether a job that btd has created must be left alone: because it runs already, because the
 * machine goes down, or because others need it. Other jobs can be ordered after it; and others can have requested one
 * for the same unit, which systemd merges into the job. It does not tell this, unless the job has changed its type.
 */

#include "bus/connection.h"

typedef struct JobNeed JobNeed;

/* May free the JobNeed. needed: it must be left alone; also if that cannot be found out. */
typedef void (*JobNeedKnown)(bool needed, void *userdata);

/* path: of the job. method: with which it was requested, "StartUnit"; it stays. deadlocked: it would never end. */
JobNeed *job_need_new(Connection *connection, const char *path, const char *method, bool deadlocked, JobNeedKnown known,
                      void *userdata);
void job_need_free(JobNeed *need);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(JobNeed, job_need_free)
