/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Reads the units that a unit requires and, if these were not started either, those that they require. The first one
 * that has failed is the reason. Otherwise it is one that is down and cannot be up by being started: a device, one of
 * Requisite=, or one whose assertion was not met. For conflicts, only the units named by the unit itself count.
 */

#include <string.h>

#include "basic/cleanup.h"
#include "leaf-types/unit-names.h"
#include "leaf-types/unit.h"
#include "leaves/unit/systemd.h"
#include "leaves/unit/unit-search.h"

/* This limit is high enough to find the unit in most cases, and prevents that all units of the system are read. */
#define READ_MAX 32u

struct UnitSearch {
        Connection *connection;
        UnitSearchFor what;
        GPtrArray *paths;  /* of the units to read */
        unsigned n_read;   /* of these */
        GHashTable *seen;  /* names of units that were down */
        GPtrArray *needed; /* names in Requisite= of the unit that was read last */
        char *down;        /* a unit that would be the reason, if none has failed; or NULL */
        char *found;
        UnitFacts facts; /* of it */
        Call *call;
        UnitSearchKnown known;
        void *userdata;
};

static void on_found_read(sd_bus_message *reply, const sd_bus_error *error, void *userdata) {
        UnitSearch *search = userdata;

        if (reply)
                (void) unit_facts_read(&search->facts, reply);
        search->known(search->found, &search->facts, search->userdata);
}

/* Reads why it is in this state. */
static void search_end(UnitSearch *search, const char *unit) {
        g_autofree char *path = unit ? unit_name_path(unit) : NULL;

        if (!unit) {
                search->known(NULL, NULL, search->userdata);
                return;
        }

        search->found = g_strdup(unit);
        call_free(search->call);
        search->call = systemd_get_all(search->connection, path, "", on_found_read, search);
}

static void read_next(UnitSearch *search);

static void on_units(sd_bus_message *reply, const sd_bus_error *error, void *userdata) {
        const char *unit, *active_state, *sub_state, *job;
        UnitSearch *search = userdata;
        bool required = search->what == UNIT_REQUIRED;

        if (!reply || sd_bus_message_enter_container(reply, 'a', "(ssssssouso)") < 0) {
                read_next(search);
                return;
        }

        while (sd_bus_message_read(reply, "(ssssssouso)", &unit, NULL, NULL, &active_state, &sub_state, NULL, NULL,
                                   NULL, &job, NULL) > 0) {
                if (required ? strcmp(active_state, "failed") == 0 || unit_sub_state_restarts(sub_state) ||
                                       (strcmp(active_state, "activating") == 0 && !*job)
                             : unit_state_is_up(active_state) || strcmp(active_state, "activating") == 0 ||
                                       strcmp(job, "start") == 0) {
                        search_end(search, unit);
                        return;
                }
                if (!required || strcmp(active_state, "inactive") != 0 ||
                    !g_hash_table_add(search->seen, g_strdup(unit)))
                        continue;
                if (!search->down && (g_str_has_suffix(unit, ".device") ||
                                      g_ptr_array_find_with_equal_func(search->needed, unit, g_str_equal, NULL)))
                        search->down = g_strdup(unit);
                g_ptr_array_add(search->paths, unit_name_path(unit));
        }

        read_next(search);
}

/* The names of the units in the properties that matter. */
static GPtrArray *read_properties(UnitSearch *search, sd_bus_message *reply) {
        static const char *const requirements[] = { "Requires", "Requisite", "BindsTo", NULL }, *const conflicts[] = {
                "Conflicts", "ConflictedBy", NULL
        };
        GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
        const char *property;

        g_ptr_array_set_size(search->needed, 0);
        if (sd_bus_message_enter_container(reply, 'a', "{sv}") < 0)
                return names;

        while (sd_bus_message_enter_container(reply, 'e', "sv") > 0) {
                g_auto(GStrv) units = NULL;

                if (sd_bus_message_read(reply, "s", &property) < 0)
                        break;
                if (!g_strv_contains(search->what == UNIT_REQUIRED ? requirements : conflicts, property)) {
                        if (sd_bus_message_skip(reply, "v") < 0)
                                break;
                } else if (sd_bus_message_enter_container(reply, 'v', "as") < 0 ||
                           sd_bus_message_read_strv(reply, &units) < 0 || sd_bus_message_exit_container(reply) < 0)
                        break;
                for (char **unit = units; unit && *unit; unit++) {
                        g_ptr_array_add(names, g_strdup(*unit));
                        if (g_str_equal(property, "Requisite"))
                                g_ptr_array_add(search->needed, g_strdup(*unit));
                }
                if (sd_bus_message_exit_container(reply) < 0)
                        break;
        }

        return names;
}

static void on_properties(sd_bus_message *reply, const sd_bus_error *error, void *userdata) {
        UnitSearch *search = userdata;
        g_autoptr(GPtrArray) names = reply ? read_properties(search, reply) : NULL;
        g_auto(UnitFacts) facts = {};

        /* The unit itself is the first that is read. */
        if (reply && search->n_read > 1 && sd_bus_message_rewind(reply, true) >= 0 &&
            unit_facts_read(&facts, reply) >= 0 && facts.id && facts.tested_asserts > 0 && !facts.assert_result) {
                search_end(search, facts.id);
                return;
        }
        if (!names || names->len == 0) {
                read_next(search);
                return;
        }

        call_free(search->call);
        search->call = systemd_list_units(search->connection, names, on_units, search);
}

static void read_next(UnitSearch *search) {
        const char *path;

        if (search->n_read >= MIN(search->paths->len, READ_MAX)) {
                search_end(search, search->down);
                return;
        }

        path = g_ptr_array_index(search->paths, search->n_read++);
        call_free(search->call);
        search->call = systemd_get_all(search->connection, path, SYSTEMD_UNIT, on_properties, search);
}

static UnitSearch *search_new(Connection *connection, UnitSearchFor what, UnitSearchKnown known, void *userdata) {
        UnitSearch *search = g_new(UnitSearch, 1);

        *search = (UnitSearch){
                .connection = connection,
                .what = what,
                .paths = g_ptr_array_new_with_free_func(g_free),
                .seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
                .needed = g_ptr_array_new_with_free_func(g_free),
                .known = known,
                .userdata = userdata,
        };
        return search;
}

UnitSearch *unit_search_new(Connection *connection, const char *path, UnitSearchFor what, UnitSearchKnown known,
                            void *userdata) {
        UnitSearch *search = search_new(connection, what, known, userdata);

        g_ptr_array_add(search->paths, g_strdup(path));
        read_next(search);
        return search;
}

/* If none of them has failed, the first one that is down is the reason, as with Requisite=. */
UnitSearch *unit_search_new_among(Connection *connection, GPtrArray *names, UnitSearchFor what, UnitSearchKnown known,
                                  void *userdata) {
        UnitSearch *search = search_new(connection, what, known, userdata);

        g_ptr_array_add(search->paths, NULL); /* of the unit itself, which counts as read */
        search->n_read = 1;
        g_ptr_array_unref(search->needed);
        search->needed = names;
        search->call = systemd_list_units(connection, names, on_units, search);
        return search;
}

void unit_search_free(UnitSearch *search) {
        if (!search)
                return;

        call_free(search->call);
        g_ptr_array_unref(search->paths);
        g_ptr_array_unref(search->needed);
        g_hash_table_unref(search->seen);
        unit_facts_clear(&search->facts);
        g_free(search->down);
        g_free(search->found);
        g_free(search);
}
