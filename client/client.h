/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * What every verb is given: the options, the output, and calls of btd. A call that fails says why and how to go on.
 */

#include <systemd/sd-bus.h>

#include "options.h"
#include "output.h"
#include "report.h"

#define BTD_NAME "org.btd1"
#define BTD_PATH "/org/btd1"
#define BTD_MANAGER "org.btd1.Manager"
#define BTD_TREE "org.btd1.Tree"
#define BTD_RUN "org.btd1.Run"
#define BTD_MISSING_INPUT "org.btd1.Error.MissingInput"

typedef struct Client {
        Options options;
        Output output;
        sd_bus *bus; /* NULL until client_connect() */
} Client;

void client_clear(Client *client);

/* These return exit statuses. Connecting is left to the first call, unless the bus is needed before. btd is never
 * started by a call: a look at it must not set its trees going. */
int client_connect(Client *client);
int client_message(Client *client, const char *path, const char *interface, const char *member,
                   sd_bus_message **ret_message);
int client_send(Client *client, sd_bus_message *message, sd_bus_message **ret_reply);
int client_call(Client *client, sd_bus_message **ret_reply, const char *path, const char *interface, const char *member,
                const char *types, ...);
/* The reply, entered into the variant, which has to be of that type. */
int client_get(Client *client, const char *path, const char *interface, const char *property, const char *type,
               sd_bus_message **ret_reply);
int client_get_string(Client *client, const char *path, const char *interface, const char *property, char **ret_text);
int client_get_strings(Client *client, const char *path, const char *interface, const char *property,
                       char ***ret_texts);
int client_read_strings(sd_bus_message *message, char ***ret_texts);

/* Says that a message was not made or not understood: r is the negative errno of sd-bus. */
int client_bad_message(int r);
/* Says that btd is not there, and how to start it. */
int client_no_daemon(const Client *client);
/* Says that btd was there, and is no more. */
int client_lost_daemon(const Client *client);

/* Prints what is for people only, left out with --quiet and --json. */
void client_say(const Client *client, const char *format, ...) G_GNUC_PRINTF(2, 3);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Client, client_clear)
