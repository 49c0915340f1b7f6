/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Owns the values of kept variables: gives them to the next run of the same tree and instance, takes them from the
 * current one, and shows and forgets them for a caller. Only the variables that the tree itself declares are kept, not
 * those of trees that it uses.
 *
 * All values are in memory, and those of each tree and instance in one file, TREE.json or TREE@INSTANCE.json: a JSON
 * object in one line, with the values and the owner of the run that has changed them last. It is replaced as a whole,
 * and removed with the last value. A change is written at once, but the changes of a second together; so the disk is at
 * most that far behind. The run record of a running run has its values, too. When it has finished, a file on the tmpfs
 * has what is not on the disk yet: btd can be killed meanwhile, and the disk can be full.
 */

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <json-c/linkhash.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "basic/boot-file.h"
#include "basic/cleanup.h"
#include "basic/excerpt.h"
#include "basic/foreach.h"
#include "basic/json-parse.h"
#include "basic/json-weight.h"
#include "basic/limit.h"
#include "basic/line-file.h"
#include "basic/log.h"
#include "run/instance.h"
#include "runtime/manager-state.h"

#define SUFFIX ".json"
#define WAITING_NAME "kept.unsaved"
/* All trees together, in bytes. Users with limits can fill half of it together; for each see users.c. */
#define KEPT_BYTES_MAX (UINT64_C(16) << 20)
/* Each tree and instance has a file, which counts as so many bytes besides its values. */
#define ENTRY_BYTES 1024u
/* As JSON, a value can take several times its own size. */
#define FILE_SIZE_MAX (8 * KEPT_BYTES_MAX)
/* The changes of this time are written together. */
#define GROUP_USEC UINT64_C(1000000)
/* How long a file that could not be written waits. */
#define RETRY_USEC UINT64_C(10000000)

/* The values of a tree and instance. */
typedef struct KeptEntry {
        json_object *values;
        uint32_t uid;   /* for whom they count */
        User *user;     /* the same; or NULL */
        uint64_t bytes; /* of them all, with ENTRY_BYTES; 0: there are none */
        bool unsaved, writing;
} KeptEntry;

struct Kept {
        char *directory;
        BootFile *waiting; /* key -> entry that is not on the disk; one without values is to be removed */
        bool waits;        /* there are some in it */
        DiskQueue *disk;
        Timers *timers;
        Users *users;        /* or NULL */
        GHashTable *entries; /* "TREE" or "TREE@INSTANCE" -> KeptEntry */
        uint64_t bytes;      /* of all entries */
        uint64_t of_users;   /* of those of users with limits */
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
        KeptEntry *entry = data;

        json_object_put(entry->values);
        g_free(entry);
}

static char *key_of(const char *tree, const char *instance) {
        return g_strconcat(tree, *instance ? "@" : "", instance, NULL);
}

Kept *kept_new(const char *directory, const char *runtime, DiskQueue *disk, Timers *timers, Users *users) {
        Kept *kept = g_new(Kept, 1);

        *kept = (Kept){
                .directory = directory ? g_build_filename(directory, "kept", NULL) : NULL,
                .waiting = boot_file_new(timers, runtime, WAITING_NAME),
                .disk = disk,
                .timers = timers,
                .users = users,
                .entries = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, entry_free),
        };
        return kept;
}

void kept_free(Kept *kept) {
        if (!kept)
                return;

        timer_free(kept->pause);
        boot_file_free(kept->waiting);
        g_hash_table_unref(kept->entries);
        g_free(kept->directory);
        g_free(kept);
}

static KeptEntry *get_entry(Kept *kept, const char *key) {
        KeptEntry *entry = g_hash_table_lookup(kept->entries, key);

        if (!entry) {
                entry = g_new0(KeptEntry, 1);
                entry->values = json_object_new_object();
                g_hash_table_insert(kept->entries, g_strdup(key), entry);
        }

        return entry;
}

static void count(Kept *kept, KeptEntry *entry, uint64_t bytes) {
        user_subtract(entry->user, USE_KEPT, entry->bytes);
        kept->bytes += bytes - entry->bytes;
        kept->of_users += limits_bind(entry->uid) ? bytes - entry->bytes : 0;
        entry->bytes = bytes;
        user_add(entry->user, USE_KEPT, entry->bytes);
}

