/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The type WriteFile. The program btd-write does it. */

#include <glib.h>
#include <string.h>

#include "leaf-types/leaf-types.h"
#include "leaf-types/write-file.h"

static char *mode_problem(const char *text) {
        size_t length = strlen(text);

        return length >= 3 && length <= 4 && text[strspn(text, "01234567")] == 0
                       ? NULL
                       : g_strdup_printf("\"%s\" is no mode of a file; write one like \"0644\"", text);
}

static const TextFormat mode_format = { .name = "a mode", .pattern = "^[0-7]{3,4}$", .problem = mode_problem };

static const Param params[] = {
        {
                .name = "path",
                .kind = PARAM_STRING,
                .offset = offsetof(WriteFileParams, path),
                .format = &path_format,
                .required = true,
                .title = true,
                .doc = "The file",
        },
        {
                .name = "text",
                .kind = PARAM_STRING,
                .offset = offsetof(WriteFileParams, text),
                .required = true,
                .doc = "What is written, as it is: a line ends with \"\\n\"",
        },
        {
                .name = "mode",
                .kind = PARAM_STRING,
                .offset = offsetof(WriteFileParams, mode),
                .format = &mode_format,
                .doc = "Its mode, like \"0600\"; by default that of the file that is there, or \"0644\"",
        },
        {
                .name = "append",
                .kind = PARAM_BOOL,
                .offset = offsetof(WriteFileParams, append),
                .fallback = "false",
                .doc = "true: the text is added at the end of the file",
        },
        {
                .name = "user",
                .kind = PARAM_STRING,
                .offset = offsetof(WriteFileParams, user),
                .format = &account_format,
                .doc = "The user who writes it, by name or number; by default that of btd",
        },
        {
                .name = "group",
                .kind = PARAM_STRING,
                .offset = offsetof(WriteFileParams, group),
                .format = &account_format,
                .doc = "The group; by default that of its user",
        },
        TIMEOUT_PARAM(WriteFileParams, "\"infinity\"",
                      .doc = "How long it may take, such as for a disk that does not answer; then it fails"),
        ON_RECOVER_PARAM(WriteFileParams),
        {},
};

const NodeType write_file_type = {
        .name = "WriteFile",
        .class = NODE_ACTION,
        .params = params,
        .params_size = sizeof(WriteFileParams),
        .flags = TYPE_PROCESS,
        .summary = "Writes a text to a file",
        .doc = "On a disk, btd replaces the file atomically and waits until it is stored: a reader finds the old text "
               "or "
               "the new one, also after a power failure. With append, the text is added. A device, a pipe, and a file "
               "of the "
               "kernel below /sys or /proc get the text in one write. A link is followed; a directory is not created. "
               "A process of its own writes the file, as in Spawn, so it is not in btd's sandbox.",
        .halting = "What it has begun to write is written first, for 10 seconds at most.",
        .recovery =
                "The process has continued, and its end counts as usual. If btd cannot know how it ended, on_recover "
                "decides, as in Spawn; to write the same text again does no harm, unless it is appended.",
        .has_timeout = true,
        .timeout_offset = offsetof(WriteFileParams, timeout),
        .has_on_recover = true,
        .on_recover_offset = offsetof(WriteFileParams, on_recover),
};
