/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "connection-stage.h"
#include "basic/cleanup.h"

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

static int method_fail_long(sd_bus_message *message, void *userdata, sd_bus_error *ret_error) {
        g_autofree char *text = g_strnfill(100000, 'o');

        return sd_bus_error_setf(ret_error, "org.example.Error.Long", "a\u00e4%s", text);
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
        SD_BUS_METHOD("FailLong", NULL, NULL, method_fail_long, 0),
        SD_BUS_METHOD("Limits", NULL, NULL, method_limits, 0),
        SD_BUS_METHOD("Hang", NULL, NULL, method_hang, 0),
        SD_BUS_SIGNAL("Changed", "u", 0),
        SD_BUS_VTABLE_END,
};

void stage_service_open(Service *service, const BusFixture *fixture) {
        *service = (Service){ .peer = bus_peer_new(fixture, SERVICE), .in_order = true };
        g_assert_cmpint(
                sd_bus_add_object_vtable(bus_peer_bus(service->peer), NULL, PATH, SERVICE, service_vtable, service), >=,
                0);
}

void stage_service_close(Service *service) {
        sd_bus_message_unref(service->hanging);
        bus_peer_free(service->peer);
        *service = (Service){ 0 };
}

void stage_service_signal(Service *service, uint32_t number) {
        g_assert_cmpint(sd_bus_emit_signal(bus_peer_bus(service->peer), PATH, SERVICE, "Changed", "u", number), >=, 0);
}

typedef struct Case {
        BusKind kind;
        const char *limits;
        ConnectionTest test;
} Case;

static void run_case(gconstpointer data) {
        const Case *of = data;
        ConnectionStage stage = { .kind = of->kind, .limits = of->limits };

        if (!bus_kind_available(of->kind)) {
                g_test_skip("the bus is not installed");
                return;
        }

        stage.bus = bus_fixture_new(of->kind, of->limits);
        bus_fixture_start(stage.bus);
        stage_service_open(&stage.service, stage.bus);
        stage.other = bus_peer_new(stage.bus, NULL);
        stage.connection = connection_new(NULL, "test", bus_fixture_address(stage.bus));

        of->test(&stage);

        connection_free(stage.connection);
        bus_peer_free(stage.other);
        stage_service_close(&stage.service);
        bus_fixture_free(stage.bus);
}

static void add(const char *suite, const char *name, const Case *of) {
        g_autofree char *path = g_strdup_printf("/%s/%s/%s", suite, bus_kind_name(of->kind), name);

        g_test_add_data_func_full(path, g_memdup2(of, sizeof(*of)), run_case, g_free);
}

void connection_stage_add(const char *suite, const char *name, ConnectionTest test) {
        add(suite, name, &(Case){ .kind = BUS_DAEMON, .test = test });
        add(suite, name, &(Case){ .kind = BUS_BROKER, .test = test });
}

void connection_stage_add_limited(const char *suite, const char *name, const char *limits, ConnectionTest test) {
        add(suite, name, &(Case){ .kind = BUS_DAEMON, .limits = limits, .test = test });
}

void call_outcome_clear(Outcome *outcome) {
        g_clear_pointer(&outcome->call, call_free);
        g_clear_pointer(&outcome->error, g_free);
}

void outcome_on_done(sd_bus_message *reply, const sd_bus_error *error, void *userdata) {
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

sd_bus_message *make_call(Connection *connection, const char *member) {
        sd_bus_message *message = NULL;

        g_assert_cmpint(
                sd_bus_message_new_method_call(connection_bus(connection), &message, SERVICE, PATH, SERVICE, member),
                >=, 0);
        return message;
}

void call(Connection *connection, const char *member, Outcome *outcome) {
        g_autoptr(sd_bus_message) message = make_call(connection, member);

        outcome->call = connection_call(connection, message, outcome_on_done, outcome);
        g_assert_false(outcome->done);
}

void call_echo(Connection *connection, uint32_t number, Outcome *outcome) {
        g_autoptr(sd_bus_message) message = make_call(connection, "Echo");

        g_assert_cmpint(sd_bus_message_append(message, "u", number), >=, 0);
        outcome->call = connection_call(connection, message, outcome_on_done, outcome);
        g_assert_false(outcome->done);
}
