/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * The baseline of Spawn: starts COUNT processes of ARGV with posix_spawn, at most WIDTH of them at a time, each watched
 * by its pidfd. Prints the microseconds from the first start to the last end.
 *
 *   bench-spawns COUNT WIDTH ARGV...
 */

#include <errno.h>
#include <glib.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int spawn_watched(int epoll_fd, char *argv[]) {
        pid_t pid;

        int r = posix_spawn(&pid, argv[0], NULL, NULL, argv, environ);
        if (r != 0)
                return -r;

        int fd = (int) syscall(SYS_pidfd_open, pid, 0);
        if (fd < 0)
                return -errno;

        struct epoll_event event = { .events = EPOLLIN, .data.fd = fd };
        return epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event) < 0 ? -errno : 0;
}

/* Closing alone would not do: a child that is just about to exec still has the descriptor, too. */
static int reap(int epoll_fd, int pidfd) {
        siginfo_t info = {};

        if (waitid(P_PIDFD, (id_t) pidfd, &info, WEXITED) < 0)
                return -errno;
        if (epoll_ctl(epoll_fd, EPOLL_CTL_DEL, pidfd, NULL) < 0)
                return -errno;
        close(pidfd);
        return info.si_code == CLD_EXITED && info.si_status == 0 ? 0 : -EPROTO;
}

static int run_all(unsigned count, unsigned width, char *argv[]) {
        int epoll_fd = epoll_create1(EPOLL_CLOEXEC), r;
        if (epoll_fd < 0)
                return -errno;

        for (unsigned running = 0; count > 0 || running > 0;) {
                for (; running < width && count > 0; running++, count--)
                        if ((r = spawn_watched(epoll_fd, argv)) < 0)
                                return r;

                struct epoll_event events[32];
                int n = epoll_wait(epoll_fd, events, G_N_ELEMENTS(events), -1);
                if (n < 0 && errno != EINTR)
                        return -errno;
                for (int i = 0; i < n; i++, running--)
                        if ((r = reap(epoll_fd, events[i].data.fd)) < 0)
                                return r;
        }
        close(epoll_fd);
        return 0;
}

int main(int argc, char *argv[]) {
        if (argc < 4) {
                fprintf(stderr, "usage: bench-spawns COUNT WIDTH ARGV...\n");
                return 2;
        }

        gint64 begin = g_get_monotonic_time();
        int r = run_all((unsigned) strtoul(argv[1], NULL, 10), (unsigned) strtoul(argv[2], NULL, 10), argv + 3);
        if (r < 0) {
                fprintf(stderr, "bench-spawns: %s\n", strerror(-r));
                return EXIT_FAILURE;
        }
        printf("%" G_GINT64_FORMAT "\n", g_get_monotonic_time() - begin);
        return EXIT_SUCCESS;
}
