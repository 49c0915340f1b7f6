/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Calls wait, are in flight, or could not be sent at all; each is in the queue that says so until its owner is
 * told. Those who are called take turns, and none may have more in flight than is left of the window for all others:
 * who does not answer holds up nobody else's calls. The window adapts to what the bus allows: it shrinks to what is in
 * flight when the bus refuses a call, and grows again slowly, since each attempt that is refused is a line in the log
 * of the bus.
 */

#include <errno.h>
#include <stdbool.h>

#include "basic/cleanup.h"
#include "basic/log.h"
#include "bus/bus-source.h"
#include "bus/calls.h"
#include "bus/message.h"

#define DRIVER "org.freedesktop.DBus"

/* When the bus has refused a call, room is made by a reply. Room that is made without our notice (by the
 * late reply to a call that was cancelled) is looked for at this interval. */
#define REFUSED_RETRY_USEC (UINT64_C(100) * 1000)

/* A dbus-daemon remembers a call that was cancelled until it is answered, so peers that never answer fill its limit for
 * good. After so many, a call that is refused though none is in flight is taken as a sign of that: only a new
 * connection helps. */
#define ABANDONED_MAX (CONNECTION_WINDOW / 2)

/* How many windows of replies let the window grow by one. */
#define GROWTH_WINDOWS 10u

struct Calls {
        const char *bus_name;
        sd_bus *bus; /* NULL: not there */
        GSource *source;
        GHashTable *receivers; /* by name: those with calls that wait or are in flight */
        GQueue waiting;        /* of Receiver: those with calls that wait */
        GQueue in_flight, failed;
        unsigned window;
        unsigned n_replies;   /* since the window last changed */
        uint64_t retry_at;    /* nothing is sent before; 0: the bus has not refused anything */
        unsigned n_abandoned; /* calls on this bus that were cancelled in flight */
        bool stuck;
        unsigned n_unsent;    /* calls in flight that have hooks, and may be in our own queue yet */
        uint64_t last_serial; /* of the call that was sent last; 0: none was */
};

/* Who is called. */
typedef struct Receiver {
        char *name;
        GQueue waiting; /* of Call */
        GList link;     /* among those with calls that wait */
        unsigned n_in_flight;
} Receiver;

struct Call {
        Calls *calls;
        Receiver *receiver; /* while it waits or is in flight */
        GQueue *queue;      /* that it is in; NULL: its owner has been told */
        GList link;
        sd_bus_message *message;
        CallMake make; /* makes the message; NULL: it was given */
        const CallHooks *hooks;
        bool unsent; /* they have not been told that it has been */
        sd_bus_slot *slot;
        int error; /* why it could not be sent */
        CallDone done;
        void *userdata;
};

static Receiver *receiver_get(Calls *calls, const char *name) {
        Receiver *receiver = g_hash_table_lookup(calls->receivers, name);

        if (!receiver) {
                receiver = g_new0(Receiver, 1);
                receiver->name = g_strdup(name);
                receiver->link.data = receiver;
                g_hash_table_insert(calls->receivers, receiver->name, receiver);
        }

        return receiver;
}

static void receiver_free(void *data) {
        Receiver *receiver = data;

        g_free(receiver->name);
        g_free(receiver);
}

static void call_leave_queue(Call *call) {
        Calls *calls = call->calls;
        Receiver *receiver = call->receiver;

        if (!call->queue)
                return;

        g_queue_unlink(call->queue, &call->link);
        calls->n_unsent -= call->unsent;
        call->unsent = false;
        if (call->queue == &calls->in_flight)
                receiver->n_in_flight--;
        else if (receiver && receiver->waiting.length == 0)
                g_queue_unlink(&calls->waiting, &receiver->link);
        call->queue = NULL;
}

static void call_enter_queue(Call *call, GQueue *queue) {
        Calls *calls = call->calls;
        Receiver *receiver = call->receiver;

        if (queue == &calls->in_flight)
                receiver->n_in_flight++;
        else if (receiver && queue == &receiver->waiting && receiver->waiting.length == 0)
                g_queue_push_tail_link(&calls->waiting, &receiver->link);
        g_queue_push_tail_link(queue, &call->link);
        call->queue = queue;
}

