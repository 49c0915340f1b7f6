/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* OwnConnection: a decorator whose child has a connection to a bus of its own. The connection is the lock of its node,
 * so the node itself only passes on what its child does. */

#include <glib.h>

#include "engine/node.h"
#include "engine/types/types.h"

/* The room knows no buses, so only the form is checked; a bus that cannot be reached is a reason to fail. */
static char *bus_problem(const char *name) {
        const char *colon = strchr(name, ':');

        return g_str_equal(name, "system") || g_str_equal(name, "session") || (colon && colon[1])
                       ? NULL
                       : g_strdup_printf("'%.100s' is neither \"system\" nor \"session\" nor an address", name);
}

static const TextFormat bus_format = {
        .name = "the name of a bus",
        .pattern = "^(system|session|[a-z][a-z-]*:.+)$",
        .problem = bus_problem,
};

static const Param own_connection_params[] = {
        {
                .name = "bus",
                .kind = PARAM_STRING,
                .offset = offsetof(OwnConnectionParams, bus),
                .literal = true,
                .title = true,
                .format = &bus_format,
                .doc = "The bus, as in the leaves below that use the connection; by default that of btd",
        },
        {},
};

const NodeType own_connection_type = {
        .name = "OwnConnection",
        .class = NODE_DECORATOR,
        .flags = TYPE_CONNECTS,
        .params = own_connection_params,
        .params_size = sizeof(OwnConnectionParams),
        .summary = "Makes a separate connection to the bus for its child, so services can tell this client apart",
        .doc = "DBusCall, DBusEmit and DBusSignal below it use the connection, if they name the same bus. The child "
               "starts when the connection is made. The connection is closed when the child has ended, also after a "
               "halt. Then services forget what they keep for this client, such as a discovery of BlueZ. If the "
               "connection is lost, or btd is restarted, the child is halted, and the node fails with a cause of the "
               "kind \"connection-lost\". To begin again then, put a RetryUntilSuccessful with \"retry_on\": "
               "[\"connection-lost\"] around it. At most 64 such nodes can have a connection at the same time.",
        .tick = tick_only_child,
        .never = outcomes_of_child,
};
