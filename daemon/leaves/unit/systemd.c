/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Follows the service manager on a connection. One Systemd lives as long as its connection. It follows the owner of the
 * name and whether it reloads, calls Subscribe for each new owner, and Unsubscribe when there are no more
 * subscriptions.
 *
 * Only subscribers get the signal for a reload, and when systemd re-executes, a bus may lose its last signals. So a
 * systemd that leaves the bus without a signal is waited for, too, for a moment.
 */

#include <stdarg.h>
#include <stdbool.h>

#include "basic/cleanup.h"
#include "basic/foreach.h"
#include "basic/later.h"
#include "basic/log.h"
#include "bus/names.h"
#include "leaves/unit/systemd.h"

#define PROPERTIES "org.freedesktop.DBus.Properties"
#define KEPT "systemd"

/* How long a reload may take before systemd is queried again: it replies when it has finished. A systemd that has
 * left meanwhile is given up then; and sooner, if it did not announce its return. */
#define RELOADING_MSEC (30 * 1000u)
#define RETURNING_MSEC (2 * 1000u)

/* How long to wait for systemd: enough, because the bus is running already, or restarts. */
#define WAIT_USEC (5 * UINT64_C(1000) * 1000)

static const SignalPattern reloading_pattern = {
        .sender = SYSTEMD_NAME,
        .path = SYSTEMD_MANAGER_PATH,
        .interface = SYSTEMD_MANAGER,
        .member = "Reloading",
};

typedef enum Trust {
        TRUST_FULL,
        TRUST_RELOADING, /* until it reports the end of the reload */
        TRUST_RETURNING, /* until it is back on the bus */
} Trust;

typedef struct Systemd {
        Connection *connection;
        Listener *listener;
        NameUse name;
        char *owner; /* of the name, as far as was seen; NULL: none */
        Match *reloading;
        bool expected, given_up;
        Trust trust;
        GSource *trust_timer;
        Call *call;                /* of Subscribe */
        char *subscribed;          /* the owner that has answered it; NULL: none */
        bool active;               /* and its answers are trusted */
        const sd_bus_error *error; /* while the subscriptions are told: why there is none; NULL: there is one */
        Audience subscriptions, audience;
} Systemd;

struct Subscription {
        Follower follower; /* first: a Follower is its Subscription */
        Systemd *systemd;  /* NULL: the connection was freed */
        const SubscriptionCallbacks *callbacks;
        void *userdata;
};

/* What is put into a message here is always valid, so there is but one way to fail: as with g_new(). */
static void assert_memory(int r) {
        if (r < 0)
                g_error("cannot make a message: %s", g_strerror(-r));
}

static sd_bus_message *make_message(Connection *connection, const char *path, const char *interface, const char *member,
                                    const char *types, va_list arguments) {
        sd_bus_message *message = NULL;

        assert_memory(sd_bus_message_new_method_call(connection_bus(connection), &message, SYSTEMD_NAME, path,
                                                     interface, member));
        assert_memory(sd_bus_message_set_auto_start(message, false));
        if (types)
                assert_memory(sd_bus_message_appendv(message, types, arguments));
        return message;
}

sd_bus_message *systemd_message(Connection *connection, const char *path, const char *interface, const char *member,
                                const char *types, ...) {
        sd_bus_message *message;
        va_list arguments;

        va_start(arguments, types);
        message = make_message(connection, path, interface, member, types, arguments);
        va_end(arguments);
        return message;
}

Call *systemd_ask(Connection *connection, CallDone done, void *userdata, const char *member, const char *types, ...) {
        g_autoptr(sd_bus_message) message = NULL;
        va_list arguments;

        va_start(arguments, types);
        message = make_message(connection, SYSTEMD_MANAGER_PATH, SYSTEMD_MANAGER, member, types, arguments);
        va_end(arguments);
        return systemd_query(connection, message, done, userdata);
}

Call *systemd_get(Connection *connection, const char *path, const char *interface, const char *property, CallDone done,
                  void *userdata) {
        g_autoptr(sd_bus_message) message =
                systemd_message(connection, path, PROPERTIES, "Get", "ss", interface, property);

        return systemd_query(connection, message, done, userdata);
}

Call *systemd_get_all(Connection *connection, const char *path, const char *interface, CallDone done, void *userdata) {
        g_autoptr(sd_bus_message) message = systemd_message(connection, path, PROPERTIES, "GetAll", "s", interface);

        return systemd_query(connection, message, done, userdata);
}

