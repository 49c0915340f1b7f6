/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Each connection of the daemon has an sd_bus at its other end, which acts as the bus. Messages in both directions go
 * through the event queue, never earlier than the previous message of the same connection.
 */

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "bus-driver.h"
#include "bus.h"
#include "clock.h"
#include "event-queue.h"
#include "kernel.h"
#include "link.h"
#include "trace.h"

static struct {
        Dice dice;
        const BusManners *manners;
        bool running, noted;
        unsigned n_links, n_starts, n_questions;
        GPtrArray *links; /* the open ones */
        GPtrArray *peers; /* of const Peer */
        GPtrArray *away;  /* peers that have left */
} bus;

/* A message that has not arrived yet. */
typedef struct Parcel {
        Link *link;
        sd_bus_message *message;
        uint64_t time;
} Parcel;

int __real_sd_bus_start(sd_bus *client);
int __wrap_sd_bus_start(sd_bus *client);

static void parcel_free(Parcel *parcel) {
        link_unref(parcel->link);
        sd_bus_message_unref(parcel->message);
        g_free(parcel);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Parcel, parcel_free)

static void on_parcel_dropped(void *parcel) {
        parcel_free(parcel);
}

static void send_off(Link *link, sd_bus_message *message, uint64_t *last, EventDo arrive) {
        uint64_t now = clock_now(),
                 time = now + (bus.manners->delay > 0 ? dice_below(&bus.dice, bus.manners->delay) : 0);
        Parcel *parcel = g_new(Parcel, 1);

        *last = MAX(*last, time);
        *parcel = (Parcel){ .link = link_ref(link), .message = message, .time = *last };
        event_queue_add(*last - now, arrive, parcel, on_parcel_dropped);
}

static void send_to(Link *link, sd_bus_message *message) {
        int r = sd_bus_send(link->peer, message, NULL);

        if (r < 0)
                trace("%s cannot be sent to: %s", link->unique, g_strerror(-r));
}

/* A kernel may count bytes at the sender for a moment after they were read. */
static bool is_unread(const Link *link) {
        int n = 0, left = 0;

        return ioctl(sd_bus_get_fd(link->peer), TIOCOUTQ, &n) >= 0 && n > 0 &&
               (ioctl(link->other_fd, FIONREAD, &left) < 0 || left > 0);
}

/* As in dbus-broker: a message waits until the connection has read all previous ones. */
static void on_delivered(void *userdata) {
        g_autoptr(Parcel) parcel = userdata;
        Link *link = parcel->link;

        if (!link_is_open(link))
                return;

        if (bus.manners->patient && (link->held.length > 0 || is_unread(link)))
                g_queue_push_tail(&link->held, sd_bus_message_ref(parcel->message));
        else
                send_to(link, parcel->message);
}

static void send_held(Link *link) {
        while (link->held.length > 0 && !is_unread(link)) {
                g_autoptr(sd_bus_message) message = g_queue_pop_head(&link->held);

                send_to(link, message);
        }
}

/* Takes the message. */
static void deliver(Link *link, sd_bus_message *message) {
        send_off(link, message, &link->out_time, on_delivered);
}

static const Peer *find_peer(const char *name) {
        for (unsigned i = 0; name && i < bus.peers->len; i++) {
                const Peer *peer = bus.peers->pdata[i];

                if (g_str_equal(peer->name, name) || g_str_equal(peer->unique, name))
                        return peer;
        }

        return NULL;
}

const char *bus_owner_of(const char *name) {
        const Peer *peer = find_peer(name);

        return peer ? peer->unique : link_owner_of(bus.links, name);
}

sd_bus_message *bus_reply_new(sd_bus_message *call) {
        sd_bus_message *reply = NULL;

        if (sd_bus_message_new_method_return(call, &reply) < 0)
                g_error("cannot make a reply");
        return reply;
}

