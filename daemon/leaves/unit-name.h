/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Names of systemd units, as users write them and as systemd wants them, see systemd.unit(5).
 */

#include <stdbool.h>

/* "cam" means "cam.service", as for systemctl. -EINVAL: no unit can have that name, or hardly, as with a misspelt
 * suffix; with a text for people. */
int unit_name_complete(const char *name, char **ret_name, char **ret_error);

/* As the check of a Param. A file should say which type of unit it means. */
char *unit_name_check(const char *name, bool *ret_is_error);

/* The object path of a unit with this complete name. To be freed. */
char *unit_name_path(const char *name);
