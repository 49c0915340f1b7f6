/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* btctl reload: makes btd read the tree files again, and prints their errors. */

#include "basic/cleanup.h"
#include "client/verbs/verbs.h"

int verb_reload(Client *client, char **operands) {
        g_autoptr(sd_bus_message) reply = NULL;
        g_auto(GStrv) errors = NULL;
        int status;

        status = client_call(client, &reply, BTD_PATH, BTD_MANAGER, "Reload", "a{sv}", 0);
        if (status == EXIT_SUCCESS)
                status = client_read_strings(reply, &errors);
        if (status != EXIT_SUCCESS)
                return status;

        if (client->output.json) {
                json_object *json = json_object_new_object();

                json_object_object_add(json, "errors", output_strings_to_json(errors));
                output_print_json(json);
        }
        if (!*errors) {
                client_say(client, "all trees are loaded");
                return EXIT_SUCCESS;
        }

        for (char **error = errors; *error && !client->output.json; error++)
                report_line(*error);
        return report_error("some files have errors; btd keeps the trees that it had loaded before");
}
