/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Starts a program in a process and a process group of its own. These functions may wait for name services and file
 * systems, and may be called by any thread.
 */

#include <glib.h>
#include <stdbool.h>
#include <sys/types.h>

/* The user and groups of a process. */
typedef struct ProcessUser {
        uid_t uid;
        gid_t gid;
        gid_t *groups;
        int n_groups;
        char *name, *home, *shell; /* of the user; NULL when only the group changes */
} ProcessUser;

/* user, group: names or numbers; NULL: unchanged. -EINVAL: it does not exist, with an error message. */
int process_user_find(const char *user, const char *group, ProcessUser *ret_user, char **ret_error);
void process_user_clear(ProcessUser *user);

typedef struct ProcessSpec {
        const char *program; /* a path */
        const char *const *argv;
        const char *const *env;  /* all of it */
        const char *cwd;         /* NULL: that of the daemon */
        const ProcessUser *user; /* NULL: that of the daemon */
        int fds[3];              /* for stdin, stdout and stderr; -1: /dev/null for stdin, else those of the daemon */
} ProcessSpec;

/* Returns when the program is running. ret_pidfd is to be closed, the process to be reaped by the caller.
 * A negative errno, with a message that names the failed step. */
int process_start(const ProcessSpec *spec, pid_t *ret_pid, int *ret_pidfd, char **ret_error);

/* Since the boot, in clock ticks: with the PID, it identifies a process. -ESRCH: there is no such process. */
int process_find_start(pid_t pid, uint64_t *ret_ticks);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(ProcessUser, process_user_clear)
