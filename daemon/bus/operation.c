/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* One object owns the message that waits for its reply and the question to the bus. It does not go through the
 * connection's queue of calls, since a command must not wait for the calls of trees. */

#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "bus/errors.h"
#include "bus/operation.h"

/* A bus that says nothing for so long is as good as gone. */
#define CREDENTIALS_TIMEOUT_USEC (25 * UINT64_C(1000000))

struct Operations {
        sd_bus *bus;
        void *userdata;
        GQueue running; /* of Operation */
};

typedef struct Operation {
        Operations *operations;
        GList link;
        OperationRun run;
        sd_bus_message *message;
        sd_bus_slot *slot; /* of the question */
} Operation;

typedef struct Credentials {
        bool known;
        uint32_t uid, pid; /* pid 0: not told */
} Credentials;

Operations *operations_new(sd_bus *bus, void *userdata) {
        Operations *operations = g_new0(Operations, 1);

        operations->bus = sd_bus_ref(bus);
        operations->userdata = userdata;
        return operations;
}

static void operation_free(Operation *operation) {
        g_queue_unlink(&operation->operations->running, &operation->link);
        sd_bus_slot_unref(operation->slot);
        sd_bus_message_unref(operation->message);
        g_free(operation);
}

void operations_free(Operations *operations) {
        if (!operations)
                return;

        while (operations->running.head)
                operation_free(operations->running.head->data);
        sd_bus_unref(operations->bus);
        g_free(operations);
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
        if (strcmp(key, "ProcessID") == 0)
                return sd_bus_message_read(reply, "v", "u", &credentials->pid);

        return sd_bus_message_skip(reply, "v");
}

static int read_credentials(sd_bus_message *reply, Credentials *ret_credentials) {
        Credentials credentials = { 0 };
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
        return 0;
}

static int check_and_run(const Operation *operation, sd_bus_message *reply, sd_bus_error *ret_error) {
        g_auto(Caller) who = { 0 };
        Credentials credentials;
        int r;

        if (sd_bus_message_is_method_error(reply, NULL))
                return sd_bus_error_setf(ret_error, ERROR_ACCESS_DENIED, "the bus does not tell who asks: %s",
                                         sd_bus_message_get_error(reply)->message);

        r = read_credentials(reply, &credentials);
        if (r < 0)
                return r;
        if (!credentials.known || (credentials.uid != 0 && credentials.uid != geteuid()))
                return sd_bus_error_set(ret_error, ERROR_ACCESS_DENIED,
                                        "only root may do this; try it with sudo, or as root");

        caller_init(&who, credentials.uid, credentials.pid);
        return operation->run(operation->message, &who, operation->operations->userdata, ret_error);
}

static int on_credentials(sd_bus_message *reply, void *userdata, sd_bus_error *unused) {
        Operation *operation = userdata;
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        int r;

        r = check_and_run(operation, reply, &error);
        if (sd_bus_error_is_set(&error))
                (void) sd_bus_reply_method_error(operation->message, &error);
        else if (r < 0)
                (void) sd_bus_reply_method_errno(operation->message, r, NULL);

        operation_free(operation);
        return 0;
}

int operation_start(Operations *operations, sd_bus_message *message, OperationRun run, sd_bus_error *ret_error) {
        g_autoptr(sd_bus_message) question = NULL;
        Operation *operation;
        int r;

        r = sd_bus_message_new_method_call(operations->bus, &question, "org.freedesktop.DBus", "/org/freedesktop/DBus",
                                           "org.freedesktop.DBus", "GetConnectionCredentials");
        if (r < 0)
                return r;
        r = sd_bus_message_append(question, "s", sd_bus_message_get_sender(message));
        if (r < 0)
                return r;

        operation = g_new0(Operation, 1);
        operation->operations = operations;
        operation->run = run;
        operation->message = sd_bus_message_ref(message);
        operation->link.data = operation;
        g_queue_push_tail_link(&operations->running, &operation->link);

        r = sd_bus_call_async(operations->bus, &operation->slot, question, on_credentials, operation,
                              CREDENTIALS_TIMEOUT_USEC);
        if (r < 0) {
                operation_free(operation);
                return r;
        }

        return 1;
}
