/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* btctl set: gives variables of a run new values, all at once. */

#include "basic/cleanup.h"
#include "target.h"
#include "variables.h"
#include "verbs.h"

static GPtrArray *collect_sets(char **operands) {
        GPtrArray *sets = g_ptr_array_new();

        for (; *operands; operands++)
                g_ptr_array_add(sets, *operands);

        return sets;
}

static int set(Client *client, const RunInfo *run, const GPtrArray *sets) {
        g_autoptr(sd_bus_message) call = NULL;
        int status, r;

        status = client_message(client, run->path, BTD_RUN, "SetVariables", &call);
        if (status != EXIT_SUCCESS)
                return status;

        r = variables_append(call, sets);
        return r < 0 ? client_bad_message(r) : client_send(client, call, NULL);
}

int verb_set(Client *client, char **operands) {
        g_autoptr(GPtrArray) sets = collect_sets(operands + 1);
        g_autoptr(RunInfo) run = NULL;
        int status;

        status = variables_check("", sets);
        if (status != EXIT_SUCCESS)
                return status;

        status = target_find_running(client, operands[0], &run);
        return status != EXIT_SUCCESS ? status : set(client, run, sets);
}
