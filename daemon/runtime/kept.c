/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Implements kept.h. The file of a tree and instance is TREE.json or TREE@INSTANCE.json, a JSON object in one line; it
 * is replaced as a whole, and removed with the last value. */

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <json-c/linkhash.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "basic/json-parse.h"
#include "basic/line-file.h"
#include "basic/log.h"
#include "runtime/kept.h"
#include "script/blackboard.h"

#define SUFFIX ".json"
/* As JSON, a value can take several times its own size. */
#define FILE_SIZE_MAX (8 * KEPT_BYTES_MAX)
/* The changes of this time are written together. */
#define GROUP_USEC UINT64_C(1000000)
/* How long a file that could not be written waits. */
#define RETRY_USEC UINT64_C(10000000)

/* The values of a tree and instance. */
typedef struct Entry {
        json_object *values;
        bool unsaved, writing;
} Entry;

struct Kept {
        char *directory;
        DiskQueue *disk;
        Timers *timers;
        GHashTable *entries; /* "TREE" or "TREE@INSTANCE" -> Entry */
        uint64_t bytes;      /* of all values */
        Timer *pause;        /* what changes meanwhile waits; NULL: nothing was written just now */
        bool hurry;          /* nothing waits for the pause */
        bool failing;        /* the last file could not be written */
};

typedef struct Write {
        Kept *kept;
        char *directory, *key, *name;
        GString *line; /* NULL: the file is removed */
        int result;
} Write;

static void schedule(Kept *kept);

static void entry_free(void *data) {
        Entry *entry = data;

        json_object_put(entry->values);
        g_free(entry);
}

static char *key_of(const char *tree, const char *instance) {
        return g_strconcat(tree, *instance ? "@" : "", instance, NULL);
}

Kept *kept_new(const char *directory, DiskQueue *disk, Timers *timers) {
        Kept *kept = g_new(Kept, 1);

        *kept = (Kept){
                .directory = directory ? g_build_filename(directory, "kept", NULL) : NULL,
                .disk = disk,
                .timers = timers,
                .entries = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, entry_free),
        };
        return kept;
}

void kept_free(Kept *kept) {
        if (!kept)
                return;

        timer_free(kept->pause);
        g_hash_table_unref(kept->entries);
        g_free(kept->directory);
        g_free(kept);
}

static Entry *get_entry(Kept *kept, const char *key) {
        Entry *entry = g_hash_table_lookup(kept->entries, key);

        if (!entry) {
                entry = g_new0(Entry, 1);
                entry->values = json_object_new_object();
                g_hash_table_insert(kept->entries, g_strdup(key), entry);
        }

        return entry;
}

static uint64_t bytes_of(const char *name, json_object *value) {
        return strlen(name) + blackboard_bytes_of(value);
}

static void read_file(Kept *kept, const char *file) {
        g_autofree char *path = g_build_filename(kept->directory, file, NULL), *text = NULL, *number = NULL;
        g_autofree char *key = g_strndup(file, strlen(file) - strlen(SUFFIX));
        g_autoptr(json_object) values = NULL;
        struct stat st;
        gsize length;

        if (lstat(path, &st) < 0 || !S_ISREG(st.st_mode) || (uint64_t) st.st_size > FILE_SIZE_MAX ||
            !g_file_get_contents(path, &text, &length, NULL) ||
            json_parse(text, length, JSON_NESTING_MAX + 1, &values, &number) < 0 ||
            !json_object_is_type(values, json_type_object)) {
                log_warning("%s: the file of kept variables is damaged, so the next run does not get them", path);
                return;
        }

        json_object_object_foreach(values, name, value) kept->bytes += bytes_of(name, value);
        json_object_put(get_entry(kept, key)->values);
        get_entry(kept, key)->values = g_steal_pointer(&values);
}

void kept_read(Kept *kept) {
        g_autoptr(GDir) directory = kept->directory ? g_dir_open(kept->directory, 0, NULL) : NULL;
        const char *file;

        while (directory && (file = g_dir_read_name(directory)))
                if (g_str_has_suffix(file, SUFFIX))
                        read_file(kept, file);
}

json_object *kept_find(const Kept *kept, const char *tree, const char *instance) {
        g_autofree char *key = key_of(tree, instance);
        const Entry *entry = g_hash_table_lookup(kept->entries, key);

        return entry && json_object_object_length(entry->values) > 0 ? entry->values : NULL;
}

bool kept_has_tree(const Kept *kept, const char *tree) {
        size_t length = strlen(tree);
        GHashTableIter iter;
        void *key, *value;

        g_hash_table_iter_init(&iter, kept->entries);
        while (g_hash_table_iter_next(&iter, &key, &value))
                if (strncmp(key, tree, length) == 0 && strchr("@", ((const char *) key)[length]) &&
                    json_object_object_length(((const Entry *) value)->values) > 0)
                        return true;

        return false;
}

