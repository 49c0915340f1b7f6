/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Describes the type PathExists. */

#include "leaf-types/path.h"
#include "leaf-types/formats.h"
#include "leaf-types/leaf-types.h"

const char *const path_kind_names[] = { "any", "file", "directory", "not-empty", NULL };

static const Param path_exists_params[] = {
        {
                .name = "path",
                .kind = PARAM_STRING,
                .offset = offsetof(PathExistsParams, path),
                .format = &watched_path_format,
                .required = true,
                .title = true,
                .doc = "The path; symbolic links are followed",
        },
        {
                .name = "kind",
                .kind = PARAM_ENUM,
                .offset = offsetof(PathExistsParams, kind),
                .fallback = "\"any\"",
                .values = path_kind_names,
                .doc = "What it must be: anything; a regular file; a directory; not empty: a directory with entries or "
                       "a file with bytes",
        },
        UNKNOWN_PARAM(PathExistsParams),
        {},
};

const NodeType path_exists_type = {
        .name = "PathExists",
        .class = NODE_CONDITION,
        .params = path_exists_params,
        .params_size = sizeof(PathExistsParams),
        .summary = "True while a file or directory exists",
        .doc = "Follows the path by inotify, without polling. Directories on the path can be created and removed, "
               "symbolic links can change, and file systems can be mounted. The kernel does not report changes in "
               "/proc and /sys, nor changes that another machine makes in a network file system. The system's btd "
               "cannot see /home, /root, /tmp and /var/tmp, unless a drop-in of btd.service allows it.",
};
