/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * StartTransientUnit(name, mode, a(sv) properties, a(sa(sv)) other units).
 *
 * What a child would get, a unit gets, too, also after systemd was reloaded. Arguments that systemd would change go
 * through btd-exec, see leaf-types/spawn-handover.h. There is ExecStartEx with "no-env-expand" for the "$", but systemd
 * 252 cannot read that again when it is reloaded, and then refuses to start the unit.
 */

#include <string.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "leaf-types/spawn-handover.h"
#include "leaf-types/spawn-properties.h"
#include "leaves/spawn/spawn-transient.h"
#include "leaves/unit/systemd.h"

/* Each by itself: together they could become a line of the unit's file that is too long for systemd. */
static int append_variable(sd_bus_message *message, const char *variable) {
        return sd_bus_message_append(message, "(sv)", "Environment", "as", 1, variable);
}

static int append_string(sd_bus_message *message, const char *name, const char *value) {
        return value ? sd_bus_message_append(message, "(sv)", name, "s", value) : 0;
}

/* A list of one command: its path, its arguments, and whether a failure of it is to be ignored. */
static int append_command(sd_bus_message *message, const char *const *argv) {
        int r;

        r = sd_bus_message_open_container(message, 'r', "sv");
        if (r >= 0)
                r = sd_bus_message_append(message, "s", "ExecStart");
        if (r >= 0)
                r = sd_bus_message_open_container(message, 'v', "a(sasb)");
        if (r >= 0)
                r = sd_bus_message_open_container(message, 'a', "(sasb)");
        if (r >= 0)
                r = sd_bus_message_open_container(message, 'r', "sasb");
        if (r >= 0)
                r = sd_bus_message_append(message, "s", argv[0]);
        if (r >= 0)
                r = sd_bus_message_append_strv(message, (char **) argv);
        if (r >= 0)
                r = sd_bus_message_append(message, "b", false);
        for (int i = 0; i < 4 && r >= 0; i++)
                r = sd_bus_message_close_container(message);

        return r;
}

static int append_fds(sd_bus_message *message, const int fds[static 3]) {
        static const char *const names[] = {
                "StandardInputFileDescriptor",
                "StandardOutputFileDescriptor",
                "StandardErrorFileDescriptor",
        };
        int r = 0;

        for (int i = 0; i < 3 && r >= 0; i++)
                if (fds[i] >= 0)
                        r = sd_bus_message_append(message, "(sv)", names[i], "h", fds[i]);

        /* Standard error would follow standard output, unless the two are set to different things: what standard output
         * is set to does not matter where it has a descriptor. */
        if (r >= 0 && fds[STDOUT_FILENO] >= 0 && fds[STDERR_FILENO] < 0)
                r = sd_bus_message_append(message, "(sv)(sv)", "StandardOutput", "s", "null", "StandardError", "s",
                                          "journal");

        return r;
}

/* When it is reloaded, systemd takes what follows a blank for another field, also in quotes: it has escaped those. An
 * escape of our own is the same before and afterwards. */
static char *log_field(const char *name, const char *value) {
        GString *field = g_string_new(name);

        for (const char *p = value; *p; p++)
                if (*p == ' ')
                        g_string_append(field, "\\x20");
                else
                        g_string_append_c(field, *p);
        return g_string_free(field, FALSE);
}

/* Whom a message in the journal of the process is about, as in messages of the daemon. */
static int append_log_fields(sd_bus_message *message, const Leaf *leaf) {
        const char *const fields[][2] = {
                { "BTD_TREE=", leaf->tree },
                { "BTD_RUN=", leaf->run },
                { "BTD_NODE=", leaf->name },
        };
        int r;

        r = sd_bus_message_open_container(message, 'r', "sv");
        if (r >= 0)
                r = sd_bus_message_append(message, "s", "LogExtraFields");
        if (r >= 0)
                r = sd_bus_message_open_container(message, 'v', "aay");
        if (r >= 0)
                r = sd_bus_message_open_container(message, 'a', "ay");
        for (size_t i = 0; i < G_N_ELEMENTS(fields) && r >= 0; i++) {
                g_autofree char *field = log_field(fields[i][0], fields[i][1]);

                r = sd_bus_message_append_array(message, 'y', field, strlen(field));
        }
        for (int i = 0; i < 3 && r >= 0; i++)
                r = sd_bus_message_close_container(message);

        return r;
}