/* NULL: into none. */
static void call_move(Call *call, GQueue *queue) {
        Receiver *receiver = call->receiver;

        call_leave_queue(call);
        if (queue)
                call_enter_queue(call, queue);
        if (!receiver || queue == &call->calls->in_flight || queue == &receiver->waiting)
                return;

        call->receiver = NULL;
        if (receiver->n_in_flight == 0 && receiver->waiting.length == 0)
                g_hash_table_remove(call->calls->receivers, receiver->name);
}

/* The owner may free the call, and any other. */
static void call_finish(Call *call, sd_bus_message *reply, const sd_bus_error *error) {
        call_move(call, NULL);
        call->slot = sd_bus_slot_unref(call->slot);
        g_clear_pointer(&call->message, sd_bus_message_unref);

        call->done(reply, error, call->userdata);
}

static void call_finish_lost(Call *call) {
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;

        sd_bus_error_setf(&error, SD_BUS_ERROR_DISCONNECTED,
                          "the connection to the bus '%s' was lost before the reply came", call->calls->bus_name);
        call_finish(call, NULL, &error);
}

/* Did the bus itself turn the call away, before anybody could act on it? (The bus as the one who was
 * called is another matter: that is its answer.) */
static bool call_was_refused(const Call *call, sd_bus_message *reply) {
        return sd_bus_message_is_method_error(reply, SD_BUS_ERROR_LIMITS_EXCEEDED) > 0 &&
               g_strcmp0(sd_bus_message_get_sender(reply), DRIVER) == 0 &&
               g_strcmp0(sd_bus_message_get_destination(call->message), DRIVER) != 0;
}

static int call_prepare(Call *call) {
        sd_bus *bus = call->calls->bus;

        if (!call->make)
                return message_renew(bus, &call->message);

        g_clear_pointer(&call->message, sd_bus_message_unref);
        return call->make(bus, &call->message, call->userdata);
}

static void call_tell_sent(Call *call) {
        if (!call->unsent)
                return;

        call->unsent = false;
        call->calls->n_unsent--;
        call->hooks->sent(call->userdata);
}

/* What sd-bus only keeps for a socket that takes no more would be lost with the daemon. */
static void calls_tell_sent(Calls *calls) {
        uint64_t n_queued = 0;

        if (calls->n_unsent == 0 || sd_bus_get_n_queued_write(calls->bus, &n_queued) < 0 || n_queued > 0)
                return;

        for (const GList *link = calls->in_flight.head; link; link = link->next)
                call_tell_sent(link->data);
}

static int on_reply(sd_bus_message *reply, void *userdata, sd_bus_error *ret_error);

/* False: the bus is going; the call waits for the next. */
static bool call_send(Call *call) {
        Calls *calls = call->calls;
        int r = call_prepare(call);

        if (r >= 0 && call->hooks)
                call->hooks->sending(call->userdata);
        if (r >= 0)
                r = sd_bus_call_async(calls->bus, &call->slot, call->message, on_reply, call, UINT64_MAX);
        if (r == -ENOTCONN || r == -ECONNRESET)
                return false;

        if (r >= 0) {
                (void) sd_bus_message_get_cookie(call->message, &calls->last_serial);
                call_move(call, &calls->in_flight);
                call->unsent = call->hooks;
                calls->n_unsent += call->unsent;
                calls_tell_sent(calls);
                return true;
        }

        call->error = r;
        call_move(call, &calls->failed);
        bus_source_wake(calls->source, 0);
        return true;
}

/* Those with hooks go one by one. */
static bool call_may_go(const Call *call) {
        return !call->hooks || call->calls->n_unsent == 0;
}

/* NULL: all of them have their share, or there is none. */
static Receiver *next_receiver(const Calls *calls) {
        unsigned left = calls->window - MIN(calls->in_flight.length, calls->window);

        for (const GList *link = calls->waiting.head; link; link = link->next) {
                Receiver *receiver = link->data;

                if (receiver->n_in_flight < left && call_may_go(receiver->waiting.head->data))
                        return receiver;
        }

        return NULL;
}

static void calls_send(Calls *calls) {
        Receiver *receiver;

        while (calls->bus && calls->retry_at == 0 && (receiver = next_receiver(calls))) {
                g_queue_unlink(&calls->waiting, &receiver->link);
                g_queue_push_tail_link(&calls->waiting, &receiver->link);
                if (!call_send(receiver->waiting.head->data))
                        break;
        }
}

