/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Runs a process as a child. The process leads its group. When it has ended, the rest of the group is killed before it
 * is reaped: while it is a zombie, no other process can get its number.
 *
 * Finding the user, the program and its directory may need a server, so a thread finds them and starts the process. The
 * thread has a Start of its own, which outlives the child if that is not wanted any more.
 */

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <syslog.h>
#include <systemd/sd-journal.h>
#include <unistd.h>

#include "basic/log.h"
#include "basic/timers.h"
#include "basic/workers.h"
#include "leaves/spawn/fd-watch.h"
#include "leaves/spawn/process.h"
#include "leaves/spawn/spawn-process.h"

typedef struct Start {
        GStrv argv, env;
        char *cwd, *user, *group;
        char *identifier; /* of its output in the journal; NULL: its output goes where that of btd goes */
        int fds[3];
        /* The result. */
        char *program; /* NULL: it was not found */
        pid_t pid;     /* 0: it was not started, or the child has it */
        int pidfd;
        char *error;
} Start;

struct SpawnChild {
        Work *work; /* NULL: it has been started */
        pid_t pid;  /* 0: not started, or reaped */
        int pidfd;
        FdWatch *watch;
        char *program;
        Timers *timers;
        FdWatches *fd_watches;
        int kill_signal;
        uint64_t kill_timeout;
        Timer *killing;
        bool stopping;
        SpawnConfirmed confirmed;
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

static void child_ask_to_end(SpawnChild *child) {
        child_kill(child, child->kill_signal);
        child_kill(child, SIGCONT);
        child->killing = timer_new(child->timers, child->kill_timeout, on_kill_timeout, child);
}

/* If the process is still being started, it is asked to end as soon as it has started. */
void spawn_child_stop(SpawnChild *child) {
        if (child->stopping)
                return;

        child->stopping = true;
        if (!child->work)
                child_ask_to_end(child);
}

/* The environment of the daemon without the variables that the service manager set for the daemon alone. */
static GStrv make_env(const Start *start, const ProcessUser *user) {
        static const char *const private[] = {
                "NOTIFY_SOCKET", "WATCHDOG_PID",   "WATCHDOG_USEC", "LISTEN_PID",
                "LISTEN_FDS",    "LISTEN_FDNAMES", "MAINPID",       "MANAGERPID",
        };
        GStrv env = g_get_environ();

        for (size_t i = 0; i < G_N_ELEMENTS(private); i++)
                env = g_environ_unsetenv(env, private[i]);

        if (user && user->name) {
                env = g_environ_setenv(env, "USER", user->name, true);
                env = g_environ_setenv(env, "LOGNAME", user->name, true);
                env = g_environ_setenv(env, "HOME", user->home, true);
                env = g_environ_setenv(env, "SHELL", user->shell, true);
        }

        for (size_t i = 0; start->env && start->env[i]; i++) {
                g_auto(GStrv) pair = g_strsplit(start->env[i], "=", 2);

                env = g_environ_setenv(env, pair[0], pair[1], true);
        }

        return env;
}

static void start_close_fds(Start *start) {
        for (size_t i = 0; i < G_N_ELEMENTS(start->fds); i++) {
                if (start->fds[i] >= 0)
                        close(start->fds[i]);
                start->fds[i] = -1;
        }
}

/* Lines in the journal then say which node started the process, see client/view/run-log.c. The child is told which
 * stream that is, as by the service manager. */
static GStrv open_log(Start *start, GStrv env) {
        g_autofree char *stream = NULL;
        struct stat status;
        int fd;

        if (!start->identifier || (start->fds[STDOUT_FILENO] >= 0 && start->fds[STDERR_FILENO] >= 0))
                return env;

        fd = sd_journal_stream_fd(start->identifier, LOG_INFO, true);
        if (fd < 0)
                return env;

        if (fstat(fd, &status) == 0)
                stream = g_strdup_printf("%ju:%ju", (uintmax_t) status.st_dev, (uintmax_t) status.st_ino);
        if (start->fds[STDOUT_FILENO] < 0)
                start->fds[STDOUT_FILENO] = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
        if (start->fds[STDERR_FILENO] < 0)
                start->fds[STDERR_FILENO] = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
        close(fd);
        return stream ? g_environ_setenv(env, "JOURNAL_STREAM", stream, true) : env;
}

static void start_run(Work *work, Start *start) {
        g_auto(ProcessUser) user = {};
        g_auto(GStrv) env = NULL;
        bool changes_user = start->user || start->group;
        ProcessSpec spec = { .argv = (const char *const *) start->argv, .cwd = start->cwd };

        /* A program without a path is searched for here, because the child could not report that it was not found. */
        start->program =
                strchr(start->argv[0], '/') ? g_strdup(start->argv[0]) : g_find_program_in_path(start->argv[0]);
        if (!start->program) {
                start->error = g_strdup_printf("cannot execute %s: it is not in any directory of PATH", start->argv[0]);
                return;
        }
        if (changes_user && process_user_find(start->user, start->group, &user, &start->error) < 0)
                return;
        if (work && work_is_dropped(work))
                return;

        env = open_log(start, make_env(start, changes_user ? &user : NULL));
        spec.program = start->program;
        spec.env = (const char *const *) env;
        /* Changing to the own user needs no privileges, but changing the groups would. */
        if (changes_user && (user.uid != geteuid() || user.gid != getegid()))
                spec.user = &user;
        memcpy(spec.fds, start->fds, sizeof(spec.fds));
        (void) process_start(&spec, &start->pid, &start->pidfd, &start->error);
}

static void start_work(Work *work, void *data) {
        start_run(work, data);
        start_close_fds(data);
}

/* Kills a process that the child has not taken over. */
static void start_free(void *data) {
        Start *start = data;
        siginfo_t info;

        if (start->pid > 0) {
                (void) kill(-start->pid, SIGKILL);
                (void) waitid(P_PIDFD, (id_t) start->pidfd, &info, WEXITED | WNOHANG);
        }
        start_close_fds(start);
        if (start->pidfd >= 0)
                close(start->pidfd);
        g_strfreev(start->argv);
        g_strfreev(start->env);
        g_free(start->cwd);
        g_free(start->user);
        g_free(start->group);
        g_free(start->identifier);
        g_free(start->program);
        g_free(start->error);
        g_free(start);
}

static void start_done(void *data, void *userdata) {
        SpawnChild *child = userdata;
        Start *start = data;
        int r = 0;

        child->work = NULL;
        child->pid = start->pid;
        child->pidfd = start->pidfd;
        start->pid = 0;
        start->pidfd = -1;
        if (start->program) {
                g_free(child->program);
                child->program = g_steal_pointer(&start->program);
        }

        if (!start->error)
                r = fd_watch_new(child->fd_watches, child->pidfd, on_ended, child, &child->watch);
        if (r < 0)
                start->error = g_strdup_printf("cannot watch the process: %s", g_strerror(-r));
        if (start->error) {
                child->ended(&(SpawnEnd){ .error = start->error }, child->userdata);
                return;
        }

        child->confirmed(child->userdata);
        if (child->stopping)
                child_ask_to_end(child);
}

static const WorkKind start_kind = {
        .what = "the start of a process",
        .run = start_work,
        .done = start_done,
        .free = start_free,
};

static SpawnChild *child_new(const SpawnRequest *request, SpawnEnded ended, void *userdata) {
        SpawnChild *child = g_new(SpawnChild, 1);

        *child = (SpawnChild){
                .pidfd = -1,
                .program = g_strdup(request->params->argv[0]),
                .timers = request->leaf->services->timers,
                .fd_watches = request->leaf->services->fd_watches,
                .kill_signal = request->kill_signal,
                .kill_timeout = request->params->kill_timeout,
                .ended = ended,
                .userdata = userdata,
        };
        return child;
}

SpawnChild *spawn_child_new(const SpawnRequest *request, SpawnConfirmed confirmed, SpawnEnded ended, void *userdata) {
        const SpawnParams *params = request->params;
        SpawnChild *child = child_new(request, ended, userdata);
        Start *start = g_new(Start, 1);

        *start = (Start){
                .argv = g_strdupv((char **) params->argv),
                .env = g_strdupv((char **) params->env),
                .cwd = g_strdup(params->cwd),
                .user = g_strdup(params->user),
                .group = g_strdup(params->group),
                .pidfd = -1,
        };
        if (log_goes_to_journal()) {
                g_autofree char *name = spawn_name_format(request->leaf, request->repetition);

                start->identifier = g_strconcat(SPAWN_UNIT_PREFIX, name, NULL);
        }
        memcpy(start->fds, request->fds, sizeof(request->fds));
        child->confirmed = confirmed;
        child->work = workers_start(request->leaf->services->workers, &start_kind, start, child);
        return child;
}

int spawn_child_find(const SpawnRequest *request, json_object *memo, SpawnEnded ended, void *userdata,
                     SpawnChild **ret_child) {
        g_autoptr(SpawnChild) child = child_new(request, ended, userdata);
        pid_t pid = json_object_get_int(json_object_object_get(memo, "pid"));
        uint64_t ticks;

        if (pid <= 0)
                return -ESRCH;

        /* Another process may have this PID now. Open the process first, then compare its start time. */
        child->pidfd = (int) syscall(SYS_pidfd_open, pid, 0);
        if (child->pidfd < 0 || process_find_start(pid, &ticks) < 0 ||
            ticks != json_object_get_uint64(json_object_object_get(memo, "ticks")) ||
            fd_watch_new(child->fd_watches, child->pidfd, on_ended, child, &child->watch) < 0)
                return -ESRCH;

        child->pid = pid;
        *ret_child = g_steal_pointer(&child);
        return 0;
}

void spawn_child_note(const SpawnChild *child, json_object *memo) {
        uint64_t ticks;

        if (process_find_start(child->pid, &ticks) < 0)
                return;

        json_object_object_add(memo, "pid", json_object_new_int(child->pid));
        json_object_object_add(memo, "ticks", json_object_new_uint64(ticks));
}

void spawn_child_free(SpawnChild *child) {
        if (!child)
                return;

        work_drop(child->work);
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
        if (child->work)
                g_string_append_printf(text, "%s to be started", child->program);
        else
                g_string_append_printf(text, "process %i (%s)%s", (int) child->pid, child->program,
                                       child->stopping ? " to end" : "");
}
