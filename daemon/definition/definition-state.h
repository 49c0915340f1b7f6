/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Defines the members of a Definition, for the files that implement definition.h. */

#include "definition/definition.h"
#include "definition/load.h"

struct Definition {
        unsigned n_refs;
        char *text;
        size_t length;
        char *hash;       /* of all files; NULL: not computed yet, as in own */
        LoadedFile own;   /* path: NULL if it was not loaded from a file */
        char *files_json; /* NULL: not made yet, or taken */
        Loaded loaded;
};
