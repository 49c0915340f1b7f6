/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * A run stays listed until another run of the same tree and instance is started, or until too many have finished
 * since.
 */

#include <errno.h>
#include <inttypes.h>
#include <json-c/linkhash.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/excerpt.h"
#include "basic/log.h"
#include "runtime/detail.h"
#include "runtime/manager.h"
#include "runtime/request.h"
#include "runtime/run-counter.h"
#include "runtime/runs.h"

typedef struct Observer {
        const ManagerObserver *callbacks;
        void *userdata;
} Observer;

struct Manager {
        GMainContext *context;
        const LeafServices *services;
        Ticker *ticker;
        Library *library;
        RunCounter *counter;
        Runs *runs;
        GArray *observers; /* of Observer */
        GSource *idle;     /* while it is due */
        bool stopping;
};

#define TELL(manager, callback, ...)                                                                                   \
        for (unsigned i_ = 0; i_ < (manager)->observers->len; i_++) {                                                  \
                const Observer *observer_ = &g_array_index((manager)->observers, Observer, i_);                        \
                if (observer_->callbacks->callback)                                                                    \
                        observer_->callbacks->callback(__VA_ARGS__ __VA_OPT__(, ) observer_->userdata);                \
        }

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

        TELL(manager, run_removed, run);
}

Manager *manager_new(GMainContext *context, const LeafServices *services, const ManagerOptions *options) {
        Manager *manager = g_new0(Manager, 1);

        manager->context = context;
        manager->services = services;
        manager->ticker = ticker_new(context);
        manager->library =
                library_new(options->directories, options->secure, options->tables, &library_callbacks, manager);
        manager->counter = run_counter_new(options->state_directory);
        manager->runs = runs_new(on_run_removed, manager);
        manager->observers = g_array_new(FALSE, FALSE, sizeof(Observer));
        return manager;
}

