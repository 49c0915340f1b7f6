/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * When one command of a service fails, systemd stops the others: after a failed ExecStartPost= the main process is
 * killed, too. So the failure that came first is behind the result, if it is of the kind that the result names.
 */

#include <signal.h>
#include <string.h>

#include "leaves/unit/unit-commands.h"

#define TYPE "(sasbttttuii)"

/* In the order in which systemd executes them. words: other than "NAME= command", if there is no such setting. */
static const struct {
        const char *property, *words, *limit;
} settings[] = {
        { "ExecCondition", NULL, "TimeoutStartSec=" },
        { "ExecStartPre", NULL, "TimeoutStartSec=" },
        { "ExecStart", NULL, "TimeoutStartSec=" },
        { "ExecStartPost", NULL, "TimeoutStartSec=" },
        { "ExecReload", NULL, "TimeoutStartSec=" },
        { "ExecReloadPost", NULL, "TimeoutStartSec=" },
        { "ExecStop", NULL, "TimeoutStopSec=" },
        { "ExecStopPre", NULL, "TimeoutSec=" }, /* of sockets */
        { "ExecStopPost", NULL, "TimeoutStopSec=" },
        { "ExecMount", "mount command", "TimeoutSec=" },
        { "ExecRemount", "remount command", "TimeoutSec=" },
        { "ExecUnmount", "unmount command", "TimeoutSec=" },
        { "ExecActivate", "swapon command", "TimeoutSec=" },
        { "ExecDeactivate", "swapoff command", "TimeoutSec=" },
};

static void command_clear(void *data) {
        g_free(((UnitCommand *) data)->program);
}

void unit_commands_clear(UnitCommands *commands) {
        g_clear_pointer(&commands->ended, g_array_unref);
        commands->n_start = 0;
}

const char *unit_commands_setting(const char *property) {
        for (size_t i = 0; i < G_N_ELEMENTS(settings); i++)
                if (strcmp(settings[i].property, property) == 0)
                        return settings[i].property;

        return NULL;
}

/* Path, arguments, whether its failure is ignored, start and end by two clocks, PID, how it has ended. */
static int read_command(UnitCommands *commands, const char *setting, sd_bus_message *message) {
        UnitCommand command = { .setting = setting };
        const char *program;
        int ignored, r;

        r = sd_bus_message_read(message, "s", &program);
        if (r >= 0)
                r = sd_bus_message_skip(message, "as");
        if (r >= 0)
                r = sd_bus_message_read(message, "bttttuii", &ignored, NULL, &command.started, NULL, &command.ended,
                                        NULL, &command.code, &command.status);
        if (r < 0 || ignored || command.code == 0)
                return r;

        if (!commands->ended) {
                commands->ended = g_array_new(FALSE, FALSE, sizeof(UnitCommand));
                g_array_set_clear_func(commands->ended, command_clear);
        }
        command.program = g_strdup(program);
        g_array_append_val(commands->ended, command);
        return 0;
}

int unit_commands_read(UnitCommands *commands, const char *setting, sd_bus_message *message) {
        int r = sd_bus_message_enter_container(message, 'v', "a" TYPE), n = 0;

        for (unsigned i = commands->ended ? commands->ended->len : 0; i-- > 0;)
                if (g_array_index(commands->ended, UnitCommand, i).setting == setting)
                        g_array_remove_index(commands->ended, i);
        if (r >= 0)
                r = sd_bus_message_enter_container(message, 'a', TYPE);
        while (r >= 0 && (r = sd_bus_message_enter_container(message, 'r', "sasbttttuii")) > 0) {
                r = read_command(commands, setting, message);
                if (r >= 0)
                        r = sd_bus_message_exit_container(message);
                n++;
        }
        if (r >= 0)
                r = sd_bus_message_exit_container(message);
        if (r >= 0)
                r = sd_bus_message_exit_container(message);

        if (strcmp(setting, "ExecStart") == 0)
                commands->n_start = (unsigned) n;
        return r < 0 ? r : n;
}

static bool led_to(const UnitCommand *command, const char *result) {
        bool exited = command->code == CLD_EXITED;

        if (strcmp(result, "exit-code") == 0)
                return exited && command->status != 0;
        if (strcmp(result, "signal") == 0)
                return command->code == CLD_KILLED;
        if (strcmp(result, "core-dump") == 0)
                return command->code == CLD_DUMPED;
        if (strcmp(result, "exec-condition") == 0)
                return exited && command->status != 0 && command->setting &&
                       strcmp(command->setting, "ExecCondition") == 0;

        return strcmp(result, "timeout") == 0 && !exited && command->code != 0;
}

/* systemd kills a command that takes too long together with the main process, which was started before it. */
static bool is_better(const UnitCommand *command, const UnitCommand *best, const char *result) {
        if (!best)
                return true;

        return strcmp(result, "timeout") == 0 ? command->started > best->started : command->ended < best->ended;
}

const UnitCommand *unit_commands_find(const UnitCommands *commands, const char *result, const UnitCommand *main,
                                      bool forks, const char *setting) {
        bool by_name = forks || commands->n_start > 1;
        const UnitCommand *best = !setting && (forks || !by_name) && led_to(main, result) ? main : NULL;

        for (unsigned i = 0; commands->ended && i < commands->ended->len; i++) {
                const UnitCommand *command = &g_array_index(commands->ended, UnitCommand, i);
                bool wanted = setting ? strcmp(command->setting, setting) == 0
                                      : !g_str_has_prefix(command->setting, "ExecReload") &&
                                                (by_name || strcmp(command->setting, "ExecStart") != 0);

                if (wanted && led_to(command, result) && is_better(command, best, result))
                        best = command;
        }
        return best;
}

char *unit_command_describe(const UnitCommand *command) {
        if (!command->setting)
                return g_strdup("its main process");

        for (size_t i = 0; i < G_N_ELEMENTS(settings); i++)
                if (settings[i].words && strcmp(settings[i].property, command->setting) == 0)
                        return g_strdup_printf("its %s %s", settings[i].words, command->program);

        return g_strdup_printf("its %s= command %s", command->setting, command->program);
}

const char *unit_command_limit(const UnitCommand *command) {
        for (size_t i = 0; i < G_N_ELEMENTS(settings); i++)
                if (g_strcmp0(settings[i].property, command->setting) == 0)
                        return settings[i].limit;

        return NULL;
}
