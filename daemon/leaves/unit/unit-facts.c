/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Reads the properties of units by a table, and watches a unit. The names of these properties are unique over the
 * interfaces of all types of units, so the interface is not checked.
 */

#include <signal.h>
#include <string.h>
#include <systemd/sd-id128.h>

#include "basic/cleanup.h"
#include "leaf-types/unit-names.h"
#include "leaf-types/unit.h"
#include "leaves/unit/systemd.h"
#include "leaves/unit/unit-facts.h"

typedef int (*FactRead)(sd_bus_message *message, UnitFacts *facts, void *fact);

static int read_string(sd_bus_message *message, UnitFacts *facts, void *fact) {
        const char *value;
        int r = sd_bus_message_read(message, "v", "s", &value);

        if (r >= 0)
                unit_facts_set(fact, value);

        return r;
}

/* Both the number and the path are those of one property. */
static int read_job(sd_bus_message *message, UnitFacts *facts, void *fact) {
        const char *path;
        int r = sd_bus_message_read(message, "v", "(uo)", &facts->job, &path);

        if (r >= 0)
                unit_facts_set(&facts->job_path, path);

        return r;
}

/* All zero, or nothing: it has not been started. */
static int read_id(sd_bus_message *message, UnitFacts *facts, void *fact) {
        sd_id128_t id = SD_ID128_NULL;
        const void *bytes;
        size_t size;
        int r;

        r = sd_bus_message_enter_container(message, 'v', "ay");
        if (r >= 0)
                r = sd_bus_message_read_array(message, 'y', &bytes, &size);
        if (r < 0)
                return r;

        if (size == sizeof(id))
                memcpy(&id, bytes, size);
        unit_facts_set(fact, sd_id128_is_null(id) ? NULL : SD_ID128_TO_STRING(id));
        return sd_bus_message_exit_container(message);
}

/* The first one that was not met: kind, "|" for one of several, "!" for a negated one, its parameter, its state. */
static int read_conditions(sd_bus_message *message, UnitFacts *facts, void *fact) {
        const char *kind, *parameter;
        int trigger, negate, state, r;
        char **unmet = fact;

        unit_facts_set(unmet, NULL);

        r = sd_bus_message_enter_container(message, 'v', "a(sbbsi)");
        if (r >= 0)
                r = sd_bus_message_enter_container(message, 'a', "(sbbsi)");
        if (r < 0)
                return r;

        while ((r = sd_bus_message_read(message, "(sbbsi)", &kind, &trigger, &negate, &parameter, &state)) > 0) {
                facts->conditional = true;
                if (state < 0 && !*unmet)
                        *unmet = g_strconcat(kind, "=", trigger ? "|" : "", negate ? "!" : "", parameter, NULL);
        }
        if (r < 0)
                return r;

        r = sd_bus_message_exit_container(message);
        return r < 0 ? r : sd_bus_message_exit_container(message);
}

static int read_strings(sd_bus_message *message, UnitFacts *facts, void *fact) {
        int r = sd_bus_message_enter_container(message, 'v', "as");

        g_clear_pointer((char ***) fact, g_strfreev);
        if (r >= 0)
                r = sd_bus_message_read_strv(message, fact);
        return r < 0 ? r : sd_bus_message_exit_container(message);
}

static int read_success_statuses(sd_bus_message *message, UnitFacts *facts, void *fact) {
        int r = sd_bus_message_enter_container(message, 'v', "(aiai)");
        const int *statuses;
        size_t size;

        if (r >= 0)
                r = sd_bus_message_enter_container(message, 'r', "aiai");
        if (r >= 0)
                r = sd_bus_message_read_array(message, 'i', (const void **) &statuses, &size);
        if (r >= 0)
                r = sd_bus_message_skip(message, "ai");
        if (r < 0)
                return r;

        memset(facts->success_statuses, 0, sizeof(facts->success_statuses));
        for (size_t i = 0; i < size / sizeof(int); i++)
                if (statuses[i] >= 0 && statuses[i] <= UINT8_MAX)
                        facts->success_statuses[statuses[i] / 32] |= UINT32_C(1) << statuses[i] % 32;

        r = sd_bus_message_exit_container(message);
        return r < 0 ? r : sd_bus_message_exit_container(message);
}

