/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Reads the properties of a unit that leaves use from systemd, and follows them by systemd's signals.
 */

#include <glib.h>
#include <stdbool.h>
#include <systemd/sd-bus.h>

#include "bus/connection.h"

/* A command of a unit that has ended in its last start, from the property of its setting. */
typedef struct UnitCommand {
        const char *setting; /* the property: "ExecStartPre"; NULL: the main process, as systemd follows it */
        char *program;
        int code, status;        /* as in siginfo_t */
        uint64_t started, ended; /* CLOCK_MONOTONIC µs */
} UnitCommand;

typedef struct UnitCommands {
        GArray *ended;       /* of UnitCommand; NULL: none */
        unsigned n_start;    /* commands of ExecStart=, whether they have ended or not */
        uint64_t last_start; /* when the last one of these was started */
        bool last_may_fail;  /* ... and its failure is ignored: "ExecStart=-" */
} UnitCommands;

/* Properties that were not read are NULL or 0. */
typedef struct UnitFacts {
        char *id;              /* its name; others are aliases */
        char *load_state;      /* "loaded", "not-found", "masked", ... */
        char *active_state;    /* "active", "inactive", "failed", ... */
        char *sub_state;       /* "running", "exited", "dead", "auto-restart", ... */
        char *result;          /* "success", "exit-code", ...: why it failed */
        char *type;            /* of a service: "simple", "oneshot", ... */
        char *unmet_condition; /* "ConditionPathExists=/x": what kept it from being started the last time */
        char *unmet_assert;
        /* These five are no properties: a unit that it requires, which kept it from being started, with the reason, one
         * that conflicts with it and was started, one that must be thawed before its processes can run, see
         * unit-frozen.h, and what its processes have written last. */
        char *failed_required, *required_reason, *conflicting, *frozen, *words;
        char **starters;         /* the active units that start it when it is stopped; not a property */
        bool activatable;        /* a call to its bus_name starts it; not a property */
        bool ended_since;        /* it was up after the job, has ended, and was started again; not a property */
        char *invocation_id;     /* of its last start, in hex as the journal has it */
        int condition_result;    /* a bool: its conditions were met the last time */
        int assert_result;       /* the same of its assertions */
        bool conditional;        /* it has conditions or assertions */
        char *collect_mode;      /* "inactive": when it has failed, it is not forgotten */
        int remain_after_exit;   /* a bool, of a service: it is active until it is stopped or fails */
        int stop_when_unneeded;  /* a bool: systemd stops it when no other unit needs it */
        char *reload_result;     /* of a service: "success", ... */
        char *restart;           /* of a service: "no", "always", ...: when systemd starts it again */
        uint32_t n_restarts;     /* how often systemd has done that */
        char **triggered_by;     /* units that can start it: sockets, paths, timers, automounts */
        char **upheld_by;        /* units that start it whenever it is down */
        char **binds_to;         /* units without which it does not stay up */
        char **on_success;       /* units that systemd starts when it has ended */
        char **on_failure;       /* ... or has failed; both may start it again */
        char *bus_name;          /* of a service: the name that it owns on the bus; "": none */
        char *control_group;     /* of its processes; "": it has none any more */
        int needs_daemon_reload; /* a bool: its files have changed since systemd has read them */
        /* JobTimeoutSec= and JobRunningTimeoutSec=, in µs; UINT64_MAX: none. The time since its job was requested is no
         * property; 0: not known. */
        uint64_t job_timeout, job_running_timeout, job_lasted;
        char **referrers; /* unique names of the clients with a reference to it */
        uint32_t job;     /* in the queue, 0: none */
        char *job_path;   /* of that */
        /* CLOCK_MONOTONIC µs; 0: never, as far as systemd remembers. */
        uint64_t changed;           /* when its state was last another */
        uint64_t left_inactive;     /* when it last began to start */
        uint64_t became_inactive;   /* when it last ended or failed */
        uint64_t became_active;     /* when it was last up */
        uint64_t tested_conditions; /* before it was last started, or was not */
        uint64_t tested_asserts;
        uint32_t success_statuses[8]; /* SuccessExitStatus=: a bit for each exit status besides 0 */
        int exec_main_code;           /* how its main process ended, as in siginfo_t; 0: it did not */
        int exec_main_status;
        uint64_t exec_main_started;
        uint64_t exec_main_exited; /* when; CLOCK_MONOTONIC µs, 0: never */
        UnitCommands commands;
        char *status_text; /* the status that its process sent to the service manager */
} UnitFacts;

void unit_facts_clear(UnitFacts *facts);

/* Reads properties, an a{sv} that is next in the message. Other properties keep their values. */
int unit_facts_read(UnitFacts *facts, sd_bus_message *message);

/* Reads one of them, a variant that is next in the message. */
int unit_facts_read_one(UnitFacts *facts, const char *name, sd_bus_message *message);

/* Is the unit up, see unit_state_is_up()? */
bool unit_facts_are_up(const UnitFacts *facts);

/* Is it down: inactive, or failed? */
bool unit_facts_are_down(const UnitFacts *facts);

/* Are there units that can start it: a socket, path or timer, or one with Upholds=? */
bool unit_facts_have_starters(const UnitFacts *facts);

/* Are there units that systemd starts because it has ended? */
bool unit_facts_have_successors(const UnitFacts *facts);

/* Has its main process exited as it should: with status 0, one of SuccessExitStatus=, or any if its failure is ignored,
 * and has no other command failed? A signal shows no success, because whoever stops a unit sends one. */
bool unit_facts_show_success(const UnitFacts *facts);

/* Has it ended, and will systemd start it again, or does so already, because of its Restart=? */
bool unit_facts_are_restarting(const UnitFacts *facts);

/* Takes a copy of what is known of one string. */
void unit_facts_set(char **fact, const char *value);
bool unit_fact_is(const char *fact, const char *value);

/* "active (running)" */
char *unit_facts_describe(const UnitFacts *facts);

typedef struct UnitWatch UnitWatch;

/* Each may free the watch. */
typedef struct UnitWatchCallbacks {
        /* From now on, no change is missed: read the current state now. Called again after a reload of the service
         * manager, and after it or the bus was lost. NULL: it is read. */
        void (*ready)(void *userdata);
        /* The facts have changed, or have been read. */
        void (*changed)(void *userdata);
        /* They could not be read. */
        void (*failed)(const sd_bus_error *error, void *userdata);
} UnitWatchCallbacks;

/* path: the object of the unit, which need not exist yet; or that of an alias. */
UnitWatch *unit_watch_new(Connection *connection, const char *path, const UnitWatchCallbacks *callbacks,
                          void *userdata);
void unit_watch_free(UnitWatch *watch);

/* Was ready called, and is it still valid? */
bool unit_watch_is_ready(const UnitWatch *watch);

/* Reads all properties that the signals report changes of. */
void unit_watch_read(UnitWatch *watch);

/* The owner may correct facts that it knows better. */
UnitFacts *unit_watch_facts(UnitWatch *watch);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(UnitFacts, unit_facts_clear)
G_DEFINE_AUTOPTR_CLEANUP_FUNC(UnitWatch, unit_watch_free)
