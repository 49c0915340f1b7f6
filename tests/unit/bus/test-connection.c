/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * A connection on real buses: what is heard, who is told that it comes and goes, and that it rests.
 */

#include "basic/log.h"
#include "connection-stage.h"

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

static void watch(ConnectionStage *stage, Heard *heard) {
        heard->match = connection_match(stage->connection, &pattern, on_signal, on_ready, heard);
        g_assert_cmpuint(heard->n_ready, ==, 0);
}

static void test_match(ConnectionStage *stage) {
        Heard a = { 0 }, b = { 0 }, c = { 0 };

        watch(stage, &a);
        watch(stage, &b);
        wait_until(a.n_ready == 1 && b.n_ready == 1);
        stage_service_signal(&stage->service, 1);
        wait_until(a.n_signals == 1 && b.n_signals == 1);

        /* One that comes later is told that the rule is there already. */
        watch(stage, &c);
        wait_until(c.n_ready == 1);
        g_assert_cmpuint(a.n_ready, ==, 1);

        /* Freed before it is called, and after; then all hear no more. */
        a.frees = &b;
        stage_service_signal(&stage->service, 2);
        wait_until(c.n_signals == 1);
        g_assert_cmpuint(a.last, ==, 2);
        g_assert_cmpuint(b.n_signals, ==, 1);

        a.frees = &a;
        c.frees = &c;
        stage_service_signal(&stage->service, 3);
        wait_until(c.n_signals == 2);
        stage_service_signal(&stage->service, 4);
        wait_round_trip(stage->service.peer);
        g_assert_cmpuint(a.last, ==, 3);

        /* And it can be made again. */
        b = (Heard){ 0 };
        watch(stage, &b);
        wait_until(b.n_ready == 1);
        stage_service_signal(&stage->service, 5);
        wait_until(b.last == 5);
        match_free(b.match);
}

static void test_match_survives(ConnectionStage *stage) {
        Heard heard = { 0 };

        watch(stage, &heard);
        wait_until(heard.n_ready == 1);

        bus_fixture_kill(stage->bus);
        wait_until(!connection_is_ready(stage->connection));
        stage_service_close(&stage->service);
        bus_fixture_start(stage->bus);
        stage_service_open(&stage->service, stage->bus);

        wait_until(heard.n_ready == 2);
        stage_service_signal(&stage->service, 9);
        wait_until(heard.n_signals == 1);
        g_assert_cmpuint(heard.last, ==, 9);
        match_free(heard.match);
}

