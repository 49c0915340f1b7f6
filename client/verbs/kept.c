/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* btctl kept and forget: the kept variables of a tree, which its next run gets. */

#include "basic/cleanup.h"
#include "client/bus/target.h"
#include "client/verbs/variables.h"
#include "client/verbs/verbs.h"

/* With the tree of the operand, names if they are not NULL, and its instance. */
static int call(Client *client, const char *method, const char *operand, char **names, sd_bus_message **ret_reply) {
        g_autofree char *tree = NULL, *instance = NULL;
        g_autoptr(sd_bus_message) message = NULL;
        int status, r;

        target_split(operand, &tree, &instance);
        status = client_message(client, BTD_PATH, BTD_MANAGER, method, &message);
        if (status != EXIT_SUCCESS)
                return status;

        r = sd_bus_message_append(message, "s", tree);
        if (r >= 0 && names)
                r = sd_bus_message_append_strv(message, names);
        if (r >= 0)
                r = sd_bus_message_append(message, "a{sv}", 1, "instance", "s", instance ?: "");
        return r < 0 ? client_bad_message(r) : client_send(client, message, ret_reply);
}

int verb_kept(Client *client, char **operands) {
        g_autoptr(sd_bus_message) reply = NULL;
        int status = call(client, "GetKept", operands[0], NULL, &reply);

        return status != EXIT_SUCCESS ? status : variables_print(client, reply);
}

int verb_forget(Client *client, char **operands) {
        g_autoptr(sd_bus_message) reply = NULL;
        g_auto(GStrv) forgotten = NULL;
        int status = call(client, "ForgetKept", operands[0], operands + 1, &reply);

        if (status == EXIT_SUCCESS)
                status = client_read_strings(reply, &forgotten);
        if (status == EXIT_SUCCESS && !*forgotten)
                client_say(client, "'%s' has no kept variables", operands[0]);
        return status;
}
