/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* In place of btctl watch in a btctl that was built without ncurses. */

#include "client/verbs/verbs.h"
#include "client/view/report.h"

int verb_watch(Client *client, char **operands) {
        return report_error("this btctl was built without ncurses: it has no 'watch'; see 'btctl status' and 'btctl "
                            "monitor'");
}
