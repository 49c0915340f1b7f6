/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Sends the D-Bus signals of all objects. It listens to the manager, and to the events of runs while somebody is
 * subscribed to these.
 */

#include "service/announcements.h"
#include "basic/foreach.h"
#include "basic/later.h"
#include "service/events-bus.h"
#include "service/manager-bus.h"
#include "service/object-changes.h"
#include "service/object-path.h"
#include "service/run-bus.h"
#include "service/tree-bus.h"

/* How many events of one input are sent at most: making them delays other runs. The rest is in the run record. */
#define EVENTS_MAX 1024u
/* How long btd still watches runs for nobody: to begin and to end that takes time for each run. */
#define UNWATCH_SECONDS 1
/* How many events one signal has at most. */
#define EVENTS_PART 256u

struct Announcements {
        sd_bus *bus;
        Manager *manager;
        Subscribers *subscribers;
        ObjectChanges *changes;
        FinishedRuns *finished;
        GMainContext *context;
        bool nodes, events;  /* what is watched for subscribers */
        GHashTable *pending; /* run -> Pending: events that are not sent yet */
        GSource *sending;    /* sends them; NULL: there are none */
        GSource *unwatching; /* ends what nobody wants; NULL: all is wanted */
};

/* The events of a run since the last signal. */
typedef struct Pending {
        Announcements *announcements;
        Run *run;
        GArray *events; /* of RunEvent */
} Pending;

static void pending_free(void *data) {
        Pending *pending = data;

        run_observe_events(pending->run, NULL, NULL, 0);
        g_array_unref(pending->events);
        g_free(pending);
}

/* Sends the events in parts, as much as a subscriber can take now. Events that were only counted are missed by
 * everybody. */
static void send_events(const Announcements *announcements, const Pending *pending) {
        const Run *run = pending->run;
        const GArray *events = pending->events;
        g_autoptr(GList) names = NULL;
        unsigned n;

        if (events->len == 0)
                return;

        names = subscribers_names(announcements->subscribers, SUBSCRIBED_EVENTS, run_tree(run), run_id(run));
        for (const GList *link = names; link; link = link->next)
                for (unsigned i = 0; i < events->len; i += n) {
                        const RunEvent *part = &g_array_index(events, RunEvent, i);

                        n = MIN(events->len - i, EVENTS_PART);
                        if (!subscribers_may_tell_events(announcements->subscribers, link->data, run_id(run), n))
                                break;
                        events_bus_tell(announcements->bus, link->data, run, part, n,
                                        i + n < events->len ? part[n - 1].number : run_n_events(run));
                }
        g_array_set_size(pending->events, 0);
}

static gboolean on_send(void *userdata) {
        Announcements *announcements = userdata;
        void *pending;

        announcements->sending = NULL;
        TABLE_FOREACH(pending, announcements->pending)
                send_events(announcements, pending);
        return G_SOURCE_REMOVE;
}

/* Events are sent together once in a turn of the main loop. */
static void on_event(const RunEvent *event, void *userdata) {
        const Pending *pending = userdata;
        Announcements *announcements = pending->announcements;
        RunEvent copy = run_event_copy(event);

        g_array_append_val(pending->events, copy);
        if (!announcements->sending)
                announcements->sending = call_later(announcements->context, 0, on_send, announcements);
}

static void observe(Announcements *announcements, Run *run) {
        Pending *pending = g_new(Pending, 1);

        *pending = (Pending){
                .announcements = announcements,
                .run = run,
                .events = g_array_new(FALSE, FALSE, sizeof(RunEvent)),
        };
        g_array_set_clear_func(pending->events, (GDestroyNotify) run_event_clear);
        g_hash_table_insert(announcements->pending, run, pending);
        run_observe_events(run, on_event, pending, EVENTS_MAX);
}

static void set_watched(Announcements *announcements, bool nodes, bool events) {
        const GPtrArray *runs = runs_list(announcements->manager->runs);

        PTRS_FOREACH(Run, run, runs) {
                if (nodes != announcements->nodes)
                        run_set_watched(run, nodes);
                if (events && !announcements->events)
                        observe(announcements, run);
        }

        if (!events)
                g_hash_table_remove_all(announcements->pending);
        announcements->nodes = nodes;
        announcements->events = events;
}

static gboolean on_unwatch(void *userdata) {
        Announcements *announcements = userdata;

        announcements->unwatching = NULL;
        set_watched(announcements, subscribers_any(announcements->subscribers, SUBSCRIBED_NODES),
                    subscribers_any(announcements->subscribers, SUBSCRIBED_EVENTS));
        return G_SOURCE_REMOVE;
}

/* A program may subscribe and unsubscribe all the time. */
void announcements_watch(Announcements *announcements) {
        bool nodes = subscribers_any(announcements->subscribers, SUBSCRIBED_NODES),
             events = subscribers_any(announcements->subscribers, SUBSCRIBED_EVENTS);

        set_watched(announcements, announcements->nodes || nodes, announcements->events || events);
        if (announcements->unwatching || (announcements->nodes == nodes && announcements->events == events))
                return;

        announcements->unwatching =
                call_later(announcements->context, UNWATCH_SECONDS * 1000, on_unwatch, announcements);
}

