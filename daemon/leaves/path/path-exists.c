/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* PathExists: a condition on the existence and kind of a path. */

#include <string.h>

#include "engine/tree.h"
#include "leaves/formats.h"
#include "leaves/kinds.h"
#include "leaves/path/confinement.h"
#include "leaves/path/path-watch.h"
#include "leaves/registry.h"
#include "run/leaf-params.h"
#include "run/leaf.h"

typedef enum Kind {
        KIND_ANY,
        KIND_FILE,
        KIND_DIRECTORY,
        KIND_NOT_EMPTY,
} Kind;

typedef struct PathExistsParams {
        const char *path;
        int kind, unknown;
} PathExistsParams;

typedef struct PathExists {
        PathWatch *watch;   /* or */
        const char *hidden; /* why there can be none */
} PathExists;

static const char *const kinds[] = { "any", "file", "directory", "not-empty", NULL };

/* The name of each PathState, for programs. */
static const char *const state_names[] = {
        "unknown", "missing", "file", "empty-file", "directory", "empty-directory", "other",
};

static bool is_file(PathState state) {
        return state == PATH_FILE || state == PATH_EMPTY_FILE;
}

static bool is_directory(PathState state) {
        return state == PATH_DIRECTORY || state == PATH_EMPTY_DIRECTORY;
}

static bool holds(Kind kind, PathState state) {
        switch (kind) {
        case KIND_FILE:
                return is_file(state);
        case KIND_DIRECTORY:
                return is_directory(state);
        case KIND_NOT_EMPTY:
                return state == PATH_FILE || state == PATH_DIRECTORY;
        case KIND_ANY:
                break;
        }

        return state != PATH_MISSING;
}

static char *complaint(const PathExistsParams *params, PathState state, const char *detail) {
        const char *path = params->path;

        switch (state) {
        case PATH_UNKNOWN:
                return g_strdup_printf("it is not known what there is at %s: %s", path, detail);
        case PATH_MISSING:
                return g_strdup_printf("%s does not exist%s%s", path, detail ? ": " : "", detail ?: "");
        case PATH_EMPTY_FILE:
        case PATH_EMPTY_DIRECTORY:
                return g_strdup_printf("%s is empty", path);
        case PATH_OTHER:
                return g_strdup_printf("%s is neither a file nor a directory", path);
        default:
                return g_strdup_printf("%s is a %s, not a %s", path, is_file(state) ? "file" : "directory",
                                       kinds[params->kind]);
        }
}

static void set_cause(Leaf *leaf, PathState state, const char *detail) {
        const PathExistsParams *params = leaf->params;
        g_autofree char *text = complaint(params, state, detail);
        json_object *facts = facts_new("path", fact_text(params->path), "seen", fact_text(state_names[state]), "wanted",
                                       fact_text(kinds[params->kind]), NULL);

        leaf_set_cause_of(leaf, CAUSE_CONDITION, facts, "%s", text);
}

static Status look(Leaf *leaf) {
        const PathExistsParams *params = leaf->params;
        const PathExists *op = leaf->op;
        PathState state = op->hidden ? PATH_UNKNOWN : path_watch_state(op->watch);
        Status status = state == PATH_UNKNOWN        ? unknown_status(params->unknown)
                        : holds(params->kind, state) ? STATUS_SUCCESS
                                                     : STATUS_FAILURE;

        if (status == STATUS_FAILURE)
                set_cause(leaf, state, op->hidden ?: path_watch_detail(op->watch));
        return status;
}

static void on_changed(void *userdata) {
        leaf_set_value(userdata, look(userdata));
}

static Status path_exists_start(Leaf *leaf) {
        const PathExistsParams *params = leaf->params;
        PathExists *op = leaf->op;

        op->hidden = confinement_hides(params->path);
        if (!op->hidden)
                op->watch = path_watch_new(params->path, params->kind == KIND_NOT_EMPTY, on_changed, leaf);
        return look(leaf);
}

static void path_exists_release(Leaf *leaf) {
        PathExists *op = leaf->op;

        path_watch_free(op->watch);
}

static void path_exists_describe(Leaf *leaf, GString *text) {
        const PathExists *op = leaf->op;

        g_string_append_printf(text, "a look: %s", op->hidden ?: path_watch_detail(op->watch));
}

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
                .values = kinds,
                .doc = "What there must be: anything; a regular file; a directory; a directory with entries or a file "
                       "with bytes",
        },
        UNKNOWN_PARAM(PathExistsParams),
        {},
};

const LeafKind path_exists_kind = {
        .op_size = sizeof(PathExists),
        .start = path_exists_start,
        .release = path_exists_release,
        .describe = path_exists_describe,
};

const NodeType path_exists_type = {
        .name = "PathExists",
        .class = NODE_CONDITION,
        .params = path_exists_params,
        .params_size = sizeof(PathExistsParams),
        .summary = "Holds while there is a file or directory",
        .doc = "Follows the path by inotify, without polling, while directories on the way to it come and go, symbolic "
               "links are changed and file systems are mounted. Nobody tells of changes in /proc and /sys, nor of "
               "those that another machine makes in a network file system. The system's btd cannot look into /home, "
               "/root, "
               "/tmp and /var/tmp, unless a drop-in of btd.service lets it.",
};
