/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Maps permissions to the actions of the file org.btd1.policy, and describes requests. */

#include "service/permission.h"
#include "basic/excerpt.h"

#include <string.h>

typedef struct Words {
        const char *action, *verb, *phrase;
} Words;

static const Words words[PERMISSION_MAX_] = {
        [PERMISSION_START] = { "org.btd1.start", "start", "start" },
        [PERMISSION_HALT] = { "org.btd1.halt", "halt", "halt" },
        [PERMISSION_CONTROL] = { "org.btd1.control", "control", "control" },
        [PERMISSION_SET] = { "org.btd1.set", "set", "set variables of" },
        [PERMISSION_FORCE] = { "org.btd1.force", "force", "force an outcome in" },
        [PERMISSION_LOAD] = { "org.btd1.load", "load", "run a tree of your own as" },
        [PERMISSION_RELOAD] = { "org.btd1.reload", "reload", "reload" },
};

const char *permission_action(Permission permission) {
        return words[permission].action;
}

const char *permission_verb(Permission permission) {
        return words[permission].verb;
}

char *request_describe(const Request *request) {
        const char *object = request->run ?: request->tree, *verb = words[request->permission].phrase;
        g_autofree char *shown = object ? excerpt(object, strlen(object)) : NULL;

        return shown ? g_strdup_printf("%s '%s'", verb, shown) : g_strdup(verb);
}

void request_clear(Request *request) {
        g_clear_pointer(&request->tree, g_free);
        g_clear_pointer(&request->run, g_free);
}
