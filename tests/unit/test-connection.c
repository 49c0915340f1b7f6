/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * A connection on real buses: what is called, what is heard, and what becomes of both when peers and buses go.
 */

#include <errno.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/log.h"
#include "bus-fixture.h"
#include "bus/connection.h"

#define SERVICE "org.example.Service"
#define PATH "/org/example/Service"

/* The service that the tests call. */
typedef struct Service {
        BusPeer *peer;
        unsigned n_echoes, n_hangs;
        bool in_order; /* the numbers that came were 0, 1, 2, ... */
        sd_bus_message *hanging;
} Service;

static int method_echo(sd_bus_message *message, void *userdata, sd_bus_error *ret_error) {
        Service *service = userdata;
        uint32_t number;

        g_assert_cmpint(sd_bus_message_read(message, "u", &number), >, 0);
        service->in_order = service->in_order && number == service->n_echoes;
        service->n_echoes++;
        return sd_bus_reply_method_return(message, "u", number);
}

static int method_fail(sd_bus_message *message, void *userdata, sd_bus_error *ret_error) {
        return sd_bus_error_set(ret_error, "org.example.Error.Busy", "the camera is in use");
}

static int method_limits(sd_bus_message *message, void *userdata, sd_bus_error *ret_error) {
        return sd_bus_error_set(ret_error, SD_BUS_ERROR_LIMITS_EXCEEDED, "of my own");
}

static int method_hang(sd_bus_message *message, void *userdata, sd_bus_error *ret_error) {
        Service *service = userdata;

        service->n_hangs++;
        sd_bus_message_unref(service->hanging);
        service->hanging = sd_bus_message_ref(message);
        return 1;
}

static const sd_bus_vtable service_vtable[] = {
        SD_BUS_VTABLE_START(0),
        SD_BUS_METHOD("Echo", "u", "u", method_echo, 0),
        SD_BUS_METHOD("Fail", NULL, NULL, method_fail, 0),
        SD_BUS_METHOD("Limits", NULL, NULL, method_limits, 0),
        SD_BUS_METHOD("Hang", NULL, NULL, method_hang, 0),
        SD_BUS_SIGNAL("Changed", "u", 0),
        SD_BUS_VTABLE_END,
};

static void service_open(Service *service, const BusFixture *fixture) {
        *service = (Service){ .peer = bus_peer_new(fixture, SERVICE), .in_order = true };
        g_assert_cmpint(
                sd_bus_add_object_vtable(bus_peer_bus(service->peer), NULL, PATH, SERVICE, service_vtable, service), >=,
                0);
}

static void service_close(Service *service) {
        sd_bus_message_unref(service->hanging);
        bus_peer_free(service->peer);
        *service = (Service){ 0 };
}

static void service_signal(Service *service, uint32_t number) {
        g_assert_cmpint(sd_bus_emit_signal(bus_peer_bus(service->peer), PATH, SERVICE, "Changed", "u", number), >=, 0);
}

/* Everything that a test needs, on one kind of bus. */
typedef struct Fixture {
        BusFixture *bus;
        Connection *connection;
        Service service;
} Fixture;

/* The kind of bus, and what its configuration says besides (only a dbus-daemon has one). */
typedef struct Setup {
        BusKind kind;
        const char *limits;
} Setup;

static void fixture_set_up(Fixture *fixture, gconstpointer data) {
        const Setup *setup = data;

        if (!bus_kind_available(setup->kind)) {
                g_test_skip("the bus is not installed");
                return;
        }

        fixture->bus = bus_fixture_new(setup->kind, setup->limits);
        bus_fixture_start(fixture->bus);
        service_open(&fixture->service, fixture->bus);
        fixture->connection = connection_new(NULL, "test", bus_fixture_address(fixture->bus));
}

static void fixture_tear_down(Fixture *fixture, gconstpointer data) {
        connection_free(fixture->connection);
        service_close(&fixture->service);
        bus_fixture_free(fixture->bus);
}

/* What became of a call. */
typedef struct Outcome {
        Call *call;
        bool done;
        bool early; /* told before connection_call() had returned */
        bool returned;
        uint32_t number;
        char *error;
} Outcome;

static void outcome_clear(Outcome *outcome) {
        g_clear_pointer(&outcome->call, call_free);
        g_clear_pointer(&outcome->error, g_free);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Outcome, outcome_clear)

