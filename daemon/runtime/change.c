/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Reads each file once per scan. A file is trusted only if its directory is, because who can write the directory can
 * replace the file. Then finds trees that cannot be replaced: it starts with the trees that do not load any more,
 * follows shared changed files to other trees, and so on. */

#include <string.h>

#include "basic/trust.h"
#include "definition/sources.h"
#include "runtime/change.h"

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

/* Checks the open file, not the one that the path names now, and its directory. */
static char *refusal(const char *path, const struct stat *st) {
        g_autofree char *directory = g_path_get_dirname(path);
        struct stat around;

        if (stat(directory, &around) < 0)
                return NULL;

        return trust_refusal(path, st) ?: trust_refusal(directory, &around) ?: trust_refusal_on_way(path, st);
}

int file_contents_read(FileContents *contents, const char *path, char **ret_text, size_t *ret_length,
                       char **ret_error) {
        g_autofree char *canonical = g_canonicalize_filename(path, NULL);
        File *file = g_hash_table_lookup(contents->files, canonical);

        if (!file) {
                file = g_new0(File, 1);
                file->r = source_read_checked(path, contents->secure ? refusal : NULL, &file->text, &file->length,
                                              &file->error);
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

typedef struct Settling {
        GArray *changes;
        const FileContents *contents;
        GHashTable *users; /* path of a changed file -> GArray of indexes; files that were followed are removed */
        GArray *queue;     /* indexes */
} Settling;

static Change *change_at(const Settling *settling, unsigned i) {
        return &g_array_index(settling->changes, Change, i);
}

static char *file_at(const Definition *definition, size_t i) {
        return g_canonicalize_filename(definition_file(definition, i), NULL);
}

/* Finds files whose text differs from the text that the tree was loaded from. */
static void find_changed(Settling *settling, const Definition *before) {
        for (size_t i = 0; i < definition_n_files(before); i++) {
                g_autofree char *path = file_at(before, i);
                const char *hash = file_contents_hash(settling->contents, path);

                if (hash && !g_str_equal(hash, definition_file_hash(before, i)) &&
                    !g_hash_table_contains(settling->users, path))
                        g_hash_table_insert(settling->users, g_steal_pointer(&path),
                                            g_array_new(FALSE, FALSE, sizeof(unsigned)));
        }
}

static void find_users(Settling *settling, const Definition *definition, unsigned user) {
        for (size_t i = 0; definition && i < definition_n_files(definition); i++) {
                g_autofree char *path = file_at(definition, i);
                GArray *users = g_hash_table_lookup(settling->users, path);

                if (users)
                        g_array_append_val(users, user);
        }
}

static void hold(Settling *settling, unsigned i, const char *held_by) {
        if (change_at(settling, i)->held_by)
                return;

        change_at(settling, i)->held_by = held_by;
        g_array_append_val(settling->queue, i);
}

static void follow(Settling *settling, const Definition *definition, const char *held_by) {
        for (size_t i = 0; definition && i < definition_n_files(definition); i++) {
                g_autofree char *path = file_at(definition, i);
                g_autoptr(GArray) users = NULL;
                g_autofree char *key = NULL;

                if (!g_hash_table_steal_extended(settling->users, path, (void **) &key, (void **) &users))
                        continue;

                for (unsigned u = 0; u < users->len; u++)
                        hold(settling, g_array_index(users, unsigned, u), held_by);
        }
}

void changes_settle(GArray *changes, const FileContents *contents) {
        g_autoptr(GHashTable) users =
                g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify) g_array_unref);
        g_autoptr(GArray) queue = g_array_new(FALSE, FALSE, sizeof(unsigned));
        Settling settling = { .changes = changes, .contents = contents, .users = users, .queue = queue };

        for (unsigned i = 0; i < changes->len; i++)
                if (change_at(&settling, i)->before)
                        find_changed(&settling, change_at(&settling, i)->before);

        /* Trees that are new, or have never loaded, do not hold others back. */
        for (unsigned i = 0; i < changes->len; i++) {
                const Change *change = change_at(&settling, i);

                if (!change->before)
                        continue;

                find_users(&settling, change->before, i);
                find_users(&settling, change->after, i);
                if (!change->after)
                        hold(&settling, i, change->name);
        }

        for (unsigned i = 0; i < queue->len; i++) {
                const Change *change = change_at(&settling, g_array_index(queue, unsigned, i));

                follow(&settling, change->before, change->held_by);
                follow(&settling, change->after, change->held_by);
        }
}
