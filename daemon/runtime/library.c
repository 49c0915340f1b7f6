/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Loads the trees of the search path. A scan goes from the first directory to the last; the first entry of a name
 * wins. A known tree that is not found again is removed, unless its directory could not be read.
 *
 * A scan has copies of all that it needs, so that it can run on a thread. The library changes only when it takes the
 * result of the scan.
 */

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>

#include "basic/foreach.h"
#include "basic/nearest.h"
#include "basic/sorted.h"
#include "basic/trust.h"
#include "definition/sources.h"
#include "runtime/library.h"
#include "runtime/tree-watch.h"

/* Trees freed in one turn, in less than a millisecond; large trees are freed elsewhere. */
#define FREED_AT_ONCE 50u

typedef struct KnownTree {
        LibraryEntry public; /* must be the first member: the public part */
        bool listed;         /* it was reported to the callbacks */
        bool rootless;       /* its file has only trees to include; it is not listed */
} KnownTree;

/* The search path, the node types and the limits. Immutable but for the watch, with an atomic reference count. */
struct SearchPath {
        char **directories;
        TreeWatch *watch; /* of all files that scans have read */
        bool secure;
        const NodeType *const *const *tables;
        Limits limits;
};

struct Library {
        SearchPath *search;
        const LibraryCallbacks *callbacks;
        void *userdata;
        GHashTable *entries; /* name -> KnownTree */
};

/* The result of a scan for one name. */
typedef struct Found {
        char *name;

        char *known_path;   /* path in the library; NULL: unknown name */
        Definition *before; /* NULL: it has never loaded */
        bool clean;         /* loaded without errors */

        bool seen; /* it exists, or its directory cannot be read */
        bool masked;
        bool unchanged;           /* the file has not changed */
        char *path;               /* NULL: the file was not read */
        Definition *after;        /* NULL: it does not load */
        const char *held_by;      /* the tree that prevents the change; or NULL */
        Diagnostics *diagnostics; /* NULL: the file was not read, or is unchanged */
} Found;

struct LibraryScan {
        SearchPath *search;
        GHashTable *found;   /* name -> Found */
        GPtrArray *sorted;   /* Found, sorted by name; set when the scan is done */
        GPtrArray *messages; /* error messages */
};

static void on_search_path_dropped(void *data) {
        SearchPath *search = data;

        g_strfreev(search->directories);
        tree_watch_free(search->watch);
}

static void search_path_unref(SearchPath *search) {
        g_atomic_rc_box_release_full(search, on_search_path_dropped);
}

static void entry_free(KnownTree *entry) {
        g_free(entry->public.name);
        g_free(entry->public.path);
        definition_unref(entry->public.definition);
        diagnostics_free(entry->public.diagnostics);
        g_free(entry);
}

Library *library_new(const char *const *directories, bool secure, const NodeType *const *const *tables,
                     const Limits *limits, const LibraryCallbacks *callbacks, void *userdata) {
        Library *library = g_new0(Library, 1);

        library->search = g_atomic_rc_box_new0(SearchPath);
        library->search->directories = g_new0(char *, g_strv_length((char **) directories) + 1);
        for (size_t i = 0; directories[i]; i++)
                library->search->directories[i] = g_canonicalize_filename(directories[i], NULL);
        library->search->watch = tree_watch_new();
        library->search->secure = secure;
        library->search->tables = tables;
        library->search->limits = *limits;
        library->callbacks = callbacks;
        library->userdata = userdata;
        library->entries = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, (GDestroyNotify) entry_free);
        return library;
}

void library_free(Library *library) {
        if (!library)
                return;

        g_hash_table_unref(library->entries);
        search_path_unref(library->search);
        g_free(library);
}

static void found_free(Found *found) {
        g_free(found->name);
        g_free(found->known_path);
        definition_unref(found->before);
        g_free(found->path);
        definition_unref(found->after);
        diagnostics_free(found->diagnostics);
        g_free(found);
}

static Found *found_add(LibraryScan *scan, const char *name) {
        Found *found = g_new0(Found, 1);

        found->name = g_strdup(name);
        g_hash_table_insert(scan->found, found->name, found);
        return found;
}

