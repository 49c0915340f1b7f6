/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Every look at the search path goes from the first directory to the last; the first entry of a name is the one that
 * counts. What was known and is not seen any more is gone, except where its directory could not be read.
 */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "basic/log.h"
#include "basic/nearest.h"
#include "runtime/library.h"
#include "runtime/trust.h"

#define SUFFIX ".json"
#define NAME_MAX_LENGTH 100u

/* /dev/null, see Documentation/admin-guide/devices.txt of Linux. */
#define DEV_NULL makedev(1, 3)

typedef struct Entry {
        LibraryEntry public; /* first: what others see of it */
        bool listed;         /* the callbacks know of it */
        bool seen;           /* in the look at the directories that is under way */
} Entry;

struct Library {
        char **directories;
        bool secure;
        const NodeType *const *const *tables;
        const LibraryCallbacks *callbacks;
        void *userdata;
        GHashTable *entries; /* of name */
};

static void entry_free(Entry *entry) {
        g_free(entry->public.name);
        g_free(entry->public.path);
        definition_unref(entry->public.definition);
        diagnostics_free(entry->public.diagnostics);
        g_free(entry);
}

Library *library_new(const char *const *directories, bool secure, const NodeType *const *const *tables,
                     const LibraryCallbacks *callbacks, void *userdata) {
        Library *library = g_new0(Library, 1);

        library->directories = g_new0(char *, g_strv_length((char **) directories) + 1);
        for (size_t i = 0; directories[i]; i++)
                library->directories[i] = g_canonicalize_filename(directories[i], NULL);
        library->secure = secure;
        library->tables = tables;
        library->callbacks = callbacks;
        library->userdata = userdata;
        library->entries = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, (GDestroyNotify) entry_free);
        return library;
}

void library_free(Library *library) {
        if (!library)
                return;

        g_hash_table_unref(library->entries);
        g_strfreev(library->directories);
        g_free(library);
}

bool library_name_valid(const char *name) {
        size_t length = strspn(name, G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS "_-");

        return length > 0 && length <= NAME_MAX_LENGTH && name[length] == '\0';
}

static void unlist(Library *library, Entry *entry) {
        if (!entry->listed)
                return;

        entry->listed = false;
        library->callbacks->removed(&entry->public, library->userdata);
}

static void list(Library *library, Entry *entry, bool changed) {
        if (!entry->listed)
                library->callbacks->added(&entry->public, library->userdata);
        else if (changed)
                library->callbacks->changed(&entry->public, library->userdata);

        entry->listed = true;
}

static Entry *entry_get(Library *library, const char *name) {
        Entry *entry = g_hash_table_lookup(library->entries, name);

        if (!entry) {
                entry = g_new0(Entry, 1);
                entry->public.name = g_strdup(name);
                g_hash_table_insert(library->entries, entry->public.name, entry);
        }

        entry->seen = true;
        return entry;
}

static void mask(Library *library, Entry *entry, const char *path) {
        unlist(library, entry);
        g_clear_pointer(&entry->public.definition, definition_unref);
        g_clear_pointer(&entry->public.diagnostics, diagnostics_free);
        g_free(entry->public.path);
        entry->public.path = g_strdup(path);
        entry->public.masked = true;
}

/* NULL: it is a file to be read. */
static char *file_refusal(const Library *library, const char *path, const struct stat *st) {
        if (!S_ISREG(st->st_mode))
                return g_strdup("is not a regular file");

        return library->secure ? trust_refusal(path, st) : NULL;
}

/* The same file that was looked at is read, whatever its path leads to by now. NULL: there are errors. */
static Definition *load(const Library *library, const char *path, int fd, const struct stat *st,
                        Diagnostics *diagnostics) {
        g_autofree char *refusal = file_refusal(library, path, st);
        g_autofree char *opened = g_strdup_printf("/proc/self/fd/%d", fd);
        Definition *definition = NULL;

        if (refusal)
                diagnostics_add(diagnostics, 0, DIAGNOSTICS_NOWHERE, false, NULL, g_steal_pointer(&refusal));
        else
                (void) definition_load_file(opened, library->tables, NULL, diagnostics, &definition);

        return definition;
}

/* Takes what the look at the file has brought. definition: NULL when it did not load. */
static void update(Library *library, Entry *entry, const char *path, Definition *definition, Diagnostics *diagnostics) {
        LibraryEntry *public = &entry->public;
        const Diagnostics *before = public->diagnostics;
        bool changed = diagnostics_count_errors(diagnostics) > 0 || (before && diagnostics_count_errors(before) > 0) ||
                       g_strcmp0(public->path, path) != 0;

        if (definition && public->definition &&
            g_str_equal(definition_hash(definition), definition_hash(public->definition))) {
                definition_unref(definition);
        } else if (definition) {
                definition_unref(public->definition);
                public->definition = definition;
                changed = true;
        }

        diagnostics_free(public->diagnostics);
        public->diagnostics = diagnostics;
        g_free(public->path);
        public->path = g_strdup(path);
        public->masked = false;
        list(library, entry, changed);
}

static void add_messages(const Diagnostics *diagnostics, GPtrArray *messages) {
        for (size_t i = 0; i < diagnostics_count(diagnostics); i++)
                if (!diagnostics_get(diagnostics, i)->warning)
                        g_ptr_array_add(messages, diagnostics_format(diagnostics, i));
}

