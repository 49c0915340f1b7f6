/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* PathExists: a condition on the existence and kind of a path. */

#include <string.h>

#include "leaf-types/basic.h"
#include "leaf-types/leaf-types.h"
#include "leaves/kinds.h"
#include "leaves/path/path-watch.h"
#include "run/leaf.h"

typedef struct PathExists {
        PathWatch *watch;   /* or */
        const char *hidden; /* why there can be none */
} PathExists;

/* The name of each PathState, for programs. */
static const char *const state_names[] = {
        "pending", "unknown", "missing", "file", "empty-file", "directory", "empty-directory", "other",
};

static bool is_file(PathState state) {
        return state == PATH_FILE || state == PATH_EMPTY_FILE;
}

static bool holds(PathKind kind, PathState state) {
        switch (kind) {
        case PATH_KIND_FILE:
                return is_file(state);
        case PATH_KIND_DIRECTORY:
                return state == PATH_DIRECTORY || state == PATH_EMPTY_DIRECTORY;
        case PATH_KIND_NOT_EMPTY:
                return state == PATH_FILE || state == PATH_DIRECTORY;
        case PATH_KIND_ANY:
                break;
        }

        return state != PATH_MISSING;
}

static char *complaint(const PathExistsParams *params, PathState state, const char *detail) {
        const char *path = params->path;

        switch (state) {
        case PATH_UNKNOWN:
                return g_strdup_printf("the state of %s is not known%s%s", path, detail ? ": " : "", detail ?: "");
        case PATH_MISSING:
                return g_strdup_printf("%s does not exist%s%s", path, detail ? ": " : "", detail ?: "");
        case PATH_EMPTY_FILE:
        case PATH_EMPTY_DIRECTORY:
                return g_strdup_printf("%s is empty", path);
        case PATH_OTHER:
                return g_strdup_printf("%s is neither a file nor a directory", path);
        default:
                return g_strdup_printf("%s is a %s, not a %s", path, is_file(state) ? "file" : "directory",
                                       path_kind_names[params->kind]);
        }
}

/* NULL: there is none, or it can have a part of a secret, which is not found: it names the beginning of the path. */
static const char *detail_of(Leaf *leaf) {
        const PathExists *op = leaf->op;

        return op->hidden ? op->hidden : leaf_secret_length(leaf) == 0 ? path_watch_detail(op->watch) : NULL;
}

static Status evaluate(Leaf *leaf) {
        const PathExistsParams *params = leaf->params;
        const PathExists *op = leaf->op;
        PathState state = op->hidden ? PATH_UNKNOWN : path_watch_state(op->watch);
        Status status = state == PATH_PENDING        ? STATUS_RUNNING
                        : state == PATH_UNKNOWN      ? unknown_status(params->unknown)
                        : holds(params->kind, state) ? STATUS_SUCCESS
                                                     : STATUS_FAILURE;

        if (status == STATUS_FAILURE) {
                g_autofree char *text = complaint(params, state, detail_of(leaf));

                leaf_set_cause_of(leaf, CAUSE_CONDITION,
                                  facts_new("path", fact_text(params->path), "seen", fact_text(state_names[state]),
                                            "wanted", fact_text(path_kind_names[params->kind]), NULL),
                                  "%s", text);
        }
        return status;
}

static void on_changed(void *userdata) {
        leaf_set_value(userdata, evaluate(userdata));
}

/* The prefix of the directories that systemd makes for PrivateTmp=. */
#define PRIVATE "/systemd-private-"

static Status path_exists_start(Leaf *leaf) {
        static const char *const directories[] = { "/tmp", "/var/tmp" };
        const PathExistsParams *params = leaf->params;
        PathExists *op = leaf->op;

        /* Does this process see the system's own file at the path? A service can have directories of its own for
         * temporary files, see PrivateTmp= in systemd.exec(5). systemd mounts such a directory under a name that can be
         * told from /proc/self/mountinfo, see proc(5). */
        for (size_t i = 0; i < G_N_ELEMENTS(directories); i++) {
                const char *path = params->path;
                size_t n = strlen(directories[i]);
                g_autofree char *what = NULL;

                if (strncmp(path, directories[i], n) != 0 || (path[n] != '/' && path[n] != 0))
                        continue;
                what = mounted_at(directories[i]);
                if (what && strstr(what, PRIVATE))
                        op->hidden = "btd has a /tmp and a /var/tmp of its own; put PrivateTmp=no into a drop-in of "
                                     "btd.service";
        }
        if (!op->hidden)
                op->watch = path_watch_new(leaf->services->path_watches, params->path,
                                           params->kind == PATH_KIND_NOT_EMPTY, on_changed, leaf);
        return evaluate(leaf);
}

static void path_exists_release(Leaf *leaf) {
        PathExists *op = leaf->op;

        path_watch_free(op->watch);
}

static void path_exists_describe(Leaf *leaf, GString *text) {
        const PathExistsParams *params = leaf->params;
        const PathExists *op = leaf->op;

        if (op->watch && path_watch_state(op->watch) == PATH_PENDING)
                g_string_append_printf(text, "the file system of %s", params->path);
        else
                g_string_append_printf(text, "the state of the path%s%s", detail_of(leaf) ? ": " : "",
                                       detail_of(leaf) ?: "");
}

const LeafKind path_exists_kind = {
        .op_size = sizeof(PathExists),
        .start = path_exists_start,
        .release = path_exists_release,
        .describe = path_exists_describe,
};