LibraryScan *library_scan_new(const Library *library) {
        LibraryScan *scan = g_new0(LibraryScan, 1);
        const LibraryEntry *entry;

        tree_watch_begin(library->search->watch);
        scan->search = g_atomic_rc_box_acquire(library->search);
        scan->found = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, (GDestroyNotify) found_free);
        scan->messages = g_ptr_array_new_with_free_func(g_free);
        TABLE_FOREACH(entry, library->entries) {
                Found *found = found_add(scan, entry->name);

                found->known_path = g_strdup(entry->path);
                found->before = entry->definition ? definition_ref(entry->definition) : NULL;
                found->clean = entry->diagnostics && diagnostics_count_errors(entry->diagnostics) == 0;
        }

        return scan;
}

void library_scan_free(LibraryScan *scan) {
        if (!scan)
                return;

        g_hash_table_unref(scan->found);
        if (scan->sorted)
                g_ptr_array_unref(scan->sorted);
        g_ptr_array_unref(scan->messages);
        search_path_unref(scan->search);
        g_free(scan);
}

bool library_scan_free_some(LibraryScan *scan) {
        for (unsigned i = 0; scan->sorted && scan->sorted->len > 0; i++) {
                if (i == FREED_AT_ONCE)
                        return false;

                g_hash_table_remove(
                        scan->found,
                        ((Found *) g_ptr_array_remove_index_fast(scan->sorted, scan->sorted->len - 1))->name);
        }

        library_scan_free(scan);
        return true;
}

const GPtrArray *library_scan_messages(const LibraryScan *scan) {
        return scan->messages;
}

typedef struct File {
        char *text;
        size_t length;
        char *hash;  /* computed at the first call; NULL: not computed */
        char *error; /* why it could not be read; NULL: it was read */
        int r;
} File;

/* Reads the files of one scan. Each file is read once, so that all trees that use it get the same text. A file is
 * trusted only if its directory is, because who can write the directory can replace the file. */
typedef struct Reader {
        const SearchPath *search;
        GHashTable *files; /* canonical path -> File */
        TreeWatch *watch;  /* NULL: the files are not watched */
        Work *work;        /* NULL: runs on the main loop */
} Reader;

static void on_file_dropped(void *dropped) {
        File *file = dropped;

        g_free(file->text);
        g_free(file->hash);
        g_free(file->error);
        g_free(file);
}

/* Checks the open file, not the one that the path names now, and its directory. */
static char *refusal(const char *path, const struct stat *st) {
        g_autofree char *directory = g_path_get_dirname(path);
        struct stat around;

        if (stat(directory, &around) < 0)
                return NULL;

        return trust_refusal(path, st) ?: trust_refusal(directory, &around) ?: trust_refusal_on_way(path, st);
}

/* SHA-256 in hexadecimal; NULL: the file was not read. */
static const char *file_hash(GHashTable *files, const char *path) {
        g_autofree char *canonical = g_canonicalize_filename(path, NULL);
        File *file = g_hash_table_lookup(files, canonical);

        if (!file || file->error)
                return NULL;
        if (!file->hash)
                file->hash = g_compute_checksum_for_data(G_CHECKSUM_SHA256, (const guint8 *) file->text, file->length);

        return file->hash;
}

/* Reports the path that is being read. path NULL: reading has ended. */
static void reader_note(const Reader *reader, const char *path) {
        if (reader->work)
                work_reads(reader->work, path);
}

static char *on_find(const char *file, void *userdata) {
        const Reader *reader = userdata;
        char *path;

        reader_note(reader, file);
        path = search_path_find((const char *const *) reader->search->directories, file);
        reader_note(reader, NULL);
        return path;
}

static char *on_nearest(const char *tree, void *userdata) {
        const Reader *reader = userdata;

        return search_path_nearest((const char *const *) reader->search->directories, tree);
}

static int on_dropins(const char *path, GPtrArray *paths, char **ret_error, void *userdata) {
        const Reader *reader = userdata;
        const SearchPath *search = reader->search;
        int r;

        reader_note(reader, path);
        for (char **directory = search->directories; *directory; directory++) {
                g_autofree char *dropins = search_path_dropin_directory(*directory, path);

                tree_watch_add_dropins(reader->watch, dropins);
        }
        r = search_path_dropins((const char *const *) search->directories, path,
                                search->secure ? trust_refusal_on_way : NULL, paths, ret_error);
        reader_note(reader, NULL);
        return r;
}

