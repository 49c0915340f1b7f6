/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Calls over a connection on real buses, and what becomes of them when peers and buses go.
 */

#include <errno.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/log.h"
#include "connection-stage.h"

/* The number that is to be echoed is where the echo will be. */
static int make_echo(sd_bus *bus, sd_bus_message **ret_message, void *userdata) {
        Outcome *outcome = userdata;
        int r = sd_bus_message_new_method_call(bus, ret_message, SERVICE, PATH, SERVICE, "Echo");

        return r < 0 ? r : sd_bus_message_append(*ret_message, "u", outcome->number);
}

static void call_made_echo(Connection *connection, uint32_t number, Outcome *outcome) {
        outcome->number = number;
        outcome->call = connection_call_made(connection, SERVICE, make_echo, outcome_on_done, outcome);
        g_assert_false(outcome->done);
}

static void test_call(ConnectionStage *stage) {
        g_auto(Outcome) echo = { 0 }, fail = { 0 }, fail_long = { 0 }, limits = { 0 }, nobody = { 0 };
        g_autoptr(sd_bus_message) message = NULL;

        call_echo(stage->connection, 7, &echo);
        call(stage->connection, "Fail", &fail);
        call(stage->connection, "FailLong", &fail_long);
        call(stage->connection, "Limits", &limits);
        g_assert_cmpint(sd_bus_message_new_method_call(connection_bus(stage->connection), &message,
                                                       "org.example.Nobody", "/", NULL, "Call"),
                        >=, 0);
        nobody.call = connection_call(stage->connection, message, outcome_on_done, &nobody);

        wait_until(echo.done && fail.done && fail_long.done && limits.done && nobody.done);
        g_assert_cmpuint(echo.number, ==, 7);
        g_assert_cmpstr(echo.error, ==, NULL);
        g_assert_cmpstr(fail.error, ==, "org.example.Error.Busy: the camera is in use");
        g_assert_true(g_str_has_prefix(fail_long.error, "org.example.Error.Long: a\u00e4ooo") &&
                      g_str_has_suffix(fail_long.error, "ooo..."));
        g_assert_cmpuint(strlen(fail_long.error), ==, strlen("org.example.Error.Long: ...") + CONNECTION_ERROR_MAX);
        g_assert_cmpstr(limits.error, ==, "org.freedesktop.DBus.Error.LimitsExceeded: of my own");
        g_assert_true(g_str_has_prefix(nobody.error, "org.freedesktop.DBus.Error.ServiceUnknown: "));
}

/* A container that is still open cannot be sent; the answer does not come before the call has been made. */
static void test_unsendable(ConnectionStage *stage) {
        g_autoptr(sd_bus_message) message = NULL;
        g_auto(Outcome) outcome = { 0 };

        wait_until(connection_is_ready(stage->connection));
        message = make_call(stage->connection, "Echo");
        g_assert_cmpint(sd_bus_message_open_container(message, 'a', "u"), >=, 0);
        outcome.call = connection_call(stage->connection, message, outcome_on_done, &outcome);

        wait_until(outcome.done);
        g_assert_false(outcome.early);
        g_assert_true(g_str_has_suffix(outcome.error, ": the call could not be sent: Bad message"));
}

static void on_sending(void *userdata) {
        ((Outcome *) userdata)->number++;
}

/* Not while it waits, and before anybody can have read it. */
static void test_told_before_it_is_sent(ConnectionStage *stage) {
        g_autoptr(sd_bus_message) message = NULL;
        g_auto(Outcome) outcome = { 0 };

        g_assert_false(connection_is_ready(stage->connection));
        message = make_call(stage->connection, "Echo");
        g_assert_cmpint(sd_bus_message_append(message, "u", 7), >=, 0);
        outcome.call = connection_call_told(stage->connection, message, on_sending, outcome_on_done, &outcome);
        g_assert_cmpuint(outcome.number, ==, 0);
        wait_until(outcome.number == 1);
        g_assert_false(outcome.done);
        wait_until(outcome.done);
        g_assert_cmpuint(outcome.number, ==, 7);
}

static int make_nothing(sd_bus *bus, sd_bus_message **ret_message, void *userdata) {
        return -ENOBUFS;
}

