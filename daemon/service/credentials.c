/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Asks the bus for credentials, without the connection's queue of calls: a command must not wait behind the calls of
 * trees. */

#include <string.h>

#include "basic/cleanup.h"
#include "service/credentials.h"

/* A bus that does not reply within this time counts as lost. */
#define TIMEOUT_USEC (25 * UINT64_C(1000000))

int credentials_ask(sd_bus *bus, const char *sender, sd_bus_message_handler_t callback, void *userdata,
                    sd_bus_slot **ret_slot) {
        g_autoptr(sd_bus_message) question = NULL;
        int r;

        r = sd_bus_message_new_method_call(bus, &question, "org.freedesktop.DBus", "/org/freedesktop/DBus",
                                           "org.freedesktop.DBus", "GetConnectionCredentials");
        if (r < 0)
                return r;
        r = sd_bus_message_append(question, "s", sender);
        if (r < 0)
                return r;

        return sd_bus_call_async(bus, ret_slot, question, callback, userdata, TIMEOUT_USEC);
}

static int read_groups(sd_bus_message *reply, Credentials *credentials) {
        const void *groups;
        size_t size;
        int r;

        r = sd_bus_message_enter_container(reply, 'v', "au");
        if (r >= 0)
                r = sd_bus_message_read_array(reply, 'u', &groups, &size);
        if (r < 0)
                return r;

        g_free(credentials->groups);
        credentials->groups = g_memdup2(groups, size);
        credentials->n_groups = size / sizeof(uint32_t);
        return sd_bus_message_exit_container(reply);
}

static int read_credential(sd_bus_message *reply, Credentials *credentials) {
        const char *key;
        int r;

        r = sd_bus_message_read_basic(reply, 's', &key);
        if (r < 0)
                return r;

        if (strcmp(key, "UnixUserID") == 0) {
                credentials->known = true;
                return sd_bus_message_read(reply, "v", "u", &credentials->uid);
        }
        if (strcmp(key, "UnixGroupIDs") == 0)
                return read_groups(reply, credentials);
        if (strcmp(key, "ProcessID") == 0)
                return sd_bus_message_read(reply, "v", "u", &credentials->pid);

        return sd_bus_message_skip(reply, "v");
}

int credentials_read(sd_bus_message *reply, Credentials *ret_credentials) {
        g_auto(Credentials) credentials = { 0 };
        int r;

        r = sd_bus_message_enter_container(reply, 'a', "{sv}");
        if (r < 0)
                return r;

        while ((r = sd_bus_message_enter_container(reply, 'e', "sv")) > 0) {
                r = read_credential(reply, &credentials);
                if (r >= 0)
                        r = sd_bus_message_exit_container(reply);
                if (r < 0)
                        return r;
        }
        if (r < 0)
                return r;

        *ret_credentials = credentials;
        credentials = (Credentials){ 0 };
        return 0;
}

void credentials_copy(const Credentials *credentials, Credentials *ret_copy) {
        *ret_copy = *credentials;
        ret_copy->groups = g_memdup2(credentials->groups, credentials->n_groups * sizeof(uint32_t));
}

void credentials_clear(Credentials *credentials) {
        g_free(credentials->groups);
        *credentials = (Credentials){ 0 };
}
