/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The agent says that it is ready by closing the descriptor that it is given for this. */

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent.h"
#include "basic/cleanup.h"

struct Agent {
        pid_t pid;
};

extern char **environ;

bool agent_is_of_use(void) {
        return isatty(STDIN_FILENO) && isatty(STDERR_FILENO);
}

/* Its end of the pipe is the only one that it keeps. */
static int spawn(int ready, pid_t *ret_pid) {
        g_autofree char *notify = g_strdup_printf("--notify-fd=%d", ready),
                        *process = g_strdup_printf("--process=%jd", (intmax_t) getpid());
        char *argv[] = { (char *) "pkttyagent", notify, process, (char *) "--fallback", NULL };

        return posix_spawnp(ret_pid, argv[0], NULL, NULL, argv, environ);
}

static void wait_until_closed(int fd) {
        char byte;
        ssize_t n;

        do
                n = read(fd, &byte, 1);
        while (n > 0 || (n < 0 && errno == EINTR));
}

Agent *agent_new(void) {
        g_auto(AutoFd) read_end = -1, write_end = -1;
        Agent *agent;
        int fds[2];
        pid_t pid;

        if (pipe(fds) < 0)
                return NULL;

        read_end = fds[0];
        write_end = fds[1];
        if (fcntl(read_end, F_SETFD, FD_CLOEXEC) < 0 || spawn(write_end, &pid) != 0)
                return NULL;

        close(write_end);
        write_end = -1;
        wait_until_closed(read_end);

        agent = g_new(Agent, 1);
        agent->pid = pid;
        return agent;
}

void agent_free(Agent *agent) {
        if (!agent)
                return;

        kill(agent->pid, SIGTERM);
        while (waitpid(agent->pid, NULL, 0) < 0 && errno == EINTR)
                ;
        g_free(agent);
}
