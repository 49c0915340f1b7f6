/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Sends one datagram to the service manager, if it can be sent without waiting. */

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "basic/cleanup.h"
#include "notify.h"

void notify_try(const char *state) {
        const char *path = getenv("NOTIFY_SOCKET");
        struct sockaddr_un address = { .sun_family = AF_UNIX };
        size_t length = path ? strlen(path) : 0;
        g_auto(AutoFd) fd = -1;

        if (length == 0 || length >= sizeof(address.sun_path))
                return;

        memcpy(address.sun_path, path, length);
        if (*path == '@')
                address.sun_path[0] = '\0';

        fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        if (fd >= 0)
                (void) sendto(fd, state, strlen(state), MSG_NOSIGNAL, (const struct sockaddr *) &address,
                              (socklen_t) (offsetof(struct sockaddr_un, sun_path) + length));
}
