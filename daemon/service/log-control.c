/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Implements the interface org.freedesktop.LogControl1, as systemd's own daemons do: "systemctl service-log-level btd
 * debug" sets the level of the log until btd exits. Who sets something is asked as for any change, so sd-bus only knows
 * how to get the properties.
 */

#include <errno.h>
#include <string.h>

#include "basic/excerpt.h"
#include "basic/log.h"
#include "service/errors.h"
#include "service/log-control.h"

static int get_level(sd_bus *bus, const char *path, const char *interface, const char *property, sd_bus_message *reply,
                     void *userdata, sd_bus_error *ret_error) {
        return sd_bus_message_append(reply, "s", log_level_names[log_level()]);
}

static int get_target(sd_bus *bus, const char *path, const char *interface, const char *property, sd_bus_message *reply,
                      void *userdata, sd_bus_error *ret_error) {
        return sd_bus_message_append(reply, "s", log_goes_to_journal() ? "journal" : "console");
}

static int get_identifier(sd_bus *bus, const char *path, const char *interface, const char *property,
                          sd_bus_message *reply, void *userdata, sd_bus_error *ret_error) {
        return sd_bus_message_append(reply, "s", "btd");
}

/* log_control_take() has taken all calls. */
static int refuse_set(sd_bus *bus, const char *path, const char *interface, const char *property, sd_bus_message *value,
                      void *userdata, sd_bus_error *ret_error) {
        return -EACCES;
}

const sd_bus_vtable log_control_vtable[] = {
        SD_BUS_VTABLE_START(0),

        SD_BUS_WRITABLE_PROPERTY("LogLevel", "s", get_level, refuse_set, 0, SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_WRITABLE_PROPERTY("LogTarget", "s", get_target, refuse_set, 0, SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_PROPERTY("SyslogIdentifier", "s", get_identifier, 0, SD_BUS_VTABLE_PROPERTY_CONST),

        SD_BUS_VTABLE_END,
};

static int set_level(const char *value, const Caller *who, sd_bus_error *ret_error) {
        g_autofree char *shown = excerpt(value, strlen(value));

        for (int level = 0; log_level_names[level]; level++) {
                if (!g_str_equal(value, log_level_names[level]))
                        continue;

                log_notice("the log level was set to '%s' by %s", value, who->text);
                log_set_level(level);
                return 0;
        }

        return sd_bus_error_setf(ret_error, SD_BUS_ERROR_INVALID_ARGS,
                                 "'%s' is not a log level; the levels are emerg, alert, crit, err, warning, notice, "
                                 "info and debug",
                                 shown);
}

static int set_target(const char *value, const Caller *who, sd_bus_error *ret_error) {
        g_autofree char *shown = excerpt(value, strlen(value));
        bool journal = g_str_equal(value, "journal");

        if (!journal && !g_str_equal(value, "console") && !g_str_equal(value, "auto"))
                return sd_bus_error_setf(ret_error, SD_BUS_ERROR_INVALID_ARGS,
                                         "'%s' is not a target of the log; the targets are journal, console and auto",
                                         shown);

        log_notice("the target of the log was set to '%s' by %s", value, who->text);
        if (g_str_equal(value, "auto"))
                log_choose_target();
        else if (!log_set_target(journal))
                return sd_bus_error_set(ret_error, SD_BUS_ERROR_FAILED,
                                        "the journal cannot be reached, so messages go to stderr");
        return 0;
}

static int set(sd_bus_message *message, const Caller *who, void *userdata, sd_bus_error *ret_error) {
        const char *property, *value;
        int r = sd_bus_message_read(message, "ss", NULL, &property);

        if (r >= 0)
                r = sd_bus_message_read(message, "v", "s", &value);
        if (r < 0)
                return error_from_message(ret_error, r);

        r = g_str_equal(property, "LogLevel") ? set_level(value, who, ret_error) : set_target(value, who, ret_error);
        return r < 0 ? r : sd_bus_reply_method_return(message, NULL);
}

int log_control_take(const Published *published, sd_bus_message *message, sd_bus_error *ret_error) {
        const char *interface, *property;
        int r;

        if (sd_bus_message_is_method_call(message, "org.freedesktop.DBus.Properties", "Set") <= 0 ||
            !g_str_equal(sd_bus_message_get_path(message), LOG_CONTROL_PATH) ||
            !sd_bus_message_has_signature(message, "ssv"))
                return 0;

        r = error_from_message(ret_error, sd_bus_message_read(message, "ss", &interface, &property));
        if (r >= 0)
                r = sd_bus_message_verify_type(message, 'v', "s");
        (void) sd_bus_message_rewind(message, true);
        if (r <= 0 || !g_str_equal(interface, LOG_CONTROL_INTERFACE) ||
            !(g_str_equal(property, "LogLevel") || g_str_equal(property, "LogTarget")))
                return MIN(r, 0);

        return published_authorize(published, message, (Request){ PERMISSION_LOG }, set, ret_error);
}
