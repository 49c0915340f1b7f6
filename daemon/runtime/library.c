/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Every look at the search path goes from the first directory to the last; the first entry of a name is the one that
 * counts. What was known and is not seen any more is gone, except where its directory could not be read.
 */

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "basic/nearest.h"
#include "definition/search-path.h"
#include "runtime/change.h"
#include "runtime/library.h"
#include "runtime/tree-directory.h"

typedef struct Entry {
        LibraryEntry public; /* first: what others see of it */
        bool listed;         /* the callbacks know of it */
        bool rootless;       /* its file has only trees to be included: then it is not listed */

        /* The look at the directories that is under way. */
        bool seen;
        char *path;
        Definition *definition;   /* NULL: it does not load */
        Diagnostics *diagnostics; /* NULL: its file has not been looked at */
} Entry;

struct Library {
        char **directories;
        bool secure;
        const NodeType *const *const *tables;
        const LibraryCallbacks *callbacks;
        void *userdata;
        GHashTable *entries; /* of name */
        unsigned max;        /* of them */
        Snapshot *snapshot;  /* while a look is under way */
};

static void entry_free(Entry *entry) {
        g_free(entry->public.name);
        g_free(entry->public.path);
        definition_unref(entry->public.definition);
        diagnostics_free(entry->public.diagnostics);
        g_free(entry->path);
        definition_unref(entry->definition);
        diagnostics_free(entry->diagnostics);
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
        library->max = UINT_MAX;
        library->userdata = userdata;
        library->entries = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, (GDestroyNotify) entry_free);
        return library;
}

void library_set_max(Library *library, unsigned max) {
        library->max = max;
}

void library_free(Library *library) {
        if (!library)
                return;

        g_hash_table_unref(library->entries);
        g_strfreev(library->directories);
        g_free(library);
}

static int compare_entries(const void *a, const void *b) {
        const LibraryEntry *const *x = a, *const *y = b;

        return strcmp((*x)->name, (*y)->name);
}

