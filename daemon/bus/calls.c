/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Sends method calls in a window. A call waits, is in flight, or could not be sent; it is in the queue of that state
 * until its callback was called. Receivers take turns, and none may have more calls in flight than the window has left
 * for all others: so a receiver that does not answer delays no calls to others. The window adapts to the bus: when the
 * bus refuses a call, it shrinks to the number in flight, and grows again slowly, since the bus logs each refusal.
 */

#include <errno.h>
#include <stdbool.h>

#include "basic/cleanup.h"
#include "basic/log.h"
#include "bus/bus-source.h"
#include "bus/calls.h"

#define DRIVER "org.freedesktop.DBus"

/* When the bus has refused a call, the next reply makes room. The late reply to a cancelled call makes room unnoticed,
 * so the call is also tried again at this interval. */
#define REFUSED_RETRY_USEC (UINT64_C(100) * 1000)

/* A dbus-daemon counts a cancelled call until it is answered, so peers that never answer use up its limit. If it
 * refuses a call after so many cancelled ones, though none is in flight, only a new connection helps. */
#define ABANDONED_MAX (CONNECTION_WINDOW / 2)

/* The window grows by one after this many windows of replies. */
#define GROWTH_WINDOWS 10u

struct Calls {
        const char *bus_name;
        sd_bus *bus; /* NULL: not connected */
        GSource *source;
        GHashTable *receivers; /* by name: those with calls that wait or are in flight */
        GQueue waiting;        /* of Receiver: those with calls that wait */
        GQueue in_flight, failed;
        unsigned window;
        unsigned n_replies;   /* since the window last changed */
        uint64_t retry_at;    /* nothing is sent before this time; 0: the bus has refused nothing */
        unsigned n_abandoned; /* calls on this bus that were cancelled in flight */
        bool stuck;
};

