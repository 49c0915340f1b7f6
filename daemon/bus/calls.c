/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Sends the method calls of a connection.
 *
 * Calls are sent in a window, and only by the main loop: a caller is not called back before it returns. A call waits,
 * is in flight, or could not be sent; it is in the queue of that state until its callback was called. Receivers take
 * turns, and none may have more calls in flight than the window has left for all others. The window adapts to the bus:
 * when the bus refuses a call, it shrinks to the number in flight, and grows again slowly, since the bus logs each
 * refusal.
 *
 * A call that was freed in flight is given up: nobody waits for it, but a dbus-daemon counts it until it is answered.
 * So it stays in the window, and counts against its receiver. A receiver that has answered nothing since one of its
 * calls was given up is silent. It gets a smaller share, also if its process has several names, and then a Ping, whose
 * answer tells that only some of its methods never answer. When half of the window is given up, further calls to such
 * receivers go over connections aside, which have nothing but calls: closing one forgets its calls, and no signal, name
 * or subscription is lost with it.
 */

#include <assert.h>
#include <stdbool.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/foreach.h"
#include "basic/log.h"
#include "bus/bus-source.h"
#include "bus/calls.h"
#include "bus/connection.h"
#include "bus/names.h"

/* When the bus has refused a call, the next reply makes room; the call is also tried again at this interval. */
#define CALL_RETRY_USEC (UINT64_C(100) * 1000)

/* A silent receiver may have this part of what the window has left. */
#define SILENT_PART 4u

/* Calls that were given up leave this part of the window to calls that cannot go aside. */
#define RESERVED_PART 8u

/* The maximum number of connections aside; each has the calls of one share. */
#define ASIDES_MAX 8u

/* The window grows by one after this many windows of replies. */
#define GROWTH_WINDOWS 10u

/* Selects what happens to a call whose receiver is not on the bus. */
typedef enum CallKind {
        CALL_PLAIN,   /* the call fails */
        CALL_PATIENT, /* it is sent when the receiver is back, unless it was already delivered */
        CALL_QUERY,   /* it has no effects, so it is also sent again if it got no answer, or one while the receiver was
                         away */
} CallKind;

struct Calls {
        Connection *connection;
        const char *bus_name;
        Names *names;
        sd_bus *bus; /* NULL: not connected */
        GSource *source;
        GHashTable *receivers; /* by name: those with calls that wait or are in flight */
        GQueue waiting;        /* of Receiver: those with calls that wait */
        GQueue in_flight, failed;
        unsigned window;
        unsigned n_replies;  /* since the window last changed */
        uint64_t retry_at;   /* nothing is sent before this time; 0: the bus has refused nothing */
        unsigned n_given_up; /* calls in flight */
        GQueue asides;       /* of Connection, the newest last */
        bool bound;          /* all of them, see connection_bind() */
        struct Calls *main;  /* of the connection aside which this one is; NULL: of none */
};

/* The destination of calls. */
typedef struct Receiver {
        Calls *calls;
        char *name;
        GQueue waiting; /* of Call */
        GList link;     /* among those with calls that wait */
        unsigned n_in_flight, n_given_up;
        bool silent;   /* it has answered nothing since a call was given up */
        bool pinged;   /* and was sent a Ping since */
        bool warned;   /* that it does not answer */
        NameUse owner; /* from the first call that was given up; of a well-known name */
        bool away;
        GQueue held; /* of Call: patient ones, until it is back */
} Receiver;

struct Call {
        Calls *calls;
        CallKind kind;
        Receiver *receiver; /* while it waits or is in flight */
        GQueue *queue;      /* NULL: the callback was called */
        GList link;
        sd_bus_message *message;
        CallMake make;       /* makes the message; NULL: it was given */
        CallSending sending; /* or NULL */
        sd_bus_slot *slot;
        int error;            /* why it could not be sent */
        sd_bus_message *undo; /* of a call without an owner, see call_undo() */
        bool given_up;
        bool bound; /* to this connection, see connection_call_bound() */
        CallDone done;
        void *userdata;
};

static Receiver *receiver_get(Calls *calls, const char *name) {
        Receiver *receiver = g_hash_table_lookup(calls->receivers, name);

        if (!receiver) {
                receiver = g_new0(Receiver, 1);
                receiver->calls = calls;
                receiver->name = g_strdup(name);
                receiver->link.data = receiver;
                g_hash_table_insert(calls->receivers, receiver->name, receiver);
        }

        return receiver;
}

