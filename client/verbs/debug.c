/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* btctl pause, resume, step, break and force: control a run by hand. */

#include <stdio.h>

#include "basic/cleanup.h"
#include "client/bus/target.h"
#include "client/verbs/verbs.h"
#include "client/view/text.h"

static int call_run(Client *client, const char *operand, const char *method) {
        g_autoptr(RunInfo) run = NULL;
        int status;

        status = target_find_running(client, operand, &run);
        if (status == EXIT_SUCCESS)
                status = client_call(client, NULL, run->path, BTD_RUN, method, NULL);
        return status;
}

int verb_pause(Client *client, char **operands) {
        return call_run(client, operands[0], "Pause");
}

int verb_resume(Client *client, char **operands) {
        return call_run(client, operands[0], "Resume");
}

int verb_step(Client *client, char **operands) {
        return call_run(client, operands[0], "Step");
}

/* btctl break */
static int list_breakpoints(Client *client, const RunInfo *run) {
        json_object *list = client->output.json ? json_object_new_array() : NULL;
        g_autoptr(sd_bus_message) reply = NULL;
        g_autoptr(GPtrArray) nodes = NULL;
        const uint32_t *breakpoints;
        size_t size;
        int r, status = client_get(client, run->path, BTD_RUN, "Breakpoints", "au", &reply);

        if (status != EXIT_SUCCESS)
                return status;
        r = sd_bus_message_read_array(reply, SD_BUS_TYPE_UINT32, (const void **) &breakpoints, &size);
        if (r < 0)
                return client_bad_message(r);

        status = node_info_of_run(client, run->path, &nodes);
        if (status != EXIT_SUCCESS)
                return status;

        for (size_t i = 0; i < size / sizeof(*breakpoints); i++) {
                uint32_t node = breakpoints[i];
                g_autofree char *path = node_info_path(nodes, node), *clean = text_clean(path, client->output.ascii);

                if (node >= nodes->len)
                        continue;
                if (list)
                        json_object_array_add(list, node_info_to_json(g_ptr_array_index(nodes, node), nodes));
                else
                        printf("#%u %s\n", node, clean);
        }
        if (list)
                output_print_json(list);

        return EXIT_SUCCESS;
}

int verb_break(Client *client, char **operands) {
        bool clear = options_has(&client->options, OPTION_CLEAR);
        g_autoptr(RunInfo) run = NULL;
        uint32_t node;
        int status;

        if (clear && !operands[1])
                return report_usage("'--clear' needs a node: btctl break %s NODE --clear", operands[0]);

        status = target_find_running(client, operands[0], &run);
        if (status != EXIT_SUCCESS)
                return status;
        if (!operands[1])
                return list_breakpoints(client, run);

        status = target_find_node(client, run, operands[1], &node);
        if (status == EXIT_SUCCESS)
                status = client_call(client, NULL, run->path, BTD_RUN, "SetBreakpoint", "ub", node, (int) !clear);
        return status;
}

/* btctl force */
int verb_force(Client *client, char **operands) {
        static const char *const outcomes[] = { "success", "failure", "skipped", NULL };
        g_autoptr(RunInfo) run = NULL;
        uint32_t node;
        int status;

        if (!g_strv_contains(outcomes, operands[2]))
                return report_usage("'%s' is not an outcome; give success, failure or skipped", operands[2]);

        status = target_find_running(client, operands[0], &run);
        if (status == EXIT_SUCCESS)
                status = target_find_node(client, run, operands[1], &node);
        if (status == EXIT_SUCCESS)
                status = client_call(client, NULL, run->path, BTD_RUN, "Force", "us", node, operands[2]);
        return status;
}