/* The destination of calls. */
typedef struct Receiver {
        char *name;
        GQueue waiting; /* of Call */
        GList link;     /* among those with calls that wait */
        unsigned n_in_flight;
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
        if (call->queue == &calls->in_flight)
                receiver->n_in_flight--;
        else if (receiver && call->queue == &receiver->waiting && receiver->waiting.length == 0)
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

static void receiver_drop_unused(Calls *calls, const Receiver *receiver) {
        if (receiver->n_in_flight == 0 && receiver->waiting.length == 0 && receiver->held.length == 0 &&
            !receiver->away)
                g_hash_table_remove(calls->receivers, receiver->name);
}

/* queue NULL: only removes the call from its queue. */
static void call_move(Call *call, GQueue *queue) {
        Receiver *receiver = call->receiver;

        call_leave_queue(call);
        if (queue)
                call_enter_queue(call, queue);
        if (!receiver || queue == &call->calls->in_flight || queue == &receiver->waiting || queue == &receiver->held)
                return;

        call->receiver = NULL;
        receiver_drop_unused(call->calls, receiver);
}

/* Appends the call to those that wait, for the first time or again. */
static void call_wait(Call *call) {
        Receiver *receiver = call->receiver;

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

static void call_finish_lost(Call *call) {
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;

        sd_bus_error_setf(&error, SD_BUS_ERROR_DISCONNECTED,
                          "the connection to the bus '%s' was lost before the reply came", call->calls->bus_name);
        call_finish(call, NULL, &error);
}

/* Is this an error of the bus about the call, and not an answer of the receiver? (The bus can be the receiver, too.) */
static bool is_from_bus(const Call *call, sd_bus_message *reply) {
        return sd_bus_message_is_method_error(reply, NULL) > 0 &&
               g_strcmp0(sd_bus_message_get_sender(reply), DRIVER) == 0 &&
               g_strcmp0(sd_bus_message_get_destination(call->message), DRIVER) != 0;
}

/* Did the bus refuse the call, so that it was not delivered? */
static bool call_was_refused(const Call *call, sd_bus_message *reply) {
        return is_from_bus(call, reply) && sd_bus_message_is_method_error(reply, SD_BUS_ERROR_LIMITS_EXCEEDED) > 0;
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

static int call_prepare(Call *call) {
        sd_bus *bus = call->calls->bus;

        if (!call->make)
                return message_renew(bus, &call->message);

        g_clear_pointer(&call->message, sd_bus_message_unref);
        return call->make(bus, &call->message, call->userdata);
}

static int on_reply(sd_bus_message *reply, void *userdata, sd_bus_error *ret_error);

/* False: the bus is closing; the call waits for the next connection. */
static bool call_send(Call *call) {
        Calls *calls = call->calls;
        int r = call_prepare(call);

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

/* NULL: all receivers have their share in flight, or no call waits. */
static Receiver *next_receiver(const Calls *calls) {
        unsigned left = calls->window - MIN(calls->in_flight.length, calls->window);

        for (const GList *link = calls->waiting.head; link; link = link->next) {
                Receiver *receiver = link->data;

                if (receiver->n_in_flight < left)
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
                /* Appended, so that a receiver whose calls the bus refuses does not delay the others. */
                call_wait(call);
                calls_refused(calls);
                return 1;
        }

        calls_answered(calls);
        if (call_was_early(call, reply)) {
                call_wait(call);
                calls_send(calls);
                return 1;
        }

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

/* The call now belongs to its owner alone; the callback is not called any more. */
static void call_disown(Call *call) {
        call_move(call, NULL);
        call->slot = sd_bus_slot_unref(call->slot);
        if (call->undo)
                call_free(call);
}

void calls_free(Calls *calls) {
        GHashTableIter iterator;
        void *p;

        if (!calls)
                return;

        while (calls->waiting.length > 0)
                call_disown(((Receiver *) calls->waiting.head->data)->waiting.head->data);
        while (calls->in_flight.length > 0)
                call_disown(calls->in_flight.head->data);
        while (calls->failed.length > 0)
                call_disown(calls->failed.head->data);

        g_hash_table_iter_init(&iterator, calls->receivers);
        while (g_hash_table_iter_next(&iterator, NULL, &p)) {
                Receiver *receiver = p;

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

void calls_set_away(Calls *calls, const char *destination, bool away) {
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

Call *calls_add(Calls *calls, CallKind kind, const char *destination, sd_bus_message *message, CallMake make,
                CallSending sending, CallDone done, void *userdata) {
        Call *call = g_new0(Call, 1);

        call->calls = calls;
        call->kind = kind;
        call->link.data = call;
        call->message = sd_bus_message_ref(message);
        call->make = make;
        call->sending = sending;
        call->done = done;
        call->userdata = userdata;

        call->receiver = receiver_get(calls, destination);
        call_wait(call);
        calls_send(calls);
        return call;
}

void call_free(Call *call) {
        if (!call)
                return;

        /* Deferred, because the caller may be about to free all waiting calls. */
        if (call->queue && call->queue == &call->calls->in_flight && call->calls->source) {
                call->calls->n_abandoned++;
                bus_source_wake(call->calls->source, 0);
        }

        call_move(call, NULL);
        sd_bus_slot_unref(call->slot);
        sd_bus_message_unref(call->message);
        sd_bus_message_unref(call->undo);
        g_free(call);
}

static void on_to_be_undone(sd_bus_message *reply, const sd_bus_error *error, void *userdata) {
        g_autoptr(Call) call = userdata;

        if (!error)
                (void) sd_bus_send(call->calls->bus, call->undo, NULL);
}

void call_undo(Call *call, sd_bus_message *undo) {
        if (call->queue != &call->calls->in_flight) {
                call_free(call);
                return;
        }

        (void) sd_bus_message_set_expect_reply(undo, false);
        call->undo = sd_bus_message_ref(undo);
        call->sending = NULL;
        call->done = on_to_be_undone;
        call->userdata = call;
}
