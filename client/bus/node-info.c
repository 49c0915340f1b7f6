/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Reads the nodes of runs and trees from the bus, for all verbs that show nodes. */

#include <errno.h>
#include <json-c/json_tokener.h>
#include <string.h>

#include "basic/cause.h"
#include "basic/cleanup.h"
#include "client/bus/node-info.h"
#include "engine/tree.h"

void node_info_free(NodeInfo *node) {
        if (!node)
                return;

        g_free(node->type);
        g_free(node->name);
        g_free(node->title);
        g_free(node->status);
        g_free(node->detail);
        json_object_put(node->cause);
        g_free(node->halt_cause);
        g_free(node);
}

static NodeInfo *node_info_new(uint32_t index, uint32_t parent, const char *type, const char *name, const char *status,
                               const char *detail) {
        NodeInfo *node = g_new(NodeInfo, 1);

        *node = (NodeInfo){
                .index = index,
                .parent = parent,
                .type = g_strdup(type),
                .name = g_strdup(*name ? name : type),
                .status = g_strdup(status),
                .detail = g_strdup(detail),
        };

        return node;
}

GPtrArray *node_info_array_new(void) {
        return g_ptr_array_new_with_free_func((GDestroyNotify) node_info_free);
}

#define ANY_INDEX UINT32_MAX

/* expected: the index of the node, or ANY_INDEX. Returns 1 for a node, 0 at the end. */
static int read_node(sd_bus_message *message, const char *format, uint32_t expected, NodeInfo **ret_node) {
        const char *type, *name, *status = "idle", *detail = "";
        uint64_t since = 0, duration = 0;
        uint32_t index, parent;
        int r;

        if (g_str_equal(format, "uuss"))
                r = sd_bus_message_read(message, "(uuss)", &index, &parent, &type, &name);
        else
                r = sd_bus_message_read(message, "(uussstts)", &index, &parent, &type, &name, &status, &since,
                                        &duration, &detail);
        if (r <= 0)
                return r;

        /* Arrays are sized by indices, and loops over the ancestors must end at the root. */
        if ((expected != ANY_INDEX && index != expected) || index >= TREE_NODES_MAX ||
            (parent != NODE_INFO_ROOT && parent >= index))
                return -EBADMSG;

        *ret_node = node_info_new(index, parent, type, name, status, detail);
        (*ret_node)->since = since;
        (*ret_node)->duration = duration;
        return 1;
}

/* whole: the message has all nodes of a tree, each at its index; else only some of them. */
static int read_nodes(sd_bus_message *message, const char *format, bool whole, GPtrArray **ret_nodes) {
        g_autoptr(GPtrArray) nodes = node_info_array_new();
        g_autofree char *element = g_strdup_printf("(%s)", format);
        NodeInfo *node;
        int r;

        r = sd_bus_message_enter_container(message, SD_BUS_TYPE_ARRAY, element);
        if (r < 0)
                return client_bad_message(r);

        while ((r = read_node(message, format, whole ? nodes->len : ANY_INDEX, &node)) > 0)
                g_ptr_array_add(nodes, node);
        if (r < 0)
                return client_bad_message(r);

        *ret_nodes = g_steal_pointer(&nodes);
        return EXIT_SUCCESS;
}

static int get_nodes(Client *client, const char *path, const char *interface, const char *format,
                     GPtrArray **ret_nodes) {
        g_autoptr(sd_bus_message) reply = NULL;
        int status;

        status = client_call(client, &reply, path, interface, "GetNodes", NULL);
        if (status != EXIT_SUCCESS)
                return status;

        return read_nodes(reply, format, true, ret_nodes);
}

static int get_titles(Client *client, const char *path, const char *interface, const GPtrArray *nodes) {
        g_autoptr(sd_bus_message) reply = NULL;
        const char *title;
        uint32_t index;
        int status, r;

        status = client_call(client, &reply, path, interface, "GetTitles", NULL);
        if (status != EXIT_SUCCESS)
                return status;

        r = sd_bus_message_enter_container(reply, SD_BUS_TYPE_ARRAY, "{us}");
        if (r < 0)
                return client_bad_message(r);

        while ((r = sd_bus_message_read(reply, "{us}", &index, &title)) > 0)
                if (index < nodes->len) {
                        NodeInfo *node = g_ptr_array_index(nodes, index);

                        g_free(node->title);
                        node->title = g_strdup(title);
                }

        return r < 0 ? client_bad_message(r) : EXIT_SUCCESS;
}

/* Returns 1 for an element, 0 at the end. */
static int read_cause(sd_bus_message *message, const GPtrArray *nodes) {
        const char *kind, *text, *facts;
        uint32_t index, because;
        json_object *cause;
        NodeInfo *node;
        int r;

        r = sd_bus_message_read(message, "(usssu)", &index, &kind, &text, &facts, &because);
        if (r <= 0 || index >= nodes->len)
                return r;

        cause = json_object_new_object();
        json_object_object_add(cause, "kind", json_object_new_string(kind));
        json_object_object_add(cause, "text", json_object_new_string(text));
        json_object_object_add(cause, "facts", *facts ? json_tokener_parse(facts) : NULL);
        json_object_object_add(cause, "because", because == NODE_INFO_ROOT ? NULL : json_object_new_uint64(because));

        node = g_ptr_array_index(nodes, index);
        json_object_put(node->cause);
        node->cause = cause;
        return 1;
}