static int on_read(const char *path, char **ret_text, size_t *ret_length, char **ret_error, void *userdata) {
        const Reader *reader = userdata;
        g_autofree char *canonical = g_canonicalize_filename(path, NULL);
        File *file = g_hash_table_lookup(reader->files, canonical);

        reader_note(reader, path);
        tree_watch_add_file(reader->watch, path);
        if (!file) {
                file = g_new0(File, 1);
                file->r = source_read_checked(path, reader->search->secure ? refusal : NULL, &file->text, &file->length,
                                              &file->error);
                g_hash_table_insert(reader->files, g_steal_pointer(&canonical), file);
        }
        reader_note(reader, NULL);

        if (file->error) {
                *ret_error = g_strdup(file->error);
                return file->r;
        }

        *ret_text = g_malloc(file->length + 1);
        memcpy(*ret_text, file->text, file->length + 1);
        *ret_length = file->length;
        return 0;
}

static DefinitionSources sources_of(Reader *reader) {
        return (DefinitionSources){
                .find = on_find,
                .nearest = on_nearest,
                .dropins = on_dropins,
                .read = on_read,
                .limits = &reader->search->limits,
                .userdata = reader,
        };
}

static void scan_file(Reader *reader, Found *found, const char *path) {
        DefinitionSources sources = sources_of(reader);
        g_autoptr(GPtrArray) dropins = g_ptr_array_new_with_free_func(g_free);
        g_autofree char *text = NULL, *error = NULL;
        struct stat st;
        size_t length;

        found->seen = true;
        found->path = g_strdup(path);
        reader_note(reader, path);
        found->masked = stat(path, &st) >= 0 && search_path_is_mask(&st);
        reader_note(reader, NULL);
        if (found->masked)
                return;

        /* Would loading give the same result again? Unknown for a tree that uses other files, because those may be
         * found elsewhere now. */
        found->unchanged = found->clean && found->before && definition_n_files(found->before) == 1 &&
                           g_strcmp0(found->known_path, path) == 0 && on_dropins(path, dropins, &error, reader) >= 0 &&
                           dropins->len == 0 && on_read(path, &text, &length, &error, reader) >= 0 &&
                           g_strcmp0(file_hash(reader->files, path), definition_file_hash(found->before, 0)) == 0;
        if (found->unchanged)
                return;

        found->diagnostics = diagnostics_new(path);
        (void) definition_load_file(path, reader->search->tables, &sources, found->diagnostics, &found->after);
        if (found->after)
                (void) definition_hash(found->after);
}

/* Compares structs by their first member, a pointer to their name. */
static int compare_named(const void *a, const void *b) {
        static_assert(offsetof(Found, name) == 0 && offsetof(KnownTree, public.name) == 0, "");

        return compare_texts(*(const void *const *) a, *(const void *const *) b);
}

static void refuse_directory(const char *directory, const char *reason, GPtrArray *messages) {
        g_ptr_array_add(messages, g_strdup_printf("%s: error: %s", directory, reason));
}

/* Lists the files of one directory of the search path that look like trees, sorted. secure: refuse a directory that
 * others than root and btd's own user can write. -ENOENT: the directory does not exist, which is not an error; other
 * negative values: it was refused, with a message. */
static int list_directory(const char *directory, bool secure, GPtrArray **ret_files, GPtrArray *messages) {
        DIR *stream = opendir(directory);
        g_autofree char *refusal = NULL;
        const struct dirent *file;
        struct stat st;

        if (!stream) {
                int r = -errno;

                if (r != -ENOENT)
                        refuse_directory(directory, g_strerror(-r), messages);
                return r;
        }

        if (secure && fstat(dirfd(stream), &st) >= 0)
                refusal = trust_refusal_on_way(directory, &st);
        if (refusal) {
                refuse_directory(directory, refusal, messages);
        } else {
                *ret_files = g_ptr_array_new_with_free_func(g_free);
                while ((file = readdir(stream)))
                        if (file->d_name[0] != '.' && g_str_has_suffix(file->d_name, TREE_SUFFIX))
                                g_ptr_array_add(*ret_files, g_strdup(file->d_name));
                g_ptr_array_sort(*ret_files, compare_texts);
        }
        closedir(stream);

        return refusal ? -EPERM : 0;
}

