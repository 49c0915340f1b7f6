/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Implements the manager: trees, observers, autostart, stopping. */

#include <json-c/json_object.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/excerpt.h"
#include "basic/foreach.h"
#include "basic/later.h"
#include "basic/log.h"
#include "basic/sorted.h"
#include "runtime/manager-state.h"

/* How long stopping waits for the disk. */
#define DISK_PATIENCE_USEC (UINT64_C(5) * G_USEC_PER_SEC)

static void log_warnings(const LibraryEntry *entry) {
        for (size_t i = 0; i < diagnostics_count(entry->diagnostics); i++) {
                g_autofree char *text = NULL;

                if (!diagnostics_get(entry->diagnostics, i)->warning)
                        continue;

                text = diagnostics_format(entry->diagnostics, i);
                log_message(LOG_WARNING, &(LogSubject){ .tree = entry->name }, "%s", text);
        }
}

static void on_tree_added(const LibraryEntry *entry, void *userdata) {
        Manager *manager = userdata;

        log_warnings(entry);
        TELL(manager, tree_added, entry);
}

static void on_tree_changed(const LibraryEntry *entry, void *userdata) {
        Manager *manager = userdata;

        log_warnings(entry);
        TELL(manager, tree_changed, entry);
}

static void on_tree_removed(const LibraryEntry *entry, void *userdata) {
        Manager *manager = userdata;

        TELL(manager, tree_removed, entry);
}

static const LibraryCallbacks library_callbacks = {
        .added = on_tree_added,
        .changed = on_tree_changed,
        .removed = on_tree_removed,
};

static void on_run_removed(Run *run, void *userdata) {
        Manager *manager = userdata;

        restarts_forget(manager->restarts, run_tree(run), run_instance(run));
        TELL(manager, run_removed, run);
}

static void continue_starts(Manager *manager) {
        if (manager->stopping || manager->abandoned || ticker_is_held(manager->ticker))
                return;

        followers_continue(manager->followers);
        autostarts_continue(manager->autostarts);
        if (!manager->autostarting || autostarts_are_due(manager->autostarts))
                return;

        manager->autostarting = false;
        TELL(manager, autostarted);
}

void manager_retry_starts(Manager *manager) {
        restarts_retry(manager->restarts);
        manager_retry_texts(manager);
        continue_starts(manager);
        TELL(manager, retry_starts);
}

static gboolean on_retry(void *userdata) {
        Manager *manager = userdata;

        manager->retry = NULL;
        restarts_retry(manager->restarts);
        continue_starts(manager);
        return G_SOURCE_REMOVE;
}

void manager_retry_soon(Manager *manager) {
        if (manager->retry || manager->stopping ||
            (!restarts_wait(manager->restarts) && !followers_wait(manager->followers) &&
             !autostarts_wait(manager->autostarts)))
                return;

        manager->retry = call_later(manager->context, 0, on_retry, manager);
}

/* A run that exists already was recovered from a btd that was killed before it noted the autostart. */
static bool on_autostart(const char *tree, const char **ret_run, char **ret_why, void *userdata) {
        g_autofree char *error = NULL;
        Manager *manager = userdata;
        Run *run = runs_last(manager->runs, tree, "");
        int r = 0;

        if (!run || run_status(run) != STATUS_RUNNING)
                r = manager_start(manager, tree, "", NULL, "autostart", &run, &error);
        if (r >= 0)
                *ret_run = run_id(run);
        else if (r != MANAGER_NOT_YET)
                *ret_why = g_steal_pointer(&error);
        return r >= 0;
}

static void on_autostart_changed(const char *tree, void *userdata) {
        Manager *manager = userdata;

        TELL(manager, waiting_changed, tree);
}

static const AutostartsCallbacks autostarts_callbacks = {
        .start = on_autostart,
        .changed = on_autostart_changed,
};

static void on_numbers_reserved(void *userdata) {
        manager_retry_starts(userdata);
}

static void on_disk_changed(void *userdata) {
        Manager *manager = userdata;

        TELL(manager, disk_changed);
}

