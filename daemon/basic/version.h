/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Describes which btd this is, for --version.
 */

/* Or "unknown". The programs have it, from daemon/commit.c.in, not this library, which would always be built again. */
extern const char version_commit[];

/* Asks the system bus which systemd runs here. */
void version_print(const char *program, const char *version);