/* The bus takes one rule only: the second is added when the first is gone. */
static void test_match_refused(ConnectionStage *stage) {
        SignalPattern unique = { .sender = ":1.0", .member = "Changed" },
                      other = { .sender = ":1.1", .member = "Changed" };
        Heard first = { 0 }, second = { 0 };
        g_auto(Outcome) outcome = { 0 };

        first.match = connection_match(stage->connection, &unique, on_signal, on_ready, &first);
        second.match = connection_match(stage->connection, &other, on_signal, on_ready, &second);
        call_echo(stage->connection, 0, &outcome);
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

static void test_listen(ConnectionStage *stage) {
        static const ListenerCallbacks callbacks = { .connected = on_connected, .lost = on_lost };
        Told stays = { 0 }, leaves = { .leaves = true }, late = { 0 };

        leaves.listener = connection_listen(stage->connection, &callbacks, &leaves);
        stays.listener = connection_listen(stage->connection, &callbacks, &stays);
        wait_until(stays.n_connected == 1 && leaves.n_connected == 1);
        g_assert_null(leaves.listener);

        late.listener = connection_listen(stage->connection, &callbacks, &late);
        g_assert_cmpuint(late.n_connected, ==, 0);
        wait_until(late.n_connected == 1);

        bus_fixture_kill(stage->bus);
        wait_until(stays.n_lost == 1 && late.n_lost == 1);
        bus_fixture_start(stage->bus);
        wait_until(stays.n_connected == 2 && late.n_connected == 2);

        listener_free(stays.listener);
        listener_free(late.listener);
}

/* What is left over when a connection goes is its owner's, and can be freed. */
static void test_outlived(ConnectionStage *stage) {
        static const ListenerCallbacks callbacks = { .connected = on_connected, .lost = on_lost };
        g_auto(Outcome) hung = { 0 };
        Heard heard = { 0 };
        Told told = { 0 };

        call(stage->connection, "Hang", &hung);
        watch(stage, &heard);
        told.listener = connection_listen(stage->connection, &callbacks, &told);
        wait_until(heard.n_ready == 1 && stage->service.n_hangs == 1);

        g_clear_pointer(&stage->connection, connection_free);
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
static void test_idle(ConnectionStage *stage) {
        g_autoptr(GMainContext) context = g_main_context_new();
        g_autoptr(Connection) connection = NULL;
        g_auto(Outcome) hung = { 0 };
        Heard heard = { 0 };

        connection = connection_new(context, "test", bus_fixture_address(stage->bus));
        heard.match = connection_match(connection, &pattern, on_signal, on_ready, &heard);
        call(connection, "Hang", &hung);
        while (heard.n_ready == 0)
                g_main_context_iteration(context, TRUE);
        wait_until(stage->service.n_hangs == 1);
        while (g_main_context_iteration(context, FALSE))
                ;

        g_assert_cmpint(context_timeout(context), ==, -1);
        match_free(heard.match);
        call_outcome_clear(&hung);
}

/* That a bus that is paused does not take, and some more. */
static void send_much(ConnectionStage *stage) {
        g_autofree char *text = g_strnfill(1024 * 1024, 'x');

        for (unsigned i = 0; i < 100; i++)
                g_assert_cmpint(sd_bus_emit_signal(connection_bus(stage->connection), PATH, SERVICE, "Much", "s", text),
                                >=, 0);
}

/* In the socket of the connection, which has not looked there yet. */
static void signal_unread(ConnectionStage *stage) {
        GPollFD poll = { .fd = sd_bus_get_fd(connection_bus(stage->connection)), .events = G_IO_IN };

        stage_service_signal(&stage->service, 1);
        g_assert_cmpint(sd_bus_flush(bus_peer_bus(stage->service.peer)), >=, 0);
        g_assert_cmpint(g_poll(&poll, 1, 60 * 1000), ==, 1);
}

static void test_paced(ConnectionStage *stage) {
        Heard heard = { 0 };

        connection_pace(stage->connection, 600 * G_USEC_PER_SEC);
        watch(stage, &heard);
        wait_until(heard.n_ready == 1);
        signal_unread(stage);
        bus_fixture_pause(stage->bus);
        send_much(stage);
        while (g_main_context_iteration(NULL, FALSE))
                ;
        g_assert_cmpuint(heard.n_signals, ==, 0);

        bus_fixture_resume(stage->bus);
        wait_until(heard.n_signals == 1);
        match_free(heard.match);
}

static void test_not_paced(ConnectionStage *stage) {
        Heard heard = { 0 };

        watch(stage, &heard);
        wait_until(heard.n_ready == 1);
        signal_unread(stage);
        bus_fixture_pause(stage->bus);
        send_much(stage);
        wait_until(heard.n_signals == 1);
        bus_fixture_resume(stage->bus);
        match_free(heard.match);
}

static void test_stuck(ConnectionStage *stage) {
        static const ListenerCallbacks callbacks = { .connected = on_connected, .lost = on_lost };
        Told told = { 0 };

        connection_pace(stage->connection, 100 * 1000);
        told.listener = connection_listen(stage->connection, &callbacks, &told);
        wait_until(told.n_connected == 1);
        bus_fixture_pause(stage->bus);
        send_much(stage);
        wait_until(told.n_lost == 1);
        bus_fixture_resume(stage->bus);
        connection_pace(stage->connection, 600 * G_USEC_PER_SEC);
        wait_until(told.n_connected == 2);
        listener_free(told.listener);
}

/* It is not waited for. */
static void test_id(ConnectionStage *stage) {
        g_autoptr(Connection) again = NULL;
        g_autofree char *id = NULL, *before = NULL, *after = NULL;

        wait_until(connection_is_ready(stage->connection));
        id = connection_bus_id(stage->connection);
        g_assert_cmpuint(strlen(id), ==, 32);

        bus_fixture_pause(stage->bus);
        again = connection_again(stage->connection, true);
        before = connection_bus_id(again);
        g_assert_cmpstr(before, ==, "");
        bus_fixture_resume(stage->bus);
        wait_until(connection_is_ready(again));
        after = connection_bus_id(again);
        g_assert_cmpstr(after, ==, id);
}

static int on_refused(sd_bus_message *reply, void *userdata, sd_bus_error *unused) {
        const sd_bus_error *error = sd_bus_message_get_error(reply);
        char **text = userdata;

        *text = g_strdup(error ? error->message : "");
        return 0;
}

/* The bus refuses them. */
static void test_descriptors(ConnectionStage *stage) {
        g_autoptr(Connection) again = connection_again(stage->connection, false);
        sd_bus *bus = bus_peer_bus(stage->other);
        g_autofree char *text = NULL;
        const char *name;

        wait_until(connection_is_ready(again));
        g_assert_cmpint(sd_bus_get_unique_name(connection_bus(again), &name), >=, 0);
        g_assert_cmpint(
                sd_bus_call_method_async(bus, NULL, name, "/", "org.example", "Take", on_refused, &text, "h", 0), >=,
                0);
        wait_until(text);
        g_assert_nonnull(strstr(text, "descriptor"));
        g_assert_true(connection_is_ready(again));
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        log_open(LOG_ERR);

        connection_stage_add("connection", "match", test_match);
        connection_stage_add("connection", "match-survives", test_match_survives);
        connection_stage_add("connection", "listen", test_listen);
        connection_stage_add("connection", "outlived", test_outlived);
        connection_stage_add("connection", "descriptors", test_descriptors);
        connection_stage_add("connection", "id", test_id);
        connection_stage_add("connection", "idle", test_idle);
        connection_stage_add("connection", "paced", test_paced);
        connection_stage_add("connection", "not-paced", test_not_paced);
        connection_stage_add("connection", "stuck", test_stuck);
        connection_stage_add_limited("connection", "match-refused",
                                     "<limit name=\"max_match_rules_per_connection\">1</limit>", test_match_refused);
        return g_test_run();
}
