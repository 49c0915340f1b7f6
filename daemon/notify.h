/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * What the service manager is told without ever waiting for it. For READY and RELOADING, which it waits for itself,
 * there is sd_notify(3); but that stands still while nobody reads.
 */

/* "STATUS=3 trees". Lost where it cannot be sent at once, or where there is nobody to tell. */
void notify_try(const char *state);
