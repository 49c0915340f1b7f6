/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Checks owner and mode of a file and of each directory and link on its path. The path is walked name by name, like
 * the kernel does. Only root can change a trusted path, so it is still the same when it is used.
 */

#include <errno.h>
#include <glib.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "basic/trust.h"

/* The same limit as the kernel's, see path_resolution(7). */
#define LINKS_MAX 40u

/* Another user may have created the file, so the advice is to check it first. */
#define LOOK_FIRST                                                                                                     \
        "a tree can do anything as root: find out first who put it there and what it does; if that is right: "

typedef struct Walk {
        GString *at;      /* the walked path: absolute, without links; "" is the root directory */
        char *path;       /* the path to walk, since the last link */
        const char *rest; /* the rest of it */
        unsigned links;
        struct stat st; /* status of at */
} Walk;

static bool is_trusted(uid_t uid) {
        return uid == 0 || uid == geteuid();
}

/* what: the subject of the message. */
static char *refuse_owner(const char *what, const char *path, const struct stat *st) {
        g_autofree char *quoted = g_shell_quote(path);

        return g_strdup_printf("refused: %s belongs to UID %" PRIuMAX ", not to root; " LOOK_FIRST "chown %sroot %s",
                               what, (uintmax_t) st->st_uid, S_ISLNK(st->st_mode) ? "-h " : "", quoted);
}

static char *refuse_mode(const char *what, const char *path, const struct stat *st) {
        g_autofree char *quoted = g_shell_quote(path);

        return g_strdup_printf("refused: %s can be written by others than root (mode %04o); " LOOK_FIRST
                               "chmod go-w %s",
                               what, (unsigned) (st->st_mode & 07777), quoted);
}

char *trust_refusal(const char *path, const struct stat *st) {
        if (!is_trusted(st->st_uid))
                return refuse_owner("it", path, st);
        if (st->st_mode & (S_IWGRP | S_IWOTH))
                return refuse_mode("it", path, st);

        return NULL;
}

/* If the sticky bit is set, others can add names to a directory, but not replace those of root. */
static char *refuse_step(const Walk *walk) {
        const char *path = walk->at->len > 0 ? walk->at->str : "/";
        g_autofree char *what = g_strdup_printf("'%s', on its path,", path);

        if (!is_trusted(walk->st.st_uid))
                return refuse_owner(what, path, &walk->st);
        if (S_ISDIR(walk->st.st_mode) && walk->st.st_mode & (S_IWGRP | S_IWOTH) && !(walk->st.st_mode & S_ISVTX))
                return refuse_mode(what, path, &walk->st);

        return NULL;
}

static char *refuse_errno(const Walk *walk, int error) {
        return g_strdup_printf("refused: '%s', on its path, cannot be examined: %s", walk->at->str, g_strerror(error));
}

/* Goes up to the directory of the last name. */
static void leave_last(Walk *walk) {
        const char *slash = strrchr(walk->at->str, '/');

        g_string_truncate(walk->at, slash ? (size_t) (slash - walk->at->str) : 0);
}

/* Continues along the target of the link, from the directory of the link or from the root. */
static char *follow(Walk *walk) {
        g_autofree char *target = g_file_read_link(walk->at->str, NULL);
        char *path = g_strconcat(target ?: "", "/", walk->rest, NULL);

        g_free(walk->path);
        walk->path = path;
        walk->rest = walk->path;
        if (!target || ++walk->links > LINKS_MAX)
                return refuse_errno(walk, target ? ELOOP : ENOENT);

        if (g_path_is_absolute(target))
                g_string_truncate(walk->at, 0);
        else
                leave_last(walk);
        return NULL;
}

static char *step(Walk *walk, const char *name) {
        char *refusal;

        g_string_append_printf(walk->at, "/%s", name);
        if (lstat(walk->at->str, &walk->st) < 0)
                return refuse_errno(walk, errno);

        refusal = refuse_step(walk);
        return refusal || !S_ISLNK(walk->st.st_mode) ? refusal : follow(walk);
}

static char *walk_on(Walk *walk) {
        char *refusal = NULL;

        while (*walk->rest && !refusal) {
                size_t length = strcspn(walk->rest, "/");
                g_autofree char *name = g_strndup(walk->rest, length);

                walk->rest += length + (walk->rest[length] == '/');
                if (g_str_equal(name, ".."))
                        leave_last(walk);
                else if (*name && !g_str_equal(name, "."))
                        refusal = step(walk, name);
        }

        return refusal;
}

static char *walk_all(Walk *walk) {
        if (stat("/", &walk->st) < 0)
                return refuse_errno(walk, errno);

        return refuse_step(walk) ?: walk_on(walk);
}

static char *absolute(const char *path) {
        g_autofree char *here = g_get_current_dir();

        return g_path_is_absolute(path) ? g_strdup(path) : g_build_filename(here, path, NULL);
}

char *trust_refusal_on_way(const char *path, const struct stat *st) {
        Walk walk = { .at = g_string_new(NULL), .path = absolute(path) };
        char *refusal = trust_refusal(path, st);

        walk.rest = walk.path;
        if (!refusal)
                refusal = walk_all(&walk);
        if (!refusal && (lstat(*walk.at->str ? walk.at->str : "/", &walk.st) < 0 || walk.st.st_dev != st->st_dev ||
                         walk.st.st_ino != st->st_ino))
                refusal = g_strdup("refused: it has changed while it was checked; reload");

        g_string_free(walk.at, TRUE);
        g_free(walk.path);
        return refusal;
}