/* The bus replies to its own methods after it has delivered all earlier messages, to all connections. */
static void deliver_last(Link *link, sd_bus_message *message) {
        for (unsigned i = 0; i < bus.links->len; i++)
                link->out_time = MAX(link->out_time, ((const Link *) bus.links->pdata[i])->out_time);

        deliver(link, message);
}

void bus_reply(Link *to, sd_bus_message *reply) {
        bool own = g_strcmp0(sd_bus_message_get_sender(reply), BUS_DRIVER_NAME) == 0;
        uint64_t cookie;

        (void) sd_bus_message_get_reply_cookie(reply, &cookie);
        if (!link_is_open(to) || !link_take_pending(to, cookie)) {
                sd_bus_message_unref(reply);
                return;
        }
        (void) sd_bus_message_set_destination(reply, to->unique);
        (own ? deliver_last : deliver)(to, reply);
}

static sd_bus_message *error_new(sd_bus_message *call, const char *name, const char *text) {
        sd_bus_message *reply = NULL;

        if (sd_bus_message_new_method_errorf(call, &reply, name, "%s", text) < 0)
                g_error("cannot make a reply");
        return reply;
}

void bus_reply_error(Link *to, sd_bus_message *call, const char *name, const char *text) {
        bus_reply(to, error_new(call, name, text));
}

void bus_reply_own_error(Link *to, sd_bus_message *call, const char *name, const char *text) {
        sd_bus_message *reply = error_new(call, name, text);

        (void) sd_bus_message_set_sender(reply, BUS_DRIVER_NAME);
        bus_reply(to, reply);
}

void bus_signal(const Peer *from, Link *to, const char *path, const char *interface, const char *member, BusFill fill,
                const void *userdata) {
        for (unsigned i = 0; i < bus.links->len; i++) {
                Link *link = bus.links->pdata[i];
                g_autoptr(sd_bus_message) signal = NULL;
                unsigned times = dice_chance(&bus.dice, bus.manners->twice) ? 2 : 1;

                if (to && to != link)
                        continue;

                if (sd_bus_message_new_signal(link->peer, &signal, path, interface, member) < 0 ||
                    sd_bus_message_set_sender(signal, from->unique) < 0)
                        g_error("cannot make a signal");
                fill(signal, userdata);
                if (!to && !link_wants(link, from->name, from->unique, signal))
                        continue;

                while (times-- > 0) {
                        sd_bus_message *copy = NULL;

                        if (sd_bus_message_new_signal(link->peer, &copy, path, interface, member) < 0 ||
                            sd_bus_message_set_sender(copy, from->unique) < 0)
                                g_error("cannot make a signal");
                        fill(copy, userdata);
                        deliver(link, copy);
                }
        }
}

/* As a dbus-daemon: calls that the daemon has dropped count until they are answered. */
static void refuse(Link *link, sd_bus_message *call) {
        trace("%s: the bus refuses %s", link->unique, sd_bus_message_get_member(call));
        link_add_pending(link, call, NULL);
        bus_reply_own_error(link, call, SD_BUS_ERROR_LIMITS_EXCEEDED,
                            "The maximum number of pending replies has been reached");
}

static void call_peer(Link *link, sd_bus_message *call) {
        const char *destination = sd_bus_message_get_destination(call);
        const Peer *peer = find_peer(destination);
        bool awaits = sd_bus_message_get_expect_reply(call) > 0;

        if (peer && awaits && bus.manners->most_pending > 0 && link_n_pending(link) >= bus.manners->most_pending) {
                refuse(link, call);
                return;
        }

        if (awaits)
                link_add_pending(link, call, peer);
        if (peer) {
                trace("%s calls %s of %s", link->unique, sd_bus_message_get_member(call), peer->name);
                /* The library of each peer answers a Ping. */
                if (sd_bus_message_is_method_call(call, "org.freedesktop.DBus.Peer", "Ping") > 0)
                        bus_reply(link, bus_reply_new(call));
                else
                        peer->called(link, call);
        } else {
                bus_reply_own_error(link, call, SD_BUS_ERROR_SERVICE_UNKNOWN, "The name is not activatable");
        }
}

