/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * What a definition consists of, for the files that implement definition.h.
 */

#include "definition/definition.h"
#include "definition/load.h"

struct Definition {
        unsigned n_refs;
        char *text;
        size_t length;
        char *hash;     /* of all files; made when it is first asked for */
        LoadedFile own; /* hash: made when it is first asked for; path: NULL: it is in no file */
        Loaded loaded;
};
