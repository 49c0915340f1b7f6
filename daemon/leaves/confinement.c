/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* systemd mounts a directory with a name of its own there, which can be told from /proc/self/mountinfo, see proc(5). */

#include <glib.h>
#include <stdbool.h>
#include <string.h>

#include "leaves/confinement.h"

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
