/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The table of what stands at the top of a tree file, as node types have theirs. */

#include "definition/load.h"

const Param header_params[] = {
        { .name = "btd",
          .kind = PARAM_INT,
          .offset = offsetof(Header, btd),
          .required = true,
          .doc = "The version of the format, which is 1" },
        { .name = "description",
          .kind = PARAM_STRING,
          .offset = offsetof(Header, description),
          .doc = "What the tree is for, in one line" },
        { .name = "autostart",
          .kind = PARAM_BOOL,
          .offset = offsetof(Header, autostart),
          .fallback = "false",
          .doc = "Whether the tree is started with the daemon" },
        { .name = "interval",
          .kind = PARAM_SPAN,
          .offset = offsetof(Header, interval),
          .fallback = "\"100ms\"",
          .min = 1000,
          .max = INT64_MAX,
          .doc = "The time between two ticks that nothing but the tree itself asks for" },
        { .name = "$schema",
          .kind = PARAM_STRING,
          .offset = offsetof(Header, schema),
          .doc = "The schema by which editors check the file" },
        {},
};
