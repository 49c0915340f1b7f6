/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* In the tables both have the same order. */

#include "leaves/unknown.h"

const char *const unknown_values[] = { "failure", "success", "running", NULL };

Status unknown_status(int unknown) {
        static const Status statuses[] = { STATUS_FAILURE, STATUS_SUCCESS, STATUS_RUNNING };

        return statuses[unknown];
}