Manager *manager_new(GMainContext *context, const LeafServices *services, const ManagerOptions *options) {
        Manager *manager = g_new0(Manager, 1);

        manager->context = context;
        manager->limits = options->limits ? *options->limits : limits_default;
        manager->runtime_directory = g_strdup(options->runtime_directory);
        manager->secure = options->secure;
        manager->tables = options->tables;
        manager->services = services;
        manager->ticker = ticker_new(context);
        manager->locks = locks_new();
        manager->waiters = waiters_new(services->user, options->runtime_directory);
        manager->statistics = statistics_new(manager->limits.max[LIMIT_TREES]);
        manager->run_services = (RunServices){
                .leaves = services,
                .ticker = manager->ticker,
                .locks = manager->locks,
                .waiters = manager->waiters,
                .totals = &manager->statistics->totals,
        };
        manager->library = library_new(options->directories, options->secure, options->tables, &manager->limits,
                                       &library_callbacks, manager);
        manager->loading = loading_new(manager);
        manager->disk = disk_queue_new(context, services->timers, on_disk_changed, manager);
        manager->counter = run_counter_new(options->state_directory ?: options->runtime_directory,
                                           options->state_directory ? options->runtime_directory : NULL, manager->disk,
                                           on_numbers_reserved, manager);
        manager->records = record_store_new(options->runtime_directory, options->state_directory, &manager->limits,
                                            services->users, manager->disk, services->timers);
        manager->kept = kept_new(options->state_directory ?: options->runtime_directory, options->runtime_directory,
                                 manager->disk, services->timers, services->users);
        manager->autostarts =
                autostarts_new(services->timers, options->runtime_directory, &autostarts_callbacks, manager);
        manager->unread = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        manager->runs = runs_new(on_run_removed, manager);
        manager->restarts =
                restarts_new(services->timers, options->runtime_directory, &manager_restarts_callbacks, manager);
        manager->followers = followers_new(services->timers, options->runtime_directory, options->on_finished,
                                           &manager_followers_callbacks, manager);
        manager->observers = g_array_new(FALSE, FALSE, sizeof(Observer));
        return manager;
}

/* Does the run continue with the next btd? */
static bool is_left(const Manager *manager, const Run *run) {
        return manager->leaving && run_status(run) == STATUS_RUNNING && run_is_durable(run) &&
               definition_header(run_definition(run))->on_stop == ON_STOP_KEEP;
}

/* Close all run records first: freeing a run can grant its lock to another one, which must not be recorded. The
 * next btd finds the run record of each unfinished run, also of runs that should have been halted but did not end
 * in time. */
static void abandon(Manager *manager) {
        const GPtrArray *runs = runs_list(manager->runs);
        g_autoptr(GPtrArray) left = g_ptr_array_new();

        for (unsigned i = 0; i < runs->len; i++)
                if (run_status(runs->pdata[i]) == STATUS_RUNNING && run_is_durable(runs->pdata[i]))
                        g_ptr_array_add(left, runs->pdata[i]);
        for (unsigned i = 0; i < runs->len; i++)
                run_close_record(runs->pdata[i]);
        for (unsigned i = 0; i < left->len; i++)
                run_abandon(left->pdata[i]);
        manager->abandoned = true;
}

void manager_give_up(Manager *manager) {
        const GPtrArray *runs = runs_list(manager->runs);
        g_autoptr(GPtrArray) left = g_ptr_array_new();

        for (unsigned i = 0; i < runs->len; i++)
                if (run_status(runs->pdata[i]) == STATUS_RUNNING)
                        g_ptr_array_add(left, runs->pdata[i]);
        for (unsigned i = 0; i < left->len; i++)
                run_give_up(left->pdata[i]);
}

void manager_abandon(Manager *manager) {
        const GPtrArray *runs = runs_list(manager->runs);

        for (unsigned i = 0; i < runs->len; i++)
                run_leave_record(runs->pdata[i]);
        abandon(manager);
        run_counter_give_back(manager->counter);
}

void manager_copy_records(Manager *manager) {
        record_copies_hurry(record_store_copies(manager->records));
}

void manager_free(Manager *manager) {
        g_autofree char *late = NULL;

        if (!manager)
                return;

        abandon(manager);
        g_array_set_size(manager->observers, 0);
        record_store_hurry(manager->records);
        kept_hurry(manager->kept);
        /* If the disk does not answer in time, the loss is the same as after a power failure. */
        if (!disk_queue_finish(manager->disk, DISK_PATIENCE_USEC)) {
                late = disk_queue_late(manager->disk);
                log_warning("%s; not waiting for it any longer", late);
        }

        loading_free(manager->loading);
        g_clear_pointer(&manager->idle, g_source_destroy);
        g_clear_pointer(&manager->retry, g_source_destroy);
        g_hash_table_unref(manager->unread);
        restarts_free(manager->restarts);
        followers_free(manager->followers);
        definition_unref(manager->unit_starter);
        runs_free(manager->runs);
        waiters_free(manager->waiters);
        locks_free(manager->locks);
        g_array_unref(manager->observers);
        library_free(manager->library);
        run_counter_free(manager->counter);
        autostarts_free(manager->autostarts);
        record_store_free(manager->records);
        disk_queue_free(manager->disk);
        kept_free(manager->kept);
        ticker_free(manager->ticker);
        statistics_free(manager->statistics);
        g_free(manager->runtime_directory);
        g_free(manager);
}

