/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Checks the names of trees, which must be valid in file names and in D-Bus object paths. */

#include <glib.h>
#include <string.h>

#include "definition/tree-name.h"

bool tree_name_valid(const char *name) {
        size_t length = strspn(name, G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS "_-");

        return length > 0 && length <= TREE_NAME_MAX && name[length] == '\0';
}
