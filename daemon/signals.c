/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Receives signals from a signalfd on the main loop. */

#include <errno.h>
#include <glib-unix.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "signals.h"

struct Signals {
        int fd;
        GSource *source;
        SignalCame came;
        void *userdata;
};

static gboolean on_readable(int fd, GIOCondition condition, void *userdata) {
        const Signals *signals = userdata;
        struct signalfd_siginfo info;

        if (read(fd, &info, sizeof(info)) == sizeof(info))
                signals->came((int) info.ssi_signo, signals->userdata);

        return G_SOURCE_CONTINUE;
}

int signals_new(GMainContext *context, SignalCame came, void *userdata, Signals **ret_signals) {
        Signals *signals;
        sigset_t numbers;
        int fd;

        sigemptyset(&numbers);
        sigaddset(&numbers, SIGHUP);
        sigaddset(&numbers, SIGINT);
        sigaddset(&numbers, SIGTERM);

        fd = signalfd(-1, &numbers, SFD_CLOEXEC | SFD_NONBLOCK);
        if (fd < 0)
                return -errno;
        (void) sigprocmask(SIG_BLOCK, &numbers, NULL);

        signals = g_new(Signals, 1);
        *signals = (Signals){
                .fd = fd,
                .source = g_unix_fd_source_new(fd, G_IO_IN),
                .came = came,
                .userdata = userdata,
        };
        g_source_set_callback(signals->source, G_SOURCE_FUNC(on_readable), signals, NULL);
        g_source_attach(signals->source, context);

        *ret_signals = signals;
        return 0;
}

void signals_free(Signals *signals) {
        if (!signals)
                return;

        g_source_destroy(signals->source);
        g_source_unref(signals->source);
        close(signals->fd);
        g_free(signals);
}
