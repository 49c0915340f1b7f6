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
        if (status != EXIT_SUCCESS)
                return status;

        return client_call(client, NULL, run->path, BTD_RUN, method, NULL);
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
static void print_breakpoint(const Output *output, const GPtrArray *nodes, uint32_t node, json_object *list) {
        g_autofree char *path = node_info_path(nodes, node), *clean = text_clean(path, output->ascii);

        if (list)
                json_object_array_add(list, node_info_to_json(g_ptr_array_index(nodes, node), nodes));
        else
                printf("#%u %s\n", node, clean);
}

static int print_breakpoints(Client *client, const RunInfo *run, sd_bus_message *reply) {
        json_object *list = client->output.json ? json_object_new_array() : NULL;
        g_autoptr(GPtrArray) nodes = NULL;
        const uint32_t *breakpoints;
        int status, r;
        size_t size;

        r = sd_bus_message_enter_container(reply, SD_BUS_TYPE_VARIANT, "au");
        if (r >= 0)
                r = sd_bus_message_read_array(reply, SD_BUS_TYPE_UINT32, (const void **) &breakpoints, &size);
        if (r < 0)
                return client_bad_message(r);

        status = node_info_of_run(client, run->path, &nodes);
        if (status != EXIT_SUCCESS)
                return status;

        for (size_t i = 0; i < size / sizeof(*breakpoints); i++)
                if (breakpoints[i] < nodes->len)
                        print_breakpoint(&client->output, nodes, breakpoints[i], list);
        if (list)
                output_print_json(list);

        return EXIT_SUCCESS;
}

static int list_breakpoints(Client *client, const RunInfo *run) {
        g_autoptr(sd_bus_message) reply = NULL;
        int status;

        status = client_call(client, &reply, run->path, "org.freedesktop.DBus.Properties", "Get", "ss", BTD_RUN,
                             "Breakpoints");
        return status != EXIT_SUCCESS ? status : print_breakpoints(client, run, reply);
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
        if (status != EXIT_SUCCESS)
                return status;

        return client_call(client, NULL, run->path, BTD_RUN, "SetBreakpoint", "ub", node, (int) !clear);
}

/* btctl force */
static int check_status(const char *word) {
        static const char *const results[] = { "success", "failure", "skipped", NULL };

        if (g_strv_contains(results, word))
                return EXIT_SUCCESS;

        return report_usage("'%s' is not an outcome; give success, failure or skipped", word);
}

int verb_force(Client *client, char **operands) {
        g_autoptr(RunInfo) run = NULL;
        uint32_t node;
        int status;

        status = check_status(operands[2]);
        if (status != EXIT_SUCCESS)
                return status;

        status = target_find_running(client, operands[0], &run);
        if (status != EXIT_SUCCESS)
                return status;

        status = target_find_node(client, run, operands[1], &node);
        if (status != EXIT_SUCCESS)
                return status;

        return client_call(client, NULL, run->path, BTD_RUN, "Force", "us", node, operands[2]);
}
