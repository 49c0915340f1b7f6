/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Reads and writes small state files. An invalid file counts as absent, because the files only make a restart
 * smoother. */

#include <errno.h>
#include <glib.h>
#include <glib/gstdio.h>
#include <json-c/json_tokener.h>
#include <string.h>
#include <systemd/sd-id128.h>

#include "basic/boot-file.h"
#include "basic/cleanup.h"
#include "basic/log.h"

const char *boot_id(void) {
        static char text[SD_ID128_STRING_MAX];
        const char *given = g_getenv("BTD_BOOT_ID"); /* set for a service that cannot read the boot ID */
        sd_id128_t id = SD_ID128_NULL;

        if (*text != '\0')
                return text;

        if (sd_id128_get_boot(&id) < 0 && given)
                (void) sd_id128_from_string(given, &id);
        sd_id128_to_string(id, text);

        return text;
}

json_object *boot_file_read(const char *directory, const char *name) {
        g_autofree char *path = directory ? g_build_filename(directory, name, NULL) : NULL, *text = NULL;
        char *end;

        if (!path || !g_file_get_contents(path, &text, NULL, NULL))
                return NULL;

        end = strchr(text, '\n');
        if (!end)
                return NULL;

        *end = '\0';
        return g_str_equal(text, boot_id()) ? json_tokener_parse(end + 1) : NULL;
}

void boot_file_write(const char *directory, const char *name, json_object *value) {
        g_autoptr(json_object) taken G_GNUC_UNUSED = value;
        g_autofree char *path = NULL, *new = NULL, *text = NULL;
        g_autoptr(GError) error = NULL;

        if (!directory)
                return;

        (void) g_mkdir_with_parents(directory, 0700);
        path = g_build_filename(directory, name, NULL);
        text = g_strconcat(boot_id(), "\n", json_object_to_json_string_ext(value, JSON_C_TO_STRING_PLAIN), "\n", NULL);

        /* No sync: the file is not needed after the machine is restarted. */
        new = g_strconcat(path, ".new", NULL);
        if (!g_file_set_contents_full(new, text, -1, G_FILE_SET_CONTENTS_NONE, 0600, &error))
                log_warning("state for the next btd cannot be stored: %s", error->message);
        else if (g_rename(new, path) < 0)
                log_warning("state for the next btd cannot be stored, because %s cannot be replaced: %s", path,
                            g_strerror(errno));
}
