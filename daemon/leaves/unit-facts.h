/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * What systemd says of a unit: those of its properties that leaves look at.
 */

#include <glib.h>
#include <stdbool.h>
#include <systemd/sd-bus.h>

/* What has not been read is NULL or 0. */
typedef struct UnitFacts {
        char *load_state;      /* "loaded", "not-found", "masked", ... */
        char *active_state;    /* "active", "inactive", "failed", ... */
        char *sub_state;       /* "running", "exited", "dead", "auto-restart", ... */
        char *result;          /* "success", "exit-code", ...: why it failed */
        char *type;            /* of a service: "simple", "oneshot", ... */
        char *unmet_condition; /* "ConditionPathExists=/x": what kept it from being started the last time */
        char *unmet_assert;
        char *failed_required; /* a unit that it requires, which kept it from being started; not a property */
        char *invocation_id;   /* of its last start, in hex as the journal has it */
        int condition_result;  /* a bool: its conditions were met the last time, or there was no such time */
        uint32_t job;          /* in the queue, 0: none */
        char *job_path;        /* of that */
        uint64_t changed;      /* when its state was last another, CLOCK_MONOTONIC µs */
        int exec_main_code;    /* how its main process ended, as in siginfo_t; 0: it did not */
        int exec_main_status;
} UnitFacts;

void unit_facts_clear(UnitFacts *facts);

/* Reads properties, an a{sv} that is next in the message. What it does not tell stays as it is. */
int unit_facts_read(UnitFacts *facts, sd_bus_message *message);

/* Reads one of them, a variant that is next in the message. */
int unit_facts_read_one(UnitFacts *facts, const char *name, sd_bus_message *message);

/* Takes a copy of what is known of one string. */
void unit_facts_set(char **fact, const char *value);

/* "active (running)" */
char *unit_facts_describe(const UnitFacts *facts);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(UnitFacts, unit_facts_clear)
