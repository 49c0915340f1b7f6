/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Names of systemd units, as users write them and as systemd wants them, see systemd.unit(5).
 */

/* "cam" means "cam.service", as for systemctl. -EINVAL: no unit can have that name, with a text for people. */
int unit_name_complete(const char *name, char **ret_name, char **ret_error);

/* For a node type: what is wrong with the name in a tree, or NULL. NULL for one that is not known before the run. */
char *unit_name_check(const char *name);

/* The object path of a unit with this complete name. To be freed. */
char *unit_name_path(const char *name);
