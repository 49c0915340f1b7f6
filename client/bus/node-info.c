/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Reads the nodes of runs and trees from the bus, for all verbs that show nodes. */

#include <errno.h>
#include <string.h>

#include "basic/cause.h"
#include "basic/cleanup.h"
#include "basic/dbus-value.h"
#include "client/bus/node-info.h"
#include "engine/tree.h"

void node_info_free(NodeInfo *node) {
        if (!node)
                return;

        g_free(node->type);
        g_free(node->name);
        g_free(node->title);
        g_free(node->element);
        g_free(node->status);
        g_free(node->detail);
        json_object_put(node->cause);
        g_free(node);
}

GPtrArray *node_info_array_new(void) {
        return g_ptr_array_new_with_free_func((GDestroyNotify) node_info_free);
}

/* A part of an answer with fewer elements is the last one. */
#define PART_LEAST 1000u
#define ANY_INDEX UINT32_MAX
/* index, parent, type, name; status, since, duration; details */
#define TREE_NODE "uussa{sv}"
#define RUN_NODE "uussstta{sv}"

/* in_run: with its status. expected: the index of the node, or ANY_INDEX. Returns 1 for a node, 0 at the end. */
static int read_node(sd_bus_message *message, bool in_run, uint32_t expected, NodeInfo **ret_node) {
        const char *type, *name, *status = "idle", *detail = "", *title = NULL, *element = NULL;
        const RecordField fields[] = {
                { "title", "s", &title }, { "element", "s", &element }, { "detail", "s", &detail }, {}
        };
        uint64_t since = 0, duration = 0;
        uint32_t index, parent;
        int r;

        r = sd_bus_message_enter_container(message, 'r', in_run ? RUN_NODE : TREE_NODE);
        if (r <= 0)
                return r;

        r = sd_bus_message_read(message, "uuss", &index, &parent, &type, &name);
        if (r >= 0 && in_run)
                r = sd_bus_message_read(message, "stt", &status, &since, &duration);
        if (r >= 0)
                r = client_read_record(message, fields);
        if (r >= 0)
                r = sd_bus_message_exit_container(message);
        if (r < 0)
                return r;

        /* Arrays are sized by indices, and loops over the ancestors must end at the root. */
        if ((expected != ANY_INDEX && index != expected) || index >= TREE_NODES_MAX ||
            (parent != NODE_INFO_ROOT && parent >= index))
                return -EBADMSG;

        *ret_node = g_new(NodeInfo, 1);
        **ret_node = (NodeInfo){
                .index = index,
                .parent = parent,
                .type = g_strdup(type),
                .name = g_strdup(*name ? name : type),
                .title = g_strdup(title),
                .element = g_strdup(element),
                .status = g_strdup(status),
                .since = since,
                .duration = duration,
                .detail = g_strdup(detail),
        };
        return 1;
}

/* Appends to nodes. whole: these become all nodes of a tree, each at its index; else some of them. */
static int read_nodes(sd_bus_message *message, bool in_run, bool whole, GPtrArray *nodes) {
        NodeInfo *node;
        int r;

        r = sd_bus_message_enter_container(message, SD_BUS_TYPE_ARRAY, in_run ? "(" RUN_NODE ")" : "(" TREE_NODE ")");
        if (r < 0)
                return client_bad_message(r);

        while ((r = read_node(message, in_run, whole ? nodes->len : ANY_INDEX, &node)) > 0)
                g_ptr_array_add(nodes, node);

        return r < 0 ? client_bad_message(r) : EXIT_SUCCESS;
}

static int get_nodes(Client *client, const char *path, bool in_run, GPtrArray **ret_nodes) {
        g_autoptr(GPtrArray) nodes = node_info_array_new();
        unsigned first;
        int status;

        do {
                g_autoptr(sd_bus_message) reply = NULL;

                first = nodes->len;
                status = client_call(client, &reply, path, in_run ? BTD_RUN : BTD_TREE, "GetNodesFrom", "u", first);
                if (status == EXIT_SUCCESS)
                        status = read_nodes(reply, in_run, true, nodes);
                if (status != EXIT_SUCCESS)
                        return status;
        } while (nodes->len - first >= PART_LEAST);

        *ret_nodes = g_steal_pointer(&nodes);
        return EXIT_SUCCESS;
}

int node_info_of_message(sd_bus_message *message, GPtrArray **ret_nodes) {
        g_autoptr(GPtrArray) nodes = node_info_array_new();
        int status = read_nodes(message, true, false, nodes);

        if (status == EXIT_SUCCESS)
                *ret_nodes = g_steal_pointer(&nodes);
        return status;
}

int node_info_of_run(Client *client, const char *run_path, GPtrArray **ret_nodes) {
        return get_nodes(client, run_path, true, ret_nodes);
}

