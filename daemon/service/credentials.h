/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Who a caller is, as the bus tells it: the reply to GetConnectionCredentials (D-Bus specification, "Bus messages").
 */

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <systemd/sd-bus.h>

typedef struct Credentials {
        bool known;
        uint32_t uid, pid; /* pid 0: not told */
        uint32_t *groups;  /* all that the caller is in */
        size_t n_groups;
} Credentials;

void credentials_clear(Credentials *credentials);

int credentials_ask(sd_bus *bus, const char *sender, sd_bus_message_handler_t callback, void *userdata,
                    sd_bus_slot **ret_slot);
int credentials_read(sd_bus_message *reply, Credentials *ret_credentials);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Credentials, credentials_clear)