static void measure(Kept *kept, KeptEntry *entry) {
        uint64_t bytes = json_object_object_length(entry->values) > 0 ? ENTRY_BYTES : 0;

        json_object_object_foreach(entry->values, name, value) bytes +=
                JSON_WEIGHT_MEMBER + strlen(name) + json_weight(value);
        count(kept, entry, bytes);
}

static void own(Kept *kept, KeptEntry *entry, uint32_t uid) {
        count(kept, entry, 0);
        entry->uid = uid;
        entry->user = users_get(kept->users, uid);
        measure(kept, entry);
}

/* Returns the entry as its file has it. */
static json_object *to_json(const KeptEntry *entry) {
        json_object *json = json_object_new_object();

        json_object_object_add(json, "uid", json_object_new_int64(entry->uid));
        json_object_object_add(json, "values", json_object_get(entry->values));
        return json;
}

/* NULL: it is damaged. */
static KeptEntry *from_json(Kept *kept, const char *key, json_object *json) {
        json_object *values = json_member(json, "values", json_type_object),
                    *uid = json_member(json, "uid", json_type_int);
        KeptEntry *entry;

        if (!values || !uid)
                return NULL;

        entry = get_entry(kept, key);
        json_object_put(entry->values);
        entry->values = json_object_get(values);
        own(kept, entry, (uint32_t) json_object_get_int64(uid));
        return entry;
}

static void read_file(Kept *kept, const char *file) {
        g_autofree char *path = g_build_filename(kept->directory, file, NULL), *text = NULL, *number = NULL;
        g_autofree char *key = g_strndup(file, strlen(file) - strlen(SUFFIX));
        g_autoptr(json_object) stored = NULL;
        struct stat st;
        gsize length;

        if (lstat(path, &st) < 0 || !S_ISREG(st.st_mode) || (uint64_t) st.st_size > FILE_SIZE_MAX ||
            !g_file_get_contents(path, &text, &length, NULL) ||
            json_parse(text, length, JSON_NESTING_MAX + 2, &stored, &number) < 0 || !from_json(kept, key, stored))
                log_warning("%s: the file of kept variables is damaged, so the next run does not get them", path);
}

void kept_read(Kept *kept) {
        g_autoptr(GDir) directory = kept->directory ? g_dir_open(kept->directory, 0, NULL) : NULL;
        g_autoptr(json_object) waiting = boot_file_open(kept->waiting);
        const char *file;

        while (directory && (file = g_dir_read_name(directory)))
                if (g_str_has_suffix(file, SUFFIX))
                        read_file(kept, file);

        kept->waits = json_object_is_type(waiting, json_type_object) && json_object_object_length(waiting) > 0;
        if (!kept->waits)
                return;

        json_object_object_foreach(waiting, key, stored) {
                KeptEntry *entry = from_json(kept, key, stored);

                if (entry)
                        entry->unsaved = true;
        }
        schedule(kept);
}

static void note_waiting(Kept *kept) {
        json_object *waiting = json_object_new_object();
        bool waited = kept->waits;

        TABLE_PAIRS(const KeptEntry, it, kept->entries)
                if (it.value->unsaved || it.value->writing)
                        json_object_object_add(waiting, it.key, to_json(it.value));

        kept->waits = json_object_object_length(waiting) > 0;
        if (kept->waits || waited)
                boot_file_store(kept->waiting, waiting);
        else
                json_object_put(waiting);
}

/* The values by name; borrowed until the next change. NULL: there are none. */
static json_object *find(const Kept *kept, const char *tree, const char *instance) {
        g_autofree char *key = key_of(tree, instance);
        const KeptEntry *entry = g_hash_table_lookup(kept->entries, key);

        return entry && json_object_object_length(entry->values) > 0 ? entry->values : NULL;
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

static void remove_empty(Kept *kept, const char *key, const KeptEntry *entry) {
        if (entry->bytes == 0 && !entry->unsaved && !entry->writing)
                g_hash_table_remove(kept->entries, key);
}

static void on_pause_over(void *userdata) {
        Kept *kept = userdata;

        g_clear_pointer(&kept->pause, timer_free);
        schedule(kept);
}

static void on_written(void *data) {
        const Write *write = data;
        Kept *kept = write->kept;
        KeptEntry *entry = g_hash_table_lookup(kept->entries, write->key);

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
        } else {
                remove_empty(kept, write->key, entry);
        }
        kept->failing = write->result < 0;
        if (kept->waits)
                note_waiting(kept);
        schedule(kept);
}

