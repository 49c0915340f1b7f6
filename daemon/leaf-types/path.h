/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Declares the parameters of PathExists. */

typedef enum PathKind {
        PATH_KIND_ANY,
        PATH_KIND_FILE,
        PATH_KIND_DIRECTORY,
        PATH_KIND_NOT_EMPTY,
} PathKind;

typedef struct PathExistsParams {
        const char *path;
        int kind, unknown;
} PathExistsParams;

/* The names of a PathKind, NULL-terminated. */
extern const char *const path_kind_names[];
