/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * systemd mounts a directory with a name of its own there, which can be told from /proc/self/mountinfo, see proc(5).
 * Whether the network can be used is tried; to enter a container takes a capability.
 */

#include <errno.h>
#include <glib.h>
#include <linux/capability.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "leaves/path/confinement.h"

/* What systemd calls such directories. */
#define PRIVATE "/systemd-private-"

/* In mountinfo, the fourth field is what is mounted, and the fifth where. */
static bool line_mounts_private(const char *line, const char *directory) {
        g_auto(GStrv) fields = g_strsplit(line, " ", 6);

        return g_strv_length(fields) == 6 && strstr(fields[3], PRIVATE) && strcmp(fields[4], directory) == 0;
}

static bool is_private(const char *directory) {
        g_autofree char *text = NULL;
        g_auto(GStrv) lines = NULL;

        if (!g_file_get_contents("/proc/self/mountinfo", &text, NULL, NULL))
                return false;

        lines = g_strsplit(text, "\n", -1);
        for (char **line = lines; *line; line++)
                if (line_mounts_private(*line, directory))
                        return true;

        return false;
}

static bool is_below(const char *path, const char *directory) {
        size_t n = strlen(directory);

        return strncmp(path, directory, n) == 0 && (path[n] == '/' || path[n] == 0);
}

const char *confinement_hides(const char *path) {
        static const char *const directories[] = { "/tmp", "/var/tmp" };

        for (size_t i = 0; i < G_N_ELEMENTS(directories); i++)
                if (is_below(path, directories[i]) && is_private(directories[i]))
                        return "btd has a /tmp and a /var/tmp of its own; put PrivateTmp=no into a drop-in of "
                               "btd.service";

        return NULL;
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

bool confinement_denies_bus(const char *bus, char **ret_reason) {
        const char *reason = NULL;

        if ((g_str_has_prefix(bus, "host:") || g_str_has_prefix(bus, "tcp:")) && !has_network())
                reason = "its service may not use the network (RestrictAddressFamilies=)";
        else if ((g_str_has_prefix(bus, "machine:") || g_str_has_prefix(bus, "x-machine-unix:")) &&
                 !can_enter_containers())
                reason = "it may not enter containers, which takes CAP_SYS_ADMIN";
        if (!reason)
                return false;

        *ret_reason =
                g_strdup_printf("this btd cannot reach '%s': %s; run a Spawn of busctl(1) in its place", bus, reason);
        return true;
}