static void test_unmakeable(ConnectionStage *stage) {
        g_auto(Outcome) outcome = { 0 };

        wait_until(connection_is_ready(stage->connection));
        outcome.call = connection_call_made(stage->connection, SERVICE, make_nothing, outcome_on_done, &outcome);

        wait_until(outcome.done);
        g_assert_false(outcome.early);
        g_assert_true(g_str_has_suffix(outcome.error, ": the call could not be sent: No buffer space available"));
}

#define N_MANY 2000

/* More calls than any window; what the bus may refuse does not reach the caller. */
static void test_many(ConnectionStage *stage) {
        g_autofree Outcome *outcomes = g_new0(Outcome, N_MANY);
        unsigned n_done = 0;

        for (uint32_t i = 0; i < N_MANY; i++)
                (i % 2 == 0 ? call_echo : call_made_echo)(stage->connection, i, &outcomes[i]);

        while (n_done < N_MANY) {
                wait_until(outcomes[n_done].done);
                g_assert_cmpstr(outcomes[n_done].error, ==, NULL);
                g_assert_cmpuint(outcomes[n_done].number, ==, n_done);
                n_done++;
        }

        g_assert_cmpuint(stage->service.n_echoes, ==, N_MANY);
        if (!stage->limits || !strstr(stage->limits, "\"max_replies_per_connection\">20<"))
                g_assert_true(stage->service.in_order);
}

static void test_waits_for_bus(ConnectionStage *stage) {
        g_auto(Outcome) outcome = { 0 };

        g_clear_pointer(&stage->connection, connection_free);
        stage_service_close(&stage->service);
        bus_fixture_kill(stage->bus);

        stage->connection = connection_new(NULL, "test", bus_fixture_address(stage->bus));
        call_echo(stage->connection, 3, &outcome);
        g_assert_false(connection_is_ready(stage->connection));

        bus_fixture_start(stage->bus);
        stage_service_open(&stage->service, stage->bus);
        wait_until(outcome.done);
        g_assert_cmpuint(outcome.number, ==, 3);
}

/* The bus dies while a destination has its share: what is in flight fails; what waits, made on the dead bus or not, is
 * sent on the new one. */
static void test_bus_dies(ConnectionStage *stage) {
        Outcome hung[CONNECTION_SHARE] = { 0 };
        g_auto(Outcome) waiting = { 0 }, late = { 0 }, again = { 0 };

        for (unsigned i = 0; i < CONNECTION_SHARE; i++)
                call(stage->connection, "Hang", &hung[i]);
        call_echo(stage->connection, 1, &waiting);
        wait_until(stage->service.n_hangs == CONNECTION_SHARE);

        bus_fixture_kill(stage->bus);
        for (unsigned i = 0; i < CONNECTION_SHARE; i++) {
                wait_until(hung[i].done);
                g_assert_cmpstr(hung[i].error, ==,
                                "org.freedesktop.DBus.Error.Disconnected: the connection to the bus 'test' was lost "
                                "before the reply came");
                call_outcome_clear(&hung[i]);
        }
        wait_until(!connection_is_ready(stage->connection));
        call_echo(stage->connection, 2, &late);
        g_assert_false(waiting.done);

        stage_service_close(&stage->service);
        bus_fixture_start(stage->bus);
        stage_service_open(&stage->service, stage->bus);
        wait_until(waiting.done && late.done);
        g_assert_cmpuint(waiting.number, ==, 1);
        g_assert_cmpuint(late.number, ==, 2);

        call_echo(stage->connection, 3, &again);
        wait_until(again.done);
        g_assert_cmpuint(again.number, ==, 3);
}

static void test_peer_vanishes(ConnectionStage *stage) {
        g_auto(Outcome) outcome = { 0 };

        call(stage->connection, "Hang", &outcome);
        wait_until(stage->service.n_hangs == 1);
        stage_service_close(&stage->service);

        wait_until(outcome.done);
        g_assert_true(g_str_has_prefix(outcome.error, "org.freedesktop.DBus.Error.NoReply: "));
        g_assert_true(connection_is_ready(stage->connection));
}