static void receiver_free(void *data) {
        Receiver *receiver = data;

        name_leave(&receiver->owner);
        g_free(receiver->name);
        g_free(receiver);
}

static void receiver_drop_unused(Calls *calls, const Receiver *receiver) {
        if (receiver->n_in_flight == 0 && receiver->waiting.length == 0 && receiver->held.length == 0 &&
            !receiver->away)
                g_hash_table_remove(calls->receivers, receiver->name);
}

/* queue NULL: only removes the call from its queue. */
static void call_move(Call *call, GQueue *queue) {
        Calls *calls = call->calls;
        Receiver *receiver = call->receiver;
        bool waited = receiver && receiver->waiting.length > 0;

        if (call->queue)
                g_queue_unlink(call->queue, &call->link);
        if (queue)
                g_queue_push_tail_link(queue, &call->link);
        if (!receiver) {
                call->queue = queue;
                return;
        }

        if (call->queue == &calls->in_flight) {
                receiver->n_in_flight--;
                receiver->n_given_up -= call->given_up;
                calls->n_given_up -= call->given_up;
                receiver->silent &= receiver->n_given_up > 0;
                receiver->pinged &= receiver->silent;
        }
        receiver->n_in_flight += queue == &calls->in_flight;
        if (!waited && receiver->waiting.length > 0)
                g_queue_push_tail_link(&calls->waiting, &receiver->link);
        else if (waited && receiver->waiting.length == 0)
                g_queue_unlink(&calls->waiting, &receiver->link);
        call->queue = queue;

        if (!queue || queue == &calls->failed) {
                call->receiver = NULL;
                receiver_drop_unused(calls, receiver);
        }
}

/* Appends the call to those that wait, for the first time or again. */
static void call_wait(Call *call) {
        Receiver *receiver = call->receiver;

        assert(receiver);

        call->slot = sd_bus_slot_unref(call->slot);
        call_move(call, receiver->away && call->kind != CALL_PLAIN ? &receiver->held : &receiver->waiting);
}

/* The callback may free this call and others. */
static void call_finish(Call *call, sd_bus_message *reply, const sd_bus_error *error) {
        call_move(call, NULL);
        call->slot = sd_bus_slot_unref(call->slot);
        g_clear_pointer(&call->message, sd_bus_message_unref);

        call->done(reply, error, call->userdata);
}

/* A longer text is cut before anybody copies it. */
static void call_finish_failed(Call *call, const sd_bus_error *error) {
        g_auto(sd_bus_error) cut = SD_BUS_ERROR_NULL;
        size_t length = error->message ? strnlen(error->message, CONNECTION_ERROR_MAX + 1) : 0;

        if (length <= CONNECTION_ERROR_MAX) {
                call_finish(call, NULL, error);
                return;
        }

        length = (size_t) (g_utf8_find_prev_char(error->message, error->message + CONNECTION_ERROR_MAX + 1) -
                           error->message);
        sd_bus_error_setf(&cut, error->name, "%.*s...", (int) length, error->message);
        call_finish(call, NULL, &cut);
}

static void call_release(Call *call) {
        call_move(call, NULL);
        sd_bus_slot_unref(call->slot);
        sd_bus_message_unref(call->message);
        sd_bus_message_unref(call->undo);
        g_free(call);
}

static void call_finish_lost(Call *call) {
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;

        if (call->given_up) {
                call_release(call);
                return;
        }

        sd_bus_error_setf(&error, SD_BUS_ERROR_DISCONNECTED,
                          "the connection to the bus '%s' was lost before the reply came", call->calls->bus_name);
        call_finish(call, NULL, &error);
}

/* Is this an error of the bus about the call, and not an answer of the receiver? (The bus can be the receiver, too.) */
static bool is_from_bus(const Call *call, sd_bus_message *reply) {
        return sd_bus_message_is_method_error(reply, NULL) > 0 &&
               g_strcmp0(sd_bus_message_get_sender(reply), BUS_DRIVER) == 0 &&
               g_strcmp0(sd_bus_message_get_destination(call->message), BUS_DRIVER) != 0;
}

