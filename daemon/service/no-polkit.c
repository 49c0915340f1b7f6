/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* In place of polkit.c in a btd that was built without polkit: there is nobody to ask. */

#include <errno.h>

#include "service/polkit.h"

int polkit_ask(sd_bus *bus, const char *sender, const Request *request, bool interactive, PolkitAnswered answered,
               void *userdata, PolkitQuestion **ret_question) {
        return -EOPNOTSUPP;
}

void polkit_question_free(PolkitQuestion *question) {
        g_assert(!question);
}