/* Cancelled calls make room at once, are not answered later, and those that wait are never sent. */
static void test_cancel(ConnectionStage *stage) {
        Outcome hung[CONNECTION_SHARE] = { 0 };
        g_auto(Outcome) cancelled = { 0 }, waiting = { 0 };

        for (unsigned i = 0; i < CONNECTION_SHARE; i++)
                call(stage->connection, "Hang", &hung[i]);
        call_echo(stage->connection, 1, &cancelled);
        call_echo(stage->connection, 0, &waiting);
        wait_until(stage->service.n_hangs == CONNECTION_SHARE);
        wait_round_trip(stage->service.peer);
        g_assert_cmpuint(stage->service.n_echoes, ==, 0);

        call_outcome_clear(&cancelled);
        for (unsigned i = 0; i < CONNECTION_SHARE; i++)
                call_outcome_clear(&hung[i]);
        g_assert_cmpint(sd_bus_reply_method_return(stage->service.hanging, NULL), >=, 0);

        wait_until(waiting.done);
        g_assert_cmpstr(waiting.error, ==, NULL);
        g_assert_cmpuint(stage->service.n_echoes, ==, 1);
        for (unsigned i = 0; i < CONNECTION_SHARE; i++)
                g_assert_false(hung[i].done);
}

static void undo(ConnectionStage *stage, Outcome *outcome) {
        g_autoptr(sd_bus_message) message = make_call(stage->connection, "Echo");

        g_assert_cmpint(sd_bus_message_append(message, "u", 0), >=, 0);
        call_undo(g_steal_pointer(&outcome->call), message);
}

/* What had an effect is taken back when that is known; what had none, or was never sent, is not. */
static void test_undo(ConnectionStage *stage) {
        g_auto(Outcome) failing = { 0 }, hanging = { 0 }, waiting = { 0 }, last = { 0 };

        call_echo(stage->connection, 0, &waiting);
        undo(stage, &waiting);
        wait_until(connection_is_ready(stage->connection));

        call(stage->connection, "Hang", &failing);
        wait_until(stage->service.n_hangs == 1);
        undo(stage, &failing);
        g_assert_cmpint(sd_bus_reply_method_errorf(stage->service.hanging, SD_BUS_ERROR_FAILED, "told to"), >=, 0);
        call(stage->connection, "Hang", &hanging);
        wait_until(stage->service.n_hangs == 2);
        undo(stage, &hanging);
        call_echo(stage->connection, 1, &last);
        wait_until(last.done);
        g_assert_cmpuint(stage->service.n_echoes, ==, 1);

        g_assert_cmpint(sd_bus_reply_method_return(stage->service.hanging, NULL), >=, 0);
        wait_until(stage->service.n_echoes == 2);
        g_assert_false(failing.done || hanging.done || waiting.done);

        /* One that is never answered goes with its connection. */
        call(stage->connection, "Hang", &hanging);
        wait_until(stage->service.n_hangs == 3);
        undo(stage, &hanging);
}

/* However many calls one does not answer, those to others are. */
static void test_share(ConnectionStage *stage) {
        g_autofree Outcome *hung = g_new0(Outcome, 1000);
        g_autoptr(sd_bus_message) message = NULL;
        g_auto(Outcome) other = { 0 };

        for (unsigned i = 0; i < 1000; i++)
                call(stage->connection, "Hang", &hung[i]);
        wait_until(stage->service.n_hangs == CONNECTION_SHARE);

        g_assert_cmpint(sd_bus_message_new_method_call(connection_bus(stage->connection), &message,
                                                       "org.freedesktop.DBus", "/org/freedesktop/DBus",
                                                       "org.freedesktop.DBus", "GetId"),
                        >=, 0);
        other.call = connection_call(stage->connection, message, outcome_on_done, &other);
        wait_until(other.done);
        g_assert_cmpstr(other.error, ==, NULL);

        for (unsigned i = 0; i < 1000; i++)
                call_outcome_clear(&hung[i]);
        g_assert_cmpuint(stage->service.n_hangs, ==, CONNECTION_SHARE);
}

/* A peer that reads nothing. */
static sd_bus *frozen_new(const ConnectionStage *stage, const char *name) {
        sd_bus *bus;

        g_assert_cmpint(sd_bus_new(&bus), >=, 0);
        g_assert_cmpint(sd_bus_set_address(bus, bus_fixture_address(stage->bus)), >=, 0);
        g_assert_cmpint(sd_bus_set_bus_client(bus, true), >=, 0);
        g_assert_cmpint(sd_bus_start(bus), >=, 0);
        g_assert_cmpint(sd_bus_request_name(bus, name, 0), >=, 0);
        return bus;
}

