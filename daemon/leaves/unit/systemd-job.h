/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Follows a job of the service manager, from the method call that requests it until it has left the queue. The unit
 * actions and Spawn use it.
 *
 * systemd has a match rule on its own connection to the bus for each job that a client has asked for, and one for each
 * reference that a client holds. A dbus-daemon allows 512 for a connection; if it refuses one, systemd leaves the
 * bus. So the number of jobs and references is limited, and others wait in order.
 */

#include <stdbool.h>

#include "bus/connection.h"
#include "run/leaf.h"

typedef struct Job Job;

/* A leaf that holds references, and whose jobs may last, needs a permit. There are fewer permits than jobs, so that
 * jobs that do not last always find room. All leaves that use the same unit have one permit together. A user has only a
 * share of the permits, and users other than root do not get all. */
typedef struct JobPermit {
        struct Jobs *jobs; /* NULL: it was not requested */
        GList link;
        char *unit;
        User *user;
        struct JobSlot *slot; /* NULL: it waits */
        void (*granted)(void *userdata);
        void *userdata;
} JobPermit;

/* True: it is acquired. False: granted will be called from the main loop. unit: the name of its unit. */
bool job_permit_acquire(JobPermit *permit, Connection *connection, const char *unit, User *user,
                        void (*granted)(void *userdata), void *userdata);
/* For a job that the previous daemon requested. */
void job_permit_adopt(JobPermit *permit, Connection *connection, const char *unit, User *user);
/* Acquired, waited for or neither. */
void job_permit_release(JobPermit *permit);

/* Called once. result: "done", "failed", "canceled", ...; or error: it could not be had or followed. */
typedef void (*JobDone)(const char *result, const sd_bus_error *error, void *userdata);

/* Called at the steps of the request, so that the owner can record them; must not free the job. */
typedef enum JobStep {
        JOB_SENDING,   /* next, perhaps once more */
        JOB_CONFIRMED, /* again if others have joined it */
} JobStep;
typedef void (*JobStepped)(JobStep step, void *userdata);

/* request: a method call that is answered with the path of a job, like StartUnit. unit: the path of the unit, if the
 * job may have to be cancelled; or NULL. stepped: or NULL. */
Job *job_new(Connection *connection, sd_bus_message *request, const char *unit, JobStepped stepped, JobDone done,
             void *userdata);

/* NULL: the service manager has not confirmed that it has queued the job, so it may not have processed the request. */
const char *job_path(const Job *job);

/* Takes it out of the queue. True: that is all, done will not be called. False: done will follow.
 * A job that others have requested, or wait for, is left to them, and one that runs, unless it is deadlocked. */
bool job_cancel(Job *job, bool deadlocked);
/* Had the unit a job before this one was requested, so that this may be that one, or have others joined it since? */
bool job_was_joined(const Job *job);

/* The number in the path of a job; 0: it is no path of a job. */
uint32_t job_id(const char *path);

/* A recovered leaf waits for a job that it has not requested itself. Zeroed: none. */
typedef struct JobInterest {
        struct Jobs *jobs;
        char *unit, *path;
} JobInterest;

/* unit, path: the paths of the unit and of its job; path NULL: not known yet, it can be any job of the unit. It takes
 * the place of the job before. */
void job_interest_take(JobInterest *interest, Connection *connection, const char *unit, const char *path);
/* Do other leaves wait for the job, too, or have they requested one for the unit? */
bool job_interest_is_shared(const JobInterest *interest);
void job_interest_drop(JobInterest *interest);

/* Does not cancel the job. */
void job_free(Job *job);

/*
 * Finds out whether a job in systemd's queue waits, over other jobs, for the run of the leaf that requested it: then it
 * would never end. systemd reports the jobs that are ordered before a job.
 */
typedef struct JobOrder JobOrder;

/* The job waits for the run. cause: says over which units; taken. Called once at most, and not from within
 * job_order_new(); it may free the search. */
typedef void (*JobOrderFound)(Cause *cause, Leaf *leaf);

/* job: its path, unit: its unit, type: its type, "start", which has to stay. */
JobOrder *job_order_new(Leaf *leaf, Connection *connection, const char *job, const char *unit, const char *type,
                        JobOrderFound found);
void job_order_free(JobOrder *order);

/*
 * Asks the service manager whether a job that btd has created must be left alone: because it runs already, because the
 * machine goes down, or because others need it. Other jobs can be ordered after it, or it has changed its type, because
 * others have requested another one for the unit.
 */
typedef struct JobNeed JobNeed;

/* May free the JobNeed. needed: it must be left alone; also if that cannot be found out. */
typedef void (*JobNeedKnown)(bool needed, void *userdata);

/* path: of the job. method: with which it was requested, "StartUnit"; it stays. deadlocked: it would never end. */
JobNeed *job_need_new(Connection *connection, const char *path, const char *method, bool deadlocked, JobNeedKnown known,
                      void *userdata);
void job_need_free(JobNeed *need);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Job, job_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC(JobNeed, job_need_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC(JobOrder, job_order_free)
