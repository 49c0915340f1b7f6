/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * A Subscriber for each connection that has subscriptions: it calls Subscribe when the connection comes and when
 * a service manager takes the name, and Unsubscribe when the last subscription is gone.
 */

#include <stdarg.h>
#include <stdbool.h>

#include "basic/cleanup.h"
#include "leaves/systemd.h"

#define PROPERTIES "org.freedesktop.DBus.Properties"
typedef struct Subscriber {
        Connection *connection;
        Listener *listener;
        Match *owner;
        Call *call;
        bool active;
        GQueue subscriptions;
        GList *next; /* the one to be told next: freeing it moves it on */
        bool telling;
} Subscriber;

struct Subscription {
        Subscriber *subscriber;
        GList link;
        const SubscriptionCallbacks *callbacks;
        void *userdata;
};

static GHashTable *subscribers; /* by connection; NULL: there are none */

/* What is put into a message here is always valid, so there is but one way to fail: as with g_new(). */
static void assert_memory(int r) {
        if (r < 0)
                g_error("cannot make a message: %s", g_strerror(-r));
}

sd_bus_message *systemd_message(Connection *connection, const char *path, const char *interface, const char *member,
                                const char *types, ...) {
        sd_bus_message *message = NULL;
        va_list arguments;

        assert_memory(sd_bus_message_new_method_call(connection_bus(connection), &message, SYSTEMD_NAME, path,
                                                     interface, member));
        assert_memory(sd_bus_message_set_auto_start(message, false));

        va_start(arguments, types);
        if (types)
                assert_memory(sd_bus_message_appendv(message, types, arguments));
        va_end(arguments);

        return message;
}

Call *systemd_get(Connection *connection, const char *path, const char *interface, const char *property, CallDone done,
                  void *userdata) {
        g_autoptr(sd_bus_message) message =
                systemd_message(connection, path, PROPERTIES, "Get", "ss", interface, property);

        return connection_call(connection, message, done, userdata);
}

Call *systemd_get_all(Connection *connection, const char *path, const char *interface, CallDone done, void *userdata) {
        g_autoptr(sd_bus_message) message = systemd_message(connection, path, PROPERTIES, "GetAll", "s", interface);

        return connection_call(connection, message, done, userdata);
}

Call *systemd_look(Connection *connection, CallDone done, void *userdata) {
        g_autoptr(sd_bus_message) message = NULL;

        assert_memory(sd_bus_message_new_method_call(connection_bus(connection), &message, "org.freedesktop.DBus",
                                                     "/org/freedesktop/DBus", "org.freedesktop.DBus", "NameHasOwner"));
        assert_memory(sd_bus_message_append(message, "s", SYSTEMD_NAME));
        return connection_call(connection, message, done, userdata);
}

void systemd_send(Connection *connection, sd_bus_message *message) {
        assert_memory(sd_bus_message_set_expect_reply(message, false));

        /* A bus that is not there has nobody who would want to hear it. */
        (void) sd_bus_send(connection_bus(connection), message, NULL);
}

static void subscriber_free(Subscriber *subscriber) {
        if (subscriber->active) {
                g_autoptr(sd_bus_message) message = systemd_message(subscriber->connection, SYSTEMD_MANAGER_PATH,
                                                                    SYSTEMD_MANAGER, "Unsubscribe", NULL);

                systemd_send(subscriber->connection, message);
        }

        listener_free(subscriber->listener);
        match_free(subscriber->owner);
        call_free(subscriber->call);
        g_free(subscriber);
}

static void subscriber_drop_unused(Subscriber *subscriber) {
        if (subscriber->subscriptions.length > 0 || subscriber->telling)
                return;

        g_hash_table_remove(subscribers, subscriber->connection);
        subscriber_free(subscriber);
        if (g_hash_table_size(subscribers) == 0)
                g_clear_pointer(&subscribers, g_hash_table_unref);
}

