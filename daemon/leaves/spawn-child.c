/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * The process that was started leads its group. When it has ended, what is left of the group is killed before
 * it is reaped: while it is a zombie, nobody else can have got its number.
 */

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include "basic/timers.h"
#include "leaves/fd-watch.h"
#include "leaves/process.h"
#include "leaves/spawn-child.h"

struct SpawnChild {
        pid_t pid; /* 0: reaped */
        int pidfd;
        FdWatch *watch;
        char *program;
        Timers *timers;
        int kill_signal;
        uint64_t kill_timeout;
        Timer *killing;
        bool stopping;
        SpawnEnded ended;
        void *userdata;
};

static void child_kill(const SpawnChild *child, int number) {
        (void) kill(-child->pid, number);
}

static void on_ended(void *userdata) {
        SpawnChild *child = userdata;
        siginfo_t info = {};
        SpawnEnd end = {};

        child_kill(child, SIGKILL);
        g_clear_pointer(&child->watch, fd_watch_free);

        if (waitid(P_PIDFD, (id_t) child->pidfd, &info, WEXITED | WNOHANG) < 0)
                end.error = g_strerror(errno);
        end.code = info.si_code;
        end.status = info.si_status;

        child->pid = 0;
        child->ended(&end, child->userdata);
}

static void on_kill_timeout(void *userdata) {
        child_kill(userdata, SIGKILL);
}

void spawn_child_stop(SpawnChild *child) {
        child->stopping = true;
        child_kill(child, child->kill_signal);
        child_kill(child, SIGCONT);
        child->killing = timer_new(child->timers, child->kill_timeout, on_kill_timeout, child);
}

/* A program without a path is looked for here and not by the child, who could not tell that it was not found. */
static int find_program(const char *name, char **ret_program, char **ret_error) {
        if (strchr(name, '/')) {
                *ret_program = g_strdup(name);
                return 0;
        }

        *ret_program = g_find_program_in_path(name);
        if (*ret_program)
                return 0;

        *ret_error = g_strdup_printf("cannot execute %s: it is not in any directory of PATH", name);
        return -ENOENT;
}

/* The environment of the daemon, but for what the service manager tells the daemon alone. */
static char **make_env(const SpawnParams *params, const ProcessUser *user) {
        static const char *const private[] = {
                "NOTIFY_SOCKET", "WATCHDOG_PID",   "WATCHDOG_USEC", "LISTEN_PID",
                "LISTEN_FDS",    "LISTEN_FDNAMES", "MAINPID",       "MANAGERPID",
        };
        char **env = g_get_environ();

        for (size_t i = 0; i < G_N_ELEMENTS(private); i++)
                env = g_environ_unsetenv(env, private[i]);

        if (user && user->name) {
                env = g_environ_setenv(env, "USER", user->name, true);
                env = g_environ_setenv(env, "LOGNAME", user->name, true);
                env = g_environ_setenv(env, "HOME", user->home, true);
                env = g_environ_setenv(env, "SHELL", user->shell, true);
        }

        for (size_t i = 0; params->env && params->env[i]; i++) {
                g_auto(GStrv) pair = g_strsplit(params->env[i], "=", 2);

                env = g_environ_setenv(env, pair[0], pair[1], true);
        }

        return env;
}

static int child_start(SpawnChild *child, const SpawnRequest *request, char **ret_error) {
        const SpawnParams *params = request->params;
        g_auto(ProcessUser) user = {};
        g_auto(GStrv) env = NULL;
        bool changes_user = params->user || params->group;
        ProcessSpec spec = { .argv = params->argv, .cwd = params->cwd };
        int r;

        r = find_program(params->argv[0], &child->program, ret_error);
        if (r >= 0 && changes_user)
                r = process_user_find(params->user, params->group, &user, ret_error);
        if (r < 0)
                return r;

        env = make_env(params, changes_user ? &user : NULL);
        spec.program = child->program;
        spec.env = (const char *const *) env;
        /* To become who one is takes no rights, but changing the groups would. */
        if (changes_user && (user.uid != geteuid() || user.gid != getegid()))
                spec.user = &user;
        memcpy(spec.fds, request->fds, sizeof(spec.fds));
        return process_start(&spec, &child->pid, &child->pidfd, ret_error);
}

int spawn_child_new(const SpawnRequest *request, SpawnEnded ended, void *userdata, SpawnChild **ret_child,
                    char **ret_error) {
        g_autoptr(SpawnChild) child = g_new0(SpawnChild, 1);
        int r;

        child->pidfd = -1;
        child->timers = request->leaf->services->timers;
        child->kill_signal = request->kill_signal;
        child->kill_timeout = request->params->kill_timeout;
        child->ended = ended;
        child->userdata = userdata;

        r = child_start(child, request, ret_error);
        if (r < 0)
                return r;

        r = fd_watch_new(child->pidfd, on_ended, child, &child->watch);
        if (r < 0) {
                *ret_error = g_strdup_printf("cannot watch the process: %s", g_strerror(-r));
                return r;
        }

        *ret_child = g_steal_pointer(&child);
        return 0;
}

void spawn_child_free(SpawnChild *child) {
        if (!child)
                return;

        fd_watch_free(child->watch);
        if (child->pid > 0) {
                siginfo_t info;

                child_kill(child, SIGKILL);
                (void) waitid(P_PIDFD, (id_t) child->pidfd, &info, WEXITED | WNOHANG);
        }
        if (child->pidfd >= 0)
                close(child->pidfd);
        timer_free(child->killing);
        g_free(child->program);
        g_free(child);
}

void spawn_child_describe(const SpawnChild *child, GString *text) {
        g_string_append_printf(text, "process %i (%s)%s", (int) child->pid, child->program,
                               child->stopping ? " to end" : "");
}
