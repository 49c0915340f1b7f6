/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Finds out who is who: the credentials of a caller, from the reply to GetConnectionCredentials (D-Bus specification,
 * "Bus messages"), and the numeric ids of the users and groups that the key 'access' of a tree names, for one
 * operation. Name services can be slow, so they are asked on a thread. A caller that needs an id that is not known yet
 * must retry when the lookup is done.
 */

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <systemd/sd-bus.h>

#include "basic/workers.h"

typedef struct Credentials {
        bool known;
        uint32_t uid, pid; /* pid 0: unknown */
        uint32_t *groups;  /* all groups of the caller */
        size_t n_groups;
} Credentials;

void credentials_clear(Credentials *credentials);
void credentials_copy(const Credentials *credentials, Credentials *ret_copy);

int credentials_ask(sd_bus *bus, const char *sender, sd_bus_message_handler_t callback, void *userdata,
                    sd_bus_slot **ret_slot);
int credentials_read(sd_bus_message *reply, Credentials *ret_credentials);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Credentials, credentials_clear)

typedef struct Accounts Accounts;

/* At first, no id is known. */
Accounts *accounts_new(void);
void accounts_free(Accounts *accounts);

#define ACCOUNTS_NONE INT64_C(-1)

/* name: a user, or a group with '@' before it. ACCOUNTS_NONE: it does not exist. False: the id is not known yet; the
 * next accounts_look_up() includes it. */
bool accounts_find(Accounts *accounts, const char *name, int64_t *ret_id);

/* Looks up all unknown names. Calls known() when it is done. */
void accounts_look_up(Accounts *accounts, Workers *workers, void (*known)(void *userdata), void *userdata);
/* Is a lookup running? */
bool accounts_are_looked_up(const Accounts *accounts);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Accounts, accounts_free)
