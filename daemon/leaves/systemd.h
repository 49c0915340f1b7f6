/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The service manager on a connection, as leaves need it: messages to it, and one subscription to the changes of
 * its units that all leaves on the connection share.
 */

#include "bus/connection.h"

#define SYSTEMD_NAME "org.freedesktop.systemd1"
#define SYSTEMD_MANAGER_PATH "/org/freedesktop/systemd1"
#define SYSTEMD_MANAGER "org.freedesktop.systemd1.Manager"
#define SYSTEMD_UNIT "org.freedesktop.systemd1.Unit"
#define SYSTEMD_SERVICE "org.freedesktop.systemd1.Service"
#define SYSTEMD_JOB "org.freedesktop.systemd1.Job"

/* A method call to the service manager, with arguments as for sd_bus_message_append(), types NULL: none. Where there is
 * no service manager the bus shall say so instead of trying to start one. */
sd_bus_message *systemd_message(Connection *connection, const char *path, const char *interface, const char *member,
                                const char *types, ...);

/* Asks for one property (a "v"), or for all of an interface (an "a{sv}"; "": of every interface). */
Call *systemd_get(Connection *connection, const char *path, const char *interface, const char *property, CallDone done,
                  void *userdata);
Call *systemd_get_all(Connection *connection, const char *path, const char *interface, CallDone done, void *userdata);

/* Is there a service manager on the bus? A "b". */
Call *systemd_look(Connection *connection, CallDone done, void *userdata);

/* Without a reply. */
void systemd_send(Connection *connection, sd_bus_message *message);

/* systemd signals changes of units only while somebody on the bus is subscribed. */
typedef struct Subscription Subscription;

typedef struct SubscriptionCallbacks {
        /* From now on changes are signalled. Also each time that the service manager or the bus has come again. */
        void (*subscribed)(void *userdata);
        /* They are not: the bus was lost, or there is no service manager on it; error says which. */
        void (*lost)(const sd_bus_error *error, void *userdata);
} SubscriptionCallbacks;

Subscription *subscription_new(Connection *connection, const SubscriptionCallbacks *callbacks, void *userdata);
void subscription_free(Subscription *subscription);

/* Is it so already? If not, the callback will tell. */
bool subscription_is_active(const Subscription *subscription);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Subscription, subscription_free)
