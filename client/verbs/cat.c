/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* btctl cat: prints the text that a tree was loaded from. */

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

static void print_text(const Output *output, const char *name, const char *text) {
        json_object *json;

        if (!output->json) {
                g_autofree char *shown = text_escape_json(text);

                /* A file or a pipe gets the unchanged text. */
                fputs(output->columns > 0 ? shown : text, stdout);
                return;
        }

        json = json_object_new_object();
        json_object_object_add(json, "name", json_object_new_string(name));
        json_object_object_add(json, "text", json_object_new_string(text));
        output_print_json(json);
}

int verb_cat(Client *client, char **operands) {
        g_autofree char *path = NULL, *text = NULL;
        int status;

        status = find_tree(client, operands[0], &path);
        if (status != EXIT_SUCCESS)
                return status;

        status = tree_info_text(client, path, &text);
        if (status == EXIT_SUCCESS)
                print_text(&client->output, operands[0], text);
        return status;
}