static void on_done(sd_bus_message *reply, const sd_bus_error *error, void *userdata) {
        Outcome *outcome = userdata;

        g_assert_false(outcome->done);
        g_assert_true(!reply != !error);
        outcome->done = true;
        outcome->early = !outcome->call;
        if (error)
                outcome->error = g_strdup_printf("%s: %s", error->name, error->message);
        else if (sd_bus_message_has_signature(reply, "u"))
                g_assert_cmpint(sd_bus_message_read(reply, "u", &outcome->number), >, 0);
        g_clear_pointer(&outcome->call, call_free);
}

static sd_bus_message *make_call(Connection *connection, const char *member) {
        sd_bus_message *message = NULL;

        g_assert_cmpint(
                sd_bus_message_new_method_call(connection_bus(connection), &message, SERVICE, PATH, SERVICE, member),
                >=, 0);
        return message;
}

static void call(Connection *connection, const char *member, Outcome *outcome) {
        g_autoptr(sd_bus_message) message = make_call(connection, member);

        outcome->call = connection_call(connection, message, on_done, outcome);
        g_assert_false(outcome->done);
}

static void call_echo(Connection *connection, uint32_t number, Outcome *outcome) {
        g_autoptr(sd_bus_message) message = make_call(connection, "Echo");

        g_assert_cmpint(sd_bus_message_append(message, "u", number), >=, 0);
        outcome->call = connection_call(connection, message, on_done, outcome);
        g_assert_false(outcome->done);
}

/* The number that is to be echoed is where the echo will be. */
static int make_echo(sd_bus *bus, sd_bus_message **ret_message, void *userdata) {
        Outcome *outcome = userdata;
        int r = sd_bus_message_new_method_call(bus, ret_message, SERVICE, PATH, SERVICE, "Echo");

        return r < 0 ? r : sd_bus_message_append(*ret_message, "u", outcome->number);
}

static void call_made_echo(Connection *connection, uint32_t number, Outcome *outcome) {
        outcome->number = number;
        outcome->call = connection_call_made(connection, make_echo, on_done, outcome);
        g_assert_false(outcome->done);
}

static void test_call(Fixture *fixture, gconstpointer data) {
        g_auto(Outcome) echo = { 0 }, fail = { 0 }, limits = { 0 }, nobody = { 0 };
        g_autoptr(sd_bus_message) message = NULL;

        if (!fixture->bus)
                return;

        call_echo(fixture->connection, 7, &echo);
        call(fixture->connection, "Fail", &fail);
        call(fixture->connection, "Limits", &limits);
        g_assert_cmpint(sd_bus_message_new_method_call(connection_bus(fixture->connection), &message,
                                                       "org.example.Nobody", "/", NULL, "Call"),
                        >=, 0);
        nobody.call = connection_call(fixture->connection, message, on_done, &nobody);

        wait_until(echo.done && fail.done && limits.done && nobody.done);
        g_assert_cmpuint(echo.number, ==, 7);
        g_assert_cmpstr(echo.error, ==, NULL);
        g_assert_cmpstr(fail.error, ==, "org.example.Error.Busy: the camera is in use");
        g_assert_cmpstr(limits.error, ==, "org.freedesktop.DBus.Error.LimitsExceeded: of my own");
        g_assert_true(g_str_has_prefix(nobody.error, "org.freedesktop.DBus.Error.ServiceUnknown: "));
}

/* A container that is still open cannot be sent; the answer does not come before the call has been made. */
static void test_unsendable(Fixture *fixture, gconstpointer data) {
        g_autoptr(sd_bus_message) message = NULL;
        g_auto(Outcome) outcome = { 0 };

        if (!fixture->bus)
                return;

        wait_until(connection_is_ready(fixture->connection));
        message = make_call(fixture->connection, "Echo");
        g_assert_cmpint(sd_bus_message_open_container(message, 'a', "u"), >=, 0);
        outcome.call = connection_call(fixture->connection, message, on_done, &outcome);

        wait_until(outcome.done);
        g_assert_false(outcome.early);
        g_assert_true(g_str_has_suffix(outcome.error, ": the call could not be sent: Bad message"));
}

static int make_nothing(sd_bus *bus, sd_bus_message **ret_message, void *userdata) {
        return -ENOBUFS;
}