/* The type of a number, or how another value is read. */
static const struct {
        const char *name;
        size_t offset;
        const char *type;
        FactRead read;
} facts_table[] = {
        { "LoadState", offsetof(UnitFacts, load_state), .read = read_string },
        { "ActiveState", offsetof(UnitFacts, active_state), .read = read_string },
        { "SubState", offsetof(UnitFacts, sub_state), .read = read_string },
        { "Result", offsetof(UnitFacts, result), .read = read_string },
        { "Id", offsetof(UnitFacts, id), .read = read_string },
        { "Type", offsetof(UnitFacts, type), .read = read_string },
        { "ConditionResult", offsetof(UnitFacts, condition_result), "b" },
        { "AssertResult", offsetof(UnitFacts, assert_result), "b" },
        { "Conditions", offsetof(UnitFacts, unmet_condition), .read = read_conditions },
        { "Asserts", offsetof(UnitFacts, unmet_assert), .read = read_conditions },
        { "CollectMode", offsetof(UnitFacts, collect_mode), .read = read_string },
        { "RemainAfterExit", offsetof(UnitFacts, remain_after_exit), "b" },
        { "StopWhenUnneeded", offsetof(UnitFacts, stop_when_unneeded), "b" },
        { "ReloadResult", offsetof(UnitFacts, reload_result), .read = read_string },
        { "Restart", offsetof(UnitFacts, restart), .read = read_string },
        { "NRestarts", offsetof(UnitFacts, n_restarts), "u" },
        { "TriggeredBy", offsetof(UnitFacts, triggered_by), .read = read_strings },
        { "UpheldBy", offsetof(UnitFacts, upheld_by), .read = read_strings },
        { "BindsTo", offsetof(UnitFacts, binds_to), .read = read_strings },
        { "OnSuccess", offsetof(UnitFacts, on_success), .read = read_strings },
        { "OnFailure", offsetof(UnitFacts, on_failure), .read = read_strings },
        { "BusName", offsetof(UnitFacts, bus_name), .read = read_string },
        { "ControlGroup", offsetof(UnitFacts, control_group), .read = read_string },
        { "NeedDaemonReload", offsetof(UnitFacts, needs_daemon_reload), "b" },
        { "JobTimeoutUSec", offsetof(UnitFacts, job_timeout), "t" },
        { "JobRunningTimeoutUSec", offsetof(UnitFacts, job_running_timeout), "t" },
        { "SuccessExitStatus", offsetof(UnitFacts, success_statuses), .read = read_success_statuses },
        { "Refs", offsetof(UnitFacts, referrers), .read = read_strings },
        { "InvocationID", offsetof(UnitFacts, invocation_id), .read = read_id },
        { "Job", offsetof(UnitFacts, job), .read = read_job },
        { "StateChangeTimestampMonotonic", offsetof(UnitFacts, changed), "t" },
        { "InactiveExitTimestampMonotonic", offsetof(UnitFacts, left_inactive), "t" },
        { "InactiveEnterTimestampMonotonic", offsetof(UnitFacts, became_inactive), "t" },
        { "ConditionTimestampMonotonic", offsetof(UnitFacts, tested_conditions), "t" },
        { "AssertTimestampMonotonic", offsetof(UnitFacts, tested_asserts), "t" },
        { "ActiveEnterTimestampMonotonic", offsetof(UnitFacts, became_active), "t" },
        { "ExecMainStartTimestampMonotonic", offsetof(UnitFacts, exec_main_started), "t" },
        { "ExecMainExitTimestampMonotonic", offsetof(UnitFacts, exec_main_exited), "t" },
        { "ExecMainCode", offsetof(UnitFacts, exec_main_code), "i" },
        { "ExecMainStatus", offsetof(UnitFacts, exec_main_status), "i" },
        { "StatusText", offsetof(UnitFacts, status_text), .read = read_string },
};

#define COMMAND_TYPE "(sasbttttuii)"

static void command_clear(void *data) {
        g_free(((UnitCommand *) data)->program);
}

/* Each has its path, arguments, whether its failure is ignored, start and end by two clocks, PID, how it has ended.
 * Returns how many commands the setting has. */
static int read_commands(UnitCommands *commands, const char *setting, sd_bus_message *message) {
        bool starts = strcmp(setting, "ExecStart") == 0;
        int r = sd_bus_message_enter_container(message, 'v', "a" COMMAND_TYPE), ignored, n = 0;
        const char *program;

        if (!commands->ended) {
                commands->ended = g_array_new(FALSE, FALSE, sizeof(UnitCommand));
                g_array_set_clear_func(commands->ended, command_clear);
        }
        for (unsigned i = commands->ended->len; i-- > 0;)
                if (g_array_index(commands->ended, UnitCommand, i).setting == setting)
                        g_array_remove_index(commands->ended, i);
        if (starts)
                commands->last_start = 0;

        if (r >= 0)
                r = sd_bus_message_enter_container(message, 'a', COMMAND_TYPE);
        for (; r >= 0 && (r = sd_bus_message_enter_container(message, 'r', "sasbttttuii")) > 0; n++) {
                UnitCommand command = { .setting = setting };

                r = sd_bus_message_read(message, "s", &program);
                if (r >= 0)
                        r = sd_bus_message_skip(message, "as");
                if (r >= 0)
                        r = sd_bus_message_read(message, "bttttuii", &ignored, NULL, &command.started, NULL,
                                                &command.ended, NULL, &command.code, &command.status);
                if (r >= 0)
                        r = sd_bus_message_exit_container(message);
                if (r < 0)
                        return r;

                if (starts && command.started >= commands->last_start) {
                        commands->last_start = command.started;
                        commands->last_may_fail = ignored;
                }
                if (!ignored && command.code != 0) {
                        command.program = g_strdup(program);
                        g_array_append_val(commands->ended, command);
                }
        }
        if (r >= 0)
                r = sd_bus_message_exit_container(message);
        if (r >= 0)
                r = sd_bus_message_exit_container(message);

        if (starts)
                commands->n_start = (unsigned) n;
        return r < 0 ? r : n;
}