static void look_at_file(Library *library, const char *name, const char *path, GPtrArray *messages) {
        g_auto(AutoFd) fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
        int error = fd < 0 ? errno : 0;
        Entry *entry = entry_get(library, name);
        Diagnostics *diagnostics;
        Definition *definition = NULL;
        struct stat st = { 0 };

        if (fd >= 0 && fstat(fd, &st) < 0)
                error = errno;
        if (fd >= 0 && S_ISCHR(st.st_mode) && st.st_rdev == DEV_NULL) {
                mask(library, entry, path);
                return;
        }

        diagnostics = diagnostics_new(path);
        if (error > 0)
                diagnostics_add(diagnostics, 0, DIAGNOSTICS_NOWHERE, false, NULL, g_strdup(g_strerror(error)));
        else
                definition = load(library, path, fd, &st, diagnostics);

        add_messages(diagnostics, messages);
        update(library, entry, path, definition, diagnostics);
}

static int compare_names(const void *a, const void *b) {
        return strcmp(*(const char *const *) a, *(const char *const *) b);
}

/* The names of the files that may be trees, sorted. */
static GPtrArray *file_names(DIR *stream) {
        GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
        const struct dirent *file;

        while ((file = readdir(stream)))
                if (file->d_name[0] != '.' && g_str_has_suffix(file->d_name, SUFFIX))
                        g_ptr_array_add(names, g_strdup(file->d_name));

        g_ptr_array_sort(names, compare_names);
        return names;
}

static void look_at_names(Library *library, const char *directory, const GPtrArray *names, GPtrArray *messages) {
        for (unsigned i = 0; i < names->len; i++) {
                const char *file = g_ptr_array_index(names, i);
                g_autofree char *name = g_strndup(file, strlen(file) - strlen(SUFFIX));
                g_autofree char *path = g_build_filename(directory, file, NULL);
                const Entry *entry = g_hash_table_lookup(library->entries, name);

                if (!library_name_valid(name))
                        log_warning("%s: not loaded: the name of a tree consists of letters, digits, '_' and '-', "
                                    "%u at most",
                                    path, NAME_MAX_LENGTH);
                else if (!entry || !entry->seen)
                        look_at_file(library, name, path, messages);
        }
}

/* A directory that cannot be read now says nothing about what was in it. */
static void keep_entries(Library *library, const char *directory) {
        GHashTableIter iter;
        void *value;

        g_hash_table_iter_init(&iter, library->entries);
        while (g_hash_table_iter_next(&iter, NULL, &value)) {
                Entry *entry = value;
                g_autofree char *parent = g_path_get_dirname(entry->public.path);

                if (g_str_equal(parent, directory))
                        entry->seen = true;
        }
}

static void refuse_directory(Library *library, const char *directory, const char *reason, GPtrArray *messages) {
        g_ptr_array_add(messages, g_strdup_printf("%s: error: %s", directory, reason));
        keep_entries(library, directory);
}

static void look_at_directory(Library *library, const char *directory, GPtrArray *messages) {
        DIR *stream = opendir(directory);
        g_autoptr(GPtrArray) names = NULL;
        g_autofree char *refusal = NULL;
        struct stat st;

        if (!stream) {
                if (errno != ENOENT)
                        refuse_directory(library, directory, g_strerror(errno), messages);
                return;
        }

        if (library->secure && fstat(dirfd(stream), &st) >= 0)
                refusal = trust_refusal(directory, &st);
        names = file_names(stream);
        closedir(stream);

        if (refusal)
                refuse_directory(library, directory, refusal, messages);
        else
                look_at_names(library, directory, names, messages);
}

static void forget_unseen(Library *library) {
        GHashTableIter iter;
        void *value;

        g_hash_table_iter_init(&iter, library->entries);
        while (g_hash_table_iter_next(&iter, NULL, &value)) {
                Entry *entry = value;

                if (entry->seen)
                        continue;

                unlist(library, entry);
                g_hash_table_iter_remove(&iter);
        }
}

void library_reload(Library *library, GPtrArray *messages) {
        GHashTableIter iter;
        void *value;

        g_hash_table_iter_init(&iter, library->entries);
        while (g_hash_table_iter_next(&iter, NULL, &value))
                ((Entry *) value)->seen = false;

        for (char **directory = library->directories; *directory; directory++)
                look_at_directory(library, *directory, messages);

        forget_unseen(library);
}

const LibraryEntry *library_get(const Library *library, const char *name) {
        return g_hash_table_lookup(library->entries, name);
}

const char *library_nearest(const Library *library, const char *name) {
        Nearest nearest = { .word = name };
        g_autoptr(GPtrArray) entries = library_list(library);

        for (unsigned i = 0; i < entries->len; i++)
                nearest_offer(&nearest, ((const LibraryEntry *) g_ptr_array_index(entries, i))->name);

        return nearest.best;
}

static int compare_entries(const void *a, const void *b) {
        const LibraryEntry *const *x = a, *const *y = b;

        return strcmp((*x)->name, (*y)->name);
}

GPtrArray *library_list(const Library *library) {
        GPtrArray *entries = g_ptr_array_new();
        GHashTableIter iter;
        void *value;

        g_hash_table_iter_init(&iter, library->entries);
        while (g_hash_table_iter_next(&iter, NULL, &value))
                if (((Entry *) value)->listed)
                        g_ptr_array_add(entries, value);

        g_ptr_array_sort(entries, compare_entries);
        return entries;
}