/* Does this reply only mean that the receiver was away when the call came? */
static bool call_was_early(const Call *call, sd_bus_message *reply) {
        bool away = call->receiver->away;

        if (call->kind == CALL_QUERY && away)
                return true;
        if (call->kind == CALL_PLAIN || !is_from_bus(call, reply))
                return false;

        return (away && (sd_bus_message_is_method_error(reply, SD_BUS_ERROR_SERVICE_UNKNOWN) > 0 ||
                         sd_bus_message_is_method_error(reply, SD_BUS_ERROR_NAME_HAS_NO_OWNER) > 0)) ||
               (call->kind == CALL_QUERY && sd_bus_message_is_method_error(reply, SD_BUS_ERROR_NO_REPLY) > 0);
}

/* A method call that was sent has a serial number, which may be in use by now: to be sent again, it is replaced by a
 * copy. A message that was not sent is kept. Negative errno. */
static int message_renew(sd_bus *bus, sd_bus_message **message) {
        g_autoptr(sd_bus_message) copy = NULL;
        sd_bus_message *old = *message;
        uint64_t cookie;
        int r;

        if (sd_bus_message_get_cookie(old, &cookie) < 0)
                return 0;

        r = sd_bus_message_new_method_call(bus, &copy, sd_bus_message_get_destination(old),
                                           sd_bus_message_get_path(old), sd_bus_message_get_interface(old),
                                           sd_bus_message_get_member(old));
        if (r >= 0)
                r = sd_bus_message_set_auto_start(copy, sd_bus_message_get_auto_start(old));
        if (r >= 0)
                r = sd_bus_message_set_allow_interactive_authorization(
                        copy, sd_bus_message_get_allow_interactive_authorization(old));
        if (r >= 0)
                r = sd_bus_message_rewind(old, true);
        if (r >= 0)
                r = sd_bus_message_copy(copy, old, true);
        if (r < 0)
                return r;

        sd_bus_message_unref(old);
        *message = g_steal_pointer(&copy);
        return 0;
}

static int on_reply(sd_bus_message *reply, void *userdata, sd_bus_error *ret_error);

static void on_owner(void *userdata) {
        const Receiver *receiver = userdata;

        if (receiver->calls->source)
                bus_source_wake(receiver->calls->source, 0);
}

/* Waiting calls are sent later, because the caller may be about to free all of them. */
static void call_give_up(Call *call) {
        Calls *calls = call->calls;
        Receiver *receiver = call->receiver;

        call->given_up = true;
        calls->n_given_up++;
        receiver->n_given_up++;
        receiver->silent = true;
        if (!receiver->owner.name && *receiver->name != ':' && !g_str_equal(receiver->name, BUS_DRIVER)) {
                receiver->owner.follower = (Follower){ .changed = on_owner, .userdata = receiver };
                name_use(calls->names, &receiver->owner, receiver->name);
        }
        bus_source_wake(calls->source, 0);
}

/* False: the bus is closing; the call waits for the next connection. */
static bool call_send(Call *call) {
        Calls *calls = call->calls;
        int r;

        if (call->make) {
                g_clear_pointer(&call->message, sd_bus_message_unref);
                r = call->make(calls->bus, &call->message, call->userdata);
        } else
                r = message_renew(calls->bus, &call->message);

        if (r >= 0 && call->sending)
                call->sending(call->userdata);
        if (r >= 0)
                r = sd_bus_call_async(calls->bus, &call->slot, call->message, on_reply, call, UINT64_MAX);
        if (r == -ENOTCONN || r == -ECONNRESET)
                return false;

        if (r >= 0) {
                call_move(call, &calls->in_flight);
                return true;
        }

        call->error = r;
        call_move(call, &calls->failed);
        bus_source_wake(calls->source, 0);
        return true;
}

static unsigned calls_left(const Calls *calls) {
        return calls->window - MIN(calls->in_flight.length, calls->window);
}

/* NULL: all receivers have their share in flight, or no call waits. */
static Receiver *next_receiver(const Calls *calls) {
        unsigned left = calls_left(calls);

        for (const GList *link = calls->waiting.head; link && left > 0; link = link->next) {
                Receiver *receiver = link->data;
                const char *owner = receiver->owner.name ? name_owner(&receiver->owner) : receiver->name;
                unsigned load = receiver->n_in_flight;
                const Receiver *other;

                if (!receiver->silent && load < left)
                        return receiver;
                if (!receiver->silent)
                        continue;

                /* All calls in flight to the process that owns the name count. */
                TABLE_FOREACH(other, calls->receivers)
                        if (owner && other != receiver &&
                            (g_str_equal(other->name, owner) ||
                             (other->owner.name && g_strcmp0(name_owner(&other->owner), owner) == 0)))
                                load += other->n_in_flight;
                if (load < left / SILENT_PART)
                        return receiver;
        }

        return NULL;
}

