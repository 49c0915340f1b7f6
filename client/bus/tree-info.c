/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Reads the trees that btd lists, for all verbs that show or find trees. */

#include <errno.h>

#include "basic/cleanup.h"
#include "basic/dbus-value.h"
#include "basic/foreach.h"
#include "client/bus/tree-info.h"

void tree_info_free(TreeInfo *tree) {
        if (!tree)
                return;

        g_free(tree->name);
        g_free(tree->path);
        g_free(tree->description);
        g_free(tree->file_state);
        g_free(tree->state);
        g_free(tree->waiting);
        g_free(tree->source);
        g_strfreev(tree->diagnostics);
        json_object_put(tree->inputs);
        json_object_put(tree->outputs);
        g_free(tree);
}

/* Returns 1 for a tree, 0 at the end. */
static int read_tree(sd_bus_message *message, TreeInfo **ret_tree) {
        const char *name = "", *path = "", *description = "", *file_state = "", *state = "", *waiting = "";
        int autostart = false;
        const RecordField fields[] = {
                { "name", "s", &name },
                { "path", "o", &path },
                { "description", "s", &description },
                { "autostart", "b", &autostart },
                { "file_state", "s", &file_state },
                { "state", "s", &state },
                { "waiting", "s", &waiting },
                {},
        };
        int r = client_read_record(message, fields);

        if (r <= 0)
                return r;

        *ret_tree = g_new(TreeInfo, 1);
        **ret_tree = (TreeInfo){
                .name = g_strdup(name),
                .path = g_strdup(path),
                .description = g_strdup(description),
                .autostart = autostart,
                .file_state = g_strdup(file_state),
                .state = g_strdup(state),
                .waiting = g_strdup(waiting),
        };
        return 1;
}

static gint compare_name(gconstpointer a, gconstpointer b) {
        const TreeInfo *first = *(const TreeInfo *const *) a, *second = *(const TreeInfo *const *) b;

        return g_strcmp0(first->name, second->name);
}

int tree_info_list(Client *client, GPtrArray **ret_trees) {
        g_autoptr(GPtrArray) trees = g_ptr_array_new_with_free_func((GDestroyNotify) tree_info_free);
        g_autoptr(sd_bus_message) reply = NULL;
        TreeInfo *tree;
        int status, r;

        status = client_call(client, &reply, BTD_PATH, BTD_MANAGER, "ListTrees", NULL);
        if (status != EXIT_SUCCESS)
                return status;

        r = sd_bus_message_enter_container(reply, SD_BUS_TYPE_ARRAY, "a{sv}");
        if (r < 0)
                return client_bad_message(r);

        while ((r = read_tree(reply, &tree)) > 0)
                g_ptr_array_add(trees, tree);
        if (r < 0)
                return client_bad_message(r);

        g_ptr_array_sort(trees, compare_name);

        *ret_trees = g_steal_pointer(&trees);
        return EXIT_SUCCESS;
}

TreeInfo *tree_info_find(const GPtrArray *trees, const char *name) {
        PTRS_FOREACH(TreeInfo, tree, trees)
                if (g_str_equal(tree->name, name))
                        return tree;

        return NULL;
}

/* property: Inputs or Outputs. */
static int get_declarations(Client *client, const TreeInfo *tree, const char *property,
                            json_object **ret_declarations) {
        g_autoptr(sd_bus_message) reply = NULL;
        g_autofree char *error = NULL;
        int status, r;

        status = client_get(client, tree->path, BTD_TREE, property, "aa{sv}", &reply);
        if (status != EXIT_SUCCESS)
                return status;

        r = value_read_variable(reply, NULL, ret_declarations, &error);
        return r < 0 ? client_bad_message(r) : EXIT_SUCCESS;
}

