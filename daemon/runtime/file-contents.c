/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Reads each file once per scan. A file is trusted only if its directory is, because who can write the directory can
 * replace the file. */

#include <string.h>

#include "basic/trust.h"
#include "definition/sources.h"
#include "runtime/file-contents.h"

typedef struct File {
        char *text;
        size_t length;
        char *hash;  /* computed at the first call; NULL: not computed */
        char *error; /* why it could not be read; NULL: it was read */
        int r;
} File;

struct FileContents {
        bool secure;
        GHashTable *files; /* canonical path -> File */
};

static void on_file_dropped(void *dropped) {
        File *file = dropped;

        g_free(file->text);
        g_free(file->hash);
        g_free(file->error);
        g_free(file);
}

FileContents *file_contents_new(bool secure) {
        FileContents *contents = g_new0(FileContents, 1);

        contents->secure = secure;
        contents->files = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, on_file_dropped);
        return contents;
}

void file_contents_free(FileContents *contents) {
        if (!contents)
                return;

        g_hash_table_unref(contents->files);
        g_free(contents);
}

/* Checks the open file, whatever the path leads to by now, and its directory. */
static char *refusal(const char *path, const struct stat *st) {
        g_autofree char *directory = g_path_get_dirname(path);
        struct stat around;

        if (stat(directory, &around) < 0)
                return NULL;

        return trust_refusal(path, st) ?: trust_refusal(directory, &around) ?: trust_refusal_on_way(path, st);
}

static File *read_file(const FileContents *contents, const char *path) {
        File *file = g_new0(File, 1);

        file->r =
                source_read_checked(path, contents->secure ? refusal : NULL, &file->text, &file->length, &file->error);
        return file;
}

int file_contents_read(FileContents *contents, const char *path, char **ret_text, size_t *ret_length,
                       char **ret_error) {
        g_autofree char *canonical = g_canonicalize_filename(path, NULL);
        File *file = g_hash_table_lookup(contents->files, canonical);

        if (!file) {
                file = read_file(contents, path);
                g_hash_table_insert(contents->files, g_steal_pointer(&canonical), file);
        }

        if (file->error) {
                *ret_error = g_strdup(file->error);
                return file->r;
        }

        *ret_text = g_malloc(file->length + 1);
        memcpy(*ret_text, file->text, file->length + 1);
        *ret_length = file->length;
        return 0;
}

const char *file_contents_hash(const FileContents *contents, const char *path) {
        g_autofree char *canonical = g_canonicalize_filename(path, NULL);
        File *file = g_hash_table_lookup(contents->files, canonical);

        if (!file || file->error)
                return NULL;
        if (!file->hash)
                file->hash = g_compute_checksum_for_data(G_CHECKSUM_SHA256, (const guint8 *) file->text, file->length);

        return file->hash;
}
