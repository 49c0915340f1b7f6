/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Prepares tests of what uses a connection: a connection to a bus, and a service on that bus.
 */

#include "bus-fixture.h"
#include "bus/connection.h"

#define SERVICE "org.example.Service"
#define PATH "/org/example/Service"

/* Its methods: Echo gives back a number, Fail, FailLong and Limits fail, Hang is never answered. Its signal: Changed.
 */
typedef struct Service {
        BusPeer *peer;
        unsigned n_echoes, n_hangs;
        bool in_order; /* the numbers that came were 0, 1, 2, ... */
        sd_bus_message *hanging;
} Service;

void stage_service_open(Service *service, const BusFixture *fixture);
void stage_service_close(Service *service);
void stage_service_signal(Service *service, uint32_t number);

typedef struct ConnectionStage {
        BusFixture *bus;
        Connection *connection;
        Service service;
        BusPeer *other; /* somebody else, without a name */
        BusKind kind;
        const char *limits; /* see connection_stage_add() */
} ConnectionStage;

typedef void (*ConnectionTest)(ConnectionStage *stage);

/* Adds the test once for each kind of bus, as "/suite/kind/name". */
void connection_stage_add(const char *suite, const char *name, ConnectionTest test);
/* The same for a dbus-daemon alone; limits: what its configuration says besides, as XML. */
void connection_stage_add_limited(const char *suite, const char *name, const char *limits, ConnectionTest test);

/* What became of a call of the service. */
typedef struct Outcome {
        Call *call;
        bool done;
        bool early; /* told before connection_call() had returned */
        bool returned;
        uint32_t number;
        char *error;
} Outcome;

void call_outcome_clear(Outcome *outcome);
/* For connection_call(): the outcome is its userdata. */
void outcome_on_done(sd_bus_message *reply, const sd_bus_error *error, void *userdata);

sd_bus_message *make_call(Connection *connection, const char *member);
void call(Connection *connection, const char *member, Outcome *outcome);
void call_echo(Connection *connection, uint32_t number, Outcome *outcome);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Outcome, call_outcome_clear)