/* So that systemd does not write of a failure where there is none. */
static int append_success(sd_bus_message *message, json_object *success) {
        g_autofree int *statuses = NULL;
        size_t n;
        int r;

        if (!success)
                return 0;

        n = json_object_array_length(success);
        statuses = g_new(int, n);
        for (size_t i = 0; i < n; i++)
                statuses[i] = json_object_get_int(json_object_array_get_idx(success, i));

        r = sd_bus_message_open_container(message, 'r', "sv");
        if (r >= 0)
                r = sd_bus_message_append(message, "s", "SuccessExitStatus");
        if (r >= 0)
                r = sd_bus_message_open_container(message, 'v', "(aiai)");
        if (r >= 0)
                r = sd_bus_message_open_container(message, 'r', "aiai");
        if (r >= 0)
                r = sd_bus_message_append_array(message, 'i', statuses, n * sizeof(int));
        if (r >= 0)
                r = sd_bus_message_append(message, "ai", 0);
        for (int i = 0; i < 3 && r >= 0; i++)
                r = sd_bus_message_close_container(message);

        return r;
}

/* The properties that make a unit suitable for Spawn. */
static int append_nature(sd_bus_message *message, const SpawnRequest *request) {
        const SpawnParams *params = request->params;
        const Leaf *leaf = request->leaf;
        g_autofree char *description = g_strdup_printf("%s of %s", leaf->name, leaf->run);
        /* systemd takes 0 for infinity. */
        uint64_t kill_timeout = MAX(params->kill_timeout, 1);
        int r;

        r = append_string(message, "Description", description);
        if (r >= 0)
                r = append_string(message, "Type", "exec");
        if (r >= 0)
                r = sd_bus_message_append(message, "(sv)(sv)(sv)", "RemainAfterExit", "b", true, "KillSignal", "i",
                                          request->kill_signal, "TimeoutStopUSec", "t", kill_timeout);
        if (r >= 0)
                r = append_success(message, params->success_exit);

        return r < 0 ? r : append_log_fields(message, leaf);
}

static int append_plain_command(sd_bus_message *message, const SpawnParams *params) {
        int r = append_command(message, params->argv);

        for (size_t i = 0; params->env && params->env[i] && r >= 0; i++)
                r = append_variable(message, params->env[i]);

        return r < 0 ? r : append_string(message, "WorkingDirectory", params->cwd);
}

/* btd-exec tells the service manager whether it could execute the program, see unit_failed_to_start(). */
static int append_handed_command(sd_bus_message *message, const SpawnParams *params) {
        static const char *const argv[] = { BTD_EXEC, NULL };
        g_auto(GStrv) variables = spawn_handover_variables(params);
        g_autofree char *identifier = spawn_handover_identifier(params);
        int r;

        r = append_command(message, argv);
        if (r >= 0)
                r = append_string(message, "NotifyAccess", "main");
        if (r >= 0)
                r = append_string(message, "SyslogIdentifier", identifier);
        for (size_t i = 0; variables[i] && r >= 0; i++)
                r = append_variable(message, variables[i]);
        for (size_t i = 0; params->env && params->env[i] && r >= 0; i++)
                if (!spawn_handover_has_variable(params->env[i]))
                        r = append_variable(message, params->env[i]);
        if (r >= 0 && !spawn_handover_has_directory(params))
                r = append_string(message, "WorkingDirectory", params->cwd);

        return r;
}

/* The properties from the parameters of the user. */
static int append_process(sd_bus_message *message, const SpawnRequest *request) {
        const SpawnParams *params = request->params;
        int r;

        r = spawn_handover_reason(params) ? append_handed_command(message, params)
                                          : append_plain_command(message, params);
        if (r >= 0)
                r = append_string(message, "User", params->user);
        if (r >= 0)
                r = append_string(message, "Group", params->group);

        return r < 0 ? r : append_fds(message, request->fds);
}

int spawn_transient_message(Connection *connection, const SpawnRequest *request, const char *unit,
                            sd_bus_message **ret_message, char **ret_error) {
        g_autoptr(sd_bus_message) message = systemd_message(connection, SYSTEMD_MANAGER_PATH, SYSTEMD_MANAGER,
                                                            "StartTransientUnit", "ss", unit, "fail");
        int r;

        r = sd_bus_message_open_container(message, 'a', "(sv)");
        if (r >= 0)
                r = append_nature(message, request);
        if (r >= 0)
                r = append_process(message, request);
        if (r >= 0 && request->params->properties) {
                r = spawn_properties_append(message, request->params->properties, ret_error);
                if (r < 0)
                        return r;
        }
        if (r >= 0)
                r = sd_bus_message_close_container(message);
        if (r >= 0)
                r = sd_bus_message_append(message, "a(sa(sv))", 0);
        if (r < 0) {
                *ret_error = g_strdup_printf("cannot ask systemd for a unit: %s", g_strerror(-r));
                return r;
        }

        *ret_message = g_steal_pointer(&message);
        return 0;
}
