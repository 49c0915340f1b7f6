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
        GString *told; /* by signals: "+a -b *c(Size) " */
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

static const sd_bus_vtable vtable[] = {
        SD_BUS_VTABLE_START(0),
        SD_BUS_PROPERTY("Size", "u", get_size, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
        SD_BUS_PROPERTY("Weight", "u", get_size, 0, SD_BUS_VTABLE_PROPERTY_EMITS_INVALIDATION),
        SD_BUS_VTABLE_END,
};

static const char *name_of(const char *path) {
        return path + strlen(MANAGER "/thing/");
}

static int on_signal(sd_bus_message *signal, void *userdata, sd_bus_error *unused) {
        const char *member = sd_bus_message_get_member(signal), *path, *interface;
        Stage *stage = userdata;

        if (g_str_equal(member, "PropertiesChanged")) {
                g_string_append_printf(stage->told, "*%s ", name_of(sd_bus_message_get_path(signal)));
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
        Stage stage = { .bus = bus_fixture_new(BUS_DAEMON, NULL), .told = g_string_new(NULL) };
        sd_bus *bus;

        bus_fixture_start(stage.bus);
        stage.peer = bus_peer_new(stage.bus, NULL);
        stage.other = bus_peer_new(stage.bus, NULL);
        bus = bus_peer_bus(stage.peer);
        g_assert_cmpint(sd_bus_add_object_manager(bus, NULL, MANAGER), >=, 0);
        g_assert_cmpint(sd_bus_add_fallback_vtable(bus, NULL, MANAGER "/thing", INTERFACE, vtable, NULL, NULL), >=, 0);
        stage.changes = object_changes_new(NULL, bus, MANAGER);
        n_read = 0;
        return stage;
}

static void stage_clear(Stage *stage) {
        object_changes_free(stage->changes);
        bus_peer_free(stage->peer);
        bus_peer_free(stage->other);
        bus_fixture_free(stage->bus);
        g_string_free(stage->told, TRUE);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Stage, stage_clear)

static void watch(Stage *stage) {
        g_assert_cmpint(sd_bus_add_match(bus_peer_bus(stage->other), NULL, "type='signal',path_namespace='" MANAGER "'",
                                         on_signal, stage),
                        >=, 0);
}

static void assert_told(Stage *stage, const char *expected) {
        object_changes_add(stage->changes, MANAGER "/thing/last", INTERFACE);
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
        object_changes_add(changes, path, INTERFACE);
        object_changes_property(changes, path, INTERFACE, "Size");
        wait_until(stage.told->len > 0);
        assert_told(&stage, "+a ");

        object_changes_property(changes, path, INTERFACE, "Size");
        object_changes_property(changes, path, INTERFACE, "Weight");
        object_changes_property(changes, path, INTERFACE, "Size");
        wait_until(stage.told->len > 0);
        assert_told(&stage, "*a ");

        object_changes_property(changes, path, INTERFACE, "Size");
        object_changes_remove(changes, path, INTERFACE);
        wait_until(stage.told->len > 0);
        assert_told(&stage, "Peer Introspectable Properties Thing -a ");

        /* It is not known that there was one in between. */
        object_changes_add(changes, path, INTERFACE);
        object_changes_remove(changes, path, INTERFACE);
        assert_told(&stage, "");

        /* Another one of that name. */
        object_changes_remove(changes, path, INTERFACE);
        object_changes_add(changes, path, INTERFACE);
        wait_until(strstr(stage.told->str, "+a "));
        assert_told(&stage, "Peer Introspectable Properties Thing -a +a ");
        object_changes_remove(changes, path, INTERFACE);
        object_changes_add(changes, path, INTERFACE);
        object_changes_remove(changes, path, INTERFACE);
        wait_until(stage.told->len > 0);
        assert_told(&stage, "Peer Introspectable Properties Thing -a ");

        object_changes_remove(changes, path, INTERFACE);
        object_changes_forget(changes, path);
        assert_told(&stage, "");
}

/* Each takes as long as a turn may. */
static void test_many(void) {
        g_auto(Stage) stage = stage_new();

        for (unsigned i = 0; i < N_MANY; i++) {
                g_autofree char *path = g_strdup_printf(MANAGER "/thing/t%u", i);

                object_changes_add(stage.changes, path, INTERFACE);
        }
        for (unsigned before = 0; n_read < N_MANY; before = n_read) {
                wait_turn();
                g_assert_cmpuint(n_read - before, <=, 1);
        }
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);

        g_test_add_func("/object-changes/each", test_each);
        g_test_add_func("/object-changes/many", test_many);

        return g_test_run();
}