static void scan_trees(LibraryScan *scan, Reader *reader, const char *directory, const GPtrArray *files) {
        unsigned max = scan->search->limits.max[LIMIT_TREES];

        for (unsigned i = 0; i < files->len && !(reader->work && work_is_dropped(reader->work)); i++) {
                const char *file = files->pdata[i];
                g_autofree char *name = g_strndup(file, strlen(file) - strlen(TREE_SUFFIX)),
                                *path = g_build_filename(directory, file, NULL);
                Found *found = g_hash_table_lookup(scan->found, name);

                if (!tree_name_valid(name))
                        g_ptr_array_add(scan->messages,
                                        g_strdup_printf("%s: error: not loaded, because the name of a tree consists of "
                                                        "letters, digits, '_' and '-', %u at most",
                                                        path, TREE_NAME_MAX));
                else if (!found && g_hash_table_size(scan->found) >= max)
                        g_ptr_array_add(scan->messages,
                                        g_strdup_printf("%s: error: not loaded, because the limit 'trees' (%u) is "
                                                        "reached; see LIMITS in btd(8)",
                                                        path, max));
                else if (!found || !found->seen)
                        scan_file(reader, found ?: found_add(scan, name), path);
        }
}

static void scan_directory(LibraryScan *scan, Reader *reader, const char *directory) {
        g_autoptr(GPtrArray) files = NULL;
        Found *found;
        int r;

        reader_note(reader, directory);
        r = list_directory(directory, reader->search->secure, &files, scan->messages);
        reader_note(reader, NULL);
        if (files)
                scan_trees(scan, reader, directory, files);
        if (files || r == -ENOENT)
                return;

        /* If a directory cannot be read, keep its known trees. */
        TABLE_FOREACH(found, scan->found) {
                g_autofree char *parent = found->seen ? NULL : g_path_get_dirname(found->known_path);

                if (parent && g_str_equal(parent, directory))
                        found->seen = true;
        }
}

/* Decides which trees are replaced. Trees that use the same changed file are replaced together; if one of them does not
 * load, none is replaced. */
typedef struct Settling {
        GHashTable *users; /* path of a changed file -> GPtrArray of Found; files that were followed are removed */
        GPtrArray *held;   /* Found, each with held_by */
} Settling;

static bool was_looked_at(const Found *found) {
        return found->unchanged || found->diagnostics;
}

static const Definition *next_of(const Found *found) {
        return found->unchanged ? found->before : found->after;
}

static char *file_at(const Definition *definition, size_t i) {
        return g_canonicalize_filename(definition_file(definition, i), NULL);
}

static void find_users(Settling *settling, const Definition *definition, Found *user) {
        for (size_t i = 0; definition && i < definition_n_files(definition); i++) {
                g_autofree char *path = file_at(definition, i);
                GPtrArray *users = g_hash_table_lookup(settling->users, path);

                if (users)
                        g_ptr_array_add(users, user);
        }
}

static void hold(Settling *settling, Found *found, const char *held_by) {
        if (found->held_by)
                return;

        found->held_by = held_by;
        g_ptr_array_add(settling->held, found);
}

static void follow(Settling *settling, const Definition *definition, const char *held_by) {
        for (size_t i = 0; definition && i < definition_n_files(definition); i++) {
                g_autofree char *path = file_at(definition, i), *key = NULL;
                g_autoptr(GPtrArray) users = NULL;

                if (g_hash_table_steal_extended(settling->users, path, (void **) &key, (void **) &users))
                        PTRS_FOREACH(Found, user, users)
                                hold(settling, user, held_by);
        }
}

