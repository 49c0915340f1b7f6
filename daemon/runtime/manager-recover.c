/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Recovers the runs that the previous btd left: those whose run records are in the directory of unfinished runs. A run
 * that cannot be recovered is reported and set aside; the others are recovered all the same.
 */

#include <errno.h>
#include <glib/gstdio.h>
#include <inttypes.h>

#include "basic/boot-file.h"
#include "basic/cleanup.h"
#include "basic/foreach.h"
#include "basic/log.h"
#include "record/record-copies.h"
#include "record/run-record.h"
#include "run/run-recovery.h"
#include "runtime/manager-state.h"

/* A file that is larger than this, and than twice the limit of a run record, is no run record: it is not read. */
#define RECORD_MAX_BYTES (UINT64_C(128) << 20)

typedef struct Left {
        char *path;
        RunRecord *record;
        Definition *definition;
        Replay *replay;
        Run *run;
        bool lost; /* nothing else is left of the run */
} Left;

static void left_clear(void *data) {
        Left *left = data;

        replay_free(left->replay);
        definition_unref(left->definition);
        run_record_free(left->record);
        g_free(left->path);
}

/* Sets aside a run record that cannot be read, that this engine cannot replay, or that is not trusted. The run is not
 * continued from an earlier state. */
static void set_aside_bad(Manager *manager, const Left *left, const char *error) {
        const RecordHeader *header = left->record ? &left->record->header : NULL;
        const char *instance = header ? header->instance : "";
        g_autofree char *what = g_strdup_printf("the run cannot be recovered: %s", error),
                        *name = g_path_get_basename(left->path), *aside = NULL;

        /* A run of another boot has ended with the machine, which starts nothing. */
        if (left->definition && !left->lost)
                followers_lost(manager->followers, header, left->definition, error);
        aside = record_store_set_aside(manager->records, left->path, RECORD_BAD_SUFFIX);
        log_error("%s: %s; it was kept as %s. What the run has started is left as it is: check it, then start the tree "
                  "again with 'btctl start %s%s%s'",
                  name, what, aside, header ? header->tree : "TREE", *instance ? "@" : "", instance);
        if (header)
                TELL(manager, run_lost, header->run, what);
}

static bool read_record(Manager *manager, Left *left) {
        g_autofree char *name = g_path_get_basename(left->path), *own = NULL, *error = NULL;
        bool copied = g_str_has_suffix(name, RECORD_LOST RECORD_SUFFIX);
        uint64_t max = MAX(RECORD_MAX_BYTES, 2 * (uint64_t) manager->limits.max[LIMIT_RECORD] * 1024);
        int r = run_record_read_file(left->path, true, max, &left->record, &error);

        /* The start is one block with all that the run takes over from another one. Without it, nobody was told of the
         * run, so it can be started again. */
        if (r == -ENODATA || (r >= 0 && left->record->entries->len == 0)) {
                log_notice("%s: btd ended before the run began, so the run is dropped: %s", name,
                           error ?: "it has no start");
                g_unlink(left->path);
                return false;
        }
        if (r < 0) {
                set_aside_bad(manager, left, error);
                return false;
        }
        own = g_strconcat(left->record->header.run, copied ? RECORD_LOST : "", RECORD_SUFFIX, NULL);
        if (!g_str_equal(name, own)) {
                set_aside_bad(manager, left, "it is the run record of another run");
                return false;
        }

        left->lost = copied || !g_str_equal(left->record->header.boot, boot_id());
        return true;
}

/* The history tells that the run has not finished. When the end is in the record, nobody can recover the run any more,
 * so a copy can have the name of a run record then. */
static void end_lost(Manager *manager, Left *left) {
        g_autofree char *error = NULL, *path = g_path_get_dirname(left->path), *own = NULL;
        RecordWriter *writer = NULL;
        Run *run;

        if (record_writer_resume(left->path, left->record, &writer, &error) < 0) {
                set_aside_bad(manager, left, error);
                return;
        }

        run = run_end_lost(&left->record->header, left->replay, writer);
        own = record_path(path, run_id(run));
        (void) g_rename(left->path, own);
        log_message(LOG_NOTICE, &(LogSubject){ .tree = run_tree(run), .run = run_id(run) }, "%s: %s",
                    run_status_text(run), run_cause(run) ?: "");
        manager_recover_token(manager, run, true);
        run_end_record(run, manager->records);
        run_free(run);
}

/* Runs of the same tree with the same limits share a definition: the first one makes it, or the library has it
 * already. */
static int find_definition(Manager *manager, Left *left, GHashTable *definitions, char **ret_error) {
        const RecordHeader *header = &left->record->header;
        const LibraryEntry *entry = library_get(manager->library, header->tree);
        g_autofree char *key = g_strdup_printf("%s %" PRIu32, header->hash, header->variables_kib);
        Definition *known = g_hash_table_lookup(definitions, key);
        int r;

        if (!known && entry && entry->definition && g_str_equal(definition_hash(entry->definition), header->hash) &&
            definition_limits(entry->definition)->max[LIMIT_VARIABLES] == header->variables_kib)
                known = entry->definition;
        if (known) {
                left->definition = definition_ref(known);
                return 0;
        }

        r = record_definition_new(header, manager->tables, &left->definition, ret_error);
        if (r >= 0)
                g_hash_table_insert(definitions, g_steal_pointer(&key), definition_ref(left->definition));
        return r;
}