/* In order of name. */
static GPtrArray *find_entries(const Library *library, bool (*wanted)(const Entry *entry)) {
        GPtrArray *entries = g_ptr_array_new();
        GHashTableIter iter;
        void *value;

        g_hash_table_iter_init(&iter, library->entries);
        while (g_hash_table_iter_next(&iter, NULL, &value))
                if (wanted(value))
                        g_ptr_array_add(entries, value);

        g_ptr_array_sort(entries, compare_entries);
        return entries;
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

static char *on_find(const char *file, void *userdata) {
        const Library *library = userdata;

        return search_path_find((const char *const *) library->directories, file);
}

static char *on_nearest(const char *tree, void *userdata) {
        const Library *library = userdata;

        return search_path_nearest((const char *const *) library->directories, tree);
}

static int on_read(const char *path, char **ret_text, size_t *ret_length, char **ret_error, void *userdata) {
        const Library *library = userdata;

        return snapshot_read(library->snapshot, path, ret_text, ret_length, ret_error);
}

static DefinitionSources sources_of(Library *library) {
        return (DefinitionSources){ .find = on_find, .nearest = on_nearest, .read = on_read, .userdata = library };
}

/* Would it only say again what is known? Not sure of a tree that uses other files, which may be found elsewhere now. */
static bool is_unchanged(const Library *library, const Entry *entry, const char *path) {
        const Definition *definition = entry->public.definition;
        g_autofree char *text = NULL, *error = NULL;
        size_t length;

        if (!definition || definition_n_files(definition) != 1 || g_strcmp0(entry->public.path, path) != 0 ||
            !entry->public.diagnostics || diagnostics_count_errors(entry->public.diagnostics) > 0 ||
            snapshot_read(library->snapshot, path, &text, &length, &error) < 0)
                return false;

        return g_strcmp0(snapshot_hash(library->snapshot, path), definition_file_hash(definition, 0)) == 0;
}

static void look_at_file(Library *library, const char *name, const char *path) {
        DefinitionSources sources = sources_of(library);
        Entry *entry = entry_get(library, name);
        struct stat st;

        if (stat(path, &st) >= 0 && search_path_is_mask(&st)) {
                mask(library, entry, path);
                return;
        }

        entry->path = g_strdup(path);
        if (is_unchanged(library, entry, path)) {
                entry->definition = definition_ref(entry->public.definition);
                entry->diagnostics = g_steal_pointer(&entry->public.diagnostics);
                return;
        }

        entry->diagnostics = diagnostics_new(path);
        (void) definition_load_file(path, library->tables, &sources, entry->diagnostics, &entry->definition);
}

/* Takes what the look at the file has brought. */
static void update(Library *library, Entry *entry) {
        LibraryEntry *public = &entry->public;
        g_autoptr(Definition) definition = g_steal_pointer(&entry->definition);
        bool changed = diagnostics_count_errors(entry->diagnostics) > 0 ||
                       (public->diagnostics && diagnostics_count_errors(public->diagnostics) > 0) ||
                       g_strcmp0(public->path, entry->path) != 0;

        if (definition)
                entry->rootless = !definition_tree(definition);
        if (definition &&
            !(public->definition && g_str_equal(definition_hash(definition), definition_hash(public->definition)))) {
                definition_unref(public->definition);
                public->definition = g_steal_pointer(&definition);
                changed = true;
        }

        diagnostics_free(public->diagnostics);
        public->diagnostics = g_steal_pointer(&entry->diagnostics);
        g_free(public->path);
        public->path = g_steal_pointer(&entry->path);
        public->masked = false;
        if (entry->rootless)
                unlist(library, entry);
        else
                list(library, entry, changed);
}

/* A file that several trees use tells what is wrong with it through each of them. */
static void add_messages(const Diagnostics *diagnostics, GHashTable *told, GPtrArray *messages) {
        for (size_t i = 0; i < diagnostics_count(diagnostics); i++) {
                g_autofree char *message = diagnostics_format(diagnostics, i);

                if (diagnostics_get(diagnostics, i)->warning || g_hash_table_contains(told, message))
                        continue;

                g_hash_table_add(told, message);
                g_ptr_array_add(messages, g_steal_pointer(&message));
        }
}

static void hold(Entry *entry, const Change *change) {
        if (!entry->definition)
                return;

        diagnostics_add(entry->diagnostics, 0, DIAGNOSTICS_NOWHERE, false, NULL,
                        g_strdup_printf("stays as it was: '%s', which uses a file that has changed, too, does not load "
                                        "any more",
                                        change->held_by));
        g_clear_pointer(&entry->definition, definition_unref);
}

static bool was_looked_at(const Entry *entry) {
        return entry->diagnostics != NULL;
}

/* Trees that use the same changed files change together, or not at all. */
static void settle(Library *library, const GPtrArray *entries) {
        g_autoptr(GArray) changes = g_array_new(FALSE, FALSE, sizeof(Change));

        for (unsigned i = 0; i < entries->len; i++) {
                const Entry *entry = g_ptr_array_index(entries, i);
                Change change = { .name = entry->public.name,
                                  .before = entry->public.definition,
                                  .after = entry->definition };

                g_array_append_val(changes, change);
        }

        changes_settle(changes, library->snapshot);
        for (unsigned i = 0; i < entries->len; i++)
                if (g_array_index(changes, Change, i).held_by)
                        hold(g_ptr_array_index(entries, i), &g_array_index(changes, Change, i));
}

/* What has been looked at takes the place of what was there before, all at once. */
static void update_all(Library *library, GPtrArray *messages) {
        g_autoptr(GPtrArray) entries = find_entries(library, was_looked_at);
        g_autoptr(GHashTable) told = g_hash_table_new(g_str_hash, g_str_equal);

        settle(library, entries);
        for (unsigned i = 0; i < entries->len; i++) {
                Entry *entry = g_ptr_array_index(entries, i);

                add_messages(entry->diagnostics, told, messages);
                update(library, entry);
        }
}

static void refuse_more(const Library *library, const char *path, GPtrArray *messages) {
        g_ptr_array_add(messages, g_strdup_printf("%s: error: not loaded: there are %u trees already, which is the "
                                                  "limit; see --limit=trees= of btd(8)",
                                                  path, library->max));
}

static void look_at_trees(Library *library, const char *directory, const GPtrArray *names, GPtrArray *messages) {
        for (unsigned i = 0; i < names->len; i++) {
                const char *name = g_ptr_array_index(names, i);
                g_autofree char *path = tree_directory_path(directory, name);
                const Entry *entry = g_hash_table_lookup(library->entries, name);

                if (!entry && g_hash_table_size(library->entries) >= library->max)
                        refuse_more(library, path, messages);
                else if (!entry || !entry->seen)
                        look_at_file(library, name, path);
        }
}

/* A directory that cannot be read now says nothing about what was in it. */
static void keep_entries(Library *library, const char *directory) {
        GHashTableIter iter;
        void *value;

        g_hash_table_iter_init(&iter, library->entries);
        while (g_hash_table_iter_next(&iter, NULL, &value)) {
                Entry *entry = value;
                g_autofree char *parent = entry->seen ? NULL : g_path_get_dirname(entry->public.path);

                if (parent && g_str_equal(parent, directory))
                        entry->seen = true;
        }
}

static void look_at_directory(Library *library, const char *directory, GPtrArray *messages) {
        g_autoptr(GPtrArray) names = NULL;
        int r = tree_directory_read(directory, library->secure, &names, messages);

        if (r >= 0)
                look_at_trees(library, directory, names, messages);
        else if (r != -ENOENT)
                keep_entries(library, directory);
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

        library->snapshot = snapshot_new(library->secure);
        for (char **directory = library->directories; *directory; directory++)
                look_at_directory(library, *directory, messages);

        update_all(library, messages);
        forget_unseen(library);
        g_clear_pointer(&library->snapshot, snapshot_free);
}

int library_load_text(Library *library, const char *text, Diagnostics *diagnostics, Definition **ret_definition) {
        DefinitionSources sources = sources_of(library);
        int r;

        library->snapshot = snapshot_new(library->secure);
        r = definition_load_text(text, strlen(text), library->tables, &sources, diagnostics, ret_definition);
        g_clear_pointer(&library->snapshot, snapshot_free);
        return r;
}

const LibraryEntry *library_get(const Library *library, const char *name) {
        const Entry *entry = g_hash_table_lookup(library->entries, name);

        return entry && !entry->rootless ? &entry->public : NULL;
}

const char *library_nearest(const Library *library, const char *name) {
        Nearest nearest = { .word = name };
        g_autoptr(GPtrArray) entries = library_list(library);

        for (unsigned i = 0; i < entries->len; i++)
                nearest_offer(&nearest, ((const LibraryEntry *) g_ptr_array_index(entries, i))->name);

        return nearest.best;
}

static bool is_listed(const Entry *entry) {
        return entry->listed;
}

GPtrArray *library_list(const Library *library) {
        return find_entries(library, is_listed);
}