static void calls_refused(Calls *calls) {
        calls->stuck = calls->in_flight.length == 0 && calls->n_abandoned >= ABANDONED_MAX;
        calls->window = MAX(calls->in_flight.length, 1);
        calls->n_replies = 0;
        calls->retry_at = (uint64_t) g_get_monotonic_time() + REFUSED_RETRY_USEC;
        bus_source_wake(calls->source, calls->retry_at);
}

static void calls_answered(Calls *calls) {
        calls->retry_at = 0;
        if (calls->window < CONNECTION_WINDOW && ++calls->n_replies >= calls->window * GROWTH_WINDOWS) {
                calls->window++;
                calls->n_replies = 0;
        }
}

static int on_reply(sd_bus_message *reply, void *userdata, sd_bus_error *ret_error) {
        Call *call = userdata;
        Calls *calls = call->calls;

        if (sd_bus_is_open(calls->bus) <= 0) {
                call_finish_lost(call);
                return 1;
        }

        if (call_was_refused(call, reply)) {
                /* To the end, so that a receiver for whom the bus takes no more does not hold up the others. */
                call->slot = sd_bus_slot_unref(call->slot);
                call_move(call, &call->receiver->waiting);
                calls_refused(calls);
                return 1;
        }

        call_tell_sent(call);
        calls_answered(calls);
        if (sd_bus_message_is_method_error(reply, NULL) > 0)
                call_finish(call, NULL, sd_bus_message_get_error(reply));
        else
                call_finish(call, reply, NULL);
        calls_send(calls);
        return 1;
}

Calls *calls_new(const char *bus_name) {
        Calls *calls = g_new0(Calls, 1);

        calls->bus_name = bus_name;
        calls->window = CONNECTION_WINDOW;
        calls->receivers = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, receiver_free);
        return calls;
}

/* It is its owner's, who is not told any more. */
static void call_disown(Call *call) {
        call_move(call, NULL);
        call->slot = sd_bus_slot_unref(call->slot);
}

void calls_free(Calls *calls) {
        if (!calls)
                return;

        while (calls->waiting.length > 0)
                call_disown(((Receiver *) calls->waiting.head->data)->waiting.head->data);
        while (calls->in_flight.length > 0)
                call_disown(calls->in_flight.head->data);
        while (calls->failed.length > 0)
                call_disown(calls->failed.head->data);
        g_hash_table_unref(calls->receivers);
        g_free(calls);
}

void calls_attach(Calls *calls, sd_bus *bus, GSource *source) {
        calls->bus = bus;
        calls->source = source;
        calls->window = CONNECTION_WINDOW;
        calls->n_replies = 0;
        calls->retry_at = 0;
        calls->last_serial = 0;
        calls->n_abandoned = 0;
        calls->stuck = false;

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
        calls_finish_failed(calls);
        calls_tell_sent(calls);

        if (calls->stuck) {
                log_warning("bus '%s': takes no more calls, since too many were never answered; connecting anew",
                            calls->bus_name);
                sd_bus_close(calls->bus);
                return;
        }

        if (calls->retry_at > (uint64_t) g_get_monotonic_time())
                bus_source_wake(calls->source, calls->retry_at);
        else
                calls->retry_at = 0;
        calls_send(calls);
}

uint64_t calls_last_serial(const Calls *calls) {
        return calls->last_serial;
}

Call *calls_add(Calls *calls, const char *destination, sd_bus_message *message, CallMake make, const CallHooks *hooks,
                CallDone done, void *userdata) {
        Call *call = g_new0(Call, 1);

        call->calls = calls;
        call->link.data = call;
        call->message = sd_bus_message_ref(message);
        call->make = make;
        call->hooks = hooks;
        call->done = done;
        call->userdata = userdata;

        call->receiver = receiver_get(calls, destination);
        call_move(call, &call->receiver->waiting);
        calls_send(calls);
        return call;
}

void call_free(Call *call) {
        if (!call)
                return;

        /* Not at once: who frees one call may be about to free all that wait. */
        if (call->queue && call->queue == &call->calls->in_flight && call->calls->source) {
                call->calls->n_abandoned++;
                bus_source_wake(call->calls->source, 0);
        }

        call_move(call, NULL);
        sd_bus_slot_unref(call->slot);
        sd_bus_message_unref(call->message);
        g_free(call);
}