/* Calls wait for receivers that do not answer. Each is sent a Ping: nobody waits for its answer, that there is one is
 * enough. */
static void calls_find_silent(Calls *calls) {
        for (const GList *link = calls->waiting.head; link && calls_left(calls) > 0; link = link->next) {
                Receiver *receiver = link->data;
                g_autoptr(sd_bus_message) message = NULL;
                Call *ping;

                if (!receiver->silent || receiver->pinged)
                        continue;

                if (!receiver->warned)
                        log_warning("%s on bus '%s' has not answered %u calls that nobody waits for any more; calls to "
                                    "it wait until it does",
                                    receiver->name, calls->bus_name, receiver->n_given_up);
                receiver->warned = true;
                if (sd_bus_message_new_method_call(calls->bus, &message, receiver->name, "/",
                                                   "org.freedesktop.DBus.Peer", "Ping") < 0 ||
                    sd_bus_message_set_auto_start(message, false) < 0)
                        continue;

                ping = g_new0(Call, 1);
                *ping = (Call){ .calls = calls, .receiver = receiver, .link.data = ping };
                ping->message = g_steal_pointer(&message);
                if (sd_bus_call_async(calls->bus, &ping->slot, ping->message, on_reply, ping, UINT64_MAX) < 0) {
                        sd_bus_message_unref(ping->message);
                        g_free(ping);
                        continue;
                }

                call_move(ping, &calls->in_flight);
                receiver->pinged = true;
                call_give_up(ping);
        }
}

static unsigned calls_unfinished(const Calls *calls) {
        unsigned n = calls->in_flight.length;

        for (const GList *link = calls->waiting.head; link; link = link->next)
                n += ((const Receiver *) link->data)->waiting.length;
        return n;
}

static bool calls_are_crowded(const Calls *calls) {
        return calls->n_given_up > 0 && calls->n_given_up >= calls->window / 2;
}

/* Closes the connections aside on which nobody waits for a reply, if they have no room or are not needed. */
static void calls_drop_asides(Calls *calls) {
        GList *next;

        for (GList *link = calls->asides.head; link; link = next) {
                const Calls *aside = connection_calls(link->data);
                unsigned n = calls_unfinished(aside);

                next = link->next;
                if (n == aside->n_given_up && (next || n >= CONNECTION_SHARE || !calls_are_crowded(calls))) {
                        connection_free(link->data);
                        g_queue_delete_link(&calls->asides, link);
                }
        }
}

/* The calls of a connection that takes one more, to this receiver; NULL: there are too many. */
static Calls *calls_get_aside(Calls *calls, const char *name) {
        Calls *aside = calls->asides.tail ? connection_calls(calls->asides.tail->data) : NULL;
        Connection *connection;

        if (aside && calls_unfinished(aside) < CONNECTION_SHARE)
                return aside;

        calls_drop_asides(calls);
        if (calls->asides.length == ASIDES_MAX)
                return NULL;

        log_warning("%u calls on bus '%s' that nobody waits for any more are unanswered; those to %s are sent over "
                    "another connection",
                    calls->n_given_up, calls->bus_name, name);
        connection = connection_again(calls->connection, true);
        g_queue_push_tail(&calls->asides, connection);
        aside = connection_calls(connection);
        aside->main = calls;
        return aside;
}

/* If half of the window is given up, calls go aside when little is left of it, and those to receivers that answer only
 * some calls. */
static void calls_send_aside(Calls *calls) {
        GList *next_receiver, *next;

        for (GList *link = calls->waiting.head; link; link = next_receiver) {
                Receiver *receiver = link->data;

                next_receiver = link->next;
                if (calls->main || !calls_are_crowded(calls) || g_str_equal(receiver->name, BUS_DRIVER) ||
                    (calls_left(calls) > calls->window / RESERVED_PART &&
                     (receiver->n_given_up == 0 || receiver->silent)))
                        continue;

                for (GList *i = receiver->waiting.head; i; i = next) {
                        g_autofree char *name = g_strdup(receiver->name);
                        Call *call = i->data;
                        Calls *aside = call->kind == CALL_PLAIN && !call->bound && !calls->bound
                                               ? calls_get_aside(calls, name)
                                               : NULL;

                        /* The receiver is freed with its last call. */
                        next = i->next;
                        if (!aside)
                                continue;
                        call_move(call, NULL);
                        call->calls = aside;
                        call->receiver = receiver_get(aside, name);
                        call_wait(call);
                        if (aside->source)
                                bus_source_wake(aside->source, 0);
                }
        }
}

