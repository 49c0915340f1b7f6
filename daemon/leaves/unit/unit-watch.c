/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Watches a unit with a match for its object and a subscription. It is ready when the bus and the service manager have
 * confirmed both.
 */

#include "leaves/unit/unit-watch.h"
#include "leaves/unit/systemd.h"

struct UnitWatch {
        Connection *connection;
        char *path;
        const UnitWatchCallbacks *callbacks;
        void *userdata;
        Subscription *subscription;
        Match *match;
        bool matched;
        Call *read;
        UnitFacts facts;
};

static void watch_check_ready(UnitWatch *watch) {
        if (unit_watch_is_ready(watch))
                watch->callbacks->ready(watch->userdata);
}

static void on_matched(void *userdata) {
        UnitWatch *watch = userdata;

        watch->matched = true;
        watch_check_ready(watch);
}

static void on_subscribed(void *userdata) {
        watch_check_ready(userdata);
}

static void on_lost(const sd_bus_error *error, void *userdata) {
        UnitWatch *watch = userdata;

        /* The match outlives a service manager, but not the bus. */
        if (!connection_is_ready(watch->connection))
                watch->matched = false;
        g_clear_pointer(&watch->read, call_free);
}

static void on_properties_changed(sd_bus_message *message, void *userdata) {
        UnitWatch *watch = userdata;

        if (!subscription_is_active(watch->subscription))
                return;

        if (sd_bus_message_skip(message, "s") >= 0 && unit_facts_read(&watch->facts, message) >= 0)
                watch->callbacks->changed(watch->userdata);
}

static void on_read(sd_bus_message *reply, const sd_bus_error *error, void *userdata) {
        UnitWatch *watch = userdata;

        if (error)
                watch->callbacks->failed(error, watch->userdata);
        else if (unit_facts_read(&watch->facts, reply) >= 0)
                watch->callbacks->changed(watch->userdata);
}

UnitWatch *unit_watch_new(Connection *connection, const char *path, const UnitWatchCallbacks *callbacks,
                          void *userdata) {
        static const SubscriptionCallbacks subscription_callbacks = { .subscribed = on_subscribed, .lost = on_lost };
        SignalPattern pattern = {
                .sender = SYSTEMD_NAME,
                .path = path,
                .interface = "org.freedesktop.DBus.Properties",
                .member = "PropertiesChanged",
        };
        UnitWatch *watch = g_new0(UnitWatch, 1);

        watch->connection = connection;
        watch->path = g_strdup(path);
        watch->callbacks = callbacks;
        watch->userdata = userdata;

        watch->subscription = subscription_new(connection, &subscription_callbacks, watch);
        watch->match = connection_match(connection, &pattern, on_properties_changed, on_matched, watch);
        return watch;
}

void unit_watch_free(UnitWatch *watch) {
        if (!watch)
                return;

        call_free(watch->read);
        match_free(watch->match);
        subscription_free(watch->subscription);
        unit_facts_clear(&watch->facts);
        g_free(watch->path);
        g_free(watch);
}

void unit_watch_read(UnitWatch *watch) {
        call_free(watch->read);
        watch->read = systemd_get_all(watch->connection, watch->path, "", on_read, watch);
}

bool unit_watch_is_ready(const UnitWatch *watch) {
        return watch->matched && subscription_is_active(watch->subscription);
}

UnitFacts *unit_watch_facts(UnitWatch *watch) {
        return &watch->facts;
}
