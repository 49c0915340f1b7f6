/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Owns the thread that looks for SIGINT and SIGTERM while btctl waits for an answer. */

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "client/bus/interrupt.h"
#include "client/view/report.h"

#define GRACE_MS 1000

struct Interrupt {
        int signals;  /* a signalfd; it is only polled as long as the call may be answered */
        int answered; /* an eventfd */
        pthread_t thread;
        void (*cancel)(void *userdata); /* NULL: called already, or there is none */
        void *userdata;
};

static void (*before_exit)(void);

void interrupt_before_exit(void (*callback)(void)) {
        before_exit = callback;
}

/* Takes a SIGINT from those that are pending. */
static void cancel_once(Interrupt *interrupt) {
        sigset_t mask;

        sigemptyset(&mask);
        sigaddset(&mask, SIGINT);
        if (!interrupt->cancel || sigtimedwait(&mask, NULL, &(struct timespec){}) != SIGINT)
                return;

        interrupt->cancel(interrupt->userdata);
        interrupt->cancel = NULL;
}

static void *interrupt_main(void *userdata) {
        Interrupt *interrupt = userdata;
        struct pollfd fds[] = { { .fd = interrupt->answered, .events = POLLIN },
                                { .fd = interrupt->signals, .events = POLLIN } };
        struct signalfd_siginfo info;
        bool cancels;

        do {
                cancels = interrupt->cancel != NULL;
                if (poll(fds, 2, -1) < 0 || fds[0].revents != 0)
                        return NULL;
                cancel_once(interrupt);
        } while (cancels && !interrupt->cancel);

        if (poll(fds, 1, GRACE_MS) != 0 || read(interrupt->signals, &info, sizeof(info)) != sizeof(info))
                return NULL;

        if (before_exit)
                before_exit();
        _exit(EXIT_SIGNAL + (int) info.ssi_signo);
}

Interrupt *interrupt_new(void (*cancel)(void *userdata), void *userdata) {
        g_auto(AutoFd) signals = -1, answered = -1;
        g_autofree Interrupt *interrupt = NULL;
        sigset_t blocked, mask;

        sigprocmask(SIG_SETMASK, NULL, &blocked);
        if (!sigismember(&blocked, SIGINT))
                return NULL;

        sigemptyset(&mask);
        sigaddset(&mask, SIGINT);
        sigaddset(&mask, SIGTERM);
        signals = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
        answered = eventfd(0, EFD_CLOEXEC);
        if (signals < 0 || answered < 0)
                return NULL;

        interrupt = g_new(Interrupt, 1);
        *interrupt = (Interrupt){ .signals = signals, .answered = answered, .cancel = cancel, .userdata = userdata };
        if (pthread_create(&interrupt->thread, NULL, interrupt_main, interrupt) != 0)
                return NULL;

        signals = answered = -1;
        return g_steal_pointer(&interrupt);
}

void interrupt_free(Interrupt *interrupt) {
        if (!interrupt)
                return;

        (void) eventfd_write(interrupt->answered, 1);
        pthread_join(interrupt->thread, NULL);
        cancel_once(interrupt);
        close(interrupt->signals);
        close(interrupt->answered);
        g_free(interrupt);
}
