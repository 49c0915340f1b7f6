/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Two questions for each unit: what it requires, and how these are. A unit that is not active may be so by right, as a
 * oneshot that has done its work; so only one that has failed is an answer.
 */

#include <string.h>

#include "basic/cleanup.h"
#include "leaves/systemd.h"
#include "leaves/unit-name.h"
#include "leaves/unit-required.h"

/* Enough to find it, where it can be found, and not to ask for all units of the system. */
#define LOOKS_MAX 32u

struct UnitRequired {
        Connection *connection;
        GPtrArray *paths; /* of the units to look at */
        unsigned n_looks; /* of these */
        GHashTable *seen; /* names of units */
        Call *call;
        UnitRequiredKnown known;
        void *userdata;
};

static void look_further(UnitRequired *required);

static bool has_failed(const char *active_state, const char *sub_state) {
        return strcmp(active_state, "failed") == 0 || strcmp(sub_state, "auto-restart") == 0;
}

/* True: there was one that has failed. */
static bool read_units(UnitRequired *required, sd_bus_message *reply) {
        const char *unit, *active_state, *sub_state;

        if (sd_bus_message_enter_container(reply, 'a', "(ssssssouso)") < 0)
                return false;

        while (sd_bus_message_read(reply, "(ssssssouso)", &unit, NULL, NULL, &active_state, &sub_state, NULL, NULL,
                                   NULL, NULL, NULL) > 0) {
                if (has_failed(active_state, sub_state)) {
                        required->known(unit, required->userdata);
                        return true;
                }
                if (strcmp(active_state, "inactive") == 0 && g_hash_table_add(required->seen, g_strdup(unit)))
                        g_ptr_array_add(required->paths, unit_name_path(unit));
        }

        return false;
}

static void on_units(sd_bus_message *reply, const sd_bus_error *error, void *userdata) {
        UnitRequired *required = userdata;

        if (!reply || !read_units(required, reply))
                look_further(required);
}

static bool is_requirement(const char *property) {
        static const char *const requirements[] = { "Requires", "Requisite", "BindsTo", NULL };

        return g_strv_contains(requirements, property);
}

static void add_names(GPtrArray *names, sd_bus_message *reply) {
        const char *name;

        if (sd_bus_message_enter_container(reply, 'v', "as") < 0 || sd_bus_message_enter_container(reply, 'a', "s") < 0)
                return;

        while (sd_bus_message_read(reply, "s", &name) > 0)
                g_ptr_array_add(names, (char *) name);
        (void) sd_bus_message_exit_container(reply);
        (void) sd_bus_message_exit_container(reply);
}

/* The names are borrowed. */
static GPtrArray *read_requirements(sd_bus_message *reply) {
        GPtrArray *names = g_ptr_array_new();
        const char *property;

        if (sd_bus_message_enter_container(reply, 'a', "{sv}") < 0)
                return names;

        while (sd_bus_message_enter_container(reply, 'e', "sv") > 0) {
                if (sd_bus_message_read(reply, "s", &property) < 0)
                        break;
                if (is_requirement(property))
                        add_names(names, reply);
                else if (sd_bus_message_skip(reply, "v") < 0)
                        break;
                if (sd_bus_message_exit_container(reply) < 0)
                        break;
        }

        return names;
}

/* How are those that the unit with these properties requires? NULL: it requires none. */
static sd_bus_message *units_message(const UnitRequired *required, sd_bus_message *properties) {
        g_autoptr(sd_bus_message) message = NULL;
        g_autoptr(GPtrArray) names = read_requirements(properties);

        if (names->len == 0)
                return NULL;

        g_ptr_array_add(names, NULL);
        message =
                systemd_message(required->connection, SYSTEMD_MANAGER_PATH, SYSTEMD_MANAGER, "ListUnitsByNames", NULL);
        return sd_bus_message_append_strv(message, (char **) names->pdata) < 0 ? NULL : g_steal_pointer(&message);
}

static void on_properties(sd_bus_message *reply, const sd_bus_error *error, void *userdata) {
        UnitRequired *required = userdata;
        g_autoptr(sd_bus_message) message = reply ? units_message(required, reply) : NULL;

        if (!message) {
                look_further(required);
                return;
        }

        call_free(required->call);
        required->call = connection_call(required->connection, message, on_units, required);
}

static void look_further(UnitRequired *required) {
        const char *path;

        if (required->n_looks >= MIN(required->paths->len, LOOKS_MAX)) {
                required->known(NULL, required->userdata);
                return;
        }

        path = g_ptr_array_index(required->paths, required->n_looks++);
        call_free(required->call);
        required->call = systemd_get_all(required->connection, path, SYSTEMD_UNIT, on_properties, required);
}

UnitRequired *unit_required_new(Connection *connection, const char *path, UnitRequiredKnown known, void *userdata) {
        UnitRequired *required = g_new(UnitRequired, 1);

        *required = (UnitRequired){
                .connection = connection,
                .paths = g_ptr_array_new_with_free_func(g_free),
                .seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
                .known = known,
                .userdata = userdata,
        };
        g_ptr_array_add(required->paths, g_strdup(path));
        look_further(required);
        return required;
}

void unit_required_free(UnitRequired *required) {
        if (!required)
                return;

        call_free(required->call);
        g_ptr_array_unref(required->paths);
        g_hash_table_unref(required->seen);
        g_free(required);
}