static void call_ping(Connection *connection, const char *name, Outcome *outcome) {
        g_autoptr(sd_bus_message) message = NULL;

        g_assert_cmpint(sd_bus_message_new_method_call(connection_bus(connection), &message, name, "/",
                                                       "org.freedesktop.DBus.Peer", "Ping"),
                        >=, 0);
        outcome->call = connection_call(connection, message, outcome_on_done, outcome);
}

/* Calls it more often than it may be called, and waits for none. */
static void give_up(ConnectionStage *stage, const char *name) {
        Outcome pings[60] = { 0 };
        g_auto(Outcome) echo = { 0 };

        for (unsigned i = 0; i < G_N_ELEMENTS(pings); i++)
                call_ping(stage->connection, name, &pings[i]);
        call_echo(stage->connection, 0, &echo);
        wait_until(echo.done);
        g_assert_cmpstr(echo.error, ==, NULL);
        for (unsigned i = 0; i < G_N_ELEMENTS(pings); i++)
                call_outcome_clear(&pings[i]);
}

static char *unique_name(const ConnectionStage *stage) {
        const char *name = NULL;

        g_assert_cmpint(sd_bus_get_unique_name(connection_bus(stage->connection), &name), >=, 0);
        return g_strdup(name);
}

/* Calls that were given up count until they are answered, or the peer is gone; others are called meanwhile. */
static void test_frozen(ConnectionStage *stage) {
        sd_bus *frozen[5];
        Outcome pings[G_N_ELEMENTS(frozen)] = { 0 };
        g_autofree char *before = NULL, *after = NULL;

        wait_until(connection_is_ready(stage->connection));
        before = unique_name(stage);
        for (unsigned i = 0; i < G_N_ELEMENTS(frozen); i++) {
                g_autofree char *name = g_strdup_printf("org.example.Frozen%u", i);

                frozen[i] = frozen_new(stage, name);
                give_up(stage, name);
                call_ping(stage->connection, name, &pings[i]);
        }
        give_up(stage, "org.example.Frozen0");
        wait_round_trip(stage->other);
        after = unique_name(stage);
        g_assert_cmpstr(after, ==, before);

        for (unsigned i = 0; i < G_N_ELEMENTS(frozen); i++) {
                g_assert_false(pings[i].done);
                if (i % 2 == 0)
                        while (!pings[i].done) {
                                g_assert_cmpint(sd_bus_process(frozen[i], NULL), >=, 0);
                                g_main_context_iteration(NULL, FALSE);
                        }
                sd_bus_close_unref(frozen[i]);
                wait_until(pings[i].done);
                g_assert_cmpint(!pings[i].error, ==, i % 2 == 0);
                call_outcome_clear(&pings[i]);
        }
}

/* All its names have one share, and the window is not used up by it. */
static void test_frozen_names(ConnectionStage *stage) {
        sd_bus *frozen = frozen_new(stage, "org.example.Frozen");
        g_autofree char *before = NULL, *after = NULL;

        wait_until(connection_is_ready(stage->connection));
        before = unique_name(stage);
        for (unsigned i = 0; i < 20; i++) {
                g_autofree char *name = g_strdup_printf("org.example.Frozen.N%u", i);
                Outcome ping = { 0 };

                g_assert_cmpint(sd_bus_request_name(frozen, name, 0), >=, 0);
                for (unsigned j = 0; j < 10; j++) {
                        g_auto(Outcome) echo = { 0 };

                        call_ping(stage->connection, name, &ping);
                        call_echo(stage->connection, 0, &echo);
                        wait_until(echo.done);
                        call_outcome_clear(&ping);
                }
        }
        after = unique_name(stage);
        g_assert_cmpstr(after, ==, before);
        sd_bus_close_unref(frozen);
}

/* However many do not answer, the connection stays, and whoever answers is called. */
static void test_frozen_many(ConnectionStage *stage) {
        g_autofree char *before = NULL, *after = NULL;
        sd_bus *frozen[8];

        wait_until(connection_is_ready(stage->connection));
        before = unique_name(stage);
        for (unsigned i = 0; i < G_N_ELEMENTS(frozen); i++) {
                g_autofree char *name = g_strdup_printf("org.example.Frozen%u", i);

                frozen[i] = frozen_new(stage, name);
                give_up(stage, name);
        }
        after = unique_name(stage);
        g_assert_cmpstr(after, ==, before);
        for (unsigned i = 0; i < G_N_ELEMENTS(frozen); i++)
                sd_bus_close_unref(frozen[i]);
}

