/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Follows the service manager on a connection: messages to it, whether its replies can be trusted, and one subscription
 * to the changes of its units. All leaves on the connection share it.
 *
 * During a daemon-reload or a daemon-reexec, systemd sends
 *
 *    Reloading(true)   UnitRemoved for each unit   [another owner of its name]   UnitNew for each unit Reloading(false)
 *
 * although no unit has changed. Nothing that it sends in between is used: no subscription is active, queries are sent
 * again, and jobs are requested afterwards. Then each user of a unit reads it again.
 */

#include "basic/audience.h"
#include "basic/timers.h"
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

/* Sends a query without effects, as often as needed. An error is systemd's own, or the bus was lost, or it has no
 * systemd. */
Call *systemd_query(Connection *connection, sd_bus_message *message, CallDone done, void *userdata);

/* The same for a method of the manager. */
Call *systemd_ask(Connection *connection, CallDone done, void *userdata, const char *member, const char *types, ...);

/* Asks for one property (a "v"), or for all of an interface (an "a{sv}"; "": of every interface). */
Call *systemd_get(Connection *connection, const char *path, const char *interface, const char *property, CallDone done,
                  void *userdata);
Call *systemd_get_all(Connection *connection, const char *path, const char *interface, CallDone done, void *userdata);

/* The states of these units, each a (ssssssouso). */
Call *systemd_list_units(Connection *connection, GPtrArray *names, CallDone done, void *userdata);

/* Is there a service manager on the bus? A "b". */
Call *systemd_query_presence(Connection *connection, CallDone done, void *userdata);

/* Which names does the bus start a service for, if somebody calls them? An "as". */
Call *systemd_query_activatable(Connection *connection, CallDone done, void *userdata);

/* Declares that there is a systemd, even if it is not on the bus at the moment: calls wait for it. */
void systemd_expect(Connection *connection);
/* Also true once it has been there. */
bool systemd_is_expected(Connection *connection);

/* Called each time that systemd is on the bus and its answers can be trusted: at first, and again. */
void systemd_follow(Connection *connection, Follower *follower);
void systemd_unfollow(Connection *connection, Follower *follower);

/* Without a reply; tell: to a method of the manager. */
void systemd_send(Connection *connection, sd_bus_message *message);
void systemd_tell(Connection *connection, const char *member, const char *types, ...);

/* The answer was lost with the bus or systemd, so it is not known whether the request was carried out. */
bool systemd_answer_was_lost(const sd_bus_error *error);
/* The same, or there is no systemd on the bus at the moment. */
bool systemd_is_away(const sd_bus_error *error);

/* systemd signals changes of units only while somebody on the bus is subscribed. */
typedef struct Subscription Subscription;

typedef struct SubscriptionCallbacks {
        /* From now on, changes are signalled: read the current state now. Called again after each reload of the service
         * manager, and when it or the bus has come back. */
        void (*subscribed)(void *userdata);
        /* Changes are not signalled, because the bus was lost or has no service manager; error says which. Not called
         * for a short interruption. */
        void (*lost)(const sd_bus_error *error, void *userdata);
} SubscriptionCallbacks;

Subscription *subscription_new(Connection *connection, const SubscriptionCallbacks *callbacks, void *userdata);
void subscription_free(Subscription *subscription);

/* Are changes signalled already, and can the answers be trusted? If not, the callback will follow. */
bool subscription_is_active(const Subscription *subscription);

/* Waits for the systemd that has started btd. systemd connects to a bus only after it has started the bus. At the login
 * of a user or early at boot, btd may be on the bus first, but trees must not depend on who is faster; and a bus that
 * was lost may come back. */
typedef struct SystemdWait SystemdWait;

/* Calls back once, when systemd is on the bus or does not come within a few seconds; perhaps during the call. */
SystemdWait *systemd_wait_new(Connection *connection, Timers *timers, void (*done)(bool there, void *userdata),
                              void *userdata);
void systemd_wait_free(SystemdWait *wait);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(SystemdWait, systemd_wait_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Subscription, subscription_free)
