/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The values of the parameters that several leaf kinds have in common. */

#include "run/leaf-params.h"

const char *const on_recover_values[] = { "fail", "rerun", NULL };

const char *const unknown_values[] = { "failure", "success", "running", NULL };

Status unknown_status(int unknown) {
        static const Status statuses[] = { STATUS_FAILURE, STATUS_SUCCESS, STATUS_RUNNING };

        return statuses[unknown];
}
