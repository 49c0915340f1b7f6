/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Names that can stand in file names and in object paths alike. */

#include <glib.h>
#include <string.h>

#include "definition/tree-name.h"

bool tree_name_valid(const char *name) {
        size_t length = strspn(name, G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS "_-");

        return length > 0 && length <= TREE_NAME_MAX && name[length] == '\0';
}
