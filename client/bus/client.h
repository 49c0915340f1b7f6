/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Owns the context of every verb: the options, the output, and the connection to btd. A call that fails prints the
 * reason and what to do.
 */

#include <systemd/sd-bus.h>

#include "client/options.h"
#include "client/view/output.h"
#include "client/view/report.h"

#define BTD_NAME "org.btd1"
#define BTD_PATH "/org/btd1"
#define BTD_MANAGER "org.btd1.Manager"
#define BTD_TREE "org.btd1.Tree"
#define BTD_RUN "org.btd1.Run"
#define BTD_MISSING_INPUT "org.btd1.Error.MissingInput"
#define BTD_NO_SUCH_RUN "org.btd1.Error.NoSuchRun"
#define BTD_NOT_RUNNING "org.btd1.Error.NotRunning"
#define BTD_STOPPING "org.btd1.Error.Stopping"

typedef struct Client {
        Options options;
        Output output;
        sd_bus *bus;                   /* NULL until client_connect() */
        char *next_daemon;             /* the unique name of the btd that a call has waited for; NULL: none has */
        void (*before_password)(void); /* before a password is asked for on the terminal; NULL: nothing */
} Client;

void client_clear(Client *client);

/* These return exit statuses. The first call connects; client_connect() does so earlier. A call never starts btd,
 * because showing a status must not start trees; but if systemd starts it at the moment, the call waits for it. */
int client_connect(Client *client);
/* Connects again after the connection was lost. False: there is no bus yet; nothing is printed. */
bool client_reconnect(Client *client);
int client_message(Client *client, const char *path, const char *interface, const char *member,
                   sd_bus_message **ret_message);
int client_send(Client *client, sd_bus_message *message, sd_bus_message **ret_reply);

int client_call(Client *client, sd_bus_message **ret_reply, const char *path, const char *interface, const char *member,
                const char *types, ...);
/* The same, but an error reply with one of these names is no error; the reply is NULL then. expected: ends with NULL;
 * may be NULL. */
int client_call_expecting(Client *client, const char *const *expected, sd_bus_message **ret_reply, const char *path,
                          const char *interface, const char *member, const char *types, ...);
/* Calls a method of the manager as sd_bus_call_method(), but does not start a btd that has exited. */
int client_try(const Client *client, sd_bus_error *error, sd_bus_message **ret_reply, const char *member,
               const char *types, ...);
/* Whether btd runs, or systemd starts it. Nothing is printed, also if there is no bus. */
bool client_has_daemon(Client *client);
/* Gets a property of a basic type of a run, also without starting btd, and without a message. */
int client_try_get(const Client *client, const char *run_path, const char *property, char type, void *ret_value);
/* The unique name of btd on the bus, to be freed; NULL: it is not running. */
char *client_find_daemon(const Client *client);
/* Gets a property. The reply has been entered into the variant, which must have that type. */
int client_get(Client *client, const char *path, const char *interface, const char *property, const char *type,
               sd_bus_message **ret_reply);
int client_get_string(Client *client, const char *path, const char *interface, const char *property, char **ret_text);
int client_get_strings(Client *client, const char *path, const char *interface, const char *property,
                       char ***ret_texts);
/* Reads the only text of a reply. Returns a status for btctl. */
int client_read_string(sd_bus_message *message, char **ret_text);
int client_read_strings(sd_bus_message *message, char ***ret_texts);

/* A key of a dictionary a{sv}. value: a char ** for "s" and "o" (borrowed from the message), an int for "b", else an
 * integer of the type. */
typedef struct RecordField {
        const char *key, *type;
        void *value;
} RecordField;

/* Reads a dictionary; fields end with one without a key. Skips other keys; absent ones keep their values. Returns 1 for
 * a dictionary, 0 at the end of an array, or a negative errno of sd-bus. */
int client_read_record(sd_bus_message *message, const RecordField *fields);

/* Prints that a message could not be made or read; r is the negative errno of sd-bus. */
int client_bad_message(int r);
/* Prints that btd is not running, and how to start it. */
int client_no_daemon(const Client *client);
/* Prints that btd has exited. */
int client_lost_daemon(const Client *client);
/* Prints that the connection to the bus was lost. */
int client_lost_bus(const Client *client);
/* Whether a call failed because btd or the bus is away. */
bool client_is_away(const sd_bus_error *error, int r);

/* Prints a line for people; not with --quiet or --json. */
void client_say(const Client *client, const char *format, ...) G_GNUC_PRINTF(2, 3);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Client, client_clear)