static void make_run(Manager *manager, Left *left) {
        const RecordHeader *header = &left->record->header;
        const LogSubject subject = { .tree = header->tree, .run = header->run };
        bool restart = g_str_equal(header->starter, RUN_RESTART);
        g_autofree char *error = NULL;
        RecordWriter *writer = NULL;

        if (record_writer_resume(left->path, left->record, &writer, &error) < 0)
                g_unlink(left->path);

        left->run = run_recover(header, left->replay, writer, &manager->run_services, &manager_run_callbacks, manager);
        log_message(LOG_NOTICE, &subject, "recovered after a restart of btd");
        if (error)
                run_lose_record(left->run, error);
        /* btd may have been killed before it noted that the run replaces a pending restart, or an earlier run. */
        if (*header->instance == '\0')
                (void) autostarts_begun(manager->autostarts, header->tree, header->run,
                                        definition_header(left->definition)->autostart);
        manager_recover_token(manager, left->run, restart);
        if (run_status(left->run) == STATUS_RUNNING && restart)
                restarts_begun(manager->restarts, header->tree, header->instance);
        else if (run_status(left->run) == STATUS_RUNNING)
                restarts_replace(manager->restarts, header->tree, header->instance);
        runs_add(manager->runs, left->run);
        record_copies_change(record_store_copies(manager->records), run_id(left->run));
        /* btd may have been killed before the disk had its last changes. */
        manager_keep(manager, left->run);
        statistics_recover(manager->statistics, left->run);
        TELL(manager, run_added, left->run);
}

static gint compare_starts(gconstpointer a, gconstpointer b) {
        const Left *x = a, *y = b;

        return (x->record->header.start > y->record->header.start) -
               (x->record->header.start < y->record->header.start);
}

/* A lock to request again, sorted across all runs. */
typedef struct LeftLock {
        Run *run;
        RunLock lock;
} LeftLock;

/* Re-acquire the held locks before queueing the waiters. */
static gint compare_locks(gconstpointer a, gconstpointer b) {
        const RunLock *x = &((const LeftLock *) a)->lock, *y = &((const LeftLock *) b)->lock;

        if (x->held != y->held)
                return x->held ? -1 : 1;

        return (x->since > y->since) - (x->since < y->since);
}

/* Reads and replays the runs, sorted by start. */
static GArray *replay_all(Manager *manager) {
        g_autoptr(GHashTable) definitions =
                g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify) definition_unref);
        g_autoptr(GPtrArray) paths = record_store_list(manager->records);
        GArray *all = g_array_new(FALSE, FALSE, sizeof(Left));
        unsigned n;

        g_array_set_clear_func(all, left_clear);
        for (unsigned i = 0; i < paths->len; i++) {
                Left left = { .path = g_strdup(paths->pdata[i]) };

                if (read_record(manager, &left))
                        g_array_append_val(all, left);
                else
                        left_clear(&left);
        }

        g_array_sort(all, compare_starts);
        n = all->len;
        for (unsigned i = 0, n_done = 0; i < all->len; n_done++) {
                Left *left = &g_array_index(all, Left, i);
                g_autofree char *error = NULL;
                int r;

                TELL(manager, recovering, n_done, n);
                r = find_definition(manager, left, definitions, &error);
                if (r >= 0)
                        r = replay_new_after(left->record, left->definition, UINT64_MAX, &left->replay, &error);
                if (r >= 0)
                        r = replay_until(left->replay, UINT64_MAX, &error);
                if (r >= 0 && !left->lost) {
                        i++;
                        continue;
                }

                if (r >= 0)
                        end_lost(manager, left);
                else
                        set_aside_bad(manager, left, error);
                g_array_remove_index(all, i);
        }
        return all;
}

static bool is_listed(const char *run, void *userdata) {
        return runs_get(((const Manager *) userdata)->runs, run);
}

int manager_recover(Manager *manager, char **ret_error) {
        g_autoptr(GArray) all = NULL;
        int r = record_store_lock(manager->records, ret_error);
        g_autoptr(GArray) locks = NULL;

        if (r >= 0 && manager->secure)
                r = record_store_check_trusted(manager->records, ret_error);
        if (r < 0)
                return r;

        kept_read(manager->kept);
        restarts_recover(manager->restarts);
        followers_recover(manager->followers);
        autostarts_recover(manager->autostarts);
        all = replay_all(manager);
        for (unsigned i = 0; i < all->len; i++)
                make_run(manager, &g_array_index(all, Left, i));
        tokens_lose(record_store_tokens(manager->records), is_listed, manager);
        followers_prune(manager->followers);
        locks = g_array_new(FALSE, FALSE, sizeof(LeftLock));
        ARRAY_FOREACH(const Left, left, all) {
                const GArray *own = run_locks(left->run);

                for (unsigned k = 0; k < own->len; k++) {
                        LeftLock lock = { .run = left->run, .lock = g_array_index(own, RunLock, k) };

                        g_array_append_val(locks, lock);
                }
        }

        g_array_sort(locks, compare_locks);
        ARRAY_FOREACH(const LeftLock, lock, locks)
                run_recover_lock(lock->run, &lock->lock);
        for (unsigned i = 0; i < all->len; i++)
                run_recover_leaves(g_array_index(all, Left, i).run);
        manager_halt_requested(manager, "running");

        return 0;
}
