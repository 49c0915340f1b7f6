/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Reads the state of a unit, and follows it by signals. systemd unloads a unit that nobody needs. Reading it would load
 * it again, systemd would signal that, and so on. So a unit that was unloaded counts as inactive, which it is, and is
 * not read. The exception is a reload, which unloads all units and loads them again.
 *
 * The unit is read when the watch begins and after each reload; the signals report all other changes. Until the reply
 * comes, the last state stays.
 */

#include "leaves/unit/unit-status.h"
#include "basic/audience.h"
#include "basic/cleanup.h"
#include "leaves/unit/systemd.h"
#include "leaves/unit/unit-watch.h"

typedef struct Unit {
        char *key, *name;
        Connection *connection;
        Subscription *subscription;
        Call *load;       /* which object is it? The name may be an alias */
        char *path;       /* once that is known */
        UnitWatch *watch; /* of that object */
        Match *removed;   /* its being unloaded */
        char *problem;
        char *told; /* the states that the audience was told of last; NULL: none */
        Audience audience;
} Unit;

struct UnitStatus {
        Unit *unit;
        Follower follower;
};

static GHashTable *units; /* by key */

static bool is(const char *fact, const char *value) {
        return g_strcmp0(fact, value) == 0;
}

static const UnitFacts *unit_facts(const Unit *unit) {
        const UnitFacts *facts = unit->watch ? unit_watch_facts(unit->watch) : NULL;

        return facts && facts->load_state ? facts : NULL;
}

static void unit_drop_unused(Unit *unit) {
        if (!audience_is_unused(&unit->audience))
                return;

        g_hash_table_remove(units, unit->key);
        if (g_hash_table_size(units) == 0)
                g_clear_pointer(&units, g_hash_table_unref);

        call_free(unit->load);
        match_free(unit->removed);
        unit_watch_free(unit->watch);
        subscription_free(unit->subscription);
        g_free(unit->told);
        g_free(unit->problem);
        g_free(unit->path);
        g_free(unit->name);
        g_free(unit->key);
        g_free(unit);
}

/* May free the unit. */
static void unit_tell(Unit *unit) {
        audience_tell(&unit->audience);
        unit_drop_unused(unit);
}

/* There are signals for much else that changes. */
static void unit_known(Unit *unit, const UnitFacts *facts) {
        g_autofree char *states = g_strjoin(" ", facts->load_state, facts->active_state ?: "", facts->sub_state ?: "",
                                            facts->result ?: "", NULL);

        g_clear_pointer(&unit->problem, g_free);
        if (is(unit->told, states))
                return;

        g_free(unit->told);
        unit->told = g_steal_pointer(&states);
        unit_tell(unit);
}

/* Signals before the next reply do not give the complete state. */
static void unit_forget(Unit *unit) {
        g_clear_pointer(&unit->told, g_free);
        if (unit->watch)
                unit_facts_clear(unit_watch_facts(unit->watch));
}

static void unit_unknown(Unit *unit, const sd_bus_error *error) {
        unit_forget(unit);
        g_free(unit->problem);
        unit->problem = g_strdup(error->message ?: error->name);
        unit_tell(unit);
}

static void unit_read(void *userdata) {
        const Unit *unit = userdata;

        unit_watch_read(unit->watch);
}

static void on_failed(const sd_bus_error *error, void *userdata) {
        unit_unknown(userdata, error);
}

static void on_changed(void *userdata) {
        Unit *unit = userdata;
        const UnitFacts *facts = unit_facts(unit);

        if (!facts)
                return;

        /* A unit that was not there and is up must have been loaded meanwhile. While it is up it stays loaded, so
         * there is no harm in a look. */
        if (!is(facts->load_state, "loaded") && !is(facts->active_state, "inactive"))
                unit_watch_read(unit->watch);

        unit_known(unit, facts);
}

static void on_removed(sd_bus_message *message, void *userdata) {
        Unit *unit = userdata;
        UnitFacts *facts = unit_watch_facts(unit->watch);

        if (!facts->load_state || !subscription_is_active(unit->subscription))
                return;

        unit_facts_set(&facts->active_state, "inactive");
        unit_facts_set(&facts->sub_state, "dead");
        if (facts->result)
                unit_facts_set(&facts->result, "success");
        unit_known(unit, facts);
}

static Match *match_removed(Unit *unit, const char *path) {
        SignalPattern pattern = {
                .sender = SYSTEMD_NAME,
                .interface = SYSTEMD_MANAGER,
                .member = "UnitRemoved",
                .arg = path,
                .arg_number = 1,
                .arg_is_path = true,
        };

        return connection_match(unit->connection, &pattern, on_removed, NULL, unit);
}

static void unit_watch(Unit *unit, const char *path) {
        static const UnitWatchCallbacks callbacks = {
                .ready = unit_read,
                .changed = on_changed,
                .failed = on_failed,
        };

        if (is(unit->path, path)) {
                unit_read(unit);
                return;
        }

        unit_facts_set(&unit->path, path);
        match_free(unit->removed);
        unit_watch_free(unit->watch);
        unit->removed = match_removed(unit, path);
        unit->watch = unit_watch_new(unit->connection, path, &callbacks, unit);
}

static void on_loaded(sd_bus_message *reply, const sd_bus_error *error, void *userdata) {
        const char *path;

        if (error)
                unit_unknown(userdata, error);
        else if (sd_bus_message_read(reply, "o", &path) >= 0)
                unit_watch(userdata, path);
}

static void unit_load(void *userdata) {
        Unit *unit = userdata;
        g_autoptr(sd_bus_message) message =
                systemd_message(unit->connection, SYSTEMD_MANAGER_PATH, SYSTEMD_MANAGER, "LoadUnit", "s", unit->name);

        call_free(unit->load);
        unit->load = systemd_query(unit->connection, message, on_loaded, unit);
}

static void on_lost(const sd_bus_error *error, void *userdata) {
        unit_unknown(userdata, error);
}

static Unit *unit_get(Connection *connection, const char *name) {
        static const SubscriptionCallbacks callbacks = { .subscribed = unit_load, .lost = on_lost };
        g_autofree char *key = g_strdup_printf("%p %s", (void *) connection, name);
        Unit *unit;

        if (!units)
                units = g_hash_table_new(g_str_hash, g_str_equal);

        unit = g_hash_table_lookup(units, key);
        if (unit)
                return unit;

        unit = g_new0(Unit, 1);
        unit->key = g_steal_pointer(&key);
        unit->name = g_strdup(name);
        unit->connection = connection;
        unit->subscription = subscription_new(connection, &callbacks, unit);
        if (subscription_is_active(unit->subscription))
                unit_load(unit);

        g_hash_table_insert(units, unit->key, unit);
        return unit;
}

UnitStatus *unit_status_new(Connection *connection, const char *unit, void (*changed)(void *userdata), void *userdata) {
        UnitStatus *status = g_new0(UnitStatus, 1);

        status->unit = unit_get(connection, unit);
        status->follower.changed = changed;
        status->follower.userdata = userdata;
        audience_join(&status->unit->audience, &status->follower);
        return status;
}

void unit_status_free(UnitStatus *status) {
        if (!status)
                return;

        audience_leave(&status->unit->audience, &status->follower);
        unit_drop_unused(status->unit);
        g_free(status);
}

const UnitFacts *unit_status_facts(const UnitStatus *status) {
        return unit_facts(status->unit);
}

const char *unit_status_problem(const UnitStatus *status) {
        return status->unit->problem;
}