static void write_entry(Kept *kept, const char *key, KeptEntry *entry) {
        g_autoptr(json_object) stored = to_json(entry);
        bool any = json_object_object_length(entry->values) > 0;
        Write *write = g_new(Write, 1);

        *write = (Write){
                .kept = kept,
                .directory = g_strdup(kept->directory),
                .key = g_strdup(key),
                .name = g_strconcat(key, SUFFIX, NULL),
                .line = any ? g_string_new(json_object_to_json_string_ext(
                                      stored, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE))
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

        if (!kept->directory || (kept->pause && !kept->hurry))
                return;

        TABLE_PAIRS(KeptEntry, it, kept->entries) {
                left |= it.value->unsaved && it.value->writing;
                if (!it.value->unsaved || it.value->writing)
                        continue;

                write_entry(kept, it.key, it.value);
                any = true;
        }

        kept->hurry &= left;
        if (any && !kept->pause)
                kept->pause = timer_new(kept->timers, GROUP_USEC, on_pause_over, kept);
}

void kept_hurry(Kept *kept) {
        kept->hurry = true;
        note_waiting(kept);
        schedule(kept);
}

static const Declaration *inputs_of(const Definition *definition) {
        return definition_scope_info(definition, 0)->inputs;
}

json_object *manager_add_kept(const Manager *manager, const Definition *definition, const Order *order) {
        json_object *variables, *stored = find(manager->kept, order->tree, order->instance), *value;
        bool any = false;

        for (const Declaration *input = inputs_of(definition); input->name; input++)
                any |= input->kept;
        if (!any)
                return NULL;

        variables = json_object_new_object();
        if (order->variables) {
                json_object_object_foreach(order->variables, name, given)
                        json_object_object_add(variables, name, json_object_get(given));
        }

        for (const Declaration *input = inputs_of(definition); input->name; input++) {
                g_autofree char *problem = NULL;

                if (!input->kept)
                        continue;
                /* The runs since the first start have newer values than those that were given to it. */
                if (!order->starter)
                        json_object_object_del(variables, input->name);
                if (json_object_object_get_ex(variables, input->name, NULL) ||
                    !json_object_object_get_ex(stored, input->name, &value))
                        continue;

                problem = declaration_problem(input, value);
                if (problem)
                        log_message(LOG_WARNING, &(LogSubject){ .tree = order->tree },
                                    "the kept value of '%s' is not used: %s", input->name, problem);
                else
                        json_object_object_add(variables, input->name, json_object_get(value));
        }

        return variables;
}

/* NULL: the entry has room. To be freed. */
static char *find_full(const Kept *kept, const KeptEntry *entry) {
        if (!user_has_room(entry->user, USE_KEPT, 0))
                return g_strdup_printf("those of UID %" PRIu32 " have %" PRIu64, entry->uid,
                                       user_share(entry->user, USE_KEPT) >> 20);
        if (limits_bind(entry->uid) && kept->of_users > KEPT_BYTES_MAX / 2)
                return g_strdup_printf("those of all users have %" PRIu64, KEPT_BYTES_MAX / 2 >> 20);
        return kept->bytes > KEPT_BYTES_MAX ? g_strdup_printf("all kept variables have %" PRIu64, KEPT_BYTES_MAX >> 20)
                                            : NULL;
}

/* A variable that has its default, and of which nothing is stored, needs no room; then another default of the next
 * version of the tree applies. */
static void keep(Manager *manager, const Run *run, const Declaration *input, json_object *stored) {
        g_autofree char *key = key_of(run_tree(run), run_instance(run)), *full = NULL;
        uint32_t owner;
        bool was_stored;
        g_autoptr(json_object) earlier = NULL;
        json_object *value, *before = NULL;
        Kept *kept = manager->kept;
        KeptEntry *entry;

        if (!blackboard_get(run_blackboard(run), input->name, &value))
                return;
        was_stored = json_object_object_get_ex(stored, input->name, &before);
        if (!was_stored)
                before = input->fallback;
        if (value == before || blackboard_same_value(value, before))
                return;

        entry = get_entry(kept, key);
        owner = entry->uid;
        earlier = json_object_get(before);
        json_object_object_add(entry->values, input->name, json_object_get(value));
        own(kept, entry, run_caller(run));
        full = find_full(kept, entry);
        if (!full) {
                entry->unsaved = true;
                schedule(kept);
                return;
        }

        /* The earlier value is kept. */
        if (was_stored)
                json_object_object_add(entry->values, input->name, g_steal_pointer(&earlier));
        else
                json_object_object_del(entry->values, input->name);
        own(kept, entry, owner);
        remove_empty(kept, key, entry);
        /* The log says it once, at the end of the run. */
        if (run_status(run) != STATUS_RUNNING)
                log_message(LOG_WARNING, &(LogSubject){ .tree = run_tree(run), .run = run_id(run) },
                            "the value of '%s' is not kept: %s MiB at most", input->name, full);
}

void manager_keep(Manager *manager, const Run *run) {
        for (const Declaration *input = inputs_of(run_definition(run)); input->name; input++)
                if (input->kept)
                        keep(manager, run, input, find(manager->kept, run_tree(run), run_instance(run)));
}

bool manager_keeps(const Manager *manager, const char *tree) {
        size_t length = strlen(tree);

        TABLE_PAIRS(const KeptEntry, it, manager->kept->entries)
                if (strncmp(it.key, tree, length) == 0 && strchr("@", it.key[length]) &&
                    json_object_object_length(it.value->values) > 0)
                        return true;

        return false;
}

/* A removed tree can still have kept variables. */
static int check_place(Manager *manager, const char *tree, const char *instance, char **ret_error) {
        const LibraryEntry *entry;
        int r = instance_check(instance, ret_error);

        return r < 0 || manager_keeps(manager, tree) ? r : manager_find_tree(manager, tree, &entry, ret_error);
}

int manager_get_kept(Manager *manager, const char *tree, const char *instance, json_object **ret_values,
                     char **ret_error) {
        json_object *values = find(manager->kept, tree, instance);
        int r = check_place(manager, tree, instance, ret_error);

        if (r < 0)
                return r;

        *ret_values = json_object_new_object();
        if (values) {
                json_object_object_foreach(values, name, value)
                        json_object_object_add(*ret_values, name, json_object_get(value));
        }
        return 0;
}

/* NULL: one of the wanted names is not stored, with an error message. */
static GPtrArray *choose(json_object *values, const char *const *names, char **ret_error) {
        g_autoptr(GPtrArray) chosen = g_ptr_array_new_with_free_func(g_free);

        if (!*names && values) {
                json_object_object_foreach(values, name, value) {
                        (void) value;
                        g_ptr_array_add(chosen, g_strdup(name));
                }
        }

        for (; *names; names++) {
                g_autofree char *shown = excerpt(*names, strlen(*names));

                if (!json_object_object_get_ex(values, *names, NULL)) {
                        *ret_error = g_strdup_printf("no value of '%s' is kept", shown);
                        return NULL;
                }
                g_ptr_array_add(chosen, g_strdup(*names));
        }

        return g_steal_pointer(&chosen);
}

int manager_forget_kept(Manager *manager, const char *tree, const char *instance, const char *const *names,
                        const Caller *who, GPtrArray **ret_forgotten, char **ret_error) {
        const Run *run = runs_last(manager->runs, tree, instance);
        json_object *values = find(manager->kept, tree, instance), *value;
        g_autofree char *key = key_of(tree, instance);
        Kept *kept = manager->kept;
        KeptEntry *entry = g_hash_table_lookup(kept->entries, key);
        g_autoptr(GPtrArray) chosen = NULL;
        int r = manager_check_there(manager, ret_error);

        if (r >= 0)
                r = check_place(manager, tree, instance, ret_error);
        if (r < 0)
                return r;
        if (run && run_status(run) == STATUS_RUNNING) {
                *ret_error = g_strdup_printf("%s is running and has the kept variables; halt it first, or set them "
                                             "in it with 'btctl set'",
                                             run_id(run));
                return MANAGER_ALREADY_RUNNING;
        }
        chosen = choose(values, names, ret_error);
        if (!chosen)
                return -ENOKEY;

        for (unsigned i = 0; i < chosen->len; i++) {
                const char *name = chosen->pdata[i];

                if (!json_object_object_get_ex(values, name, &value))
                        continue;

                json_object_object_del(values, name);
                measure(kept, entry);
                entry->unsaved = true;
                log_message(LOG_NOTICE, &(LogSubject){ .tree = tree }, "the kept value of '%s' was forgotten%s%s by %s",
                            name, *instance ? " for instance " : "", instance, who->text);
        }
        kept_hurry(kept);
        *ret_forgotten = g_steal_pointer(&chosen);
        return 0;
}
