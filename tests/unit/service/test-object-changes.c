/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tests the signals for new, removed and changed objects: their order, and how many are sent per turn. */

#include "basic/cleanup.h"
#include "bus-fixture.h"
#include "service/object-changes.h"

#define MANAGER "/org/example"
#define INTERFACE "org.example.Thing"
#define N_MANY 40u

typedef struct Stage {
        BusFixture *bus;
        BusPeer *peer, *other;
        ObjectChanges *changes;
        sd_bus_vtable *vtable;
        GString *told; /* by signals: "+a -b *c(Size,Weight) " */
} Stage;

static unsigned n_read;

/* As long as a piece. */
static int get_size(sd_bus *bus, const char *path, const char *interface, const char *property, sd_bus_message *reply,
                    void *userdata, sd_bus_error *ret_error) {
        int64_t end = g_get_monotonic_time() + 2000;

        while (g_get_monotonic_time() < end)
                ;
        n_read++;
        return sd_bus_message_append(reply, "u", 7);
}

static int get_other(sd_bus *bus, const char *path, const char *interface, const char *property, sd_bus_message *reply,
                     void *userdata, sd_bus_error *ret_error) {
        return sd_bus_message_append(reply, "u", 8);
}

static const Property properties[] = {
        { "Size", "u", get_size, ON_RUN_ADDED | ON_RUN_FINISHED },
        { "Weight", "u", get_size, WITHOUT_VALUE | ON_RUN_FINISHED },
        { "Name", "u", get_other, CHANGES_NEVER },
        { "Age", "u", get_other, CHANGES_SILENTLY },
        { "Attempts", "u", get_other, ON_ANY },
        {},
};

static const sd_bus_vtable methods[] = { SD_BUS_VTABLE_START(0), SD_BUS_VTABLE_END };
static const ObjectKind kind = { .interface = INTERFACE, .properties = properties, .methods = methods };

static const char *name_of(const char *path) {
        return path + strlen(MANAGER "/thing/");
}

/* Reads the values, then the names without values. */
static void tell_properties(Stage *stage, sd_bus_message *signal) {
        const char *interface, *name, *before = "";

        g_assert_cmpint(sd_bus_message_read(signal, "s", &interface), >, 0);
        g_assert_cmpstr(interface, ==, INTERFACE);
        g_string_append_printf(stage->told, "*%s(", name_of(sd_bus_message_get_path(signal)));
        g_assert_cmpint(sd_bus_message_enter_container(signal, 'a', "{sv}"), >, 0);
        for (; sd_bus_message_enter_container(signal, 'e', "sv") > 0; before = ",") {
                g_assert_cmpint(sd_bus_message_read(signal, "s", &name), >, 0);
                g_string_append_printf(stage->told, "%s%s", before, name);
                g_assert_cmpint(sd_bus_message_skip(signal, "v"), >, 0);
                g_assert_cmpint(sd_bus_message_exit_container(signal), >=, 0);
        }
        g_assert_cmpint(sd_bus_message_exit_container(signal), >=, 0);
        g_assert_cmpint(sd_bus_message_enter_container(signal, 'a', "s"), >, 0);
        for (; sd_bus_message_read(signal, "s", &name) > 0; before = ",")
                g_string_append_printf(stage->told, "%s%s", before, name);
        g_string_append(stage->told, ") ");
}

static int on_signal(sd_bus_message *signal, void *userdata, sd_bus_error *unused) {
        const char *member = sd_bus_message_get_member(signal), *path, *interface;
        Stage *stage = userdata;

        if (g_str_equal(member, "PropertiesChanged")) {
                tell_properties(stage, signal);
                return 0;
        }

        g_assert_cmpstr(sd_bus_message_get_path(signal), ==, MANAGER);
        g_assert_cmpint(sd_bus_message_read(signal, "o", &path), >, 0);
        if (g_str_equal(member, "InterfacesAdded")) {
                g_string_append_printf(stage->told, "+%s ", name_of(path));
                return 0;
        }

        g_assert_cmpint(sd_bus_message_enter_container(signal, 'a', "s"), >, 0);
        while (sd_bus_message_read(signal, "s", &interface) > 0)
                g_string_append_printf(stage->told, "%s ", strrchr(interface, '.') + 1);
        g_string_append_printf(stage->told, "-%s ", name_of(path));
        return 0;
}

