/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* btctl cat: prints the texts that a tree was loaded from: that of its file, its drop-ins and its Lua files. */

#include <stdio.h>

#include "basic/cleanup.h"
#include "client/bus/tree-info.h"
#include "client/verbs/verbs.h"
#include "client/view/text.h"

static int find_tree(Client *client, const char *name, char **ret_path) {
        g_autoptr(sd_bus_message) reply = NULL;
        const char *path;
        int status, r;

        status = client_call(client, &reply, BTD_PATH, BTD_MANAGER, "GetTree", "s", name);
        if (status != EXIT_SUCCESS)
                return status;

        r = sd_bus_message_read(reply, "o", &path);
        if (r < 0)
                return client_bad_message(r);

        *ret_path = g_strdup(path);
        return EXIT_SUCCESS;
}

/* A file or a pipe gets the unchanged text. */
static void print_text(const Output *output, const char *text) {
        g_autofree char *shown = output->columns > 0 ? text_escape_json(text) : NULL;

        fputs(shown ?: text, stdout);
}

/* The head of each file is a comment in its language. If there is only one file, it is printed as it is. */
static void print_head(const char *path, const char *comment) {
        g_autofree char *shown = text_escape_json(path);

        printf("%s %s\n", comment, shown);
}

static int print_files(Client *client, const char *tree, char **paths, const char *comment, json_object *ret_files) {
        for (; *paths; paths++) {
                g_autoptr(sd_bus_message) reply = NULL;
                g_autofree char *text = NULL;
                json_object *file = json_object_new_object();
                int status;

                json_object_array_add(ret_files, file);
                status = client_call(client, &reply, tree, BTD_TREE, "GetFile", "s", *paths);
                if (status == EXIT_SUCCESS)
                        status = client_read_string(reply, &text);
                if (status != EXIT_SUCCESS)
                        return status;

                json_object_object_add(file, "path", json_object_new_string(*paths));
                json_object_object_add(file, "text", json_object_new_string(text));
                if (client->output.json)
                        continue;
                putchar('\n');
                print_head(*paths, comment);
                print_text(&client->output, text);
        }

        return EXIT_SUCCESS;
}

int verb_cat(Client *client, char **operands) {
        g_autofree char *tree = NULL, *path = NULL, *text = NULL;
        g_autoptr(json_object) json = json_object_new_object();
        json_object *dropins = json_object_new_array(), *lua = json_object_new_array();
        g_auto(GStrv) dropin_paths = NULL, lua_paths = NULL;
        int status;

        json_object_object_add(json, "name", json_object_new_string(operands[0]));
        json_object_object_add(json, "dropins", dropins);
        json_object_object_add(json, "lua", lua);
        status = find_tree(client, operands[0], &tree);
        if (status == EXIT_SUCCESS)
                status = tree_info_text(client, tree, &text);
        if (status == EXIT_SUCCESS)
                status = client_get_strings(client, tree, BTD_TREE, "DropInPaths", &dropin_paths);
        if (status == EXIT_SUCCESS)
                status = client_get_strings(client, tree, BTD_TREE, "LuaPaths", &lua_paths);
        if (status == EXIT_SUCCESS)
                status = client_get_string(client, tree, BTD_TREE, "SourcePath", &path);
        if (status != EXIT_SUCCESS)
                return status;

        json_object_object_add(json, "text", json_object_new_string(text));
        if (!client->output.json) {
                if (*dropin_paths || *lua_paths)
                        print_head(path, "//");
                print_text(&client->output, text);
        }

        status = print_files(client, tree, dropin_paths, "//", dropins);
        if (status == EXIT_SUCCESS)
                status = print_files(client, tree, lua_paths, "--", lua);
        if (status == EXIT_SUCCESS && client->output.json)
                output_print_json(g_steal_pointer(&json));
        return status;
}
