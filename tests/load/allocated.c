/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * To be preloaded into btd: tells everybody who connects to the socket $BTD_TEST_ALLOCATED how many bytes are
 * allocated. In contrast to the memory that the kernel has given, this does not depend on when freed memory is
 * returned, and how much of it can be.
 */

#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static void *serve(void *userdata) {
        int listener = (int) (intptr_t) userdata, fd;

        while ((fd = accept(listener, NULL, NULL)) >= 0) {
                struct mallinfo2 info = mallinfo2();

                (void) dprintf(fd, "%zu", info.uordblks + info.hblkhd);
                close(fd);
        }

        return NULL;
}

static void __attribute__((constructor)) begin(void) {
        const char *path = getenv("BTD_TEST_ALLOCATED");
        struct sockaddr_un address = { .sun_family = AF_UNIX };
        int listener;
        pthread_t thread;
        sigset_t all, before;

        /* The programs that btd starts inherit the preload, and so does the program that starts btd. */
        if (strcmp(program_invocation_short_name, "btd") != 0)
                return;
        if (!path || strlen(path) >= sizeof(address.sun_path))
                abort();

        /* Signals are for btd. */
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before);
        strcpy(address.sun_path, path);
        (void) unlink(path);
        listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (bind(listener, (struct sockaddr *) &address, sizeof(address)) < 0 || listen(listener, 1) < 0 ||
            pthread_create(&thread, NULL, serve, (void *) (intptr_t) listener) != 0)
                abort();

        (void) pthread_detach(thread);
        pthread_sigmask(SIG_SETMASK, &before, NULL);
}
