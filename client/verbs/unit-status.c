/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Implements unit-status.h: keeps the running nodes of the run, as events tell them. */

#include <string.h>
#include <systemd/sd-daemon.h>

#include "basic/cleanup.h"
#include "basic/dbus-value.h"
#include "client/bus/node-info.h"
#include "client/verbs/unit-status.h"

/* How long to wait for the service manager to process earlier messages. */
#define BARRIER_USEC (5 * UINT64_C(1000000))

struct UnitStatus {
        Client *client;
        char *id, *path; /* of the run; NULL: not started yet */
        bool ready;
        GTree *running;      /* index of a running node -> its path */
        uint64_t last_event; /* running has the events up to this number */
        bool misses;         /* ... but not all of them */
};

static int compare_indices(const void *a, const void *b, void *userdata) {
        return GPOINTER_TO_UINT(a) < GPOINTER_TO_UINT(b) ? -1 : GPOINTER_TO_UINT(a) > GPOINTER_TO_UINT(b);
}

static void forget_nodes(UnitStatus *unit) {
        g_clear_pointer(&unit->running, g_tree_unref);
        unit->running = g_tree_new_full(compare_indices, NULL, NULL, g_free);
        unit->last_event = 0;
        unit->misses = false;
}

UnitStatus *unit_status_new(Client *client) {
        UnitStatus *unit = g_new0(UnitStatus, 1);

        unit->client = client;
        forget_nodes(unit);
        return unit;
}

void unit_status_free(UnitStatus *unit) {
        if (!unit)
                return;

        g_tree_unref(unit->running);
        g_free(unit->id);
        g_free(unit->path);
        g_free(unit);
}

void unit_status_set_run(UnitStatus *unit, const char *id, const char *path) {
        if (!unit)
                return;

        g_free(unit->id);
        g_free(unit->path);
        unit->id = g_strdup(id);
        unit->path = g_strdup(path);
        unit->ready = false;
        forget_nodes(unit);
}

void unit_status_set(const UnitStatus *unit, const char *text) {
        if (unit)
                (void) sd_notifyf(false, "STATUS=%s%s%s", unit->id ?: "", unit->id ? ": " : "", text);
}

void unit_status_set_ready(UnitStatus *unit) {
        if (!unit)
                return;

        unit->ready = true;
        (void) sd_notifyf(false, "READY=1\nSTATUS=%s: ready", unit->id);
}

void unit_status_check_ready(UnitStatus *unit) {
        uint64_t ready = 0;

        if (unit && client_try_get(unit->client, unit->path, "Ready", 't', &ready) >= 0 && ready > 0)
                unit_status_set_ready(unit);
}

void unit_status_end(const UnitStatus *unit, const char *result, bool succeeded) {
        unit_status_set(unit, result);
        if (unit && succeeded && sd_notify(false, "READY=1") > 0)
                (void) sd_notify_barrier(false, BARRIER_USEC);
}

bool unit_status_take(UnitStatus *unit, sd_bus_message *signal) {
        g_autoptr(json_object) events = NULL;
        g_autofree char *error = NULL;
        uint64_t last;

        if (g_strcmp0(sd_bus_message_get_path(signal), unit->path) != 0 ||
            sd_bus_message_read(signal, "t", &last) < 0 || value_read_variable(signal, NULL, &events, &error) < 0)
                return false;

        for (size_t i = 0; i < json_object_array_length(events); i++) {
                json_object *event = json_object_array_get_idx(events, i);
                json_object *number = NULL, *node = NULL, *path = NULL, *status = NULL;

                json_object_object_get_ex(event, "number", &number);
                unit->misses = unit->misses || json_object_get_uint64(number) > unit->last_event + 1;
                unit->last_event = MAX(unit->last_event, json_object_get_uint64(number));
                if (!json_object_object_get_ex(event, "status", &status) ||
                    !json_object_object_get_ex(event, "node", &node) ||
                    !json_object_object_get_ex(event, "path", &path))
                        continue;

                if (strcmp(json_object_get_string(status), "running") == 0)
                        g_tree_replace(unit->running, GUINT_TO_POINTER(json_object_get_uint64(node)),
                                       g_strdup(json_object_get_string(path)));
                else
                        g_tree_remove(unit->running, GUINT_TO_POINTER(json_object_get_uint64(node)));
        }
        unit->misses = unit->misses || last > unit->last_event;
        return true;
}

void unit_status_miss(UnitStatus *unit) {
        if (unit)
                unit->misses = true;
}

/* Events that follow may be older than these nodes. In the end, the last event of a node is right. */
static void read_nodes(UnitStatus *unit) {
        g_autoptr(GPtrArray) nodes = NULL;
        uint64_t last = 0;

        (void) client_try_get(unit->client, unit->path, "LastEvent", 't', &last);
        if (node_info_of_run(unit->client, unit->path, &nodes) != EXIT_SUCCESS)
                return;

        forget_nodes(unit);
        unit->last_event = last;
        for (guint i = 0; i < nodes->len; i++) {
                const NodeInfo *node = g_ptr_array_index(nodes, i);

                if (strcmp(node->status, "running") == 0)
                        g_tree_insert(unit->running, GUINT_TO_POINTER(node->index), node_info_path(nodes, i));
        }
}

/* The running nodes that have no running child. */
typedef struct RunningLeaves {
        const char *first;
        unsigned count;
        const char *previous; /* the node before, if it may be one */
} RunningLeaves;

static void count_previous(RunningLeaves *leaves) {
        if (leaves->count == 0)
                leaves->first = leaves->previous;
        leaves->count += leaves->previous ? 1 : 0;
}

/* Nodes come in depth-first order, and the ancestors of a running node are running. So a node has a running child if
 * the next one is below it. */
static gboolean count_leaf(void *index, void *path, void *userdata) {
        RunningLeaves *leaves = userdata;
        size_t length = leaves->previous ? strlen(leaves->previous) : 0;

        if (length > 0 && (!g_str_has_prefix(path, leaves->previous) || ((const char *) path)[length] != '/'))
                count_previous(leaves);
        leaves->previous = path;
        return FALSE;
}

void unit_status_show_nodes(UnitStatus *unit) {
        g_autofree char *text = NULL, *more = NULL;
        RunningLeaves leaves = {};

        if (unit->misses)
                read_nodes(unit);
        g_tree_foreach(unit->running, count_leaf, &leaves);
        count_previous(&leaves);
        if (leaves.count == 0)
                return;

        more = leaves.count > 1 ? g_strdup_printf(" and %u more", leaves.count - 1) : g_strdup("");
        text = g_strdup_printf("%swaits for %s%s", unit->ready ? "ready; " : "", leaves.first, more);
        unit_status_set(unit, text);
}