void announcements_tell_missed(Announcements *announcements, const char *name, const char *run_id) {
        const Run *run = runs_get(announcements->manager->runs, run_id);

        if (run)
                events_bus_tell(announcements->bus, name, run, NULL, 0, run_n_events(run));
}

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

/* The first event comes before the run is announced. */
static void on_run_starting(Run *run, void *userdata) {
        Announcements *announcements = userdata;

        if (announcements->events)
                observe(announcements, run);
}

/* InterfacesAdded contains the properties of the run. */
static void on_run_added(Run *run, void *userdata) {
        Announcements *announcements = userdata;
        g_autofree char *path = object_path_of_run(run_id(run));

        run_set_watched(run, announcements->nodes);
        if (announcements->events && !g_hash_table_contains(announcements->pending, run))
                observe(announcements, run);
        object_changes_add_now(announcements->changes, path, &run_kind);
        touch_above(announcements, run, ON_RUN_ADDED);
}

static void on_run_new(Run *run, void *userdata) {
        g_autofree char *path = object_path_of_run(run_id(run));

        manager_bus_emit(((const Announcements *) userdata)->bus, "RunNew", "so", run_id(run), path);
}

/* Properties do not change with the nodes: NodesChanged tells subscribers of those. */
static void on_run_changed(Run *run, void *userdata) {
        Announcements *announcements = userdata;

        g_autoptr(GArray) nodes = run_take_changes(run);
        g_autoptr(GList) names =
                nodes ? subscribers_names(announcements->subscribers, SUBSCRIBED_NODES, run_tree(run), run_id(run))
                      : NULL;

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
        g_autofree char *path = object_path_of_run(run_id(run));

        touch_run(announcements, run, ON_RUN_READY);
        manager_bus_emit(announcements->bus, "RunReady", "so", run_id(run), path);
}

static void on_run_finished(Run *run, void *userdata) {
        Announcements *announcements = userdata;
        const Pending *pending = g_hash_table_lookup(announcements->pending, run);

        if (pending)
                send_events(announcements, pending);
        touch_run(announcements, run, ON_RUN_FINISHED);
        run_bus_emit_finished(announcements->bus, run);
        finished_runs_send(announcements->finished);
}

static void on_restart_dropped(const char *run, const char *tree, const char *instance, void *userdata) {
        manager_bus_emit(((const Announcements *) userdata)->bus, "RestartDropped", "sss", run, tree, instance);
}

static void on_run_removed(Run *run, void *userdata) {
        Announcements *announcements = userdata;
        g_autofree char *path = object_path_of_run(run_id(run));

        g_hash_table_remove(announcements->pending, run);
        subscribers_forget_run(announcements->subscribers, run_id(run));
        touch_above(announcements, run, ON_RUN_REMOVED);
        object_changes_forget(announcements->changes, path);
        (void) sd_bus_emit_object_removed(announcements->bus, path);
}

/* A tree that waits may have no file. */
static void on_waiting_changed(const char *tree, void *userdata) {
        Announcements *announcements = userdata;
        g_autofree char *path = object_path_of_tree(tree);

        if (manager_tree(announcements->manager, tree))
                object_changes_touch(announcements->changes, path, &tree_kind, ON_WAITING);
}

static void on_reloading(void *userdata) {
        manager_bus_emit(((const Announcements *) userdata)->bus, "Reloading", NULL);
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
        .run_starting = on_run_starting,
        .run_added = on_run_added,
        .run_new = on_run_new,
        .run_changed = on_run_changed,
        .run_state_changed = on_run_state_changed,
        .run_ready = on_run_ready,
        .run_halting = on_run_halting,
        .run_finished = on_run_finished,
        .disk_changed = on_disk_changed,
        .restart_changed = on_restart_changed,
        .restart_dropped = on_restart_dropped,
        .run_removed = on_run_removed,
        .waiting_changed = on_waiting_changed,
        .reloading = on_reloading,
        .reloaded = on_reloaded,
        .stopping = on_stopping,
};

Announcements *announcements_new(GMainContext *context, sd_bus *bus, Published *published, FinishedRuns *finished) {
        Announcements *announcements = g_new(Announcements, 1);

        *announcements = (Announcements){
                .bus = bus,
                .manager = published_manager(published),
                .subscribers = published->subscribers,
                .changes = object_changes_new(context, bus, SERVICE_PATH, published),
                .finished = finished,
                .context = context,
                .pending = g_hash_table_new_full(NULL, NULL, NULL, pending_free),
        };
        manager_observe(announcements->manager, &observer, announcements);
        return announcements;
}

void announcements_free(Announcements *announcements) {
        if (!announcements)
                return;

        manager_unobserve(announcements->manager, &observer, announcements);
        object_changes_free(announcements->changes);
        set_watched(announcements, false, false);
        g_hash_table_unref(announcements->pending);
        g_clear_pointer(&announcements->sending, g_source_destroy);
        g_clear_pointer(&announcements->unwatching, g_source_destroy);
        g_free(announcements);
}

bool announcements_tell(Announcements *announcements, const char *name, const char *run_id, const GArray *nodes) {
        const Run *run = runs_get(announcements->manager->runs, run_id);

        if (run)
                run_bus_tell_nodes(announcements->bus, name, run, nodes);
        return run != NULL;
}
