/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What no peer would understand, in words for people. */

#include <systemd/sd-bus.h>

#include "bus/value.h"
#include "leaves/dbus-message.h"

static char *args_problem(const DBusMessage *message) {
        g_autofree char *error = NULL;

        if (value_check(message->signature, message->args, &error) >= 0)
                return NULL;

        return g_strconcat("args: ", error, NULL);
}

static char *names_problem(const DBusMessage *message, const char *what) {
        char *error = NULL;

        if (message->member && !sd_bus_member_name_is_valid(message->member))
                return g_strdup_printf("member: '%s' is not the name of a %s", message->member, what);
        if (message->signature && value_check_signature(message->signature, &error) < 0)
                return error;

        return dbus_address_problem(&message->address);
}

/* Arguments that are not there may come from variables. */
char *dbus_message_problem(const DBusMessage *message, const char *what) {
        char *problem = names_problem(message, what);

        return problem || !message->args ? problem : args_problem(message);
}

char *dbus_message_problem_now(const DBusMessage *message, const char *what, bool checked) {
        char *problem;

        if (checked && message->args)
                return NULL;

        problem = names_problem(message, what);
        return problem ? problem : args_problem(message);
}
