/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Verifies the state of a unit after its job, in steps: each reads properties of the unit, and decides or starts the
 * next.
 *
 * If a required unit has failed, systemd reports only that there is one. Then the units that the unit requires are read
 * and, if these were not started either, those that they require.
 */

#include <string.h>

#include "basic/cleanup.h"
#include "leaf-types/unit-name.h"
#include "leaves/unit/systemd.h"
#include "leaves/unit/unit-verify.h"

typedef struct UnitRequired UnitRequired;

/* unit: borrowed; NULL: none has failed, or it has recovered. May free the UnitRequired. */
typedef void (*UnitRequiredKnown)(const char *unit, void *userdata);

/* Enough to find the unit in most cases, without reading all units of the system. */
#define LOOKS_MAX 32u

struct UnitRequired {
        Connection *connection;
        GPtrArray *paths; /* of the units to read */
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
        required->call = systemd_query(required->connection, message, on_units, required);
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

static UnitRequired *unit_required_new(Connection *connection, const char *path, UnitRequiredKnown known,
                                       void *userdata) {
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

static void unit_required_free(UnitRequired *required) {
        if (!required)
                return;

        call_free(required->call);
        g_ptr_array_unref(required->paths);
        g_hash_table_unref(required->seen);
        g_free(required);
}

/* How long a Type=simple service must last to count as started. */
#define SETTLE_USEC (100 * 1000u)

struct UnitVerify {
        Timers *timers;
        Connection *connection;
        const char *unit, *path;
        UnitFacts *facts;
        const UnitVerifyCallbacks *callbacks;
        void *userdata;

        Call *call, *second;
        unsigned n_awaited;     /* answers of both */
        bool good;              /* the job is done */
        bool dependent;         /* it has failed since one of another unit has */
        UnitRequired *required; /* which it was */
        bool end_read;          /* the properties that show that it did its work */
        bool detailed;          /* all facts have been read */
        Timer *settling;        /* or it has settled */
};

static bool is(const char *fact, const char *value) {
        return g_strcmp0(fact, value) == 0;
}

static void fail(const UnitVerify *verify, const sd_bus_error *error) {
        verify->callbacks->failed(error, verify->userdata);
}

static bool is_lost(const UnitVerify *verify, const sd_bus_error *error) {
        return error && verify->callbacks->lost(error, verify->userdata);
}

static void judge(UnitVerify *verify);

static void on_required(const char *unit, void *userdata) {
        UnitVerify *verify = userdata;

        unit_facts_set(&verify->facts->failed_required, unit);
        fail(verify, NULL);
}

/* Also where they could not be read, the little that is known is better than nothing. */
static void on_details(sd_bus_message *reply, const sd_bus_error *error, void *userdata) {
        UnitVerify *verify = userdata;

        if (is_lost(verify, error))
                return;

        verify->detailed = true;
        if (reply)
                (void) unit_facts_read(verify->facts, reply);

        if (reply && verify->good)
                judge(verify);
        else if (verify->dependent)
                verify->required = unit_required_new(verify->connection, verify->path, on_required, verify);
        else
                fail(verify, NULL);
}

static void read_details(UnitVerify *verify) {
        call_free(verify->call);
        verify->call = systemd_get_all(verify->connection, verify->path, "", on_details, verify);
}

static void on_state(sd_bus_message *reply, const sd_bus_error *error, void *userdata) {
        UnitVerify *verify = userdata;
        const char *state;

        if (is_lost(verify, error))
                return;
        if (error) {
                fail(verify, error);
                return;
        }

        if (sd_bus_message_read(reply, "v", "s", &state) >= 0)
                unit_facts_set(&verify->facts->active_state, state);
        judge(verify);
}

static void read_state(void *userdata) {
        UnitVerify *verify = userdata;

        call_free(verify->call);
        verify->call = systemd_get(verify->connection, verify->path, SYSTEMD_UNIT, "ActiveState", on_state, verify);
}

static void on_type(sd_bus_message *reply, const sd_bus_error *error, void *userdata) {
        UnitVerify *verify = userdata;
        const char *type;

        if (is_lost(verify, error))
                return;

        if (error)
                fail(verify, error);
        else if (sd_bus_message_read(reply, "v", "s", &type) >= 0 && (is(type, "simple") || is(type, "idle")))
                verify->settling = timer_new(verify->timers, SETTLE_USEC, read_state, verify);
        else
                verify->callbacks->done(verify->userdata);
}

/* A oneshot service is inactive when it has done its work, and any other may have done all that it had to do. Of one
 * that nobody holds, systemd may have forgotten all of that, and then it has not tested any conditions. */
static bool is_good(const UnitVerify *verify) {
        const UnitFacts *facts = verify->facts;
        bool met = facts->condition_result || (verify->detailed && facts->tested_conditions == 0);

        return is(facts->active_state, "active") || is(facts->active_state, "reloading") ||
               (is(facts->active_state, "inactive") && met && !is(facts->result, "exec-condition"));
}

static void on_end(UnitVerify *verify, const char *property, sd_bus_message *reply, const sd_bus_error *error) {
        if (is_lost(verify, error))
                return;
        if (error) {
                fail(verify, error);
                return;
        }

        (void) unit_facts_read_one(verify->facts, property, reply);
        if (--verify->n_awaited == 0)
                judge(verify);
}

static void on_condition_result(sd_bus_message *reply, const sd_bus_error *error, void *userdata) {
        on_end(userdata, "ConditionResult", reply, error);
}

static void on_result(sd_bus_message *reply, const sd_bus_error *error, void *userdata) {
        on_end(userdata, "Result", reply, error);
}

/* Only what it takes to know that it did its work: all details of many units keep systemd busy. */
static void read_end(UnitVerify *verify) {
        bool service = g_str_has_suffix(verify->unit, ".service");

        call_free(verify->call);
        verify->end_read = true;
        verify->n_awaited = service ? 2 : 1;
        verify->call = systemd_get(verify->connection, verify->path, SYSTEMD_UNIT, "ConditionResult",
                                   on_condition_result, verify);
        if (service)
                verify->second =
                        systemd_get(verify->connection, verify->path, SYSTEMD_SERVICE, "Result", on_result, verify);
}

static void judge(UnitVerify *verify) {
        bool lasts = is(verify->facts->active_state, "active") && g_str_has_suffix(verify->unit, ".service"),
             ended = is(verify->facts->active_state, "inactive");

        if (!is_good(verify) && verify->detailed) {
                fail(verify, NULL);
        } else if (ended && !verify->detailed && !verify->end_read) {
                read_end(verify);
        } else if (!is_good(verify)) {
                read_details(verify);
        } else if (!lasts || verify->settling) {
                verify->callbacks->done(verify->userdata);
        } else {
                call_free(verify->call);
                verify->call = systemd_get(verify->connection, verify->path, SYSTEMD_SERVICE, "Type", on_type, verify);
        }
}

UnitVerify *unit_verify_new(Timers *timers, Connection *connection, const char *unit, const char *path,
                            UnitFacts *facts, const UnitVerifyCallbacks *callbacks, void *userdata) {
        UnitVerify *verify = g_new(UnitVerify, 1);

        *verify = (UnitVerify){
                .timers = timers,
                .connection = connection,
                .unit = unit,
                .path = path,
                .facts = facts,
                .callbacks = callbacks,
                .userdata = userdata,
        };
        return verify;
}

void unit_verify_free(UnitVerify *verify) {
        if (!verify)
                return;

        unit_required_free(verify->required);
        call_free(verify->call);
        call_free(verify->second);
        timer_free(verify->settling);
        g_free(verify);
}

void unit_verify_explain(UnitVerify *verify, const char *result) {
        verify->dependent = is(result, "dependency");
        read_details(verify);
}

void unit_verify_check(UnitVerify *verify) {
        verify->good = true;
        read_state(verify);
}

void unit_verify_decide(UnitVerify *verify) {
        verify->good = verify->detailed = true;
        judge(verify);
}
