/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Starts a real message bus for a test, which the test can kill and start again at the same address, and connects peers
 * to it that live on the test's main loop.
 */

#include <glib.h>
#include <stdbool.h>
#include <systemd/sd-bus.h>

typedef enum BusKind {
        BUS_DAEMON, /* dbus-daemon */
        BUS_BROKER, /* dbus-broker */
        BUS_KIND_MAX_,
} BusKind;

typedef struct BusFixture BusFixture;

const char *bus_kind_name(BusKind kind);
/* Is it installed? */
bool bus_kind_available(BusKind kind);

/* Not started yet. limits: more elements for the configuration of a dbus-daemon, or NULL. */
BusFixture *bus_fixture_new(BusKind kind, const char *limits);
void bus_fixture_free(BusFixture *fixture);

const char *bus_fixture_address(const BusFixture *fixture);
void bus_fixture_start(BusFixture *fixture);
void bus_fixture_kill(BusFixture *fixture);
/* It reads nothing in between. */
void bus_fixture_pause(BusFixture *fixture);
void bus_fixture_resume(BusFixture *fixture);

/* A connected peer, dispatched by the default main context. name: to own, or NULL. */
typedef struct BusPeer BusPeer;
BusPeer *bus_peer_new(const BusFixture *fixture, const char *name);
void bus_peer_free(BusPeer *peer);
sd_bus *bus_peer_bus(BusPeer *peer);

/* Turns the default main context until the condition holds. Only a hang takes longer than this limit, which is below
 * the 120 s of meson. */
#define wait_until(condition)                                                                                          \
        do {                                                                                                           \
                int64_t wait_end_ = g_get_monotonic_time() + 100 * G_USEC_PER_SEC;                                     \
                while (!(condition)) {                                                                                 \
                        wait_turn();                                                                                   \
                        g_assert_cmpint(g_get_monotonic_time(), <, wait_end_);                                         \
                }                                                                                                      \
        } while (0)
void wait_turn(void);
/* Turns it until everything that was sent before has arrived: a round trip of the peer. */
void wait_round_trip(BusPeer *peer);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BusFixture, bus_fixture_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC(BusPeer, bus_peer_free)