static void write_free(void *data) {
        Write *write = data;

        if (write->line)
                g_string_free(write->line, TRUE);
        g_free(write->directory);
        g_free(write->key);
        g_free(write->name);
        g_free(write);
}

static void do_write(void *data) {
        Write *write = data;
        g_autofree char *path = g_build_filename(write->directory, write->name, NULL);
        g_auto(AutoFd) around = -1;

        if (write->line) {
                write->result = line_file_write(write->directory, write->name, write->line, true);
        } else if (unlink(path) < 0) {
                write->result = errno == ENOENT ? 0 : -errno;
        } else {
                around = open(write->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
                write->result = around < 0 || fsync(around) < 0 ? -errno : 0;
        }
}

static void on_pause_over(void *userdata) {
        Kept *kept = userdata;

        g_clear_pointer(&kept->pause, timer_free);
        schedule(kept);
}

static void on_written(void *data) {
        const Write *write = data;
        Kept *kept = write->kept;
        Entry *entry = g_hash_table_lookup(kept->entries, write->key);

        assert(entry && entry->writing);
        entry->writing = false;
        if (write->result < 0) {
                if (!kept->failing)
                        log_warning("the kept variables of '%s' are not stored: %s", write->key,
                                    g_strerror(-write->result));
                entry->unsaved = true;
                kept->hurry = false;
                timer_free(kept->pause);
                kept->pause = timer_new(kept->timers, RETRY_USEC, on_pause_over, kept);
        } else if (!entry->unsaved && json_object_object_length(entry->values) == 0) {
                g_hash_table_remove(kept->entries, write->key);
        }
        kept->failing = write->result < 0;
        schedule(kept);
}

static void write_entry(Kept *kept, const char *key, Entry *entry) {
        bool any = json_object_object_length(entry->values) > 0;
        Write *write = g_new(Write, 1);

        *write = (Write){
                .kept = kept,
                .directory = g_strdup(kept->directory),
                .key = g_strdup(key),
                .name = g_strconcat(key, SUFFIX, NULL),
                .line = any ? g_string_new(json_object_to_json_string_ext(
                                      entry->values, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE))
                            : NULL,
        };
        if (any)
                g_string_append_c(write->line, '\n');
        entry->unsaved = false;
        entry->writing = true;
        disk_queue_add(kept->disk,
                       &(DiskJob){
                               .what = g_strdup_printf("kept variables to %s/%s", kept->directory, write->name),
                               .work = do_write,
                               .done = on_written,
                               .free = write_free,
                               .data = write,
                       });
}

/* A file that is being written has its turn when that is done. */
static void schedule(Kept *kept) {
        bool any = false, left = false;
        GHashTableIter iter;
        void *key, *value;

        if (!kept->directory || (kept->pause && !kept->hurry))
                return;

        g_hash_table_iter_init(&iter, kept->entries);
        while (g_hash_table_iter_next(&iter, &key, &value)) {
                Entry *entry = value;

                left |= entry->unsaved && entry->writing;
                if (!entry->unsaved || entry->writing)
                        continue;

                write_entry(kept, key, entry);
                any = true;
        }

        kept->hurry &= left;
        if (any && !kept->pause)
                kept->pause = timer_new(kept->timers, GROUP_USEC, on_pause_over, kept);
}

void kept_hurry(Kept *kept) {
        kept->hurry = true;
        schedule(kept);
}

bool kept_set(Kept *kept, const char *tree, const char *instance, const char *name, json_object *value, bool bound) {
        uint64_t room = bound ? KEPT_BYTES_MAX / 2 : KEPT_BYTES_MAX, before = 0;
        g_autofree char *key = key_of(tree, instance);
        Entry *entry = get_entry(kept, key);
        json_object *old;

        if (json_object_object_get_ex(entry->values, name, &old))
                before = bytes_of(name, old);
        if (kept->bytes - before + bytes_of(name, value) > room)
                return false;

        kept->bytes += bytes_of(name, value) - before;
        json_object_object_add(entry->values, name, json_object_get(value));
        entry->unsaved = true;
        schedule(kept);
        return true;
}

bool kept_forget(Kept *kept, const char *tree, const char *instance, const char *name) {
        g_autofree char *key = key_of(tree, instance);
        Entry *entry = g_hash_table_lookup(kept->entries, key);
        json_object *old;

        if (!entry || !json_object_object_get_ex(entry->values, name, &old))
                return false;

        kept->bytes -= bytes_of(name, old);
        json_object_object_del(entry->values, name);
        entry->unsaved = true;
        schedule(kept);
        return true;
}
