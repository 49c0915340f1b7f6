/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Reads who a caller is from the reply to GetConnectionCredentials (D-Bus specification, "Bus messages").
 */

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <systemd/sd-bus.h>

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
