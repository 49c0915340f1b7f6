/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * sd-bus reads messages from a socket only, and expects a client to introduce itself first: so they get a socket
 * of their own, behind the introduction.
 */

#include <errno.h>
#include <glib.h>
#include <stdbool.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "bus/unread.h"

/* D-Bus specification, "Authentication Protocol": a client who does not say who he is. */
#define INTRODUCTION "\0AUTH ANONYMOUS\r\nBEGIN\r\n"
#define HEADER_SIZE 16u

typedef struct Look {
        sd_bus *reader;
        int end; /* the other one */
        UnreadMessage found;
        void *userdata;
} Look;

static void look_clear(Look *look) {
        sd_bus_close_unref(look->reader);
        if (look->end >= 0)
                close(look->end);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Look, look_clear)

static int on_message(sd_bus_message *message, void *userdata, sd_bus_error *ret_error) {
        const Look *look = userdata;

        look->found(message, look->userdata);
        return 1;
}

static int look_open(Look *look) {
        int fds[2], r;

        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds) < 0)
                return -errno;

        look->end = fds[1];
        r = sd_bus_new(&look->reader);
        if (r >= 0)
                r = sd_bus_set_fd(look->reader, fds[0], fds[0]);
        if (r < 0) {
                close(fds[0]);
                return r;
        }

        r = sd_bus_set_server(look->reader, true, SD_ID128_NULL);
        if (r >= 0)
                r = sd_bus_set_anonymous(look->reader, true);
        if (r >= 0)
                r = sd_bus_add_filter(look->reader, NULL, on_message, look);
        return r < 0 ? r : sd_bus_start(look->reader);
}

/* Through a socket that may not take all at once. */
static int look_at(const Look *look, const char *bytes, size_t n) {
        while (n > 0) {
                ssize_t k = send(look->end, bytes, n, MSG_NOSIGNAL);
                int r;

                if (k < 0 && errno != EAGAIN)
                        return -errno;

                bytes += MAX(k, 0);
                n -= (size_t) MAX(k, 0);
                while ((r = sd_bus_process(look->reader, NULL)) > 0)
                        ;
                if (r < 0)
                        return r;
        }

        return 0;
}

/* D-Bus specification, "Message Format": the length of the body, and of the fields before it, which end at a multiple
 * of 8. */
static size_t message_size(const char *bytes) {
        uint32_t body, fields;

        memcpy(&body, bytes + 4, sizeof(body));
        memcpy(&fields, bytes + 12, sizeof(fields));
        if (bytes[0] == 'B') {
                body = GUINT32_FROM_BE(body);
                fields = GUINT32_FROM_BE(fields);
        } else {
                body = GUINT32_FROM_LE(body);
                fields = GUINT32_FROM_LE(fields);
        }

        return HEADER_SIZE + (((size_t) fields + 7) & ~(size_t) 7) + body;
}

/* Without the one at the end of which only the first part is there. */
static size_t size_of_whole(const char *bytes, size_t n) {
        size_t size = 0;

        while (n - size >= HEADER_SIZE && message_size(bytes + size) <= n - size)
                size += message_size(bytes + size);

        return size;
}

int unread_look(int fd, UnreadMessage found, void *userdata, size_t *ret_size) {
        g_auto(Look) look = { .end = -1, .found = found, .userdata = userdata };
        g_autofree char *bytes = NULL;
        int there, r;
        size_t size;
        ssize_t n;

        if (ioctl(fd, FIONREAD, &there) < 0)
                return -errno;

        bytes = g_malloc((size_t) there + 1);
        n = recv(fd, bytes, (size_t) there + 1, MSG_PEEK | MSG_DONTWAIT);
        if (n < 0 && errno != EAGAIN)
                return -errno;
        if (n == 0)
                return -ECONNRESET;

        r = look_open(&look);
        if (r >= 0)
                r = look_at(&look, INTRODUCTION, sizeof(INTRODUCTION) - 1);
        if (r < 0)
                return r;

        size = size_of_whole(bytes, (size_t) MAX(n, 0));
        if (n > 0 && size == 0)
                return -EBADMSG;

        r = look_at(&look, bytes, size);
        if (r < 0)
                return r;

        *ret_size = size;
        return 0;
}

void unread_take(int fd, size_t size) {
        g_autofree char *bytes = g_malloc(size + 1);

        while (size > 0) {
                ssize_t n = recv(fd, bytes, size, MSG_DONTWAIT);

                if (n <= 0)
                        return;
                size -= (size_t) n;
        }
}
