/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* btctl pause, resume and step: whether a run goes on by itself. */

#include "target.h"
#include "verbs.h"

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
