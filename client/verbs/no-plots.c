/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* In place of btctl plot and graph in a btctl that was built without pictures. */

#include "client/verbs/verbs.h"
#include "client/view/report.h"

int verb_plot(Client *client, char **operands) {
        return report_error("this btctl was built without plots: it has no 'plot'; see 'btctl show' and 'btctl stats'");
}

int verb_graph(Client *client, char **operands) {
        return report_error("this btctl was built without plots: it has no 'graph'; see 'btctl status' and 'btctl "
                            "replay'");
}
