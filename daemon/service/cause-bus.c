/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Writes causes to D-Bus messages. */

#include "service/cause-bus.h"

#include <string.h>

#include "basic/excerpt.h"
#include "definition/definition.h"
#include "run/causes.h"
#include "script/blackboard.h"
#include "service/variables-bus.h"

/* The bytes of the keys of a cause, about. */
#define CAUSE_SIZE_MIN 128u
/* Bytes of a path. A chain can have a thousand nodes below each other, and each name 255 bytes. */
#define PATH_MAX_SHOWN 4096u

static int append_text(sd_bus_message *message, const char *key, const char *text) {
        return sd_bus_message_append(message, "{sv}", key, "s", text);
}

static int append_node_fields(sd_bus_message *message, const Run *run, NodeId node, const Cause *cause) {
        const Tree *tree = definition_tree(run_definition(run));
        g_autofree char *full = tree_node_path(tree, node), *path = text_cut(full, PATH_MAX_SHOWN),
                        *title = definition_title(run_definition(run), node);
        const char *element = cause ? run_cause_element(run, cause) : run_node_element(run, node);
        int r;

        r = sd_bus_message_append(message, "{sv}", "node", "u", node);
        if (r >= 0)
                r = append_text(message, "path", path);
        if (r >= 0)
                r = append_text(message, "name", tree_node_name(tree, node));
        if (r >= 0)
                r = append_text(message, "type", tree->nodes[node].type->name);
        if (r >= 0 && title)
                r = append_text(message, "title", title);
        if (r >= 0 && element)
                r = append_text(message, "element", element);
        if (r >= 0)
                r = append_text(message, "status", node_history_state(run_node_history(run), node));

        return r;
}

static char *describe(const Run *run, const Cause *cause) {
        Status child = cause->because ? node_history_status(run_node_history(run), cause->because->node) : STATUS_IDLE;

        return cause_describe_one(definition_tree(run_definition(run)), cause, child);
}

static int append_cause_fields(sd_bus_message *message, const Cause *cause, const char *text) {
        int r;

        r = append_text(message, "kind", cause->kind);
        if (r >= 0)
                r = append_text(message, "text", text);
        if (r >= 0 && cause->facts)
                r = variables_bus_append_entry(message, "facts", cause->facts);
        return r;
}

/* cause NULL: append only the status of this level. */
static int append_level(sd_bus_message *message, const Run *run, NodeId node, const Cause *cause) {
        g_autofree char *text = cause ? describe(run, cause) : NULL;
        int r;

        r = sd_bus_message_open_container(message, 'a', "{sv}");
        if (r >= 0 && node == NODE_NONE)
                r = sd_bus_message_append(message, "{sv}{sv}", "run", "s", run_id(run), "status", "s",
                                          run_status_text(run));
        else if (r >= 0)
                r = append_node_fields(message, run, node, cause);
        if (r >= 0 && cause)
                r = append_cause_fields(message, cause, text);

        return r < 0 ? r : sd_bus_message_close_container(message);
}

static int append_chain(sd_bus_message *message, const Run *run, const Cause *cause) {
        int r = 0;

        for (; r >= 0 && cause; cause = cause->because)
                r = append_level(message, run, cause->node, cause);

        return r;
}

int cause_bus_append_run(sd_bus_message *message, const Run *run) {
        int r = sd_bus_message_open_container(message, 'a', "a{sv}");

        if (r >= 0)
                r = append_chain(message, run, run_cause_chain(run));

        return r < 0 ? r : sd_bus_message_close_container(message);
}

int cause_bus_append_node(sd_bus_message *message, const Run *run, NodeId node) {
        const Node *nodes = definition_tree(run_definition(run))->nodes;
        g_autoptr(GArray) above = g_array_new(FALSE, FALSE, sizeof(NodeId));
        g_autoptr(Cause) cause = run_node_cause(run, node);
        int r;

        for (NodeId parent = nodes[node].parent; parent != NODE_NONE; parent = nodes[parent].parent)
                g_array_append_val(above, parent);

        r = sd_bus_message_open_container(message, 'a', "a{sv}");
        if (r >= 0)
                r = append_level(message, run, NODE_NONE, NULL);
        for (unsigned i = above->len; r >= 0 && i > 0; i--)
                r = append_level(message, run, g_array_index(above, NodeId, i - 1), NULL);
        if (r >= 0)
                r = cause ? append_chain(message, run, cause) : append_level(message, run, node, NULL);

        return r < 0 ? r : sd_bus_message_close_container(message);
}

int cause_bus_append_cause(sd_bus_message *message, const Run *run, NodeId node) {
        g_autoptr(Cause) cause = run_node_cause(run, node);
        g_autofree char *text = NULL;
        int r;

        if (!cause)
                return 0;

        text = describe(run, cause);
        r = sd_bus_message_open_container(message, 'a', "{sv}");
        if (r >= 0)
                r = sd_bus_message_append(message, "{sv}", "node", "u", node);
        if (r >= 0)
                r = append_cause_fields(message, cause, text);
        if (r >= 0 && cause->because)
                r = sd_bus_message_append(message, "{sv}", "because", "u", cause->because->node);
        if (r >= 0)
                r = sd_bus_message_close_container(message);
        return r < 0 ? r
                     : (int) (CAUSE_SIZE_MIN + strlen(text) + (cause->facts ? blackboard_bytes_of(cause->facts) : 0));
}