static void test_unmakeable(Fixture *fixture, gconstpointer data) {
        g_auto(Outcome) outcome = { 0 };

        if (!fixture->bus)
                return;

        wait_until(connection_is_ready(fixture->connection));
        outcome.call = connection_call_made(fixture->connection, make_nothing, on_done, &outcome);

        wait_until(outcome.done);
        g_assert_false(outcome.early);
        g_assert_true(g_str_has_suffix(outcome.error, ": the call could not be sent: No buffer space available"));
}

/* More calls than any window; what the bus may refuse does not reach the caller. */
static void test_many(Fixture *fixture, gconstpointer data) {
        const Setup *setup = data;
        g_autofree Outcome *outcomes = g_new0(Outcome, 10000);
        unsigned n_done = 0;

        if (!fixture->bus)
                return;

        for (uint32_t i = 0; i < 10000; i++)
                (i % 2 == 0 ? call_echo : call_made_echo)(fixture->connection, i, &outcomes[i]);

        while (n_done < 10000) {
                wait_until(outcomes[n_done].done);
                g_assert_cmpstr(outcomes[n_done].error, ==, NULL);
                g_assert_cmpuint(outcomes[n_done].number, ==, n_done);
                n_done++;
        }

        g_assert_cmpuint(fixture->service.n_echoes, ==, 10000);
        if (!setup->limits || !strstr(setup->limits, "\"max_replies_per_connection\">20<"))
                g_assert_true(fixture->service.in_order);
}

static void test_waits_for_bus(Fixture *fixture, gconstpointer data) {
        g_auto(Outcome) outcome = { 0 };

        if (!fixture->bus)
                return;

        g_clear_pointer(&fixture->connection, connection_free);
        service_close(&fixture->service);
        bus_fixture_kill(fixture->bus);

        fixture->connection = connection_new(NULL, "test", bus_fixture_address(fixture->bus));
        call_echo(fixture->connection, 3, &outcome);
        g_assert_false(connection_is_ready(fixture->connection));

        bus_fixture_start(fixture->bus);
        service_open(&fixture->service, fixture->bus);
        wait_until(outcome.done);
        g_assert_cmpuint(outcome.number, ==, 3);
}

/* The bus dies with a full window: what is in flight fails; what waits, made on the dead bus or not, is sent on the
 * new one. */
static void test_bus_dies(Fixture *fixture, gconstpointer data) {
        Outcome hung[CONNECTION_WINDOW] = { 0 };
        g_auto(Outcome) waiting = { 0 }, late = { 0 }, again = { 0 };

        if (!fixture->bus)
                return;

        for (unsigned i = 0; i < CONNECTION_WINDOW; i++)
                call(fixture->connection, "Hang", &hung[i]);
        call_echo(fixture->connection, 1, &waiting);
        wait_until(fixture->service.n_hangs == CONNECTION_WINDOW);

        bus_fixture_kill(fixture->bus);
        for (unsigned i = 0; i < CONNECTION_WINDOW; i++) {
                wait_until(hung[i].done);
                g_assert_cmpstr(hung[i].error, ==,
                                "org.freedesktop.DBus.Error.Disconnected: the connection to the bus 'test' was lost "
                                "before the reply came");
                outcome_clear(&hung[i]);
        }
        wait_until(!connection_is_ready(fixture->connection));
        call_echo(fixture->connection, 2, &late);
        g_assert_false(waiting.done);

        service_close(&fixture->service);
        bus_fixture_start(fixture->bus);
        service_open(&fixture->service, fixture->bus);
        wait_until(waiting.done && late.done);
        g_assert_cmpuint(waiting.number, ==, 1);
        g_assert_cmpuint(late.number, ==, 2);

        call_echo(fixture->connection, 3, &again);
        wait_until(again.done);
        g_assert_cmpuint(again.number, ==, 3);
}

static void test_peer_vanishes(Fixture *fixture, gconstpointer data) {
        g_auto(Outcome) outcome = { 0 };

        if (!fixture->bus)
                return;

        call(fixture->connection, "Hang", &outcome);
        wait_until(fixture->service.n_hangs == 1);
        service_close(&fixture->service);

        wait_until(outcome.done);
        g_assert_true(g_str_has_prefix(outcome.error, "org.freedesktop.DBus.Error.NoReply: "));
        g_assert_true(connection_is_ready(fixture->connection));
}