static void hang(ConnectionStage *stage, Outcome *outcome) {
        unsigned before = stage->service.n_hangs;

        call(stage->connection, "Hang", outcome);
        wait_until(stage->service.n_hangs > before);
}

/* A peer that answers some calls, and never answers others, can be called again and again. A call that somebody waits
 * for can be answered, however many come after it. */
static void test_never_answered(ConnectionStage *stage) {
        g_auto(Outcome) waiting = { 0 }, echo = { 0 };
        g_autofree char *before = NULL, *after = NULL;
        g_autoptr(sd_bus_message) waited = NULL;

        wait_until(connection_is_ready(stage->connection));
        before = unique_name(stage);
        for (unsigned i = 0; i < 300; i++) {
                g_auto(Outcome) hung = { 0 };

                if (i == 80) {
                        hang(stage, &waiting);
                        waited = sd_bus_message_ref(stage->service.hanging);
                }
                hang(stage, &hung);
        }

        call_echo(stage->connection, 5, &echo);
        wait_until(echo.done);
        g_assert_cmpstr(echo.error, ==, NULL);
        g_assert_cmpuint(echo.number, ==, 5);
        g_assert_cmpint(sd_bus_reply_method_return(waited, NULL), >=, 0);
        wait_until(waiting.done);
        g_assert_cmpstr(waiting.error, ==, NULL);
        after = unique_name(stage);
        g_assert_cmpstr(after, ==, before);
}

/* Calls that are freed by another's callback. */
static Outcome victims[3];

static void on_done_free_all(sd_bus_message *reply, const sd_bus_error *error, void *userdata) {
        for (unsigned i = 0; i < G_N_ELEMENTS(victims); i++)
                call_outcome_clear(&victims[i]);
        *(bool *) userdata = true;
}

static void test_free_in_callback(ConnectionStage *stage) {
        g_autoptr(sd_bus_message) message = NULL;
        bool done = false;

        message = make_call(stage->connection, "Fail");
        victims[0].call = connection_call(stage->connection, message, on_done_free_all, &done);
        call_echo(stage->connection, 0, &victims[1]);
        call_echo(stage->connection, 1, &victims[2]);

        wait_until(done);
        wait_round_trip(stage->service.peer);
        g_assert_false(victims[1].done || victims[2].done);
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        log_open(LOG_ERR);

        connection_stage_add("calls", "call", test_call);
        connection_stage_add("calls", "unsendable", test_unsendable);
        connection_stage_add("calls", "unmakeable", test_unmakeable);
        connection_stage_add("calls", "many", test_many);
        connection_stage_add("calls", "waits-for-bus", test_waits_for_bus);
        connection_stage_add("calls", "bus-dies", test_bus_dies);
        connection_stage_add("calls", "peer-vanishes", test_peer_vanishes);
        connection_stage_add("calls", "cancel", test_cancel);
        connection_stage_add("calls", "undo", test_undo);
        connection_stage_add("calls", "told-before-it-is-sent", test_told_before_it_is_sent);
        connection_stage_add("calls", "share", test_share);
        connection_stage_add("calls", "free-in-callback", test_free_in_callback);
        connection_stage_add_limited("calls", "many-of-128", "<limit name=\"max_replies_per_connection\">128</limit>",
                                     test_many);
        connection_stage_add_limited("calls", "many-of-20", "<limit name=\"max_replies_per_connection\">20</limit>",
                                     test_many);
        connection_stage_add_limited("calls", "cancel-of-128", "<limit name=\"max_replies_per_connection\">128</limit>",
                                     test_cancel);
        connection_stage_add("calls", "frozen", test_frozen);
        connection_stage_add("calls", "frozen-names", test_frozen_names);
        connection_stage_add("calls", "frozen-many", test_frozen_many);
        connection_stage_add("calls", "never-answered", test_never_answered);
        connection_stage_add_limited("calls", "frozen-many-of-60",
                                     "<limit name=\"max_replies_per_connection\">60</limit>", test_frozen_many);
        return g_test_run();
}
