/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* btctl force: gives a node the result that somebody has brought about by hand. */

#include "node-target.h"
#include "target.h"
#include "verbs.h"

static int check_status(const char *word) {
        static const char *const results[] = { "success", "failure", "skipped", NULL };

        if (g_strv_contains(results, word))
                return EXIT_SUCCESS;

        return report_usage("'%s' is no result of a node; it is success, failure or skipped", word);
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

        status = node_target_find(client, run, operands[1], &node);
        if (status != EXIT_SUCCESS)
                return status;

        return client_call(client, NULL, run->path, BTD_RUN, "Force", "us", node, operands[2]);
}