int node_info_get_causes(Client *client, const char *run_path, const GPtrArray *nodes) {
        g_autoptr(sd_bus_message) reply = NULL;
        int status, r;

        status = client_call(client, &reply, run_path, BTD_RUN, "GetCauses", NULL);
        if (status != EXIT_SUCCESS)
                return status;

        r = sd_bus_message_enter_container(reply, SD_BUS_TYPE_ARRAY, "(usssu)");
        while (r >= 0 && (r = read_cause(reply, nodes)) > 0)
                ;

        return r < 0 ? client_bad_message(r) : EXIT_SUCCESS;
}

/* Nodes of a signal are few, so they are searched. */
static void set_halt_cause(const GPtrArray *nodes, uint32_t index, const char *text) {
        for (guint i = 0; i < nodes->len; i++) {
                NodeInfo *node = g_ptr_array_index(nodes, i);

                if (node->index == index && strcmp(node->status, "halted") == 0) {
                        g_free(node->halt_cause);
                        node->halt_cause = g_strdup(text);
                }
        }
}

/* A node may have been started again meanwhile, so a cause of another kind is not the one of its halt. */
void node_info_get_halt_causes(const Client *client, const char *run_path, const GPtrArray *nodes) {
        g_autoptr(sd_bus_message) reply = NULL;
        const char *kind, *text;
        uint32_t index;

        if (sd_bus_call_method(client->bus, BTD_NAME, run_path, BTD_RUN, "GetCauses", NULL, &reply, NULL) < 0 ||
            sd_bus_message_enter_container(reply, SD_BUS_TYPE_ARRAY, "(usssu)") < 0)
                return;

        while (sd_bus_message_read(reply, "(usssu)", &index, &kind, &text, NULL, NULL) > 0)
                if (strcmp(kind, CAUSE_HALTED) == 0)
                        set_halt_cause(nodes, index, text);
}

static int get_titled_nodes(Client *client, const char *path, const char *interface, const char *format,
                            GPtrArray **ret_nodes) {
        g_autoptr(GPtrArray) nodes = NULL;
        int status;

        status = get_nodes(client, path, interface, format, &nodes);
        if (status != EXIT_SUCCESS)
                return status;

        g_assert(nodes);
        status = get_titles(client, path, interface, nodes);
        if (status != EXIT_SUCCESS)
                return status;

        *ret_nodes = g_steal_pointer(&nodes);
        return EXIT_SUCCESS;
}

int node_info_of_run(Client *client, const char *run_path, GPtrArray **ret_nodes) {
        return get_titled_nodes(client, run_path, BTD_RUN, "uussstts", ret_nodes);
}

int node_info_of_tree(Client *client, const char *tree_path, GPtrArray **ret_nodes) {
        return get_titled_nodes(client, tree_path, BTD_TREE, "uuss", ret_nodes);
}

void node_info_append_label(const Output *output, GString *line, const char *name, const char *type,
                            const char *title) {
        output_append(output, line, STYLE_PLAIN, name);
        if (strcmp(name, type) != 0)
                output_appendf(output, line, STYLE_DIM, " (%s)", type);
        else if (title)
                output_appendf(output, line, STYLE_PLAIN, " %s", title);
}

int node_info_of_signal(sd_bus_message *message, GPtrArray **ret_nodes) {
        return read_nodes(message, "uussstts", false, ret_nodes);
}

void node_info_merge(GPtrArray *known, GPtrArray *changed) {
        for (guint i = 0; i < changed->len; i++) {
                NodeInfo *node = g_ptr_array_index(changed, i);

                if (known->len <= node->index)
                        g_ptr_array_set_size(known, node->index + 1);
                node_info_free(g_ptr_array_index(known, node->index));
                g_ptr_array_index(known, node->index) = node;
        }

        g_ptr_array_set_free_func(changed, NULL);
}

static const NodeInfo *node_at(const GPtrArray *nodes, uint32_t index) {
        return index < nodes->len ? g_ptr_array_index(nodes, index) : NULL;
}

char *node_info_path(const GPtrArray *nodes, uint32_t index) {
        g_autoptr(GString) path = g_string_new(NULL);

        for (const NodeInfo *node = node_at(nodes, index); node; node = node_at(nodes, node->parent)) {
                if (path->len > 0)
                        g_string_prepend_c(path, '/');
                g_string_prepend(path, node->name);
        }

        return g_string_free(g_steal_pointer(&path), FALSE);
}

json_object *node_info_to_json(const NodeInfo *node, const GPtrArray *nodes) {
        g_autofree char *path = node_info_path(nodes, node->index);
        json_object *json = json_object_new_object();

        json_object_object_add(json, "index", json_object_new_uint64(node->index));
        json_object_object_add(json, "parent",
                               node->parent == NODE_INFO_ROOT ? NULL : json_object_new_uint64(node->parent));
        json_object_object_add(json, "path", json_object_new_string(path));
        json_object_object_add(json, "type", json_object_new_string(node->type));
        json_object_object_add(json, "name", json_object_new_string(node->name));
        json_object_object_add(json, "title", node->title ? json_object_new_string(node->title) : NULL);
        json_object_object_add(json, "status", json_object_new_string(node->status));
        json_object_object_add(json, "since_usec", json_object_new_uint64(node->since));
        json_object_object_add(json, "duration_usec", json_object_new_uint64(node->duration));
        json_object_object_add(json, "detail", json_object_new_string(node->detail));
        if (node->cause)
                json_object_object_add(json, "cause", json_object_get(node->cause));

        return json;
}
