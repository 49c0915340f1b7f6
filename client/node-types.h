/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * All node types that there are: the engine's and the leaves', as btd itself has them.
 */

#include <glib.h>

#include "engine/type.h"

/* NULL-terminated, as definition_load_file() takes them. */
extern const NodeType *const *const node_type_tables[];

/* In the order of the tables; free the array only. */
GPtrArray *node_types_list(void);
