/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <glib.h>
#include <string.h>
#include <unistd.h>

#include "basic/limit.h"
#include "history.h"
#include "orders.h"
#include "trace.h"

/* A user other than root has this part of the history. */
#define SHARE 4u

typedef struct Run {
        unsigned tree, number;
        unsigned begun, finished, archived; /* in which order; 0: not yet */
        uint32_t uid;
        bool removed, strict;
} Run;

static struct {
        GArray *runs; /* of Run, as they have begun */
        unsigned n_finished, n_archived;
} history;

void history_open(void) {
        history.runs = g_array_new(FALSE, FALSE, sizeof(Run));
        history.n_finished = history.n_archived = 0;
}

void history_close(void) {
        g_clear_pointer(&history.runs, g_array_unref);
}

static Run *find(unsigned tree, unsigned number) {
        for (unsigned i = history.runs->len; i-- > 0;) {
                Run *run = &g_array_index(history.runs, Run, i);

                if (run->tree == tree && run->number == number)
                        return run;
        }

        return NULL;
}

void history_note_begun(unsigned tree, unsigned number, uint32_t uid) {
        Run run = { .tree = tree, .number = number, .begun = history.runs->len + 1, .uid = uid };

        g_array_append_val(history.runs, run);
}

void history_note_finished(unsigned tree, unsigned number) {
        Run *run = find(tree, number);

        if (run && run->finished == 0)
                run->finished = ++history.n_finished;
}

void history_note_archived(unsigned tree, unsigned number) {
        Run *run = find(tree, number);

        if (run && run->archived == 0)
                run->archived = ++history.n_archived;
}

/* A run that is copied to another disk has a file in both directories; while it ran, it may have had one in "running".
 */
static bool is_copy(const char *path) {
        g_autofree char *name = g_path_get_basename(path), *directory = g_path_get_dirname(path);
        g_autofree char *root = g_path_get_dirname(directory), *base = g_path_get_dirname(root);
        bool disk = g_str_has_suffix(directory, "/history");
        g_autofree char *other =
                g_build_filename(base, disk ? "run" : "state", disk ? "finished" : "history", name, NULL);

        return g_str_has_suffix(directory, "/running") || access(other, F_OK) >= 0;
}

/* There are more than the limit, or a user has more than a share. */
static void check_removed(const Run *removed) {
        unsigned n = 0, own = 0;

        for (unsigned i = 0; i < history.runs->len; i++) {
                const Run *run = &g_array_index(history.runs, Run, i);
                bool there = run->archived > 0 && !run->removed;

                n += there;
                own += there && run->uid == removed->uid;
        }

        if (n < orders_history() && !(limits_bind(removed->uid) && own >= orders_history() / SHARE))
                violation("t%u.%u is removed from the history, and only %u runs would be left", removed->tree,
                          removed->number, n);
}

void history_note_removed(unsigned tree, unsigned number, const char *path, bool strict) {
        Run *run = find(tree, number);

        if (!run || run->archived == 0 || run->removed || is_copy(path))
                return;

        run->removed = true;
        run->strict = strict;
        if (strict)
                check_removed(run);
}

/* Was it the last one of its tree that is left, when so many runs had finished? */
static bool was_last(const Run *run, unsigned n_finished) {
        for (unsigned i = 0; i < history.runs->len; i++) {
                const Run *other = &g_array_index(history.runs, Run, i);

                if (other->tree == run->tree && !other->removed && other->finished > run->finished &&
                    other->finished <= n_finished)
                        return false;
        }

        return true;
}

/* Among the runs of a user, the oldest goes first; but the last one of each tree stays. A run can be removed from the
 * time on when it has finished. */
static void check_order(const Run *removed) {
        for (unsigned i = 0; i < history.runs->len; i++) {
                const Run *run = &g_array_index(history.runs, Run, i);

                if (run->archived > 0 && !run->removed && run->uid == removed->uid && run->begun < removed->begun &&
                    run->finished < removed->finished && run->archived < removed->archived &&
                    !was_last(run, removed->finished))
                        violation("t%u.%u is removed from the history, and the older t%u.%u is not", removed->tree,
                                  removed->number, run->tree, run->number);
        }
}

/* Files on the disk are removed later than those on the tmpfs. */
void history_check(void) {
        for (unsigned i = 0; i < history.runs->len; i++) {
                const Run *run = &g_array_index(history.runs, Run, i);

                if (run->removed && run->strict)
                        check_order(run);
        }
}
