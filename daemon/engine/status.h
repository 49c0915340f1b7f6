/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The status of a node or a run. A node is IDLE or RUNNING and answers a tick with RUNNING,
 * SUCCESS, FAILURE or SKIPPED; it never answers IDLE. A run ends as HALTED if it was stopped,
 * and as ERROR if the tree itself is broken; ERROR also travels up through the nodes.
 */
typedef enum Status {
        STATUS_IDLE,
        STATUS_RUNNING,
        STATUS_SUCCESS,
        STATUS_FAILURE,
        STATUS_SKIPPED,
        STATUS_HALTED,
        STATUS_ERROR,
        STATUS_MAX_,
} Status;

/* "idle", "running", ... as shown on the bus and by btctl. */
const char *status_to_string(Status status);