Call *systemd_list_units(Connection *connection, GPtrArray *names, CallDone done, void *userdata) {
        g_autoptr(sd_bus_message) message =
                systemd_message(connection, SYSTEMD_MANAGER_PATH, SYSTEMD_MANAGER, "ListUnitsByNames", NULL);

        assert_memory(sd_bus_message_open_container(message, 'a', "s"));
        PTRS_FOREACH(const char, name, names)
                assert_memory(sd_bus_message_append(message, "s", name));
        assert_memory(sd_bus_message_close_container(message));
        return systemd_query(connection, message, done, userdata);
}

static sd_bus_message *driver_message(Connection *connection, const char *member) {
        sd_bus_message *message = NULL;

        assert_memory(sd_bus_message_new_method_call(connection_bus(connection), &message, "org.freedesktop.DBus",
                                                     "/org/freedesktop/DBus", "org.freedesktop.DBus", member));
        return message;
}

Call *systemd_query_presence(Connection *connection, CallDone done, void *userdata) {
        g_autoptr(sd_bus_message) message = driver_message(connection, "NameHasOwner");

        assert_memory(sd_bus_message_append(message, "s", SYSTEMD_NAME));
        return connection_call(connection, message, done, userdata);
}

Call *systemd_query_activatable(Connection *connection, CallDone done, void *userdata) {
        g_autoptr(sd_bus_message) message = driver_message(connection, "ListActivatableNames");

        return connection_call(connection, message, done, userdata);
}

void systemd_send(Connection *connection, sd_bus_message *message) {
        assert_memory(sd_bus_message_set_expect_reply(message, false));

        /* Without a connection there is no service manager to unsubscribe from. */
        (void) sd_bus_send(connection_bus(connection), message, NULL);
}

void systemd_tell(Connection *connection, const char *member, const char *types, ...) {
        g_autoptr(sd_bus_message) message = NULL;
        va_list arguments;

        va_start(arguments, types);
        message = make_message(connection, SYSTEMD_MANAGER_PATH, SYSTEMD_MANAGER, member, types, arguments);
        va_end(arguments);
        systemd_send(connection, message);
}

bool systemd_answer_was_lost(const sd_bus_error *error) {
        return sd_bus_error_has_names(error, SD_BUS_ERROR_NO_REPLY, SD_BUS_ERROR_DISCONNECTED);
}

bool systemd_is_away(const sd_bus_error *error) {
        return systemd_answer_was_lost(error) ||
               sd_bus_error_has_names(error, SD_BUS_ERROR_SERVICE_UNKNOWN, SD_BUS_ERROR_NAME_HAS_NO_OWNER);
}

/* A callback may be missing. */
static void on_subscription_told(void *userdata) {
        const Subscription *subscription = userdata;
        const sd_bus_error *error = subscription->systemd->error;

        if (error && subscription->callbacks->lost)
                subscription->callbacks->lost(error, subscription->userdata);
        else if (!error && subscription->callbacks->subscribed)
                subscription->callbacks->subscribed(subscription->userdata);
}

/* error NULL: subscribed. */
static void tell_subscribers(Systemd *systemd, const sd_bus_error *error) {
        systemd->active = !error;
        systemd->error = error;
        audience_tell(&systemd->subscriptions);
        systemd->error = NULL;
}

static void systemd_subscribe(Systemd *systemd);
static void systemd_set_trust(Systemd *systemd, Trust trust);

static void systemd_back(Systemd *systemd) {
        if (systemd->owner && g_strcmp0(systemd->owner, systemd->subscribed) == 0)
                tell_subscribers(systemd, NULL);
        else
                systemd_subscribe(systemd);
        audience_tell(&systemd->audience);
}

static gboolean on_trust_timer(void *userdata) {
        static const sd_bus_error gone =
                SD_BUS_ERROR_MAKE_CONST(SD_BUS_ERROR_NAME_HAS_NO_OWNER, "systemd has left the bus");
        Systemd *systemd = userdata;

        systemd_set_trust(systemd, TRUST_FULL);
        if (systemd->owner) {
                systemd_back(systemd);
        } else {
                systemd->given_up = true;
                tell_subscribers(systemd, &gone);
        }
        return G_SOURCE_REMOVE;
}

