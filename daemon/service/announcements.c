/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Sends the D-Bus signals of all objects. It listens to the manager's events. */

#include "service/announcements.h"
#include "service/manager-bus.h"
#include "service/object-changes.h"
#include "service/object-path.h"
#include "service/run-bus.h"
#include "service/tree-bus.h"

struct Announcements {
        sd_bus *bus;
        Manager *manager;
        Subscribers *subscribers;
        ObjectChanges *changes;
};

static void touch_manager(Announcements *announcements, PropertyChange event) {
        object_changes_touch(announcements->changes, SERVICE_PATH, &manager_kind, event);
}

/* A removed tree can still have runs. */
static void touch_above(Announcements *announcements, const Run *run, PropertyChange event) {
        g_autofree char *path = object_path_of_tree(run_tree(run));

        if (manager_tree(announcements->manager, run_tree(run)))
                object_changes_touch(announcements->changes, path, &tree_kind, event);
        touch_manager(announcements, event);
}

/* An event of a run is one of its tree and of the manager, too. */
static void touch_run(Announcements *announcements, const Run *run, PropertyChange event) {
        g_autofree char *path = object_path_of_run(run_id(run));

        object_changes_touch(announcements->changes, path, &run_kind, event);
        touch_above(announcements, run, event);
}

/* Collected and sent later, because a reload may add thousands of trees at once. */
static void on_tree_added(const LibraryEntry *entry, void *userdata) {
        Announcements *announcements = userdata;
        g_autofree char *path = object_path_of_tree(entry->name);

        object_changes_add(announcements->changes, path, &tree_kind);
        touch_manager(announcements, ON_TREE_ADDED);
}

static void on_tree_changed(const LibraryEntry *entry, void *userdata) {
        Announcements *announcements = userdata;
        g_autofree char *path = object_path_of_tree(entry->name);

        object_changes_touch(announcements->changes, path, &tree_kind, ON_TREE_CHANGED);
        touch_manager(announcements, ON_TREE_CHANGED);
}

static void on_tree_removed(const LibraryEntry *entry, void *userdata) {
        Announcements *announcements = userdata;
        g_autofree char *path = object_path_of_tree(entry->name);

        object_changes_remove(announcements->changes, path, &tree_kind);
        touch_manager(announcements, ON_TREE_REMOVED);
}

/* InterfacesAdded contains the properties of the run. */
static void on_run_added(Run *run, void *userdata) {
        Announcements *announcements = userdata;
        g_autofree char *path = object_path_of_run(run_id(run));

        run_set_watched(run, subscribers_any(announcements->subscribers));
        (void) sd_bus_emit_object_added(announcements->bus, path);
        manager_bus_emit_run_new(announcements->bus, run);
        touch_above(announcements, run, ON_RUN_ADDED);
}

/* Properties do not change with the nodes: NodesChanged tells subscribers of those. */
static void on_run_changed(Run *run, void *userdata) {
        Announcements *announcements = userdata;

        g_autoptr(GArray) nodes = run_take_changes(run);
        g_autoptr(GList) names = nodes ? subscribers_names(announcements->subscribers) : NULL;

        for (const GList *i = names; i; i = i->next)
                if (subscribers_may_tell(announcements->subscribers, i->data, run_id(run),
                                         definition_tree(run_definition(run))->n_nodes, nodes))
                        run_bus_tell_nodes(announcements->bus, i->data, run, nodes);
}

static void on_run_state_changed(Run *run, void *userdata) {
        touch_run(userdata, run, ON_RUN_STATE);
}

static void on_run_halting(Run *run, void *userdata) {
        touch_run(userdata, run, ON_RUN_HALTING);
}

static void on_restart_changed(Run *run, void *userdata) {
        touch_run(userdata, run, ON_RESTART);
}

static void on_run_ready(Run *run, void *userdata) {
        Announcements *announcements = userdata;

        touch_run(announcements, run, ON_RUN_READY);
        manager_bus_emit_run_ready(announcements->bus, run);
}

static void on_run_finished(Run *run, void *userdata) {
        Announcements *announcements = userdata;

        touch_run(announcements, run, ON_RUN_FINISHED);
        run_bus_emit_finished(announcements->bus, run);
        manager_bus_emit_run_finished(announcements->bus, run);
}

static void on_restart_dropped(const char *tree, const char *instance, void *userdata) {
        Announcements *announcements = userdata;
        const GPtrArray *runs = manager_runs(announcements->manager);

        for (unsigned i = 0; i < runs->len; i++)
                if (g_str_equal(run_tree(runs->pdata[i]), tree) && g_str_equal(run_instance(runs->pdata[i]), instance))
                        touch_run(announcements, runs->pdata[i], ON_RESTART);
        manager_bus_emit_restart_dropped(announcements->bus, tree, instance);
}

static void on_run_removed(Run *run, void *userdata) {
        Announcements *announcements = userdata;
        g_autofree char *path = object_path_of_run(run_id(run));

        touch_above(announcements, run, ON_RUN_REMOVED);
        object_changes_forget(announcements->changes, path);
        (void) sd_bus_emit_object_removed(announcements->bus, path);
}

static void on_reloaded(const GPtrArray *messages, void *userdata) {
        Announcements *announcements = userdata;

        manager_bus_emit_reloaded(announcements->bus, messages);
}

void announcements_status_changed(Announcements *announcements) {
        touch_manager(announcements, ON_STATUS);
}

static void on_stopping(void *userdata) {
        touch_manager(userdata, ON_STATUS);
}

static void on_disk_changed(void *userdata) {
        touch_manager(userdata, ON_DISK);
}

static const ManagerObserver observer = {
        .tree_added = on_tree_added,
        .tree_changed = on_tree_changed,
        .tree_removed = on_tree_removed,
        .run_added = on_run_added,
        .run_changed = on_run_changed,
        .run_state_changed = on_run_state_changed,
        .run_ready = on_run_ready,
        .run_halting = on_run_halting,
        .run_finished = on_run_finished,
        .disk_changed = on_disk_changed,
        .restart_changed = on_restart_changed,
        .restart_dropped = on_restart_dropped,
        .run_removed = on_run_removed,
        .reloaded = on_reloaded,
        .stopping = on_stopping,
};

Announcements *announcements_new(GMainContext *context, sd_bus *bus, Manager *manager, Subscribers *subscribers) {
        Announcements *announcements = g_new(Announcements, 1);

        *announcements = (Announcements){
                .bus = bus,
                .manager = manager,
                .subscribers = subscribers,
                .changes = object_changes_new(context, bus, SERVICE_PATH),
        };
        manager_observe(manager, &observer, announcements);
        return announcements;
}

void announcements_free(Announcements *announcements) {
        if (!announcements)
                return;

        manager_unobserve(announcements->manager, &observer, announcements);
        object_changes_free(announcements->changes);
        g_free(announcements);
}

bool announcements_tell(Announcements *announcements, const char *name, const char *run_id, const GArray *nodes) {
        const Run *run = manager_run(announcements->manager, run_id);

        if (run)
                run_bus_tell_nodes(announcements->bus, name, run, nodes);
        return run != NULL;
}
