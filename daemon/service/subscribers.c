/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* One match a subscriber tells when it leaves. Because it may have left before the match was there, the bus is asked
 * once more when it is, and for the user at the same time. (sd_bus_track does something like it, but blocks.) */

#include <inttypes.h>

#include "basic/cleanup.h"
#include "basic/log.h"
#include "service/backlog.h"
#include "service/credentials.h"
#include "service/errors.h"
#include "service/subscribers.h"

/* How many nodes one may have been told of without having read it; and all of them, who share the bus's patience with
 * the daemon. */
#define UNREAD_MAX 8192u
#define UNREAD_OF_ALL_MAX 65536u

struct Subscribers {
        GMainContext *context;
        Connection *connection;
        Connection *asking; /* whether they read; NULL: not needed so far */
        const Limits *limits;
        const SubscribersCallbacks *callbacks;
        void *userdata;
        GHashTable *by_name; /* Subscriber */
};

typedef struct Subscriber {
        Subscribers *subscribers;
        char *name;
        Match *leaving;
        sd_bus_message *message; /* its call, until it is answered */
        sd_bus_slot *question;   /* is it still there, and whose is it? */
        bool known;
        uint32_t uid; /* when it is known */
        Backlog *backlog;
        GHashTable *missed; /* ids of runs */
} Subscriber;

static void answer(Subscriber *subscriber) {
        g_autoptr(sd_bus_message) message = g_steal_pointer(&subscriber->message);

        if (message)
                (void) sd_bus_reply_method_return(message, NULL);
}

static void subscriber_free(Subscriber *subscriber) {
        answer(subscriber);
        sd_bus_slot_unref(subscriber->question);
        backlog_free(subscriber->backlog);
        g_hash_table_unref(subscriber->missed);
        match_free(subscriber->leaving);
        g_free(subscriber->name);
        g_free(subscriber);
}

Subscribers *subscribers_new(GMainContext *context, Connection *connection, const Limits *limits,
                             const SubscribersCallbacks *callbacks, void *userdata) {
        Subscribers *subscribers = g_new0(Subscribers, 1);

        subscribers->context = context;
        subscribers->connection = connection;
        subscribers->limits = limits;
        subscribers->callbacks = callbacks;
        subscribers->userdata = userdata;
        subscribers->by_name = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, (GDestroyNotify) subscriber_free);
        return subscribers;
}

void subscribers_free(Subscribers *subscribers) {
        if (!subscribers)
                return;

        g_hash_table_unref(subscribers->by_name);
        connection_free(subscribers->asking);
        g_free(subscribers);
}

void subscribers_remove(Subscribers *subscribers, const char *name) {
        if (!g_hash_table_remove(subscribers->by_name, name) || subscribers_any(subscribers))
                return;

        g_clear_pointer(&subscribers->asking, connection_free);
        subscribers->callbacks->changed(false, subscribers->userdata);
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

static int on_credentials(sd_bus_message *reply, void *userdata, sd_bus_error *unused) {
        Subscriber *subscriber = userdata;
        const Subscribers *subscribers = subscriber->subscribers;
        unsigned max = subscribers->limits->max[LIMIT_SUBSCRIBERS_OF_A_CALLER];
        g_auto(Credentials) credentials = { 0 };

        subscriber->question = sd_bus_slot_unref(subscriber->question);
        if (sd_bus_message_is_method_error(reply, NULL) || credentials_read(reply, &credentials) < 0 ||
            !credentials.known) {
                subscribers_remove(subscriber->subscribers, subscriber->name);
                return 0;
        }
        if (limits_bind(credentials.uid) && count_of_user(subscribers, credentials.uid) >= max) {
                refuse(subscriber, max);
                return 0;
        }

        subscriber->known = true;
        subscriber->uid = credentials.uid;
        answer(subscriber);
        return 0;
}

static void on_watched(void *userdata) {
        Subscriber *subscriber = userdata;
        sd_bus *bus = connection_bus(subscriber->subscribers->connection);

        subscriber->question = sd_bus_slot_unref(subscriber->question);
        (void) credentials_ask(bus, subscriber->name, on_credentials, subscriber, &subscriber->question);
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
        subscriber->missed = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        g_hash_table_insert(subscribers->by_name, subscriber->name, subscriber);

        subscriber->leaving = connection_match(subscribers->connection, &pattern, on_leaving, on_watched, subscriber);

        if (g_hash_table_size(subscribers->by_name) == 1)
                subscribers->callbacks->changed(true, subscribers->userdata);
        return 1;
}

bool subscribers_any(const Subscribers *subscribers) {
        return g_hash_table_size(subscribers->by_name) > 0;
}

GList *subscribers_names(const Subscribers *subscribers) {
        return g_hash_table_get_keys(subscribers->by_name);
}

/* What is missed again meanwhile is told the next time. */
static void on_caught_up(void *userdata) {
        const Subscriber *subscriber = userdata;
        const Subscribers *subscribers = subscriber->subscribers;
        g_autofree void **runs = g_hash_table_get_keys_as_array(subscriber->missed, NULL);

        g_hash_table_steal_all(subscriber->missed);
        for (void **run = runs; *run; run++) {
                subscribers->callbacks->missed(subscriber->name, *run, subscribers->userdata);
                g_free(*run);
        }
}

static void on_given_up(void *userdata) {
        Subscriber *subscriber = userdata;
        g_autofree char *name = g_strdup(subscriber->name);

        log_notice("%s of UID %" PRIu32 " does not read what it has subscribed to, and is told no more", name,
                   subscriber->uid);
        subscribers_remove(subscriber->subscribers, name);
}

static Connection *asking(void *userdata) {
        const Subscriber *subscriber = userdata;
        Subscribers *subscribers = subscriber->subscribers;

        if (!subscribers->asking)
                subscribers->asking = connection_again(subscribers->connection);

        return subscribers->asking;
}

static const BacklogCallbacks backlog_callbacks = {
        .asking = asking,
        .caught_up = on_caught_up,
        .given_up = on_given_up,
};

static Backlog *backlog_of(Subscribers *subscribers, Subscriber *subscriber) {
        if (!subscriber->backlog)
                subscriber->backlog =
                        backlog_new(subscribers->context, subscriber->name, &backlog_callbacks, subscriber);

        return subscriber->backlog;
}

bool subscribers_listening(Subscribers *subscribers, const char *name, const char *run, unsigned n_nodes) {
        unsigned share = UNREAD_OF_ALL_MAX / g_hash_table_size(subscribers->by_name);
        Subscriber *subscriber = g_hash_table_lookup(subscribers->by_name, name);

        if (backlog_add(backlog_of(subscribers, subscriber), n_nodes, MIN(share, UNREAD_MAX)))
                return true;

        g_hash_table_add(subscriber->missed, g_strdup(run));
        return false;
}