static void calls_send(Calls *calls) {
        Receiver *receiver;

        calls_send_aside(calls);
        while (calls->bus && calls->retry_at == 0 && (receiver = next_receiver(calls))) {
                g_queue_unlink(&calls->waiting, &receiver->link);
                g_queue_push_tail_link(&calls->waiting, &receiver->link);
                if (!call_send(receiver->waiting.head->data))
                        return;
        }

        if (calls->bus && calls->retry_at == 0)
                calls_find_silent(calls);
}

static int on_reply(sd_bus_message *reply, void *userdata, sd_bus_error *ret_error) {
        Call *call = userdata;
        Calls *calls = call->calls;

        if (sd_bus_is_open(calls->bus) <= 0) {
                call_finish_lost(call);
                return 1;
        }

        if (is_from_bus(call, reply) && sd_bus_message_is_method_error(reply, SD_BUS_ERROR_LIMITS_EXCEEDED) > 0) {
                /* It was not delivered. Appended, so that a receiver whose calls the bus refuses does not delay the
                 * others. */
                call->receiver->pinged &= call->done != NULL;
                if (call->given_up)
                        call_release(call);
                else
                        call_wait(call);

                calls->window = MAX(calls->in_flight.length, 1);
                calls->n_replies = 0;
                calls->retry_at = (uint64_t) g_get_monotonic_time() + CALL_RETRY_USEC;
                bus_source_wake(calls->source, calls->retry_at);
                return 1;
        }

        if (!is_from_bus(call, reply))
                call->receiver->silent = call->receiver->pinged = false;
        calls->retry_at = 0;
        if (calls->window < CONNECTION_WINDOW && ++calls->n_replies >= calls->window * GROWTH_WINDOWS) {
                calls->window++;
                calls->n_replies = 0;
        }

        if (call->given_up) {
                if (call->undo && sd_bus_message_is_method_error(reply, NULL) <= 0)
                        (void) sd_bus_send(calls->bus, call->undo, NULL);
                call_release(call);
                calls_send(calls);
                return 1;
        }

        if (call_was_early(call, reply)) {
                call_wait(call);
                calls_send(calls);
                return 1;
        }

        if (sd_bus_message_is_method_error(reply, NULL) > 0)
                call_finish_failed(call, sd_bus_message_get_error(reply));
        else
                call_finish(call, reply, NULL);
        calls_send(calls);
        return 1;
}

/* The call now belongs to its owner alone; the callback is not called any more. */
static void call_disown(Call *call) {
        call_move(call, NULL);
        call->slot = sd_bus_slot_unref(call->slot);
        if (call->given_up)
                call_release(call);
}

Calls *calls_new(Connection *connection) {
        Calls *calls = g_new(Calls, 1);

        *calls = (Calls){
                .connection = connection,
                .bus_name = connection_name(connection),
                .names = connection_names(connection),
                .receivers = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, receiver_free),
                .window = CONNECTION_WINDOW,
        };
        return calls;
}

void calls_free(Calls *calls) {
        Receiver *receiver;

        if (!calls)
                return;

        g_queue_clear_full(&calls->asides, (GDestroyNotify) connection_free);
        while (calls->waiting.length > 0)
                call_disown(((Receiver *) calls->waiting.head->data)->waiting.head->data);
        while (calls->in_flight.length > 0)
                call_disown(calls->in_flight.head->data);
        while (calls->failed.length > 0)
                call_disown(calls->failed.head->data);

        TABLE_FOREACH(receiver, calls->receivers) {
                receiver->away = true; /* keeps the receiver until all of its calls are disowned */
                while (receiver->held.length > 0)
                        call_disown(receiver->held.head->data);
        }
        g_hash_table_unref(calls->receivers);
        g_free(calls);
}

void calls_attach(Calls *calls, sd_bus *bus, GSource *source) {
        calls->bus = bus;
        calls->source = source;
        calls->window = CONNECTION_WINDOW;
        calls->n_replies = 0;
        calls->retry_at = 0;

        calls_send(calls);
}