/* Also called for each sign of life, to start the time again. */
static void systemd_set_trust(Systemd *systemd, Trust trust) {
        bool absent = systemd->expected && name_state(&systemd->name) == NAME_ABSENT;

        systemd->trust = trust;
        systemd->active &= trust == TRUST_FULL;
        g_clear_pointer(&systemd->trust_timer, g_source_destroy);
        if (trust != TRUST_FULL) {
                g_clear_pointer(&systemd->call, call_free);
                systemd->trust_timer =
                        call_later(connection_context(systemd->connection),
                                   trust == TRUST_RELOADING ? RELOADING_MSEC : RETURNING_MSEC, on_trust_timer, systemd);
        }
        connection_set_away(systemd->connection, SYSTEMD_NAME, trust == TRUST_RELOADING || absent);
}

static void systemd_unsubscribe(Systemd *systemd) {
        systemd->active = false;
        if (systemd->subscribed)
                systemd_tell(systemd->connection, "Unsubscribe", NULL);
        g_clear_pointer(&systemd->subscribed, g_free);
}

static void on_subscribed(sd_bus_message *reply, const sd_bus_error *error, void *userdata) {
        Systemd *systemd = userdata;

        g_clear_pointer(&systemd->call, call_free);
        if (error && systemd->expected && !systemd->given_up && systemd_is_away(error) &&
            !sd_bus_error_has_name(error, SD_BUS_ERROR_DISCONNECTED)) {
                systemd_set_trust(systemd, TRUST_RETURNING);
                return;
        }

        /* After a restart of the service manager within its process, it still knows us. */
        if (error && sd_bus_error_has_name(error, "org.freedesktop.systemd1.AlreadySubscribed"))
                error = NULL;

        g_clear_pointer(&systemd->subscribed, g_free);
        if (!error)
                systemd->subscribed = g_strdup(systemd->owner);
        if (systemd->subscriptions.followers.length == 0)
                systemd_unsubscribe(systemd);
        else
                tell_subscribers(systemd, error);
}

static void systemd_subscribe(Systemd *systemd) {
        g_autoptr(sd_bus_message) message = NULL;

        if (systemd->subscriptions.followers.length == 0)
                return;

        message = systemd_message(systemd->connection, SYSTEMD_MANAGER_PATH, SYSTEMD_MANAGER, "Subscribe", NULL);
        call_free(systemd->call);
        systemd->call = connection_call_bound(systemd->connection, message, on_subscribed, systemd);
}

static void on_lost(Connection *connection, void *userdata) {
        g_autofree char *problem = connection_problem(connection);
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        Systemd *systemd = userdata;

        systemd_set_trust(systemd, TRUST_FULL);
        g_clear_pointer(&systemd->call, call_free);
        g_clear_pointer(&systemd->subscribed, g_free);
        sd_bus_error_set(&error, SD_BUS_ERROR_DISCONNECTED, problem);
        tell_subscribers(systemd, &error);
}

static void on_name_changed(void *userdata) {
        Systemd *systemd = userdata;
        g_autofree char *before = g_steal_pointer(&systemd->owner);

        switch (name_state(&systemd->name)) {
        case NAME_UNKNOWN: /* the bus is lost, see there */
                break;
        case NAME_ABSENT:
                if (systemd->trust != TRUST_FULL) {
                        systemd_set_trust(systemd, systemd->trust);
                } else if (before && systemd->subscriptions.followers.length > 0) {
                        systemd_set_trust(systemd, TRUST_RETURNING);
                } else {
                        systemd_set_trust(systemd, TRUST_FULL);
                        systemd_subscribe(systemd);
                }
                break;
        case NAME_OWNED:
                systemd->owner = g_strdup(name_owner(&systemd->name));
                systemd->expected = true;
                systemd->given_up = false;

                /* A re-executed systemd reports when it has finished. */
                if (systemd->trust == TRUST_RELOADING) {
                        systemd_set_trust(systemd, TRUST_RELOADING);
                        break;
                }

                systemd_set_trust(systemd, TRUST_FULL);
                systemd->active = false;
                systemd_back(systemd);
                break;
        }
}

static void on_reloading(sd_bus_message *message, void *userdata) {
        Systemd *systemd = userdata;
        int begins;

        if (sd_bus_message_read(message, "b", &begins) < 0)
                return;

        systemd_set_trust(systemd, begins ? TRUST_RELOADING : TRUST_FULL);
        if (!begins)
                systemd_back(systemd);
}

static void systemd_free(void *data) {
        Systemd *systemd = data;

        for (GList *i = systemd->subscriptions.followers.head; i; i = i->next)
                ((Subscription *) i->data)->systemd = NULL;
        g_clear_pointer(&systemd->trust_timer, g_source_destroy);
        name_leave(&systemd->name);
        match_free(systemd->reloading);
        listener_free(systemd->listener);
        call_free(systemd->call);
        g_free(systemd->subscribed);
        g_free(systemd->owner);
        g_free(systemd);
}

