/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Checks owner and mode of a file and of each directory and link on its path. The path is checked name by name, like
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
#define CHECK_FIRST                                                                                                    \
        "a tree can do anything as root, so find out first who put it there and what it does; if you trust it, run: "

typedef struct PathCheck {
        GString *at;      /* the checked path: absolute, without links; "" is the root directory */
        char *path;       /* the path to check, since the last link */
        const char *rest; /* the rest of it */
        unsigned links;
        struct stat st; /* status of at */
} PathCheck;

static bool is_trusted(uid_t uid) {
        return uid == 0 || uid == geteuid();
}

/* The owner as the kernel tells it to a process with PrivateUsers=, if it is neither root nor the user of the process.
 */
#define UID_NOT_TOLD 65534u

/* what: the subject of the message. */
static char *refuse_owner(const char *what, const char *path, const struct stat *st) {
        g_autofree char *quoted = g_shell_quote(path),
                        *owner = st->st_uid == UID_NOT_TOLD ? g_strdup("another user")
                                                            : g_strdup_printf("UID %" PRIuMAX, (uintmax_t) st->st_uid);

        return g_strdup_printf("is refused, because %s belongs to %s, not to root; " CHECK_FIRST "chown %sroot %s",
                               what, owner, S_ISLNK(st->st_mode) ? "-h " : "", quoted);
}

static char *refuse_mode(const char *what, const char *path, const struct stat *st) {
        g_autofree char *quoted = g_shell_quote(path);

        return g_strdup_printf("is refused, because %s can be written by others than root (mode %04o); " CHECK_FIRST
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
static char *refuse_step(const PathCheck *check) {
        const char *path = check->at->len > 0 ? check->at->str : "/";
        g_autofree char *what = g_strdup_printf("'%s', on its path,", path);

        if (!is_trusted(check->st.st_uid))
                return refuse_owner(what, path, &check->st);
        if (S_ISDIR(check->st.st_mode) && check->st.st_mode & (S_IWGRP | S_IWOTH) && !(check->st.st_mode & S_ISVTX))
                return refuse_mode(what, path, &check->st);

        return NULL;
}

static char *refuse_errno(const PathCheck *check, int error) {
        return g_strdup_printf("is refused, because '%s', on its path, cannot be examined: %s", check->at->str,
                               g_strerror(error));
}

/* Goes up to the directory of the last name. */
static void leave_last(PathCheck *check) {
        const char *slash = strrchr(check->at->str, '/');

        g_string_truncate(check->at, slash ? (size_t) (slash - check->at->str) : 0);
}

/* Continues along the target of the link, from the directory of the link or from the root. */
static char *follow(PathCheck *check) {
        g_autofree char *target = g_file_read_link(check->at->str, NULL);
        char *path = g_strconcat(target ?: "", "/", check->rest, NULL);

        g_free(check->path);
        check->path = path;
        check->rest = check->path;
        if (!target || ++check->links > LINKS_MAX)
                return refuse_errno(check, target ? ELOOP : ENOENT);

        if (g_path_is_absolute(target))
                g_string_truncate(check->at, 0);
        else
                leave_last(check);
        return NULL;
}

static char *check_rest(PathCheck *check) {
        char *refusal = NULL;

        while (*check->rest && !refusal) {
                size_t length = strcspn(check->rest, "/");
                g_autofree char *name = g_strndup(check->rest, length);

                check->rest += length + (check->rest[length] == '/');
                if (g_str_equal(name, ".."))
                        leave_last(check);
                if (!*name || g_str_equal(name, ".") || g_str_equal(name, ".."))
                        continue;

                g_string_append_printf(check->at, "/%s", name);
                if (lstat(check->at->str, &check->st) < 0)
                        return refuse_errno(check, errno);
                refusal = refuse_step(check);
                if (!refusal && S_ISLNK(check->st.st_mode))
                        refusal = follow(check);
        }

        return refusal;
}

char *trust_refusal_on_way(const char *path, const struct stat *st) {
        PathCheck check = { .at = g_string_new(NULL) };
        g_autofree char *here = g_get_current_dir();
        char *refusal = trust_refusal(path, st);

        check.path = g_path_is_absolute(path) ? g_strdup(path) : g_build_filename(here, path, NULL);
        check.rest = check.path;
        if (!refusal && stat("/", &check.st) < 0)
                refusal = refuse_errno(&check, errno);
        if (!refusal)
                refusal = refuse_step(&check) ?: check_rest(&check);
        if (!refusal && (lstat(*check.at->str ? check.at->str : "/", &check.st) < 0 || check.st.st_dev != st->st_dev ||
                         check.st.st_ino != st->st_ino))
                refusal = g_strdup("is refused, because it has changed while it was checked; reload");

        g_string_free(check.at, TRUE);
        g_free(check.path);
        return refusal;
}
