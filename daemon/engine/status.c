/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The names of the statuses, for the bus, the client and the messages. */

#include <assert.h>

#include "engine/status.h"

static const char *const status_names[STATUS_MAX_] = {
        [STATUS_IDLE] = "idle",       [STATUS_RUNNING] = "running", [STATUS_SUCCESS] = "success",
        [STATUS_FAILURE] = "failure", [STATUS_SKIPPED] = "skipped", [STATUS_HALTED] = "halted",
        [STATUS_ERROR] = "error",
};

const char *status_to_string(Status status) {
        assert(status < STATUS_MAX_);

        return status_names[status];
}
