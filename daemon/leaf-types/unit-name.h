/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Completes the names of systemd units, and makes their object paths, see systemd.unit(5).
 */

#include <stdbool.h>

/* "cam" means "cam.service", as for systemctl. -EINVAL: no unit can have that name, or hardly, as with a misspelt
 * suffix; with a text for people. */
int unit_name_complete(const char *name, char **ret_name, char **ret_error);

/* The object path of a unit with this complete name. To be freed. */
char *unit_name_path(const char *name);