static Stage stage_new(void) {
        Stage stage = { .bus = bus_fixture_new(BUS_DAEMON, NULL),
                        .told = g_string_new(NULL),
                        .vtable = object_kind_vtable(&kind) };
        sd_bus *bus;

        bus_fixture_start(stage.bus);
        stage.peer = bus_peer_new(stage.bus, NULL);
        stage.other = bus_peer_new(stage.bus, NULL);
        bus = bus_peer_bus(stage.peer);
        g_assert_cmpint(sd_bus_add_object_manager(bus, NULL, MANAGER), >=, 0);
        g_assert_cmpint(sd_bus_add_fallback_vtable(bus, NULL, MANAGER "/thing", INTERFACE, stage.vtable, NULL, NULL),
                        >=, 0);
        stage.changes = object_changes_new(NULL, bus, MANAGER, NULL);
        n_read = 0;
        return stage;
}

static void stage_clear(Stage *stage) {
        object_changes_free(stage->changes);
        bus_peer_free(stage->peer);
        bus_peer_free(stage->other);
        bus_fixture_free(stage->bus);
        g_free(stage->vtable);
        g_string_free(stage->told, TRUE);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Stage, stage_clear)

static void watch(Stage *stage) {
        g_assert_cmpint(sd_bus_add_match(bus_peer_bus(stage->other), NULL, "type='signal',path_namespace='" MANAGER "'",
                                         on_signal, stage),
                        >=, 0);
}

static void assert_told(Stage *stage, const char *expected) {
        object_changes_add(stage->changes, MANAGER "/thing/last", &kind);
        wait_until(strstr(stage->told->str, "+last "));
        g_string_truncate(stage->told, (gsize) (strstr(stage->told->str, "+last ") - stage->told->str));
        g_assert_cmpstr(stage->told->str, ==, expected);
        g_string_truncate(stage->told, 0);
}

static void test_each(void) {
        g_auto(Stage) stage = stage_new();
        ObjectChanges *changes = stage.changes;
        const char *path = MANAGER "/thing/a";

        watch(&stage);
        object_changes_add(changes, path, &kind);
        object_changes_touch(changes, path, &kind, ON_RUN_FINISHED);
        wait_until(stage.told->len > 0);
        assert_told(&stage, "+a ");

        object_changes_touch(changes, path, &kind, ON_RUN_ADDED);
        object_changes_touch(changes, path, &kind, ON_RUN_ADDED);
        wait_until(stage.told->len > 0);
        assert_told(&stage, "*a(Size,Attempts) ");
        object_changes_touch(changes, path, &kind, ON_RUN_ADDED);
        object_changes_touch(changes, path, &kind, ON_RUN_FINISHED);
        wait_until(stage.told->len > 0);
        assert_told(&stage, "*a(Size,Attempts,Weight) ");
        object_changes_touch(changes, path, &kind, ON_DISK);
        wait_until(stage.told->len > 0);
        assert_told(&stage, "*a(Attempts) ");

        object_changes_touch(changes, path, &kind, ON_RUN_FINISHED);
        object_changes_remove(changes, path, &kind);
        wait_until(stage.told->len > 0);
        assert_told(&stage, "Peer Introspectable Properties Thing -a ");

        /* It is not known that there was one in between. */
        object_changes_add(changes, path, &kind);
        object_changes_remove(changes, path, &kind);
        assert_told(&stage, "");

        /* Another one of that name. */
        object_changes_remove(changes, path, &kind);
        object_changes_add(changes, path, &kind);
        wait_until(strstr(stage.told->str, "+a "));
        assert_told(&stage, "Peer Introspectable Properties Thing -a +a ");
        object_changes_remove(changes, path, &kind);
        object_changes_add(changes, path, &kind);
        object_changes_remove(changes, path, &kind);
        wait_until(stage.told->len > 0);
        assert_told(&stage, "Peer Introspectable Properties Thing -a ");

        object_changes_remove(changes, path, &kind);
        object_changes_forget(changes, path);
        assert_told(&stage, "");
}

/* Each takes as long as a turn may; InterfacesAdded has all properties, so it reads Size and Weight. */
static void test_many(void) {
        g_auto(Stage) stage = stage_new();

        for (unsigned i = 0; i < N_MANY; i++) {
                g_autofree char *path = g_strdup_printf(MANAGER "/thing/t%u", i);

                object_changes_add(stage.changes, path, &kind);
        }
        for (unsigned before = 0; n_read < 2 * N_MANY; before = n_read) {
                wait_turn();
                g_assert_cmpuint(n_read - before, <=, 2);
        }
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);

        g_test_add_func("/object-changes/each", test_each);
        g_test_add_func("/object-changes/many", test_many);

        return g_test_run();
}
