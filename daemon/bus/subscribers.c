/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* One match a subscriber tells when it leaves. Because it may have left before the match was there, the bus is asked
 * once more when it is, and for the user at the same time. (sd_bus_track does something like it, but blocks.) */

#include "bus/subscribers.h"
#include "basic/cleanup.h"
#include "bus/errors.h"

struct Subscribers {
        Connection *connection;
        const Limits *limits;
        void (*changed)(bool any, void *userdata);
        void *userdata;
        GHashTable *by_name; /* Subscriber */
};

typedef struct Subscriber {
        Subscribers *subscribers;
        char *name;
        Match *leaving;
        sd_bus_message *message; /* its call, until it is answered */
        Call *question;          /* is it still there, and whose is it? */
        bool known;
        uint32_t uid; /* when it is known */
} Subscriber;

static void answer(Subscriber *subscriber) {
        g_autoptr(sd_bus_message) message = g_steal_pointer(&subscriber->message);

        if (message)
                (void) sd_bus_reply_method_return(message, NULL);
}

static void subscriber_free(Subscriber *subscriber) {
        answer(subscriber);
        call_free(subscriber->question);
        match_free(subscriber->leaving);
        g_free(subscriber->name);
        g_free(subscriber);
}

Subscribers *subscribers_new(Connection *connection, const Limits *limits, void (*changed)(bool any, void *userdata),
                             void *userdata) {
        Subscribers *subscribers = g_new0(Subscribers, 1);

        subscribers->connection = connection;
        subscribers->limits = limits;
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

static unsigned count_of_user(const Subscribers *subscribers, uint32_t uid) {
        GHashTableIter iter;
        unsigned n = 0;
        void *value;

        g_hash_table_iter_init(&iter, subscribers->by_name);
        while (g_hash_table_iter_next(&iter, NULL, &value)) {
                const Subscriber *subscriber = value;

                n += subscriber->known && subscriber->uid == uid;
        }

        return n;
}

static void refuse(Subscriber *subscriber, unsigned max) {
        g_autoptr(sd_bus_message) message = g_steal_pointer(&subscriber->message);

        if (message)
                (void) sd_bus_reply_method_errorf(message, ERROR_LIMIT_EXCEEDED,
                                                  "%u programs of yours are subscribed already, which is the limit "
                                                  "for one user; end one of them",
                                                  max);
        subscribers_remove(subscriber->subscribers, subscriber->name);
}

static void on_answer(sd_bus_message *reply, const sd_bus_error *error, void *userdata) {
        Subscriber *subscriber = userdata;
        const Subscribers *subscribers = subscriber->subscribers;
        unsigned max = subscribers->limits->max[LIMIT_SUBSCRIBERS_OF_A_CALLER];
        uint32_t uid;

        g_clear_pointer(&subscriber->question, call_free);
        if (!reply || sd_bus_message_read(reply, "u", &uid) < 0) {
                subscribers_remove(subscriber->subscribers, subscriber->name);
                return;
        }
        if (limits_bind(uid) && count_of_user(subscribers, uid) >= max) {
                refuse(subscriber, max);
                return;
        }

        subscriber->known = true;
        subscriber->uid = uid;
        answer(subscriber);
}

static void on_watched(void *userdata) {
        Subscriber *subscriber = userdata;
        Connection *connection = subscriber->subscribers->connection;
        g_autoptr(sd_bus_message) question = NULL;

        if (sd_bus_message_new_method_call(connection_bus(connection), &question, "org.freedesktop.DBus",
                                           "/org/freedesktop/DBus", "org.freedesktop.DBus",
                                           "GetConnectionUnixUser") < 0 ||
            sd_bus_message_append(question, "s", subscriber->name) < 0)
                return;

        call_free(subscriber->question);
        subscriber->question = connection_call(connection, question, on_answer, subscriber);
}

int subscribers_add(Subscribers *subscribers, sd_bus_message *message, sd_bus_error *ret_error) {
        const char *name = sd_bus_message_get_sender(message);
        SignalPattern pattern = signal_pattern_owner(name);
        unsigned max = subscribers->limits->max[LIMIT_SUBSCRIBERS];
        Subscriber *subscriber;

        if (g_hash_table_contains(subscribers->by_name, name))
                return sd_bus_reply_method_return(message, NULL);
        if (g_hash_table_size(subscribers->by_name) >= max)
                return sd_bus_error_setf(ret_error, ERROR_LIMIT_EXCEEDED,
                                         "%u programs are subscribed already, which is the limit; try again later",
                                         max);

        subscriber = g_new0(Subscriber, 1);
        subscriber->subscribers = subscribers;
        subscriber->name = g_strdup(name);
        subscriber->message = sd_bus_message_ref(message);
        g_hash_table_insert(subscribers->by_name, subscriber->name, subscriber);

        subscriber->leaving = connection_match(subscribers->connection, &pattern, on_leaving, on_watched, subscriber);

        if (g_hash_table_size(subscribers->by_name) == 1)
                subscribers->changed(true, subscribers->userdata);
        return 1;
}

bool subscribers_any(const Subscribers *subscribers) {
        return g_hash_table_size(subscribers->by_name) > 0;
}
