/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The actions are those of org.btd1.policy. */

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
        [PERMISSION_FORCE] = { "org.btd1.force", "force", "force a result in" },
        [PERMISSION_LOAD] = { "org.btd1.load", "load", "run a tree of your own as" },
        [PERMISSION_RELOAD] = { "org.btd1.reload", "reload", "reload" },
};

const char *permission_action(Permission permission) {
        return words[permission].action;
}

const char *permission_verb(Permission permission) {
        return words[permission].verb;
}

char *deed_describe(const Deed *deed) {
        const char *object = deed->run ?: deed->tree, *verb = words[deed->permission].phrase;
        g_autofree char *shown = object ? excerpt(object, strlen(object)) : NULL;

        return shown ? g_strdup_printf("%s '%s'", verb, shown) : g_strdup(verb);
}

void deed_clear(Deed *deed) {
        g_clear_pointer(&deed->tree, g_free);
        g_clear_pointer(&deed->run, g_free);
}
