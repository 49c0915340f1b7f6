/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Implements GetTitles(). Titles never change, so they are not part of GetNodes(). */

#include "service/title-bus.h"
#include "basic/cleanup.h"
#include "definition/definition.h"

int title_bus_append(Answer *answer, sd_bus_error *ret_error) {
        NodeId node = (NodeId) answer->next;
        g_autofree char *title = NULL;
        int r = 0;

        if (node >= definition_tree(answer->definition)->n_nodes)
                return 0;

        answer->next++;
        title = definition_title(answer->definition, node);
        if (title)
                r = sd_bus_message_append(answer->reply, TITLE_SIGNATURE, node, title);
        return r < 0 ? r : 1;
}