int node_info_of_some(Client *client, const char *run_path, const GArray *indices, GPtrArray **ret_nodes) {
        g_autoptr(sd_bus_message) message = NULL, reply = NULL;
        int status, r;

        status = client_message(client, run_path, BTD_RUN, "GetSomeNodes", &message);
        if (status != EXIT_SUCCESS)
                return status;
        r = sd_bus_message_append_array(message, 'u', indices->data, indices->len * sizeof(uint32_t));
        if (r < 0)
                return client_bad_message(r);

        status = client_send(client, message, &reply);
        return status != EXIT_SUCCESS ? status : node_info_of_message(reply, ret_nodes);
}

int node_info_of_tree(Client *client, const char *tree_path, GPtrArray **ret_nodes) {
        return get_nodes(client, tree_path, false, ret_nodes);
}

/* Returns the index after the last node that has a cause here. */
static uint32_t take_causes(json_object *causes, const GPtrArray *nodes) {
        static const char *const optional[] = { "facts", "because" };
        uint32_t index = 0;

        for (size_t i = 0; i < json_object_array_length(causes); i++) {
                json_object *cause = json_object_array_get_idx(causes, i), *number;
                NodeInfo *node;

                index = NODE_INFO_ROOT;
                if (json_object_object_get_ex(cause, "node", &number))
                        index = (uint32_t) json_object_get_int64(number);
                json_object_object_del(cause, "node");
                if (index >= nodes->len)
                        continue;

                for (size_t k = 0; k < G_N_ELEMENTS(optional); k++)
                        if (!json_object_object_get_ex(cause, optional[k], NULL))
                                json_object_object_add(cause, optional[k], NULL);
                node = g_ptr_array_index(nodes, index);
                json_object_put(node->cause);
                node->cause = json_object_get(cause);
        }

        return index + 1;
}

int node_info_get_causes(Client *client, const char *run_path, const GPtrArray *nodes) {
        uint32_t first = 0;
        bool more;

        do {
                g_autoptr(sd_bus_message) reply = NULL;
                g_autoptr(json_object) causes = NULL;
                g_autofree char *error = NULL;
                int status, r;

                status = client_call(client, &reply, run_path, BTD_RUN, "GetCausesFrom", "u", first);
                if (status != EXIT_SUCCESS)
                        return status;
                r = value_read_variable(reply, NULL, &causes, &error);
                if (r >= 0 && !json_object_is_type(causes, json_type_array))
                        r = -EBADMSG;
                if (r < 0)
                        return client_bad_message(r);

                first = take_causes(causes, nodes);
                more = json_object_array_length(causes) >= PART_LEAST;
        } while (more);

        return EXIT_SUCCESS;
}

void node_info_append_label(const Output *output, GString *line, const char *name, const char *type, const char *title,
                            const char *element) {
        g_autofree char *full = element ? tree_element_label(name, element) : NULL;
        size_t length = strlen(type);
        /* A node without a name has that of its type, and as a copy in a ForEach, a number: "Spawn[2]". */
        bool has_own_name = strncmp(name, type, length) != 0 || (name[length] && name[length] != '[');

        output_append(output, line, STYLE_PLAIN, full ?: name);
        if (has_own_name)
                output_appendf(output, line, STYLE_DIM, " (%s)", type);
        else if (title)
                output_appendf(output, line, STYLE_PLAIN, " %s", title);
}

static char *make_path(const GPtrArray *nodes, uint32_t index, bool with_elements) {
        g_autoptr(GString) path = g_string_new(NULL);

        for (const NodeInfo *node; index < nodes->len; index = node->parent) {
                g_autofree char *full = NULL;

                node = g_ptr_array_index(nodes, index);
                if (with_elements && node->element)
                        full = tree_element_label(node->name, node->element);
                if (path->len > 0)
                        g_string_prepend_c(path, '/');
                g_string_prepend(path, full ?: node->name);
        }

        return g_string_free(g_steal_pointer(&path), FALSE);
}

char *node_info_path(const GPtrArray *nodes, uint32_t index) {
        return make_path(nodes, index, false);
}

char *node_info_path_with_elements(const GPtrArray *nodes, uint32_t index) {
        return make_path(nodes, index, true);
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
        if (node->element)
                json_object_object_add(json, "element", json_object_new_string(node->element));
        json_object_object_add(json, "status", json_object_new_string(node->status));
        json_object_object_add(json, "since_usec", json_object_new_uint64(node->since));
        json_object_object_add(json, "duration_usec", json_object_new_uint64(node->duration));
        json_object_object_add(json, "detail", json_object_new_string(node->detail));
        if (node->cause)
                json_object_object_add(json, "cause", json_object_get(node->cause));

        return json;
}