int tree_info_complete(Client *client, TreeInfo *tree) {
        int status;

        if (!*tree->path) {
                tree->source = g_strdup("");
                tree->diagnostics = g_new0(char *, 1);
                tree->inputs = json_object_new_array();
                tree->outputs = json_object_new_array();
                return EXIT_SUCCESS;
        }

        status = client_get_string(client, tree->path, BTD_TREE, "SourcePath", &tree->source);
        if (status != EXIT_SUCCESS)
                return status;

        status = client_get_strings(client, tree->path, BTD_TREE, "Diagnostics", &tree->diagnostics);
        if (status == EXIT_SUCCESS)
                status = get_declarations(client, tree, "Inputs", &tree->inputs);
        return status != EXIT_SUCCESS ? status : get_declarations(client, tree, "Outputs", &tree->outputs);
}

/* tree NULL: of btd. -ENOENT: there is no such tree, or no btd. */
static int read_need_reload(Client *client, const char *tree) {
        g_autoptr(sd_bus_message) message = NULL, reply = NULL;
        g_autofree char *path = NULL;
        int r, need_reload;

        if ((tree && sd_bus_path_encode(BTD_PATH "/tree", tree, &path) < 0) || !client_has_daemon(client) ||
            client_message(client, path ?: BTD_PATH, "org.freedesktop.DBus.Properties", "Get", &message) !=
                    EXIT_SUCCESS)
                return -ENOENT;

        r = sd_bus_message_append(message, "ss", tree ? BTD_TREE : BTD_MANAGER, "NeedReload");
        if (r >= 0)
                r = sd_bus_call(client->bus, message, 0, NULL, &reply);
        if (r >= 0)
                r = sd_bus_message_read(reply, "v", "b", &need_reload);
        return r < 0 ? -ENOENT : need_reload;
}

/* A shorter part of a text is the last one. */
#define TEXT_PART_LEAST 1000000u

int tree_info_text(Client *client, const char *path, char **ret_text) {
        g_autoptr(GString) text = g_string_new(NULL);
        size_t before;

        do {
                g_autoptr(sd_bus_message) reply = NULL;
                const char *part;
                int status, r;

                before = text->len;
                status = client_call(client, &reply, path, BTD_TREE, "GetTextFrom", "t", (uint64_t) before);
                if (status != EXIT_SUCCESS)
                        return status;
                r = sd_bus_message_read(reply, "s", &part);
                if (r < 0)
                        return client_bad_message(r);
                g_string_append(text, part);
        } while (text->len - before >= TEXT_PART_LEAST);

        *ret_text = g_string_free(g_steal_pointer(&text), FALSE);
        return EXIT_SUCCESS;
}

bool tree_info_needs_reload(Client *client, const char *tree) {
        return read_need_reload(client, tree) > 0;
}

void tree_info_warn(Client *client, const char *tree) {
        int need_reload;

        if (client->output.quiet || client->output.json)
                return;

        need_reload = tree ? read_need_reload(client, tree) : -ENOENT;
        if (need_reload > 0)
                (void) report_error("tree '%s' has changed on disk; 'btctl reload' loads it", tree);
        else if (need_reload < 0 && tree_info_needs_reload(client, NULL))
                (void) report_error("tree files have changed on disk; 'btctl reload' loads them");
}

json_object *tree_info_to_json(const TreeInfo *tree) {
        json_object *json = json_object_new_object();

        json_object_object_add(json, "name", json_object_new_string(tree->name));
        json_object_object_add(json, "description", json_object_new_string(tree->description));
        json_object_object_add(json, "autostart", json_object_new_boolean(tree->autostart));
        json_object_object_add(json, "file_state", json_object_new_string(tree->file_state));
        json_object_object_add(json, "state", json_object_new_string(tree->state));
        json_object_object_add(json, "waiting", json_object_new_string(tree->waiting));
        json_object_object_add(json, "need_reload", json_object_new_boolean(tree->need_reload));
        if (tree->source)
                json_object_object_add(json, "source_path", json_object_new_string(tree->source));
        if (tree->diagnostics)
                json_object_object_add(json, "diagnostics", output_strings_to_json(tree->diagnostics));
        if (tree->inputs)
                json_object_object_add(json, "inputs", json_object_get(tree->inputs));
        if (tree->outputs)
                json_object_object_add(json, "outputs", json_object_get(tree->outputs));

        return json;
}

const char *tree_info_autostart(const TreeInfo *tree) {
        if (*tree->file_state)
                return tree->file_state;

        return tree->autostart ? "enabled" : "-";
}