void manager_observe(Manager *manager, const ManagerObserver *callbacks, void *userdata) {
        Observer observer = { .callbacks = callbacks, .userdata = userdata };

        g_array_append_val(manager->observers, observer);
}

void manager_unobserve(Manager *manager, const ManagerObserver *callbacks, void *userdata) {
        for (unsigned i = 0; i < manager->observers->len; i++) {
                const Observer *observer = &g_array_index(manager->observers, Observer, i);

                if (observer->callbacks == callbacks && observer->userdata == userdata) {
                        g_array_remove_index(manager->observers, i);
                        return;
                }
        }
}

static gboolean on_idle(void *userdata) {
        Manager *manager = userdata;

        manager->idle = NULL;
        TELL(manager, idle);
        return G_SOURCE_REMOVE;
}

void manager_check_idle(Manager *manager) {
        const GPtrArray *runs = runs_list(manager->runs);
        unsigned n_left = 0;

        for (unsigned i = 0; i < runs->len; i++)
                n_left += is_left(manager, runs->pdata[i]);
        if (!manager->stopping || runs_n_running(manager->runs) > n_left || manager->idle)
                return;

        manager->idle = call_later(manager->context, 0, on_idle, manager);
}

void manager_autostart(Manager *manager) {
        g_autoptr(GPtrArray) entries = library_list(manager->library);

        PTRS_FOREACH(const LibraryEntry, entry, entries) {
                if (entry->definition && definition_header(entry->definition)->autostart)
                        autostarts_want(manager->autostarts, entry->name);
                else if (entry->definition)
                        autostarts_unwant(manager->autostarts, entry->name);
                else if (!entry->masked) {
                        g_hash_table_add(manager->unread, g_strdup(entry->name));
                        TELL(manager, waiting_changed, entry->name);
                }
        }

        manager->autostarting = true;
        continue_starts(manager);
}

/* Trees that were broken when btd was started, in the middle of an upgrade perhaps, and are not now. */
void manager_reread_autostarts(Manager *manager) {
        GHashTableIter iter;
        void *name;

        g_hash_table_iter_init(&iter, manager->unread);
        while (g_hash_table_iter_next(&iter, &name, NULL)) {
                const LibraryEntry *entry = library_get(manager->library, name);

                if (entry && !entry->definition && !entry->masked)
                        continue;

                if (entry && entry->definition && definition_header(entry->definition)->autostart)
                        autostarts_want(manager->autostarts, entry->name);
                g_hash_table_iter_steal(&iter);
                TELL(manager, waiting_changed, name);
                g_free(name);
        }

        manager_retry_soon(manager);
}

char *manager_describe_autostart(const Manager *manager, const char *tree) {
        if (g_hash_table_contains(manager->unread, tree) && !autostarts_know(manager->autostarts, tree))
                return g_strdup("autostart unknown until the file is correct");

        return autostarts_describe(manager->autostarts, tree);
}

char *manager_describe_waiting(const Manager *manager, const char *tree) {
        char *text = manager_describe_autostart(manager, tree);

        if (!text && !runs_last(manager->runs, tree, "") && restarts_find_due(manager->restarts, tree, "", NULL))
                text = restarts_describe(manager->restarts, tree, "");
        return text ?: followers_describe_waiting(manager->followers, tree);
}

bool manager_tree_waits(const Manager *manager, const char *tree) {
        g_autofree char *autostart = manager_describe_autostart(manager, tree),
                        *start = followers_describe_waiting(manager->followers, tree);

        return autostart || start || restarts_find_due(manager->restarts, tree, "", NULL);
}

GPtrArray *manager_missing_trees(Manager *manager) {
        GPtrArray *missing = g_ptr_array_new_with_free_func(g_free);
        g_autoptr(GPtrArray) all = g_ptr_array_new_with_free_func(g_free);

        autostarts_list(manager->autostarts, all);
        restarts_list(manager->restarts, all);
        followers_list(manager->followers, all);
        g_ptr_array_sort(all, compare_texts);
        for (unsigned i = 0; i < all->len; i++)
                if (!manager_tree(manager, all->pdata[i]) && (i == 0 || !g_str_equal(all->pdata[i], all->pdata[i - 1])))
                        g_ptr_array_add(missing, g_strdup(all->pdata[i]));

        return missing;
}