static void settle(const LibraryScan *scan, GHashTable *files) {
        g_autoptr(GHashTable) users =
                g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify) g_ptr_array_unref);
        g_autoptr(GPtrArray) held = g_ptr_array_new();
        Settling settling = { .users = users, .held = held };

        /* Files whose text differs from the text that the tree was loaded from. */
        PTRS_FOREACH(const Found, found, scan->sorted)
                for (size_t i = 0; was_looked_at(found) && found->before && i < definition_n_files(found->before);
                     i++) {
                        g_autofree char *path = file_at(found->before, i);
                        const char *hash = file_hash(files, path);

                        if (hash && !g_str_equal(hash, definition_file_hash(found->before, i)) &&
                            !g_hash_table_contains(users, path))
                                g_hash_table_insert(users, g_steal_pointer(&path), g_ptr_array_new());
                }

        /* Trees that are new, or have never loaded, do not hold others back. */
        PTRS_FOREACH(Found, found, scan->sorted) {
                if (!was_looked_at(found) || !found->before)
                        continue;

                find_users(&settling, found->before, found);
                find_users(&settling, next_of(found), found);
                if (!next_of(found))
                        hold(&settling, found, found->name);
        }

        /* First come the trees that do not load any more, then others with the same changed files, and so on. */
        for (unsigned i = 0; i < held->len; i++) {
                Found *found = held->pdata[i];

                follow(&settling, found->before, found->held_by);
                follow(&settling, next_of(found), found->held_by);
                if (!found->after)
                        continue;

                diagnostics_add(found->diagnostics, 0, DIAGNOSTICS_NOWHERE, false, NULL,
                                g_strdup_printf("not replaced, because the tree '%s', which uses a changed file, too, "
                                                "cannot be loaded",
                                                found->held_by));
                g_clear_pointer(&found->after, definition_unref);
        }
}

/* Errors of all files that a reload reports; the diagnostics of each tree have its own. */
#define MESSAGES_MAX 1000u

void library_scan_run(LibraryScan *scan, Work *work) {
        g_autoptr(GHashTable) told = g_hash_table_new(g_str_hash, g_str_equal);
        g_autoptr(GHashTable) files = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, on_file_dropped);
        Reader reader = { .search = scan->search, .files = files, .watch = scan->search->watch, .work = work };
        void *value;

        /* All before the first tree, since each directory can have drop-ins for trees of another one. */
        for (char **directory = scan->search->directories; *directory; directory++) {
                reader_note(&reader, *directory);
                tree_watch_add_directory(reader.watch, *directory);
        }
        for (char **directory = scan->search->directories; *directory; directory++)
                scan_directory(scan, &reader, *directory);

        scan->sorted = g_ptr_array_new();
        TABLE_FOREACH(value, scan->found)
                g_ptr_array_add(scan->sorted, value);
        g_ptr_array_sort(scan->sorted, compare_named);
        settle(scan, files);
        PTRS_FOREACH(const Found, found, scan->sorted)
                for (size_t i = 0; found->diagnostics && i < diagnostics_count(found->diagnostics) &&
                                   scan->messages->len <= MESSAGES_MAX;
                     i++) {
                        g_autofree char *message = diagnostics_format(found->diagnostics, i);

                        /* An error in a shared file occurs in each tree that uses it. */
                        if (diagnostics_get(found->diagnostics, i)->warning || g_hash_table_contains(told, message))
                                continue;

                        if (scan->messages->len == MESSAGES_MAX) {
                                g_ptr_array_add(scan->messages,
                                                g_strdup("there are more errors; correct these, then reload"));
                                continue;
                        }
                        g_hash_table_add(told, message);
                        g_ptr_array_add(scan->messages, g_steal_pointer(&message));
                }
}

static void unlist(Library *library, KnownTree *entry) {
        if (!entry->listed)
                return;

        entry->listed = false;
        library->callbacks->removed(&entry->public, library->userdata);
}

static KnownTree *entry_get(Library *library, const char *name) {
        KnownTree *entry = g_hash_table_lookup(library->entries, name);

        if (!entry) {
                entry = g_new0(KnownTree, 1);
                entry->public.name = g_strdup(name);
                g_hash_table_insert(library->entries, entry->public.name, entry);
        }

        return entry;
}

static void update(Library *library, Found *found) {
        KnownTree *entry = entry_get(library, found->name);
        LibraryEntry *public = &entry->public;
        g_autoptr(Definition) definition = g_steal_pointer(&found->after);
        bool changed = diagnostics_count_errors(found->diagnostics) > 0 ||
                       (public->diagnostics && diagnostics_count_errors(public->diagnostics) > 0) ||
                       g_strcmp0(public->path, found->path) != 0;

        if (definition)
                entry->rootless = !definition_tree(definition);
        if (definition &&
            !(public->definition && g_str_equal(definition_hash(definition), definition_hash(public->definition)))) {
                definition_unref(public->definition);
                public->definition = g_steal_pointer(&definition);
                changed = true;
        }

        diagnostics_free(public->diagnostics);
        public->diagnostics = g_steal_pointer(&found->diagnostics);
        g_free(public->path);
        public->path = g_steal_pointer(&found->path);
        public->masked = false;
        if (entry->rootless) {
                unlist(library, entry);
                return;
        }

        if (!entry->listed)
                library->callbacks->added(public, library->userdata);
        else if (changed)
                library->callbacks->changed(public, library->userdata);
        entry->listed = true;
}

