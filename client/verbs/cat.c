/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* btctl cat: prints the texts that a tree was loaded from: that of its file, and those of its drop-ins. */

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

static int get_dropin(Client *client, const char *tree, const char *path, char **ret_text) {
        g_autoptr(sd_bus_message) reply = NULL;
        const char *text;
        int status, r;

        status = client_call(client, &reply, tree, BTD_TREE, "GetDropIn", "s", path);
        if (status != EXIT_SUCCESS)
                return status;

        r = sd_bus_message_read(reply, "s", &text);
        if (r < 0)
                return client_bad_message(r);
        *ret_text = g_strdup(text);
        return EXIT_SUCCESS;
}

/* The head of each piece is a comment. A file without drop-ins is printed as it is. */
static void print_head(const char *path, bool first) {
        g_autofree char *shown = text_escape_json(path);

        printf("%s// %s\n", first ? "" : "\n", shown);
}

int verb_cat(Client *client, char **operands) {
        g_autofree char *tree = NULL, *path = NULL, *text = NULL;
        g_autoptr(json_object) json = json_object_new_object();
        json_object *pieces = json_object_new_array();
        g_auto(GStrv) dropins = NULL;
        int status;

        json_object_object_add(json, "name", json_object_new_string(operands[0]));
        json_object_object_add(json, "dropins", pieces);
        status = find_tree(client, operands[0], &tree);
        if (status == EXIT_SUCCESS)
                status = tree_info_text(client, tree, &text);
        if (status == EXIT_SUCCESS)
                status = client_get_strings(client, tree, BTD_TREE, "DropInPaths", &dropins);
        if (status == EXIT_SUCCESS && *dropins)
                status = client_get_string(client, tree, BTD_TREE, "SourcePath", &path);
        if (status != EXIT_SUCCESS)
                return status;

        json_object_object_add(json, "text", json_object_new_string(text));
        if (!client->output.json) {
                if (*dropins)
                        print_head(path, true);
                print_text(&client->output, text);
        }

        for (char **dropin = dropins; *dropin; dropin++) {
                g_autofree char *own = NULL;
                json_object *piece = json_object_new_object();

                json_object_array_add(pieces, piece);
                status = get_dropin(client, tree, *dropin, &own);
                if (status != EXIT_SUCCESS)
                        return status;

                json_object_object_add(piece, "path", json_object_new_string(*dropin));
                json_object_object_add(piece, "text", json_object_new_string(own));
                if (!client->output.json) {
                        print_head(*dropin, false);
                        print_text(&client->output, own);
                }
        }

        if (client->output.json)
                output_print_json(g_steal_pointer(&json));
        return EXIT_SUCCESS;
}