/* Cancelled calls make room at once, are not answered later, and those that wait are never sent. */
static void test_cancel(Fixture *fixture, gconstpointer data) {
        Outcome hung[CONNECTION_WINDOW] = { 0 };
        g_auto(Outcome) cancelled = { 0 }, waiting = { 0 };

        if (!fixture->bus)
                return;

        for (unsigned i = 0; i < CONNECTION_WINDOW; i++)
                call(fixture->connection, "Hang", &hung[i]);
        call_echo(fixture->connection, 1, &cancelled);
        call_echo(fixture->connection, 0, &waiting);
        wait_until(fixture->service.n_hangs == CONNECTION_WINDOW);
        wait_round_trip(fixture->service.peer);
        g_assert_cmpuint(fixture->service.n_echoes, ==, 0);

        outcome_clear(&cancelled);
        for (unsigned i = 0; i < CONNECTION_WINDOW; i++)
                outcome_clear(&hung[i]);
        g_assert_cmpint(sd_bus_reply_method_return(fixture->service.hanging, NULL), >=, 0);

        wait_until(waiting.done);
        g_assert_cmpstr(waiting.error, ==, NULL);
        g_assert_cmpuint(fixture->service.n_echoes, ==, 1);
        for (unsigned i = 0; i < CONNECTION_WINDOW; i++)
                g_assert_false(hung[i].done);
}

/* As many as the bus remembers are never answered and cancelled: then only a new connection can call again. */
static void test_stuck(Fixture *fixture, gconstpointer data) {
        Outcome hung[60] = { 0 };
        g_auto(Outcome) echo = { 0 };

        if (!fixture->bus)
                return;

        for (unsigned i = 0; i < G_N_ELEMENTS(hung); i++)
                call(fixture->connection, "Hang", &hung[i]);
        wait_until(fixture->service.n_hangs == G_N_ELEMENTS(hung));
        for (unsigned i = 0; i < G_N_ELEMENTS(hung); i++)
                outcome_clear(&hung[i]);

        call_echo(fixture->connection, 5, &echo);
        wait_until(echo.done);
        g_assert_cmpstr(echo.error, ==, NULL);
        g_assert_cmpuint(echo.number, ==, 5);
}

/* Calls that are freed by another's callback. */
static Outcome victims[3];

static void on_done_free_all(sd_bus_message *reply, const sd_bus_error *error, void *userdata) {
        for (unsigned i = 0; i < G_N_ELEMENTS(victims); i++)
                outcome_clear(&victims[i]);
        *(bool *) userdata = true;
}

static void test_free_in_callback(Fixture *fixture, gconstpointer data) {
        g_autoptr(sd_bus_message) message = NULL;
        bool done = false;

        if (!fixture->bus)
                return;

        message = make_call(fixture->connection, "Fail");
        victims[0].call = connection_call(fixture->connection, message, on_done_free_all, &done);
        call_echo(fixture->connection, 0, &victims[1]);
        call_echo(fixture->connection, 1, &victims[2]);

        wait_until(done);
        wait_round_trip(fixture->service.peer);
        g_assert_false(victims[1].done || victims[2].done);
}

/* Two users of one rule. */
typedef struct Heard {
        Match *match;
        unsigned n_ready, n_signals;
        uint32_t last;
        struct Heard *frees; /* at the next signal */
} Heard;

static void on_ready(void *userdata) {
        ((Heard *) userdata)->n_ready++;
}

static void on_signal(sd_bus_message *message, void *userdata) {
        Heard *heard = userdata;

        heard->n_signals++;
        g_assert_cmpint(sd_bus_message_read(message, "u", &heard->last), >, 0);
        if (heard->frees)
                g_clear_pointer(&heard->frees->match, match_free);
}

static const SignalPattern pattern = { .sender = SERVICE, .path = PATH, .member = "Changed" };

static void watch(Fixture *fixture, Heard *heard) {
        heard->match = connection_match(fixture->connection, &pattern, on_signal, on_ready, heard);
        g_assert_cmpuint(heard->n_ready, ==, 0);
}