static void calls_finish_failed(Calls *calls) {
        while (calls->failed.length > 0) {
                Call *call = calls->failed.head->data;
                g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;

                sd_bus_error_set_errnof(&error, call->error, "the call could not be sent: %s",
                                        g_strerror(-call->error));
                call_finish(call, NULL, &error);
        }
}

void calls_detach(Calls *calls) {
        calls_finish_failed(calls);
        calls->bus = NULL;
        calls->source = NULL;
        while (calls->in_flight.length > 0)
                call_finish_lost(calls->in_flight.head->data);
}

void calls_settle(Calls *calls) {
        uint64_t now = (uint64_t) g_get_monotonic_time();

        calls_finish_failed(calls);
        if (calls->retry_at > now)
                bus_source_wake(calls->source, calls->retry_at);
        else
                calls->retry_at = 0;
        calls_send(calls);

        calls_drop_asides(calls);
        if (calls->main && calls->main->source)
                bus_source_wake(calls->main->source, 0);
}

/* Either message, or destination and make, are given, make only for CALL_PLAIN; sending may be NULL. */
static Call *call_new(Connection *connection, CallKind kind, const char *destination, sd_bus_message *message,
                      CallMake make, CallSending sending, CallDone done, void *userdata) {
        Calls *calls = connection_calls(connection);
        Call *call = g_new0(Call, 1);

        call->calls = calls;
        call->kind = kind;
        call->link.data = call;
        call->message = sd_bus_message_ref(message);
        call->make = make;
        call->sending = sending;
        call->done = done;
        call->userdata = userdata;

        call->receiver = receiver_get(calls, destination ?: sd_bus_message_get_destination(message));
        call_wait(call);
        if (calls->source)
                bus_source_wake(calls->source, 0);
        return call;
}

void call_free(Call *call) {
        if (call && call->queue && call->queue == &call->calls->in_flight && call->calls->bus)
                call_give_up(call);
        else if (call)
                call_release(call);
}

bool call_is_in_flight(const Call *call) {
        return call->queue == &call->calls->in_flight;
}

unsigned call_unanswered(const Call *call) {
        const Receiver *receiver = call->receiver;

        return receiver && call->queue == &receiver->waiting && receiver->silent && receiver->warned
                       ? receiver->n_given_up
                       : 0;
}

void call_undo(Call *call, sd_bus_message *undo) {
        if (call->queue == &call->calls->in_flight) {
                (void) sd_bus_message_set_expect_reply(undo, false);
                call->undo = sd_bus_message_ref(undo);
        }
        call_free(call);
}

void connection_bind(Connection *connection) {
        connection_calls(connection)->bound = true;
}

Call *connection_call(Connection *connection, sd_bus_message *message, CallDone done, void *userdata) {
        return call_new(connection, CALL_PLAIN, NULL, message, NULL, NULL, done, userdata);
}

Call *connection_call_bound(Connection *connection, sd_bus_message *message, CallDone done, void *userdata) {
        Call *call = connection_call(connection, message, done, userdata);

        call->bound = true;
        return call;
}

Call *connection_ask(Connection *connection, sd_bus_message *message, CallDone done, void *userdata) {
        return call_new(connection, CALL_QUERY, NULL, message, NULL, NULL, done, userdata);
}

Call *connection_call_told(Connection *connection, sd_bus_message *message, CallSending sending, CallDone done,
                           void *userdata) {
        return call_new(connection, CALL_PATIENT, NULL, message, NULL, sending, done, userdata);
}

Call *connection_call_made(Connection *connection, const char *destination, CallMake make, CallDone done,
                           void *userdata) {
        return call_new(connection, CALL_PLAIN, destination, NULL, make, NULL, done, userdata);
}

void connection_set_away(Connection *connection, const char *destination, bool away) {
        Calls *calls = connection_calls(connection);
        Receiver *receiver = receiver_get(calls, destination);
        GList *next;

        receiver->away = away;
        for (GList *link = receiver->waiting.head; away && link; link = next) {
                Call *call = link->data;

                next = link->next;
                if (call->kind != CALL_PLAIN)
                        call_wait(call);
        }
        while (!away && receiver->held.length > 0)
                call_wait(receiver->held.head->data);

        receiver_drop_unused(calls, receiver);
        calls_send(calls);
}
