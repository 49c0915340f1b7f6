/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Starts processes with clone(), like posix_spawn(): the child borrows the memory of the parent, which is suspended
 * until the program is executed. So nothing is copied, and the child can report errors in that memory. posix_spawn()
 * itself cannot change the user, and needs another call to get a pidfd.
 *
 * A child that changes its user gets a copy of the memory, since a process of another user must not have ours. It
 * reports errors in memory that is always shared.
 *
 * Between clone() and execve() there may be nothing but system calls. Those that change the user are called
 * directly, since the C library would try to bring the threads of the parent along.
 */

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <inttypes.h>
#include <pwd.h>
#include <sched.h>
#include <signal.h>
#include <stdalign.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "leaves/spawn/process.h"

#define STACK_SIZE (64 * 1024u)

/* On architectures that once had 16-bit user IDs, the calls for 32-bit IDs have other names. */
#ifdef SYS_setresuid32
#define SETGROUPS SYS_setgroups32
#define SETRESGID SYS_setresgid32
#define SETRESUID SYS_setresuid32
#else
#define SETGROUPS SYS_setgroups
#define SETRESGID SYS_setresgid
#define SETRESUID SYS_setresuid
#endif

typedef enum Step {
        STEP_GROUP,
        STEP_FDS,
        STEP_USER,
        STEP_CWD,
        STEP_EXEC,
} Step;

/* The step that failed in the child. */
typedef struct Failure {
        Step step;
        int error; /* 0: nothing */
} Failure;

typedef struct Start {
        const ProcessSpec *spec;
        Failure *failure;
} Start;

static bool child_set_fds(const ProcessSpec *spec) {
        int null = -1;

        if (spec->fds[STDIN_FILENO] < 0 && (null = open("/dev/null", O_RDONLY | O_CLOEXEC)) < 0)
                return false;

        for (int i = STDIN_FILENO; i <= STDERR_FILENO; i++) {
                int fd = i == STDIN_FILENO && null >= 0 ? null : spec->fds[i];

                if (fd >= 0 && dup2(fd, i) < 0)
                        return false;
        }

        /* Our own descriptors are already marked; this is for those that the daemon inherited. */
        (void) syscall(SYS_close_range, STDERR_FILENO + 1, ~0u, 1 << 2 /* CLOSE_RANGE_CLOEXEC */);
        return true;
}

static int child_fail(const Start *start, Step step) {
        *start->failure = (Failure){ .step = step, .error = errno };
        _exit(127);
}

static int child_main(void *userdata) {
        const struct sigaction action = { .sa_handler = SIG_DFL };
        const Start *start = userdata;
        const ProcessSpec *spec = start->spec;
        const ProcessUser *user = spec->user;
        sigset_t none;

        if (setpgid(0, 0) < 0)
                child_fail(start, STEP_GROUP);
        if (!child_set_fds(spec))
                child_fail(start, STEP_FDS);
        if (user && (syscall(SETGROUPS, user->n_groups, user->groups) < 0 ||
                     syscall(SETRESGID, user->gid, user->gid, user->gid) < 0 ||
                     syscall(SETRESUID, user->uid, user->uid, user->uid) < 0))
                child_fail(start, STEP_USER);
        if (spec->cwd && chdir(spec->cwd) < 0)
                child_fail(start, STEP_CWD);

        /* execve() resets handlers, but ignored signals would stay ignored. */
        for (int number = 1; number < NSIG; number++)
                (void) sigaction(number, &action, NULL);
        sigemptyset(&none);
        (void) sigprocmask(SIG_SETMASK, &none, NULL);

        (void) execve(spec->program, (char *const *) spec->argv, (char *const *) spec->env);
        return child_fail(start, STEP_EXEC);
}

static char *failure_describe(const ProcessSpec *spec, const Failure *failure) {
        const char *reason = g_strerror(failure->error);

        switch (failure->step) {
        case STEP_GROUP:
                return g_strdup_printf("cannot create a process group: %s", reason);
        case STEP_FDS:
                return g_strdup_printf("cannot set up standard input and output: %s", reason);
        case STEP_USER:
                return spec->user->name ? g_strdup_printf("cannot become user %s: %s", spec->user->name, reason)
                                        : g_strdup_printf("cannot change the group: %s", reason);
        case STEP_CWD:
                return g_strdup_printf("cannot change to directory %s: %s", spec->cwd, reason);
        case STEP_EXEC:
                break;
        }

        return g_strdup_printf("cannot execute %s: %s", spec->program, reason);
}