static void test_match(Fixture *fixture, gconstpointer data) {
        Heard a = { 0 }, b = { 0 }, c = { 0 };

        if (!fixture->bus)
                return;

        watch(fixture, &a);
        watch(fixture, &b);
        wait_until(a.n_ready == 1 && b.n_ready == 1);
        service_signal(&fixture->service, 1);
        wait_until(a.n_signals == 1 && b.n_signals == 1);

        /* One that comes later is told that the rule is there already. */
        watch(fixture, &c);
        wait_until(c.n_ready == 1);
        g_assert_cmpuint(a.n_ready, ==, 1);

        /* Freed before it is called, and after; then all hear no more. */
        a.frees = &b;
        service_signal(&fixture->service, 2);
        wait_until(c.n_signals == 1);
        g_assert_cmpuint(a.last, ==, 2);
        g_assert_cmpuint(b.n_signals, ==, 1);

        a.frees = &a;
        c.frees = &c;
        service_signal(&fixture->service, 3);
        wait_until(c.n_signals == 2);
        service_signal(&fixture->service, 4);
        wait_round_trip(fixture->service.peer);
        g_assert_cmpuint(a.last, ==, 3);

        /* And it can be made again. */
        b = (Heard){ 0 };
        watch(fixture, &b);
        wait_until(b.n_ready == 1);
        service_signal(&fixture->service, 5);
        wait_until(b.last == 5);
        match_free(b.match);
}

static void test_match_survives(Fixture *fixture, gconstpointer data) {
        Heard heard = { 0 };

        if (!fixture->bus)
                return;

        watch(fixture, &heard);
        wait_until(heard.n_ready == 1);

        bus_fixture_kill(fixture->bus);
        wait_until(!connection_is_ready(fixture->connection));
        service_close(&fixture->service);
        bus_fixture_start(fixture->bus);
        service_open(&fixture->service, fixture->bus);

        wait_until(heard.n_ready == 2);
        service_signal(&fixture->service, 9);
        wait_until(heard.n_signals == 1);
        g_assert_cmpuint(heard.last, ==, 9);
        match_free(heard.match);
}

/* The bus takes one rule only: the second is added when the first is gone. */
static void test_match_refused(Fixture *fixture, gconstpointer data) {
        SignalPattern unique = { .sender = ":1.0", .member = "Changed" },
                      other = { .sender = ":1.1", .member = "Changed" };
        Heard first = { 0 }, second = { 0 };
        g_auto(Outcome) outcome = { 0 };

        if (!fixture->bus)
                return;

        first.match = connection_match(fixture->connection, &unique, on_signal, on_ready, &first);
        second.match = connection_match(fixture->connection, &other, on_signal, on_ready, &second);
        call_echo(fixture->connection, 0, &outcome);
        wait_until(outcome.done && first.n_ready == 1);
        g_assert_cmpuint(second.n_ready, ==, 0);

        g_clear_pointer(&first.match, match_free);
        wait_until(second.n_ready == 1);
        match_free(second.match);
}

typedef struct Told {
        Listener *listener;
        unsigned n_connected, n_lost;
        bool leaves;
} Told;

static void told_leave(Told *told) {
        if (told->leaves)
                g_clear_pointer(&told->listener, listener_free);
}

static void on_connected(Connection *connection, void *userdata) {
        Told *told = userdata;

        g_assert_true(connection_is_ready(connection));
        told->n_connected++;
        told_leave(told);
}

static void on_lost(Connection *connection, void *userdata) {
        Told *told = userdata;

        g_assert_false(connection_is_ready(connection));
        told->n_lost++;
}

static void test_listen(Fixture *fixture, gconstpointer data) {
        static const ListenerCallbacks callbacks = { .connected = on_connected, .lost = on_lost };
        Told stays = { 0 }, leaves = { .leaves = true }, late = { 0 };

        if (!fixture->bus)
                return;

        leaves.listener = connection_listen(fixture->connection, &callbacks, &leaves);
        stays.listener = connection_listen(fixture->connection, &callbacks, &stays);
        wait_until(stays.n_connected == 1 && leaves.n_connected == 1);
        g_assert_null(leaves.listener);

        late.listener = connection_listen(fixture->connection, &callbacks, &late);
        g_assert_cmpuint(late.n_connected, ==, 0);
        wait_until(late.n_connected == 1);

        bus_fixture_kill(fixture->bus);
        wait_until(stays.n_lost == 1 && late.n_lost == 1);
        bus_fixture_start(fixture->bus);
        wait_until(stays.n_connected == 2 && late.n_connected == 2);

        listener_free(stays.listener);
        listener_free(late.listener);
}