static void on_arrived(void *userdata) {
        g_autoptr(Parcel) parcel = userdata;
        Link *link = parcel->link;
        uint8_t type = 0;

        (void) sd_bus_message_get_type(parcel->message, &type);
        if (type == SD_BUS_MESSAGE_SIGNAL && (link->open || parcel->time <= link->deaf_after))
                bus.manners->heard(parcel->message);
        if (type == SD_BUS_MESSAGE_METHOD_RETURN || type == SD_BUS_MESSAGE_METHOD_ERROR)
                bus.manners->answered(parcel->message);
        if (type != SD_BUS_MESSAGE_METHOD_CALL || (!link->open && parcel->time > link->deaf_after))
                return;

        if (g_strcmp0(sd_bus_message_get_destination(parcel->message), BUS_DRIVER_NAME) == 0) {
                if (sd_bus_message_get_expect_reply(parcel->message) > 0)
                        link_add_pending(link, parcel->message, NULL);
                bus_driver_called(link, parcel->message);
        } else {
                call_peer(link, parcel->message);
        }
}

static int on_message(sd_bus_message *message, void *userdata, sd_bus_error *ret_error) {
        Link *link = userdata;

        if (g_strcmp0(sd_bus_message_get_interface(message), "org.freedesktop.DBus.Local") != 0)
                send_off(link, sd_bus_message_ref(message), &link->in_time, on_arrived);
        return 1;
}

static void tell_left(const GPtrArray *peers, Link *link) {
        for (unsigned i = 0; i < peers->len; i++) {
                const Peer *peer = peers->pdata[i];

                if (peer->left)
                        peer->left(link);
        }
}

/* Messages that were sent before the connection was lost may still arrive, all of them or the first part. A peer that
 * is away checks its callers when it returns. */
static void link_lost(Link *link) {
        uint64_t now = clock_now();

        trace("%s is gone", link->unique);
        link->open = false;
        link->deaf_after = dice_chance(&bus.dice, 50) || link->in_time <= now
                                   ? UINT64_MAX
                                   : now + dice_below(&bus.dice, link->in_time - now + 1);
        sd_bus_close(link->peer);
        tell_left(bus.peers, link);
        tell_left(bus.away, link);
        g_ptr_array_remove(bus.links, link);
}

void bus_turn(void) {
        for (unsigned i = 0; i < bus.links->len; i++)
                send_held(bus.links->pdata[i]);
        if (!bus.noted)
                return;

        bus.noted = false;
        for (unsigned i = 0; i < bus.links->len;) {
                Link *link = bus.links->pdata[i];
                int r;

                do
                        r = sd_bus_process(link->peer, NULL);
                while (r > 0 && sd_bus_is_open(link->peer) > 0);

                if (r < 0 || sd_bus_is_open(link->peer) <= 0)
                        link_lost(link);
                else
                        i++;
        }
}

void bus_note_sent(void) {
        bus.noted = true;
}

static Link *link_open(int fd, int other_fd) {
        Link *link = link_new(++bus.n_links);

        if (sd_bus_new(&link->peer) < 0 || sd_bus_set_fd(link->peer, fd, fd) < 0 ||
            sd_bus_set_server(link->peer, true, (sd_id128_t){ .qwords = { 0xb00b, bus.n_starts } }) < 0 ||
            sd_bus_set_anonymous(link->peer, true) < 0 || sd_bus_negotiate_fds(link->peer, true) < 0 ||
            sd_bus_add_filter(link->peer, NULL, on_message, link) < 0 || sd_bus_start(link->peer) < 0)
                g_error("cannot play the bus");

        link->other_fd = other_fd;
        g_ptr_array_add(bus.links, link);
        return link;
}