int unit_facts_read_one(UnitFacts *facts, const char *name, sd_bus_message *message) {
        const char *contents;
        char type;
        int r;

        for (size_t i = 0; i < G_N_ELEMENTS(facts_table); i++) {
                void *fact = (char *) facts + facts_table[i].offset;

                if (strcmp(facts_table[i].name, name) == 0)
                        return facts_table[i].read ? facts_table[i].read(message, facts, fact)
                                                   : sd_bus_message_read(message, "v", facts_table[i].type, fact);
        }

        if (sd_bus_message_peek_type(message, &type, &contents) <= 0 || g_strcmp0(contents, "a" COMMAND_TYPE) != 0)
                return sd_bus_message_skip(message, "v");

        r = read_commands(&facts->commands, g_intern_string(name), message);
        facts->conditional |= r > 0 && strcmp(name, "ExecCondition") == 0;
        return r;
}

int unit_facts_read(UnitFacts *facts, sd_bus_message *message) {
        const char *name;
        int r;

        r = sd_bus_message_enter_container(message, 'a', "{sv}");
        if (r < 0)
                return r;

        while ((r = sd_bus_message_enter_container(message, 'e', "sv")) > 0) {
                r = sd_bus_message_read(message, "s", &name);
                if (r >= 0)
                        r = unit_facts_read_one(facts, name, message);
                if (r >= 0)
                        r = sd_bus_message_exit_container(message);
                if (r < 0)
                        return r;
        }

        return r < 0 ? r : sd_bus_message_exit_container(message);
}

bool unit_facts_are_up(const UnitFacts *facts) {
        return unit_state_is_up(facts->active_state);
}

bool unit_facts_are_down(const UnitFacts *facts) {
        return unit_fact_is(facts->active_state, "inactive") || unit_fact_is(facts->active_state, "failed");
}

bool unit_facts_have_starters(const UnitFacts *facts) {
        return (facts->triggered_by && *facts->triggered_by) || (facts->upheld_by && *facts->upheld_by);
}

bool unit_facts_have_successors(const UnitFacts *facts) {
        return (facts->on_success && *facts->on_success) || (facts->on_failure && *facts->on_failure);
}

static bool is_success(const UnitFacts *facts, int code, int status) {
        return code == CLD_EXITED && (status == 0 || (status > 0 && status <= UINT8_MAX &&
                                                      facts->success_statuses[status / 32] >> status % 32 & 1));
}

bool unit_facts_show_success(const UnitFacts *facts) {
        const GArray *ended = facts->commands.ended;

        for (unsigned i = 0; ended && i < ended->len; i++) {
                const UnitCommand *command = &g_array_index(ended, UnitCommand, i);

                if (command->ended >= facts->left_inactive && !is_success(facts, command->code, command->status))
                        return false;
        }

        return is_success(facts, facts->exec_main_code, facts->exec_main_status) ||
               (facts->exec_main_code == CLD_EXITED && facts->commands.last_may_fail);
}

/* The sub-state shows it until systemd begins to start the unit. */
bool unit_facts_are_restarting(const UnitFacts *facts) {
        bool restarts = facts->restart && strcmp(facts->restart, "no") != 0;

        return (facts->sub_state && unit_sub_state_restarts(facts->sub_state)) ||
               (restarts && (g_strcmp0(facts->active_state, "activating") == 0 || unit_facts_are_up(facts)));
}

void unit_facts_set(char **fact, const char *value) {
        g_free(*fact);
        *fact = g_strdup(value);
}

bool unit_fact_is(const char *fact, const char *value) {
        return g_strcmp0(fact, value) == 0;
}

