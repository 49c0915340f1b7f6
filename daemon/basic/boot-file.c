/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Reads and writes small state files. An invalid file counts as absent: no btd writes one. */

#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <glib/gstdio.h>
#include <json-c/json_tokener.h>
#include <stdio.h>
#include <string.h>
#include <systemd/sd-id128.h>
#include <unistd.h>

#include "basic/boot-file.h"
#include "basic/cleanup.h"
#include "basic/log.h"
#include "basic/write-all.h"

/* Much more than a variable may have: these files have variables inside. */
#define NESTING_MAX 1000

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
        char *end, *rest;
        json_tokener *tokener;
        json_object *value;

        if (!path || !g_file_get_contents(path, &text, NULL, NULL))
                return NULL;

        end = strchr(text, '\n');
        if (!end)
                return NULL;

        *end = '\0';
        if (!g_str_equal(text, boot_id()))
                return NULL;

        /* The rest of an older, longer text can follow, see write_file(). */
        rest = end + 1;
        rest[strcspn(rest, "\n")] = '\0';
        tokener = json_tokener_new_ex(NESTING_MAX);
        value = json_tokener_parse_ex(tokener, rest, -1);
        json_tokener_free(tokener);
        return value;
}

static char *text_of(json_object *value) {
        return g_strconcat(boot_id(), "\n", json_object_to_json_string_ext(value, JSON_C_TO_STRING_PLAIN), "\n", NULL);
}

void boot_file_write(const char *directory, const char *name, json_object *value) {
        g_autoptr(json_object) taken G_GNUC_UNUSED = value;
        g_autofree char *path = NULL, *new = NULL, *text = NULL;
        g_autoptr(GError) error = NULL;

        if (!directory)
                return;

        (void) g_mkdir_with_parents(directory, 0700);
        path = g_build_filename(directory, name, NULL);
        text = text_of(value);

        /* No sync: the file is not needed after the machine is restarted. */
        new = g_strconcat(path, ".new", NULL);
        if (!g_file_set_contents_full(new, text, -1, G_FILE_SET_CONTENTS_NONE, 0600, &error))
                log_warning("state for the next btd cannot be stored: %s", error->message);
        else if (g_rename(new, path) < 0)
                log_warning("state for the next btd cannot be stored, because %s cannot be replaced: %s", path,
                            g_strerror(errno));
}

/* Enough for what most machines store. */
#define ROOM (16 * 1024)
#define RETRY_USEC UINT64_C(1000000)

struct BootFile {
        Timers *timers;
        char *directory, *path, *spare; /* both files have their room; they change places with each write */
        char *text;                     /* what has to be written; NULL: it is */
        Timer *retry;
};

BootFile *boot_file_new(Timers *timers, const char *directory, const char *name) {
        BootFile *file = g_new0(BootFile, 1);

        file->timers = timers;
        if (directory) {
                file->directory = g_strdup(directory);
                file->path = g_build_filename(directory, name, NULL);
                file->spare = g_strconcat(file->path, ".new", NULL);
        }
        return file;
}

void boot_file_free(BootFile *file) {
        if (!file)
                return;

        timer_free(file->retry);
        g_free(file->directory);
        g_free(file->path);
        g_free(file->spare);
        g_free(file->text);
        g_free(file);
}

/* If there is no room now, there may be when the file is written. */
static void reserve(const char *path) {
        g_auto(AutoFd) fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);

        if (fd >= 0)
                (void) fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, ROOM);
}

json_object *boot_file_open(BootFile *file) {
        g_autofree char *name = NULL;

        if (!file->directory)
                return NULL;

        (void) g_mkdir_with_parents(file->directory, 0700);
        reserve(file->path);
        reserve(file->spare);
        name = g_path_get_basename(file->path);
        return boot_file_read(file->directory, name);
}

static void write_file(void *userdata) {
        BootFile *file = userdata;
        bool again = file->retry;
        g_auto(AutoFd) fd = open(file->spare, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
        /* The file is not truncated, so its room stays reserved. */
        int r = fd < 0 ? -errno : write_all(fd, file->text, strlen(file->text));

        if (r >= 0 && renameat2(AT_FDCWD, file->spare, AT_FDCWD, file->path, RENAME_EXCHANGE) < 0 &&
            g_rename(file->spare, file->path) < 0)
                r = -errno;
        g_clear_pointer(&file->retry, timer_free);
        if (r >= 0) {
                g_clear_pointer(&file->text, g_free);
                return;
        }

        if (!again)
                log_warning("%s cannot be written yet, so a restart of btd would lose state: %s", file->path,
                            g_strerror(-r));
        file->retry = timer_new(file->timers, RETRY_USEC, write_file, file);
}

void boot_file_store(BootFile *file, json_object *value) {
        g_autoptr(json_object) taken G_GNUC_UNUSED = value;

        if (!file->directory)
                return;

        g_free(file->text);
        file->text = text_of(value);
        write_file(file);
}
