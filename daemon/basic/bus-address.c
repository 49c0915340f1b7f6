/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Knows the names that a bus can have in a tree file. Whether btd may use the network is found out by making a socket;
 * to enter a container needs a capability.
 */

#include <errno.h>
#include <glib.h>
#include <linux/capability.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "basic/bus-address.h"
#include "basic/nearest.h"

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

int bus_address_of(const char *name, char **ret_address, char **ret_error) {
        Nearest nearest = { .word = name };

        for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++) {
                size_t length = strlen(kinds[i].prefix);

                if (strncmp(name, kinds[i].prefix, length) == 0 && (!kinds[i].whole || name[length] == '\0'))
                        return kinds[i].address(name + length, ret_address, ret_error);
                if (kinds[i].whole)
                        nearest_offer(&nearest, kinds[i].prefix);
        }

        if (g_regex_match_simple("^(unix|unixexec|tcp|x-machine-unix):[a-z0-9]+=", name, G_REGEX_RAW, 0)) {
                *ret_address = g_strdup(name);
                return 0;
        }

        *ret_error = g_strdup_printf("'%s' is not the name of a bus: expected \"system\", \"session\", "
                                     "\"host:USER@HOST\", \"machine:NAME\" or an address such as "
                                     "\"unix:path=/run/my-bus\"%s%s%s",
                                     name, nearest.best ? "; did you mean \"" : "", nearest.best ?: "",
                                     nearest.best ? "\"?" : "");
        return -EINVAL;
}

int bus_address_check(const char *name, char **ret_error) {
        g_autofree char *address = NULL, *error = NULL;

        if (bus_address_of(name, &address, &error) != -EINVAL)
                return 0;

        *ret_error = g_steal_pointer(&error);
        return -EINVAL;
}

static bool has_network(void) {
        int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

        if (fd < 0)
                return errno != EAFNOSUPPORT && errno != EPERM && errno != EACCES;

        (void) close(fd);
        return true;
}

static bool can_enter_containers(void) {
        struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
        struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {};

        return syscall(SYS_capget, &header, data) < 0 ||
               data[CAP_TO_INDEX(CAP_SYS_ADMIN)].effective & CAP_TO_MASK(CAP_SYS_ADMIN);
}

bool bus_address_is_denied(const char *bus, char **ret_reason) {
        const char *reason = NULL, *instead = "run a Spawn of busctl(1) in its place";
        bool of_user =
                g_str_has_prefix(bus, "unix:path=/run/user/") ||
                (g_str_equal(bus, "session") && !g_getenv("DBUS_SESSION_BUS_ADDRESS") && !g_getenv("XDG_RUNTIME_DIR"));

        if ((g_str_has_prefix(bus, "host:") || g_str_has_prefix(bus, "tcp:")) && !has_network())
                reason = "its service may not use the network (RestrictAddressFamilies=)";
        else if ((g_str_has_prefix(bus, "machine:") || g_str_has_prefix(bus, "x-machine-unix:")) &&
                 !can_enter_containers())
                reason = "it may not enter containers, which takes CAP_SYS_ADMIN";
        else if (of_user && geteuid() == 0 && !can_enter_containers()) {
                reason = "the bus of a user accepts only this user";
                instead = "put the tree into ~/.config/btd/trees of the user, for 'btd --user'";
        }
        if (!reason)
                return false;

        *ret_reason = g_strdup_printf("this btd cannot reach '%s': %s; %s", bus, reason, instead);
        return true;
}
