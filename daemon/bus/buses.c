/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Finds the address of a bus by its name, and keeps the one connection to it.
 */

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "basic/nearest.h"
#include "bus/buses.h"

struct Buses {
        GMainContext *context;
        char *default_name, *default_address;
        GHashTable *connections; /* by name */
        Connection *first;       /* the one of these to the default bus; NULL until first needed */
        Connection *second;      /* to the same bus; NULL until first needed */
};

static int system_address(const char *rest, char **ret_address, char **ret_error) {
        const char *address = g_getenv("DBUS_SYSTEM_BUS_ADDRESS");

        *ret_address = g_strdup(address ? address : "unix:path=/run/dbus/system_bus_socket");
        return 0;
}

static int session_address(const char *rest, char **ret_address, char **ret_error) {
        const char *address = g_getenv("DBUS_SESSION_BUS_ADDRESS"), *directory = g_getenv("XDG_RUNTIME_DIR");
        g_autofree char *escaped = NULL;

        if (address) {
                *ret_address = g_strdup(address);
                return 0;
        }

        if (!directory) {
                *ret_error = g_strdup("there is no session bus: set DBUS_SESSION_BUS_ADDRESS or XDG_RUNTIME_DIR");
                return -ENOENT;
        }

        escaped = g_uri_escape_string(directory, "/", FALSE);
        *ret_address = g_strdup_printf("unix:path=%s/bus", escaped);
        return 0;
}

/* "[USER@]HOST[:PORT][/MACHINE]", as in systemctl -H. Without a terminal, ssh must not prompt. */
static int host_address(const char *rest, char **ret_address, char **ret_error) {
        g_autoptr(GRegex) regex = g_regex_new("^([\\w.-]+@)?(?|\\[([[:xdigit:]:.]+)\\]|([[:alnum:]_][\\w.-]*))"
                                              "(?::(\\d{1,5}))?(?:/([[:alnum:]_][\\w.-]*))?$",
                                              G_REGEX_RAW | G_REGEX_DOLLAR_ENDONLY, 0, NULL);
        g_autofree char *user = NULL, *host = NULL, *port = NULL, *machine = NULL, *target = NULL;
        g_autoptr(GString) address = g_string_new("unixexec:path=ssh,argv1=-xT,argv2=-oBatchMode=yes");
        g_autoptr(GMatchInfo) match = NULL;
        unsigned n = 3;

        if (*rest == '-' || !g_regex_match(regex, rest, 0, &match)) {
                *ret_error = g_strdup_printf("'host:%s' is not the name of a bus: expected "
                                             "\"host:[USER@]HOST[:PORT][/MACHINE]\"",
                                             rest);
                return -EINVAL;
        }

        user = g_match_info_fetch(match, 1);
        host = g_match_info_fetch(match, 2);
        port = g_match_info_fetch(match, 3);
        machine = g_match_info_fetch(match, 4);
        target = g_uri_escape_string(host, NULL, FALSE);

        if (port && *port) {
                g_string_append_printf(address, ",argv%u=-p,argv%u=%s", n, n + 1, port);
                n += 2;
        }
        g_string_append_printf(address, ",argv%u=--,argv%u=%s%s,argv%u=systemd-stdio-bridge", n, n + 1,
                               user ? user : "", target, n + 2);
        if (machine && *machine)
                g_string_append_printf(address, ",argv%u=--machine=%s", n + 3, machine);

        *ret_address = g_strdup(address->str);
        return 0;
}

static int machine_address(const char *rest, char **ret_address, char **ret_error) {
        if (!g_regex_match_simple("^[[:alnum:]_][\\w.-]*$", rest, G_REGEX_RAW | G_REGEX_DOLLAR_ENDONLY, 0)) {
                *ret_error = g_strdup_printf("'machine:%s' is not the name of a bus: expected \"machine:NAME\" with "
                                             "the name of a local container",
                                             rest);
                return -EINVAL;
        }

        *ret_address = g_strdup_printf("x-machine-unix:machine=%s", rest);
        return 0;
}

