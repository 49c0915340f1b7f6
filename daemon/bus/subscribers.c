/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* One match a subscriber tells when it leaves. Because it may have left before the match was there, the bus is asked
 * once more when it is. (sd_bus_track does the same, but blocks.) */

#include "bus/subscribers.h"
#include "basic/cleanup.h"

struct Subscribers {
        Connection *connection;
        void (*changed)(bool any, void *userdata);
        void *userdata;
        GHashTable *by_name; /* Subscriber */
};

typedef struct Subscriber {
        Subscribers *subscribers;
        char *name;
        Match *leaving;
        Call *question; /* is it still there? */
} Subscriber;

static void subscriber_free(Subscriber *subscriber) {
        call_free(subscriber->question);
        match_free(subscriber->leaving);
        g_free(subscriber->name);
        g_free(subscriber);
}

Subscribers *subscribers_new(Connection *connection, void (*changed)(bool any, void *userdata), void *userdata) {
        Subscribers *subscribers = g_new0(Subscribers, 1);

        subscribers->connection = connection;
        subscribers->changed = changed;
        subscribers->userdata = userdata;
        subscribers->by_name = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, (GDestroyNotify) subscriber_free);
        return subscribers;
}

void subscribers_free(Subscribers *subscribers) {
        if (!subscribers)
                return;

        g_hash_table_unref(subscribers->by_name);
        g_free(subscribers);
}

void subscribers_remove(Subscribers *subscribers, const char *name) {
        if (g_hash_table_remove(subscribers->by_name, name) && !subscribers_any(subscribers))
                subscribers->changed(false, subscribers->userdata);
}

static void on_leaving(sd_bus_message *signal, void *userdata) {
        Subscriber *subscriber = userdata;

        subscribers_remove(subscriber->subscribers, subscriber->name);
}

static void on_answer(sd_bus_message *reply, const sd_bus_error *error, void *userdata) {
        Subscriber *subscriber = userdata;
        int there = true;

        g_clear_pointer(&subscriber->question, call_free);
        if (reply && sd_bus_message_read(reply, "b", &there) >= 0 && !there)
                subscribers_remove(subscriber->subscribers, subscriber->name);
}

static void on_watched(void *userdata) {
        Subscriber *subscriber = userdata;
        Connection *connection = subscriber->subscribers->connection;
        g_autoptr(sd_bus_message) question = NULL;

        if (sd_bus_message_new_method_call(connection_bus(connection), &question, "org.freedesktop.DBus",
                                           "/org/freedesktop/DBus", "org.freedesktop.DBus", "NameHasOwner") < 0 ||
            sd_bus_message_append(question, "s", subscriber->name) < 0)
                return;

        call_free(subscriber->question);
        subscriber->question = connection_call(connection, question, on_answer, subscriber);
}

void subscribers_add(Subscribers *subscribers, const char *name) {
        SignalPattern pattern = signal_pattern_owner(name);
        Subscriber *subscriber;

        if (g_hash_table_contains(subscribers->by_name, name))
                return;

        subscriber = g_new0(Subscriber, 1);
        subscriber->subscribers = subscribers;
        subscriber->name = g_strdup(name);
        g_hash_table_insert(subscribers->by_name, subscriber->name, subscriber);

        subscriber->leaving = connection_match(subscribers->connection, &pattern, on_leaving, on_watched, subscriber);

        if (g_hash_table_size(subscribers->by_name) == 1)
                subscribers->changed(true, subscribers->userdata);
}

bool subscribers_any(const Subscribers *subscribers) {
        return g_hash_table_size(subscribers->by_name) > 0;
}
