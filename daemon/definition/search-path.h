/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The directories in which trees are looked for, the first before the last: as for units, see btd(8).
 */

#include <glib.h>
#include <stdbool.h>

/* NULL-terminated; g_strfreev(). */
char **search_path_new(bool user);