void unit_facts_clear(UnitFacts *facts) {
        for (size_t i = 0; i < G_N_ELEMENTS(facts_table); i++) {
                void *fact = (char *) facts + facts_table[i].offset;

                if (facts_table[i].read == read_strings)
                        g_strfreev(*(char ***) fact);
                else if (facts_table[i].read && facts_table[i].read != read_job &&
                         facts_table[i].read != read_success_statuses)
                        g_free(*(char **) fact);
        }
        g_free(facts->job_path);
        g_free(facts->failed_required);
        g_free(facts->required_reason);
        g_free(facts->conflicting);
        g_free(facts->frozen);
        g_free(facts->words);
        g_strfreev(facts->starters);
        g_clear_pointer(&facts->commands.ended, g_array_unref);
        *facts = (UnitFacts){};
}

char *unit_facts_describe(const UnitFacts *facts) {
        return g_strdup_printf("%s (%s)", facts->active_state ?: "unknown", facts->sub_state ?: "unknown");
}

/* A match for the object of the unit and a subscription; the watch is ready when the bus and systemd have confirmed
 * both. */
struct UnitWatch {
        Connection *connection;
        char *path;
        const UnitWatchCallbacks *callbacks;
        void *userdata;
        Subscription *subscription;
        Match *match;
        bool matched;
        Call *read;
        UnitFacts facts;
};

static void on_subscribed(void *userdata) {
        UnitWatch *watch = userdata;

        if (!unit_watch_is_ready(watch))
                return;

        if (watch->callbacks->ready)
                watch->callbacks->ready(watch->userdata);
        else
                unit_watch_read(watch);
}

static void on_matched(void *userdata) {
        UnitWatch *watch = userdata;

        watch->matched = true;
        on_subscribed(watch);
}

static void on_lost(const sd_bus_error *error, void *userdata) {
        UnitWatch *watch = userdata;

        /* The match outlives a service manager, but not the bus. */
        if (!connection_is_ready(watch->connection))
                watch->matched = false;
        g_clear_pointer(&watch->read, call_free);
}

static void on_properties_changed(sd_bus_message *message, void *userdata) {
        UnitWatch *watch = userdata;

        if (!subscription_is_active(watch->subscription))
                return;

        if (sd_bus_message_skip(message, "s") >= 0 && unit_facts_read(&watch->facts, message) >= 0)
                watch->callbacks->changed(watch->userdata);
}

static void watch_match(UnitWatch *watch) {
        SignalPattern pattern = {
                .sender = SYSTEMD_NAME,
                .path = watch->path,
                .interface = "org.freedesktop.DBus.Properties",
                .member = "PropertiesChanged",
        };

        match_free(watch->match);
        watch->matched = false;
        watch->match = connection_match(watch->connection, &pattern, on_properties_changed, on_matched, watch);
}

static void on_read(sd_bus_message *reply, const sd_bus_error *error, void *userdata) {
        UnitWatch *watch = userdata;
        g_autofree char *path = NULL;

        if (error) {
                watch->callbacks->failed(error, watch->userdata);
                return;
        }
        if (unit_facts_read(&watch->facts, reply) < 0)
                return;

        path = watch->facts.id ? unit_name_path(watch->facts.id) : NULL;
        if (!path || g_str_equal(path, watch->path)) {
                watch->callbacks->changed(watch->userdata);
                return;
        }

        /* The object of an alias has the properties of the unit, but no signals. The other object is watched now, and
         * the watch will be ready again. */
        g_free(watch->path);
        watch->path = g_steal_pointer(&path);
        watch_match(watch);
}

UnitWatch *unit_watch_new(Connection *connection, const char *path, const UnitWatchCallbacks *callbacks,
                          void *userdata) {
        static const SubscriptionCallbacks subscription_callbacks = { .subscribed = on_subscribed, .lost = on_lost };
        UnitWatch *watch = g_new0(UnitWatch, 1);

        watch->connection = connection;
        watch->path = g_strdup(path);
        watch->callbacks = callbacks;
        watch->userdata = userdata;

        watch->subscription = subscription_new(connection, &subscription_callbacks, watch);
        watch_match(watch);
        return watch;
}

void unit_watch_free(UnitWatch *watch) {
        if (!watch)
                return;

        call_free(watch->read);
        match_free(watch->match);
        subscription_free(watch->subscription);
        unit_facts_clear(&watch->facts);
        g_free(watch->path);
        g_free(watch);
}

void unit_watch_read(UnitWatch *watch) {
        call_free(watch->read);
        watch->read = systemd_get_all(watch->connection, watch->path, "", on_read, watch);
}

bool unit_watch_is_ready(const UnitWatch *watch) {
        return watch->matched && subscription_is_active(watch->subscription);
}

UnitFacts *unit_watch_facts(UnitWatch *watch) {
        return &watch->facts;
}