static const struct {
        const char *prefix;
        bool whole; /* the prefix is the name */
        int (*address)(const char *rest, char **ret_address, char **ret_error);
} kinds[] = {
        { "system", true, system_address },
        { "session", true, session_address },
        { "host:", false, host_address },
        { "machine:", false, machine_address },
};

static bool is_address(const char *name) {
        return g_regex_match_simple("^(unix|unixexec|tcp|x-machine-unix):[a-z0-9]+=", name, G_REGEX_RAW, 0);
}

static const char *nearest_name(const char *name) {
        Nearest nearest = { .word = name };

        for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++)
                if (kinds[i].whole)
                        nearest_offer(&nearest, kinds[i].prefix);

        return nearest.best;
}

static int name_to_address(const char *name, char **ret_address, char **ret_error) {
        for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++) {
                size_t length = strlen(kinds[i].prefix);

                if (strncmp(name, kinds[i].prefix, length) == 0 && (!kinds[i].whole || name[length] == '\0'))
                        return kinds[i].address(name + length, ret_address, ret_error);
        }

        if (!is_address(name)) {
                const char *nearest = nearest_name(name);

                *ret_error =
                        g_strdup_printf("'%s' is not the name of a bus: expected \"system\", \"session\", "
                                        "\"host:USER@HOST\", \"machine:NAME\" or an address such as "
                                        "\"unix:path=/run/my-bus\"%s%s%s",
                                        name, nearest ? "; did you mean \"" : "", nearest ?: "", nearest ? "\"?" : "");
                return -EINVAL;
        }

        *ret_address = g_strdup(name);
        return 0;
}

Buses *buses_new(GMainContext *context, const char *default_name, const char *default_address) {
        Buses *buses = g_new0(Buses, 1);

        buses->context = context;
        buses->default_name = g_strdup(default_name);
        buses->default_address = g_strdup(default_address);
        buses->connections = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify) connection_free);
        return buses;
}

void buses_free(Buses *buses) {
        if (!buses)
                return;

        connection_free(buses->second);
        g_hash_table_unref(buses->connections);
        g_free(buses->default_address);
        g_free(buses->default_name);
        g_free(buses);
}

int buses_check_name(const char *name, char **ret_error) {
        g_autofree char *address = NULL, *error = NULL;

        if (name_to_address(name, &address, &error) != -EINVAL)
                return 0;

        *ret_error = g_steal_pointer(&error);
        return -EINVAL;
}

static int open_connection(Buses *buses, const char *name, const char *shown, Connection **ret_connection,
                           char **ret_error) {
        g_autofree char *address = NULL;
        int r = 0;

        if (buses->default_address && g_str_equal(name, buses->default_name))
                address = g_strdup(buses->default_address);
        else
                r = name_to_address(name, &address, ret_error);
        if (r < 0)
                return r;

        *ret_connection = connection_new(buses->context, shown, address);
        return 0;
}

static int get_named(Buses *buses, const char *name, const char *shown, Connection **ret_connection, char **ret_error) {
        Connection *connection = g_hash_table_lookup(buses->connections, name);
        int r;

        if (!connection) {
                r = open_connection(buses, name, shown, &connection, ret_error);
                if (r < 0)
                        return r;

                g_hash_table_insert(buses->connections, g_strdup(name), connection);
        }

        *ret_connection = connection;
        return 0;
}

int buses_get(Buses *buses, const char *name, const char *shown, Connection **ret_connection, char **ret_error) {
        int r;

        if (name)
                return get_named(buses, name, shown, ret_connection, ret_error);

        r = buses->first ? 0 : get_named(buses, buses->default_name, buses->default_name, &buses->first, ret_error);
        if (r >= 0)
                *ret_connection = buses->first;
        return r;
}

int buses_get_second(Buses *buses, Connection **ret_connection, char **ret_error) {
        int r = buses->second
                        ? 0
                        : open_connection(buses, buses->default_name, buses->default_name, &buses->second, ret_error);

        if (r >= 0)
                *ret_connection = buses->second;
        return r;
}
