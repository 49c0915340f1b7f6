/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The parameters of WriteFile. */

#include "engine/type.h"

typedef struct WriteFileParams {
        const char *path, *text;
        const char *mode; /* octal digits, or NULL */
        bool append;
        const char *user, *group;
        uint64_t timeout;
        int on_recover;
} WriteFileParams;
