/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * What the service manager is told besides the steps of the protocol in sd_notify(3), for which there is sd_notify():
 * that waits while the manager does not listen, which must not happen for a line that is only nice to have.
 */

/* "STATUS=3 trees". Lost where it cannot be sent at once, or where there is nobody to tell. */
void notify_try(const char *state);