/* What is left over when a connection goes is its owner's, and can be freed. */
static void test_outlived(Fixture *fixture, gconstpointer data) {
        static const ListenerCallbacks callbacks = { .connected = on_connected, .lost = on_lost };
        g_auto(Outcome) hung = { 0 };
        Heard heard = { 0 };
        Told told = { 0 };

        if (!fixture->bus)
                return;

        call(fixture->connection, "Hang", &hung);
        watch(fixture, &heard);
        told.listener = connection_listen(fixture->connection, &callbacks, &told);
        wait_until(heard.n_ready == 1 && fixture->service.n_hangs == 1);

        g_clear_pointer(&fixture->connection, connection_free);
        match_free(heard.match);
        listener_free(told.listener);
        g_assert_false(hung.done);
}

/* For how long the context would sleep; -1: until something happens. */
static int context_timeout(GMainContext *context) {
        GPollFD fds[16] = { 0 };
        int priority, timeout, n_fds;

        g_assert_true(g_main_context_acquire(context));
        g_main_context_prepare(context, &priority);
        n_fds = g_main_context_query(context, priority, &timeout, fds, G_N_ELEMENTS(fds));
        g_assert_cmpint(n_fds, <=, (int) G_N_ELEMENTS(fds));
        g_main_context_check(context, priority, fds, n_fds);
        g_main_context_release(context);
        return timeout;
}

/* With a match, and a call that is not answered, nothing wakes the daemon up. */
static void test_idle(Fixture *fixture, gconstpointer data) {
        g_autoptr(GMainContext) context = g_main_context_new();
        g_autoptr(Connection) connection = NULL;
        g_auto(Outcome) hung = { 0 };
        Heard heard = { 0 };

        if (!fixture->bus)
                return;

        connection = connection_new(context, "test", bus_fixture_address(fixture->bus));
        heard.match = connection_match(connection, &pattern, on_signal, on_ready, &heard);
        call(connection, "Hang", &hung);
        while (heard.n_ready == 0)
                g_main_context_iteration(context, TRUE);
        wait_until(fixture->service.n_hangs == 1);
        while (g_main_context_iteration(context, FALSE))
                ;

        g_assert_cmpint(context_timeout(context), ==, -1);
        match_free(heard.match);
        outcome_clear(&hung);
}

static void add(const char *name, const Setup *setup, void (*test)(Fixture *, gconstpointer)) {
        g_autofree char *path = g_strdup_printf("/connection/%s/%s", bus_kind_name(setup->kind), name);

        g_test_add(path, Fixture, setup, fixture_set_up, test, fixture_tear_down);
}

int main(int argc, char **argv) {
        static const Setup plain[] = { { BUS_DAEMON, NULL }, { BUS_BROKER, NULL } };
        static const Setup replies_128 = { BUS_DAEMON, "<limit name=\"max_replies_per_connection\">128</limit>" };
        static const Setup replies_20 = { BUS_DAEMON, "<limit name=\"max_replies_per_connection\">20</limit>" };
        static const Setup replies_60 = { BUS_DAEMON, "<limit name=\"max_replies_per_connection\">60</limit>" };
        static const Setup matches_1 = { BUS_DAEMON, "<limit name=\"max_match_rules_per_connection\">1</limit>" };

        g_test_init(&argc, &argv, NULL);
        log_open(LOG_ERR);

        for (size_t i = 0; i < G_N_ELEMENTS(plain); i++) {
                add("call", &plain[i], test_call);
                add("unsendable", &plain[i], test_unsendable);
                add("unmakeable", &plain[i], test_unmakeable);
                add("many", &plain[i], test_many);
                add("waits-for-bus", &plain[i], test_waits_for_bus);
                add("bus-dies", &plain[i], test_bus_dies);
                add("peer-vanishes", &plain[i], test_peer_vanishes);
                add("cancel", &plain[i], test_cancel);
                add("free-in-callback", &plain[i], test_free_in_callback);
                add("match", &plain[i], test_match);
                add("match-survives", &plain[i], test_match_survives);
                add("listen", &plain[i], test_listen);
                add("outlived", &plain[i], test_outlived);
                add("idle", &plain[i], test_idle);
        }

        add("many-of-128", &replies_128, test_many);
        add("many-of-20", &replies_20, test_many);
        add("cancel-of-128", &replies_128, test_cancel);
        add("stuck-of-60", &replies_60, test_stuck);
        add("match-refused", &matches_1, test_match_refused);
        return g_test_run();
}