/* The other end of the socket is now this bus. */
int __wrap_sd_bus_start(sd_bus *client) {
        int fds[2], r;

        if (sd_bus_is_bus_client(client) <= 0)
                return __real_sd_bus_start(client);

        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds) < 0)
                return -errno;

        r = sd_bus_set_fd(client, fds[0], fds[0]);
        if (r < 0)
                return r;

        if (!bus.running) {
                close(fds[1]);
                (void) __real_sd_bus_start(client);
                sd_bus_close(client);
                return -ECONNREFUSED;
        }

        kernel_leave();
        (void) link_open(fds[1], fds[0]);
        kernel_enter();
        bus_note_sent();
        return __real_sd_bus_start(client);
}

void bus_open(Dice dice, const BusManners *manners) {
        bus.dice = dice;
        bus.manners = manners;
        bus.running = true;
        bus.n_links = 10;
        bus.n_starts = 0;
        bus.n_questions = 0;
        bus.links = g_ptr_array_new_with_free_func((GDestroyNotify) link_unref);
        bus.peers = g_ptr_array_new();
        bus.away = g_ptr_array_new();
}

void bus_close(void) {
        g_clear_pointer(&bus.links, g_ptr_array_unref);
        g_clear_pointer(&bus.peers, g_ptr_array_unref);
        g_clear_pointer(&bus.away, g_ptr_array_unref);
}

static void owner_changed(const Peer *peer, const char *before, const char *after) {
        for (unsigned i = 0; i < bus.links->len; i++)
                bus_driver_tell_owner(bus.links->pdata[i], peer->name, before, after);
}

void bus_join(const Peer *peer) {
        trace("%s joins the bus", peer->name);
        (void) g_ptr_array_remove(bus.away, (void *) peer);
        g_ptr_array_add(bus.peers, (void *) peer);
        owner_changed(peer, "", peer->unique);
}

void bus_leave(const Peer *peer) {
        if (!g_ptr_array_remove(bus.peers, (void *) peer))
                return;
        g_ptr_array_add(bus.away, (void *) peer);

        trace("%s leaves the bus", peer->name);
        for (unsigned i = 0; i < bus.links->len; i++)
                link_fail_pending(bus.links->pdata[i], peer);
        owner_changed(peer, peer->unique, "");
}

bool bus_has(const Peer *peer) {
        return g_ptr_array_find(bus.peers, peer, NULL);
}

void bus_stop(void) {
        trace("the bus is lost");
        bus.running = false;
        while (bus.links->len > 0)
                link_lost(bus.links->pdata[0]);
}

void bus_start(void) {
        trace("the bus is there again");
        bus.running = true;
        bus.n_starts++;
}

static sd_bus_message *message_from(const char *sender, const char *path, const char *interface, const char *member) {
        Link *link = link_named(bus.links, "org.btd1");
        sd_bus_message *message = NULL;

        if (link &&
            (sd_bus_message_new_method_call(link->peer, &message, "org.btd1", path, interface, member) < 0 ||
             sd_bus_message_set_sender(message, sender) < 0 || sd_bus_message_set_expect_reply(message, false) < 0))
                g_error("cannot make a call");
        return message;
}

sd_bus_message *bus_message_to_daemon(const char *path, const char *interface, const char *member) {
        return message_from(BUS_ROOT, path, interface, member);
}

sd_bus_message *bus_message_of_user(const char *path, const char *interface, const char *member) {
        return message_from(BUS_USER, path, interface, member);
}

void bus_call(sd_bus_message *message) {
        Link *link = link_named(bus.links, "org.btd1");

        if (link && sd_bus_message_get_bus(message) == link->peer)
                deliver(link, message);
        else
                sd_bus_message_unref(message);
}

/* No other message has such a cookie. */
uint64_t bus_ask(sd_bus_message *message) {
        uint64_t cookie = UINT64_C(1000000) + ++bus.n_questions;

        (void) sd_bus_message_set_expect_reply(message, true);
        if (sd_bus_message_seal(message, cookie, 0) < 0)
                g_error("cannot seal a call");
        bus_call(message);
        return cookie;
}