/* error NULL: subscribed. */
static void subscriber_tell(Subscriber *subscriber, const sd_bus_error *error) {
        subscriber->active = !error;
        subscriber->telling = true;
        subscriber->next = subscriber->subscriptions.head;
        while (subscriber->next) {
                Subscription *subscription = subscriber->next->data;

                subscriber->next = subscriber->next->next;
                if (error)
                        subscription->callbacks->lost(error, subscription->userdata);
                else
                        subscription->callbacks->subscribed(subscription->userdata);
        }
        subscriber->telling = false;

        subscriber_drop_unused(subscriber);
}

static void on_subscribed(sd_bus_message *reply, const sd_bus_error *error, void *userdata) {
        Subscriber *subscriber = userdata;

        g_clear_pointer(&subscriber->call, call_free);

        /* After a restart of the service manager within its process, it still knows us. */
        if (error && sd_bus_error_has_name(error, "org.freedesktop.systemd1.AlreadySubscribed"))
                error = NULL;

        subscriber_tell(subscriber, error);
}

static void subscriber_subscribe(Subscriber *subscriber) {
        g_autoptr(sd_bus_message) message =
                systemd_message(subscriber->connection, SYSTEMD_MANAGER_PATH, SYSTEMD_MANAGER, "Subscribe", NULL);

        call_free(subscriber->call);
        subscriber->call = connection_call(subscriber->connection, message, on_subscribed, subscriber);
}

static void on_connected(Connection *connection, void *userdata) {
        subscriber_subscribe(userdata);
}

static void on_lost(Connection *connection, void *userdata) {
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;

        sd_bus_error_setf(&error, SD_BUS_ERROR_DISCONNECTED, "the connection to the bus '%s' was lost",
                          connection_name(connection));
        subscriber_tell(userdata, &error);
}

static void on_owner_changed(sd_bus_message *message, void *userdata) {
        static const sd_bus_error gone =
                SD_BUS_ERROR_MAKE_CONST(SD_BUS_ERROR_NAME_HAS_NO_OWNER, "systemd has left the bus");
        Subscriber *subscriber = userdata;
        const char *owner;

        if (sd_bus_message_read(message, "sss", NULL, NULL, &owner) < 0)
                return;

        if (*owner)
                subscriber_subscribe(subscriber);
        else
                subscriber_tell(subscriber, &gone);
}

static Subscriber *subscriber_get(Connection *connection) {
        static const ListenerCallbacks callbacks = { .connected = on_connected, .lost = on_lost };
        SignalPattern owner = signal_pattern_owner(SYSTEMD_NAME);
        Subscriber *subscriber;

        if (!subscribers)
                subscribers = g_hash_table_new(NULL, NULL);

        subscriber = g_hash_table_lookup(subscribers, connection);
        if (subscriber)
                return subscriber;

        subscriber = g_new0(Subscriber, 1);
        subscriber->connection = connection;
        subscriber->owner = connection_match(connection, &owner, on_owner_changed, NULL, subscriber);
        subscriber->listener = connection_listen(connection, &callbacks, subscriber);
        g_hash_table_insert(subscribers, connection, subscriber);
        return subscriber;
}

Subscription *subscription_new(Connection *connection, const SubscriptionCallbacks *callbacks, void *userdata) {
        Subscription *subscription = g_new0(Subscription, 1);
        Subscriber *subscriber = subscriber_get(connection);

        subscription->subscriber = subscriber;
        subscription->link.data = subscription;
        subscription->callbacks = callbacks;
        subscription->userdata = userdata;
        g_queue_push_tail_link(&subscriber->subscriptions, &subscription->link);

        /* There was no service manager when it was asked for the others: perhaps it is there by now, and if not, this
         * one must hear it, too. */
        if (!subscriber->active && !subscriber->call && connection_is_ready(connection))
                subscriber_subscribe(subscriber);
        return subscription;
}

void subscription_free(Subscription *subscription) {
        Subscriber *subscriber;

        if (!subscription)
                return;

        subscriber = subscription->subscriber;
        if (subscriber->next == &subscription->link)
                subscriber->next = subscription->link.next;
        g_queue_unlink(&subscriber->subscriptions, &subscription->link);
        g_free(subscription);
        subscriber_drop_unused(subscriber);
}

bool subscription_is_active(const Subscription *subscription) {
        return subscription->subscriber->active;
}