int manager_find_tree(Manager *manager, const char *name, const LibraryEntry **ret_entry, char **ret_error) {
        const LibraryEntry *entry = library_get(manager->library, name);
        const char *nearest = entry ? NULL : library_nearest(manager->library, name);
        g_autofree char *shown = excerpt(name, strlen(name));

        if (entry && !entry->masked) {
                *ret_entry = entry;
                return 0;
        }

        if (entry)
                *ret_error = g_strdup_printf("tree '%s' is masked by %s; remove that to use it", shown, entry->path);
        else if (nearest)
                *ret_error = g_strdup_printf("no tree '%s'; did you mean '%s'?", shown, nearest);
        else
                *ret_error = g_strdup_printf("no tree '%s'; 'btctl list' shows the trees", shown);
        return MANAGER_NO_SUCH_TREE;
}

bool manager_is_past(const Manager *manager, const char *id) {
        Archive *archive = record_store_archive(manager->records);

        return !runs_get(manager->runs, id) && archive && archive_has(archive, id);
}

int manager_find_run(Manager *manager, const char *id, Run **ret_run, char **ret_error) {
        Run *run = runs_get(manager->runs, id);
        g_autofree char *shown = NULL;
        const char *nearest;

        if (run) {
                *ret_run = run;
                return 0;
        }

        shown = excerpt(id, strlen(id));
        nearest = runs_nearest(manager->runs, id);
        if (manager_is_past(manager, id))
                *ret_error = g_strdup_printf("run '%s' has finished, and only the history has it; 'btctl show %s' "
                                             "shows it",
                                             shown, shown);
        else if (nearest)
                *ret_error = g_strdup_printf("no run '%s'; did you mean '%s'?", shown, nearest);
        else
                *ret_error = g_strdup_printf("no run '%s'; 'btctl list' shows the runs", shown);
        return MANAGER_NO_SUCH_RUN;
}

/* Runs that are left continue with the next btd, which does not start their trees again. */
static void halt_all(Manager *manager) {
        /* The fact says why to is_for_next() in manager-runs.c. */
        g_autoptr(Cause) why =
                cause_new(CAUSE_HALTED, facts_new("stopping", json_object_new_boolean(true), NULL), "btd is stopping");
        const GPtrArray *runs = runs_list(manager->runs);

        for (unsigned i = 0; i < runs->len; i++) {
                Run *run = runs->pdata[i];

                if (run_status(run) != STATUS_RUNNING || is_left(manager, run))
                        continue;

                manager_halt(manager, run, why);
                run_end_with_btd(run); /* btd waits for its end */
        }
        manager_check_idle(manager);
}

void manager_stop(Manager *manager) {
        if (manager->stopping)
                return;

        manager->stopping = true;
        TELL(manager, stopping);
        manager_stop_loading(manager);
        restarts_cancel(manager->restarts, &(RestartChoice){}, NULL);
        followers_cancel(manager->followers, NULL, NULL, NULL);
        autostarts_begin_anew(manager->autostarts);
        halt_all(manager);
}

void manager_leave(Manager *manager) {
        if (manager->stopping)
                return;

        manager->stopping = manager->leaving = true;
        TELL(manager, stopping);
        manager_stop_loading(manager);
        restarts_leave(manager->restarts);
        halt_all(manager);
}

static void on_doubted(void *userdata) {
        Manager *manager = userdata;

        TELL(manager, in_doubt);
}

void manager_expect_doubts(Manager *manager) {
        ticker_set_doubted(manager->ticker, on_doubted, manager);
}

void manager_hold(Manager *manager, bool held) {
        if (ticker_is_held(manager->ticker) == held)
                return;

        ticker_hold(manager->ticker, held);
        if (!held)
                manager_retry_starts(manager);
}

const LibraryEntry *manager_tree(Manager *manager, const char *name) {
        const LibraryEntry *entry = library_get(manager->library, name);

        return entry && !entry->masked ? entry : NULL;
}

char *manager_disk(const Manager *manager) {
        return disk_queue_late(manager->disk) ?: manager_describe_late_reads(manager);
}

GPtrArray *manager_list_users(const Manager *manager) {
        Users *users = manager->services->users;

        if (!users)
                return g_ptr_array_new();
        runs_count(manager->runs, users);
        return users_list(users);
}