static Systemd *systemd_of(Connection *connection) {
        static const ListenerCallbacks callbacks = { .lost = on_lost };
        Systemd *systemd = connection_data(connection, KEPT);

        if (systemd)
                return systemd;

        systemd = g_new0(Systemd, 1);
        systemd->connection = connection;
        systemd->listener = connection_listen(connection, &callbacks, systemd);
        systemd->reloading = connection_match(connection, &reloading_pattern, on_reloading, NULL, systemd);
        systemd->name.follower = (Follower){ .changed = on_name_changed, .userdata = systemd };
        connection_set_data(connection, KEPT, systemd, systemd_free);
        name_use(connection_names(connection), &systemd->name, SYSTEMD_NAME);
        if (name_state(&systemd->name) != NAME_UNKNOWN)
                on_name_changed(systemd);
        return systemd;
}

Call *systemd_query(Connection *connection, sd_bus_message *message, CallDone done, void *userdata) {
        (void) systemd_of(connection);
        return connection_ask(connection, message, done, userdata);
}

void systemd_expect(Connection *connection) {
        Systemd *systemd = systemd_of(connection);

        systemd->expected = true;
        systemd_set_trust(systemd, systemd->trust);
}

bool systemd_is_expected(Connection *connection) {
        return systemd_of(connection)->expected;
}

void systemd_follow(Connection *connection, Follower *follower) {
        audience_join(&systemd_of(connection)->audience, follower);
}

void systemd_unfollow(Connection *connection, Follower *follower) {
        audience_leave(&systemd_of(connection)->audience, follower);
}

Subscription *subscription_new(Connection *connection, const SubscriptionCallbacks *callbacks, void *userdata) {
        Subscription *subscription = g_new0(Subscription, 1);
        Systemd *systemd = systemd_of(connection);

        *subscription = (Subscription){
                .follower = { .changed = on_subscription_told, .userdata = subscription },
                .systemd = systemd,
                .callbacks = callbacks,
                .userdata = userdata,
        };
        audience_join(&systemd->subscriptions, &subscription->follower);

        /* If there is no service manager, this subscription must be told so, too. */
        if (!systemd->active && !systemd->call && systemd->trust == TRUST_FULL &&
            name_state(&systemd->name) != NAME_UNKNOWN)
                systemd_subscribe(systemd);
        return subscription;
}

void subscription_free(Subscription *subscription) {
        Systemd *systemd;

        if (!subscription)
                return;

        systemd = subscription->systemd;
        if (systemd)
                audience_leave(&systemd->subscriptions, &subscription->follower);
        /* If systemd is being asked, its reply says whether there is something to undo. */
        if (systemd && systemd->subscriptions.followers.length == 0) {
                if (systemd->call && !call_is_in_flight(systemd->call))
                        g_clear_pointer(&systemd->call, call_free);
                if (!systemd->call)
                        systemd_unsubscribe(systemd);
        }
        g_free(subscription);
}

bool subscription_is_active(const Subscription *subscription) {
        const Systemd *systemd = subscription->systemd;

        return systemd && systemd->active && connection_is_ready(systemd->connection);
}

struct SystemdWait {
        Connection *connection;
        NameUse name;
        Timer *timer;
        void (*done)(bool there, void *userdata);
        void *userdata;
};

static void wait_finish(SystemdWait *wait, bool there) {
        name_leave(&wait->name);
        g_clear_pointer(&wait->timer, timer_free);
        wait->done(there, wait->userdata);
}

static void on_awaited(void *userdata) {
        SystemdWait *wait = userdata;

        if (name_state(&wait->name) == NAME_OWNED)
                wait_finish(wait, true);
}

static void on_wait_over(void *userdata) {
        wait_finish(userdata, false);
}

SystemdWait *systemd_wait_new(Connection *connection, Timers *timers, void (*done)(bool there, void *userdata),
                              void *userdata) {
        SystemdWait *wait = g_new0(SystemdWait, 1);

        wait->connection = connection;
        wait->done = done;
        wait->userdata = userdata;
        wait->timer = timer_new(timers, WAIT_USEC, on_wait_over, wait);
        wait->name.follower = (Follower){ .changed = on_awaited, .userdata = wait };
        name_use(connection_names(connection), &wait->name, SYSTEMD_NAME);
        on_awaited(wait);
        return wait;
}

void systemd_wait_free(SystemdWait *wait) {
        if (!wait)
                return;

        name_leave(&wait->name);
        timer_free(wait->timer);
        g_free(wait);
}
