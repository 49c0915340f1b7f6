/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Inhibit: a decorator that holds off a shutdown or suspend. The inhibitor lock is the lock of its node, so the node
 * itself only passes on what its child does. */

#include <glib.h>
#include <string.h>

#include "engine/node.h"
#include "engine/types/types.h"

const char *const inhibit_mode_names[] = { "block", "delay", "block-weak", NULL };

static const char *const operations[] = { "shutdown",
                                          "sleep",
                                          "idle",
                                          "handle-power-key",
                                          "handle-suspend-key",
                                          "handle-hibernate-key",
                                          "handle-lid-switch",
                                          "handle-reboot-key",
                                          NULL };

static char *what_problem(const char *text) {
        g_auto(GStrv) parts = g_strsplit(text, ":", -1);

        if (!*parts)
                return g_strdup("expected an operation such as 'shutdown', or several of them with ':' in between");
        for (char **part = parts; *part; part++)
                if (!g_strv_contains(operations, *part)) {
                        g_autofree char *all = g_strjoinv(", ", (char **) operations);

                        return g_strdup_printf("'%.100s' is not an operation of logind; these are %s", *part, all);
                }

        return NULL;
}

#define OPERATION "(shutdown|sleep|idle|handle-(power|suspend|hibernate|reboot)-key|handle-lid-switch)"

static const TextFormat what_format = {
        .name = "operations with ':' in between",
        .pattern = "^" OPERATION "(:" OPERATION ")*$",
        .problem = what_problem,
};

static const Param inhibit_params[] = {
        {
                .name = "what",
                .kind = PARAM_STRING,
                .offset = offsetof(InhibitParams, what),
                .fallback = "\"idle:sleep:shutdown\"",
                .title = true,
                .format = &what_format,
                .doc = "The operations to hold off, with \":\" in between: shutdown, sleep, idle, handle-power-key, "
                       "...",
        },
        {
                .name = "why",
                .kind = PARAM_STRING,
                .offset = offsetof(InhibitParams, why),
                .doc = "The reason, for people; by default the path of the node",
        },
        {
                .name = "who",
                .kind = PARAM_STRING,
                .offset = offsetof(InhibitParams, who),
                .doc = "Who holds the lock, for people; by default the name of the run",
        },
        {
                .name = "mode",
                .kind = PARAM_ENUM,
                .offset = offsetof(InhibitParams, mode),
                .fallback = "\"block\"",
                .values = inhibit_mode_names,
                .doc = "\"delay\": logind waits for its InhibitDelayMaxSec= only; \"block-weak\" needs systemd 257",
        },
        {},
};

const NodeType inhibit_type = {
        .name = "Inhibit",
        .class = NODE_DECORATOR,
        .flags = TYPE_INHIBITS,
        .params = inhibit_params,
        .params_size = sizeof(InhibitParams),
        .summary = "Holds off a shutdown or suspend while its child runs or halts",
        .doc = "Takes an inhibitor lock of systemd-logind, as systemd-inhibit(1) does. The child starts when the "
               "node has the lock. If logind refuses the lock or is not there, the node fails.",
        .tick = tick_only_child,
        .never = outcomes_of_child,
};
