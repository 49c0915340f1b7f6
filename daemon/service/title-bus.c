/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Apart from GetNodes(), since they never change. */

#include "service/title-bus.h"
#include "basic/cleanup.h"
#include "definition/title.h"

static int append_titles(sd_bus_message *message, const Definition *definition) {
        int r = sd_bus_message_open_container(message, 'a', "{us}");

        for (NodeId node = 0; r >= 0 && node < definition_tree(definition)->n_nodes; node++) {
                g_autofree char *title = definition_title(definition, node);

                if (title)
                        r = sd_bus_message_append(message, "{us}", node, title);
        }

        return r < 0 ? r : sd_bus_message_close_container(message);
}

int title_bus_reply(sd_bus_message *message, const Definition *definition) {
        g_autoptr(sd_bus_message) reply = NULL;
        int r;

        r = sd_bus_message_new_method_return(message, &reply);
        if (r < 0)
                return r;
        r = append_titles(reply, definition);
        if (r < 0)
                return r;

        return sd_bus_message_send(reply);
}
