/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* btctl get: the variables of a run as KEY=JSON, as --set and 'btctl set' take them; or the value of one. */

#include <json-c/json_tokener.h>
#include <stdio.h>

#include "basic/cleanup.h"
#include "target.h"
#include "verbs.h"

static int get_one(Client *client, const RunInfo *run, const char *key) {
        g_autoptr(sd_bus_message) reply = NULL;
        const char *value;
        int status, r;

        status = client_call(client, &reply, run->path, BTD_RUN, "GetVariable", "s", key);
        if (status != EXIT_SUCCESS)
                return status;

        r = sd_bus_message_read(reply, "s", &value);
        if (r < 0)
                return client_bad_message(r);

        puts(value);
        return EXIT_SUCCESS;
}

static int print_all(Client *client, sd_bus_message *reply) {
        json_object *all = client->output.json ? json_object_new_object() : NULL;
        const char *key, *value;
        int r;

        r = sd_bus_message_enter_container(reply, SD_BUS_TYPE_ARRAY, "{ss}");
        while (r >= 0 && (r = sd_bus_message_read(reply, "{ss}", &key, &value)) > 0)
                if (all)
                        json_object_object_add(all, key, json_tokener_parse(value));
                else
                        printf("%s=%s\n", key, value);

        if (r < 0) {
                json_object_put(all);
                return client_bad_message(r);
        }
        if (all)
                output_print_json(all);

        return EXIT_SUCCESS;
}

int verb_get(Client *client, char **operands) {
        g_autoptr(sd_bus_message) reply = NULL;
        g_auto(Target) target = {};
        int status;

        status = target_find(client, operands[0], &target);
        if (status != EXIT_SUCCESS)
                return status;
        if (!target.run)
                return report_error("tree '%s' has no run; start one with 'btctl start %s'", operands[0], operands[0]);
        if (operands[1])
                return get_one(client, target.run, operands[1]);

        status = client_call(client, &reply, target.run->path, BTD_RUN, "GetVariables", NULL);
        return status != EXIT_SUCCESS ? status : print_all(client, reply);
}