void library_take(Library *library, LibraryScan *scan) {
        PTRS_FOREACH(Found, found, scan->sorted) {
                KnownTree *entry = found->masked ? entry_get(library, found->name) : NULL;

                if (!entry)
                        continue;

                unlist(library, entry);
                g_clear_pointer(&entry->public.definition, definition_unref);
                g_clear_pointer(&entry->public.diagnostics, diagnostics_free);
                g_free(entry->public.path);
                entry->public.path = g_steal_pointer(&found->path);
                entry->public.masked = true;
        }
        PTRS_FOREACH(Found, found, scan->sorted)
                if (found->diagnostics)
                        update(library, found);
        PTRS_FOREACH(const Found, found, scan->sorted)
                if (!found->seen) {
                        unlist(library, g_hash_table_lookup(library->entries, found->name));
                        g_hash_table_remove(library->entries, found->name);
                }
}

LibraryText *library_text_new(const Library *library, const char *name, const char *text) {
        g_autofree char *file = g_strconcat(name, TREE_SUFFIX, NULL);
        LibraryText *load = g_new0(LibraryText, 1);

        load->search = g_atomic_rc_box_acquire(library->search);
        load->text = g_strdup(text);
        load->diagnostics = diagnostics_new(file);
        return load;
}

void library_text_run(LibraryText *text, Work *work) {
        g_autoptr(GHashTable) files = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, on_file_dropped);
        Reader reader = { .search = text->search, .files = files, .work = work };
        DefinitionSources sources = sources_of(&reader);

        (void) definition_load_text(text->text, strlen(text->text), text->search->tables, &sources, text->diagnostics,
                                    &text->definition);
        if (text->definition)
                (void) definition_hash(text->definition);
        if (text->definition && !definition_files_are_ready(text->definition))
                definition_give_files(text->definition, definition_write_files(text->definition));
}

void library_text_free(LibraryText *text) {
        if (!text)
                return;

        definition_unref(text->definition);
        diagnostics_free(text->diagnostics);
        search_path_unref(text->search);
        g_free(text->text);
        g_free(text);
}

const LibraryEntry *library_get(const Library *library, const char *name) {
        const KnownTree *entry = g_hash_table_lookup(library->entries, name);

        return entry && !entry->rootless ? &entry->public : NULL;
}

/* The file itself, or one of its drop-ins. */
static bool file_has_changed(const Library *library, const char *file) {
        g_autofree char *path = g_canonicalize_filename(file, NULL);
        bool changed = tree_watch_has_changed(library->search->watch, path);

        for (char **directory = library->search->directories; *directory && !changed; directory++) {
                g_autofree char *dropins = search_path_dropin_directory(*directory, path);

                changed = tree_watch_has_changed(library->search->watch, dropins);
        }

        return changed;
}

bool library_needs_reload(const Library *library, const LibraryEntry *entry) {
        const Definition *definition = entry ? entry->definition : NULL;

        if (!entry)
                return tree_watch_has_changed(library->search->watch, NULL);
        if (file_has_changed(library, entry->path))
                return true;

        for (size_t i = 0; definition && i < definition_n_files(definition); i++)
                if (file_has_changed(library, definition_file(definition, i)))
                        return true;

        return false;
}

const char *library_nearest(const Library *library, const char *name) {
        Nearest nearest = { .word = name };
        g_autoptr(GPtrArray) entries = library_list(library);

        for (unsigned i = 0; i < entries->len; i++)
                nearest_offer(&nearest, ((const LibraryEntry *) g_ptr_array_index(entries, i))->name);

        return nearest.best;
}

GPtrArray *library_list(const Library *library) {
        GPtrArray *entries = g_ptr_array_new();
        KnownTree *value;

        TABLE_FOREACH(value, library->entries)
                if (value->listed)
                        g_ptr_array_add(entries, value);

        g_ptr_array_sort(entries, compare_named);
        return entries;
}

unsigned library_count(const Library *library) {
        unsigned n = 0;
        const KnownTree *value;

        TABLE_FOREACH(value, library->entries)
                n += value->listed;

        return n;
}