int process_start(const ProcessSpec *spec, pid_t *ret_pid, int *ret_pidfd, char **ret_error) {
        /* Memory that a child has in common with its parent, whether it is the parent's memory or a copy. */
        const Start start = {
                .spec = spec,
                .failure = mmap(NULL, sizeof(Failure), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0),
        };
        alignas(16) char stack[STACK_SIZE];
        int flags = CLONE_VFORK | CLONE_PIDFD | (spec->user ? 0 : CLONE_VM), pidfd = -1, r;
        sigset_t all, before;
        pid_t pid;

        if (start.failure == MAP_FAILED)
                g_error("cannot get shared memory: %s", g_strerror(errno)); /* as with g_new() */

        /* With all signals blocked: a handler of the daemon must not run in a child that has its memory. */
        sigfillset(&all);
        (void) sigprocmask(SIG_SETMASK, &all, &before);
        pid = clone(child_main, stack + sizeof(stack), flags | SIGCHLD, (void *) &start, &pidfd);
        r = pid < 0 ? -errno : 0;
        (void) sigprocmask(SIG_SETMASK, &before, NULL);

        if (r < 0) {
                *ret_error = g_strdup_printf("cannot create a process: %s", g_strerror(-r));
        } else if (start.failure->error != 0) {
                r = -start.failure->error;
                (void) waitpid(pid, NULL, 0);
                close(pidfd);
                *ret_error = failure_describe(spec, start.failure);
        } else {
                *ret_pid = pid;
                *ret_pidfd = pidfd;
        }
        (void) munmap(start.failure, sizeof(Failure));
        return r;
}

static bool number_parse(const char *text, unsigned *ret_number) {
        guint64 number;

        if (!g_ascii_string_to_unsigned(text, 10, 0, UINT32_MAX - 1, &number, NULL))
                return false;

        *ret_number = (unsigned) number;
        return true;
}

/* The functions without _r share one result between all threads. */
#define ENTRY_MAX 65536

static int user_find(const char *name, ProcessUser *user, char **ret_error) {
        g_autofree char *buffer = g_malloc(ENTRY_MAX);
        struct passwd passwd, *entry = NULL;
        unsigned uid;

        (void) getpwnam_r(name, &passwd, buffer, ENTRY_MAX, &entry);
        if (!entry && number_parse(name, &uid))
                (void) getpwuid_r(uid, &passwd, buffer, ENTRY_MAX, &entry);
        if (!entry) {
                *ret_error = g_strdup_printf("there is no user \"%s\"", name);
                return -EINVAL;
        }

        user->uid = entry->pw_uid;
        user->gid = entry->pw_gid;
        user->name = g_strdup(entry->pw_name);
        user->home = g_strdup(entry->pw_dir);
        user->shell = g_strdup(entry->pw_shell);
        return 0;
}

static int group_find(const char *name, ProcessUser *user, char **ret_error) {
        g_autofree char *buffer = g_malloc(ENTRY_MAX);
        struct group group, *entry = NULL;
        unsigned gid;

        (void) getgrnam_r(name, &group, buffer, ENTRY_MAX, &entry);
        if (entry) {
                user->gid = entry->gr_gid;
        } else if (number_parse(name, &gid)) {
                user->gid = gid;
        } else {
                *ret_error = g_strdup_printf("there is no group \"%s\"", name);
                return -EINVAL;
        }

        return 0;
}

int process_user_find(const char *user, const char *group, ProcessUser *ret_user, char **ret_error) {
        g_auto(ProcessUser) found = { .uid = geteuid(), .gid = getegid() };
        int r = 0;

        if (user)
                r = user_find(user, &found, ret_error);
        if (r >= 0 && group)
                r = group_find(group, &found, ret_error);
        if (r < 0)
                return r;

        /* The groups of the user; without a user, only the given one. */
        found.n_groups = 1;
        found.groups = g_new(gid_t, 1);
        found.groups[0] = found.gid;
        while (found.name && getgrouplist(found.name, found.gid, found.groups, &found.n_groups) < 0)
                found.groups = g_renew(gid_t, found.groups, found.n_groups);

        *ret_user = found;
        found = (ProcessUser){};
        return 0;
}

void process_user_clear(ProcessUser *user) {
        g_free(user->groups);
        g_free(user->name);
        g_free(user->home);
        g_free(user->shell);
        *user = (ProcessUser){};
}

/* The name of the program is in parentheses, and can contain any characters. */
int process_find_start(pid_t pid, uint64_t *ret_ticks) {
        g_autofree char *path = g_strdup_printf("/proc/%i/stat", (int) pid), *text = NULL;
        const char *end;

        if (!g_file_get_contents(path, &text, NULL, NULL) || !(end = strrchr(text, ')')) ||
            sscanf(end + 1, " %*c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %" SCNu64,
                   ret_ticks) != 1)
                return -ESRCH;

        return 0;
}