void manager_free(Manager *manager) {
        if (!manager)
                return;

        if (manager->idle)
                g_source_destroy(manager->idle);
        runs_free(manager->runs);
        g_array_unref(manager->observers);
        library_free(manager->library);
        run_counter_free(manager->counter);
        ticker_free(manager->ticker);
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

static void log_finished(const Run *run) {
        LogSubject subject = { .tree = run_tree(run), .run = run_id(run) };
        g_autofree char *took = detail_span(run_finished(run) - MIN(run_started(run), run_finished(run)));

        switch (run_status(run)) {
        case STATUS_SUCCESS:
                log_message(LOG_INFO, &subject, "succeeded after %s", took);
                break;
        case STATUS_FAILURE:
                log_message(LOG_WARNING, &subject, "failed after %s: %s", took, run_cause(run));
                break;
        case STATUS_ERROR:
                log_message(LOG_ERR, &subject, "the tree is broken: %s", run_cause(run));
                break;
        default:
                log_message(LOG_NOTICE, &subject, "%s after %s: %s", status_to_string(run_status(run)), took,
                            run_cause(run));
        }
}

static gboolean on_idle(void *userdata) {
        Manager *manager = userdata;

        manager->idle = NULL;
        TELL(manager, idle);
        return G_SOURCE_REMOVE;
}

static void check_idle(Manager *manager) {
        if (!manager->stopping || runs_n_running(manager->runs) > 0 || manager->idle)
                return;

        manager->idle = g_idle_source_new();
        g_source_set_priority(manager->idle, G_PRIORITY_DEFAULT);
        g_source_set_callback(manager->idle, on_idle, manager, NULL);
        g_source_attach(manager->idle, manager->context);
        g_source_unref(manager->idle);
}

static void on_run_changed(Run *run, void *userdata) {
        Manager *manager = userdata;

        TELL(manager, run_changed, run);
}

static void on_run_finished(Run *run, void *userdata) {
        Manager *manager = userdata;

        log_finished(run);
        runs_finished(manager->runs, run);
        TELL(manager, run_finished, run);
        check_idle(manager);
}

static const RunCallbacks run_callbacks = {
        .changed = on_run_changed,
        .finished = on_run_finished,
};

static void reload(Manager *manager, GPtrArray *messages) {
        library_reload(manager->library, messages);
        for (unsigned i = 0; i < messages->len; i++)
                log_error("%s", (const char *) g_ptr_array_index(messages, i));
}

void manager_load(Manager *manager) {
        g_autoptr(GPtrArray) messages = g_ptr_array_new_with_free_func(g_free);

        reload(manager, messages);
}

static void autostart(Manager *manager, const LibraryEntry *entry) {
        g_autofree char *error = NULL;
        Run *run;

        if (!entry->definition || !definition_autostart(entry->definition))
                return;

        if (manager_start(manager, entry->name, "", NULL, &run, &error) < 0)
                log_message(LOG_ERR, &(LogSubject){ .tree = entry->name }, "not started: %s", error);
}

void manager_autostart(Manager *manager) {
        g_autoptr(GPtrArray) entries = library_list(manager->library);

        for (unsigned i = 0; i < entries->len; i++)
                autostart(manager, g_ptr_array_index(entries, i));
}

GPtrArray *manager_reload(Manager *manager) {
        GPtrArray *messages = g_ptr_array_new_with_free_func(g_free);

        TELL(manager, reloading);
        reload(manager, messages);
        TELL(manager, reloaded, messages);
        return messages;
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
                *ret_error = g_strdup_printf("no tree '%s'; 'btctl list' shows those that there are", shown);
        return MANAGER_NO_SUCH_TREE;
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
        if (nearest)
                *ret_error = g_strdup_printf("no run '%s'; did you mean '%s'?", shown, nearest);
        else
                *ret_error = g_strdup_printf("no run '%s'; 'btctl list' shows those that there are", shown);
        return MANAGER_NO_SUCH_RUN;
}

static int check_free(const Manager *manager, const LibraryEntry *entry, const char *instance, char **ret_error) {
        const Run *run = runs_last(manager->runs, entry->name, instance);

        if (run && run_status(run) == STATUS_RUNNING) {
                *ret_error =
                        *instance ? g_strdup_printf("instance '%s' of tree '%s' is already %s as %s", instance,
                                                    entry->name, run_halting(run) ? "ending" : "running", run_id(run))
                                  : g_strdup_printf("tree '%s' is already %s as %s; give another --instance to "
                                                    "run it twice",
                                                    entry->name, run_halting(run) ? "ending" : "running", run_id(run));
                return MANAGER_ALREADY_RUNNING;
        }

        if (runs_n_running(manager->runs) >= MANAGER_RUNNING_MAX) {
                *ret_error = g_strdup_printf("%u trees are running already, which is the limit; halt some first",
                                             MANAGER_RUNNING_MAX);
                return MANAGER_LIMIT;
        }

        return 0;
}

static const char *first_error(const LibraryEntry *entry, char **ret_owned) {
        for (size_t i = 0; i < diagnostics_count(entry->diagnostics); i++)
                if (!diagnostics_get(entry->diagnostics, i)->warning) {
                        *ret_owned = diagnostics_format(entry->diagnostics, i);
                        return *ret_owned;
                }

        return entry->path;
}

static int check_start(Manager *manager, const char *tree, const char *instance, json_object *variables,
                       const LibraryEntry **ret_entry, char **ret_error) {
        const LibraryEntry *entry;
        int r;

        if (manager->stopping) {
                *ret_error = g_strdup("the daemon is stopping and starts nothing any more");
                return MANAGER_STOPPING;
        }

        r = request_check(instance, variables, ret_error);
        if (r < 0)
                return r;
        r = manager_find_tree(manager, tree, &entry, ret_error);
        if (r < 0)
                return r;

        if (!entry->definition) {
                g_autofree char *owned = NULL;

                *ret_error = g_strdup_printf("tree '%s' has errors; correct its file, then reload: %s", entry->name,
                                             first_error(entry, &owned));
                return MANAGER_TREE_BROKEN;
        }

        *ret_entry = entry;
        return check_free(manager, entry, instance, ret_error);
}

static Run *make_run(Manager *manager, const LibraryEntry *entry, const char *instance, json_object *variables) {
        g_autofree char *id =
                g_strdup_printf("%s.%" PRIu64, entry->name, run_counter_next(manager->counter, entry->name));
        Run *run = run_new(id, entry->name, instance, entry->definition, manager->services, manager->ticker,
                           &run_callbacks, manager);

        if (variables) {
                json_object_object_foreach(variables, key, value) run_set_variable(run, key, json_object_get(value));
        }

        runs_add(manager->runs, run);
        return run;
}

int manager_start(Manager *manager, const char *tree, const char *instance, json_object *variables, Run **ret_run,
                  char **ret_error) {
        const LibraryEntry *entry;
        Run *run, *before;
        int r;

        r = check_start(manager, tree, instance, variables, &entry, ret_error);
        if (r < 0)
                return r;

        before = runs_last(manager->runs, entry->name, instance);
        if (before)
                runs_remove(manager->runs, before);

        run = make_run(manager, entry, instance, variables);
        log_message(LOG_INFO, &(LogSubject){ .tree = entry->name, .run = run_id(run) }, "started%s%s",
                    *instance ? " as instance " : "", instance);
        TELL(manager, run_added, run);
        run_start(run);
        *ret_run = run;
        return 0;
}

static void halt_run(Manager *manager, Run *run, const char *why) {
        run_halt(run, why);
        TELL(manager, run_halting, run);
}

int manager_halt_run(Manager *manager, const char *id, const char *who, char **ret_error) {
        g_autofree char *why = g_strdup_printf("halted by %s", who);
        Run *run;
        int r;

        r = manager_find_run(manager, id, &run, ret_error);
        if (r < 0)
                return r;

        if (run_status(run) != STATUS_RUNNING) {
                *ret_error = g_strdup_printf("run '%s' is not running any more: %s", run_id(run),
                                             status_to_string(run_status(run)));
                return MANAGER_NOT_RUNNING;
        }

        halt_run(manager, run, why);
        return 0;
}

static unsigned halt_runs(Manager *manager, const char *tree, const char *why) {
        const GPtrArray *runs = runs_list(manager->runs);
        unsigned count = 0;

        for (unsigned i = 0; i < runs->len; i++) {
                Run *run = g_ptr_array_index(runs, i);

                if (run_status(run) != STATUS_RUNNING || (tree && !g_str_equal(run_tree(run), tree)))
                        continue;

                halt_run(manager, run, why);
                count++;
        }

        return count;
}

int manager_halt_tree(Manager *manager, const char *tree, const char *who, unsigned *ret_count, char **ret_error) {
        g_autofree char *why = g_strdup_printf("halted by %s", who);
        unsigned count = halt_runs(manager, tree, why);
        const LibraryEntry *entry;

        /* A tree that is gone can still have runs. */
        if (count == 0) {
                int r = manager_find_tree(manager, tree, &entry, ret_error);

                if (r < 0)
                        return r;
        }

        *ret_count = count;
        return 0;
}

void manager_stop(Manager *manager) {
        if (manager->stopping)
                return;

        manager->stopping = true;
        TELL(manager, stopping);
        halt_runs(manager, NULL, "the daemon is stopping");
        check_idle(manager);
}

bool manager_is_stopping(const Manager *manager) {
        return manager->stopping;
}

const LibraryEntry *manager_tree(Manager *manager, const char *name) {
        const LibraryEntry *entry = library_get(manager->library, name);

        return entry && !entry->masked ? entry : NULL;
}

Run *manager_run(Manager *manager, const char *id) {
        return runs_get(manager->runs, id);
}

GPtrArray *manager_trees(Manager *manager) {
        return library_list(manager->library);
}

const GPtrArray *manager_runs(Manager *manager) {
        return runs_list(manager->runs);
}

unsigned manager_n_running(const Manager *manager) {
        return runs_n_running(manager->runs);
}
