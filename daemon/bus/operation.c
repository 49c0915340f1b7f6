/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* One object owns the message that waits for its reply, and the question that is under way: first that to the bus, then
 * that to polkit. */

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "basic/log.h"
#include "bus/credentials.h"
#include "bus/errors.h"
#include "bus/operation.h"
#include "bus/polkit.h"

#define TOO_MANY "%u calls of yours are waiting to be answered; wait for one of them"

struct Operations {
        sd_bus *bus;
        unsigned max; /* of one caller */
        OperationPermits permits;
        void *userdata;
        GQueue running; /* of Operation */
};

typedef struct Operation {
        Operations *operations;
        GList link;
        Deed deed;
        OperationRun run;
        sd_bus_message *message;
        sd_bus_slot *slot; /* of the question to the bus */
        PolkitQuestion *question;
        Caller who;
} Operation;

Operations *operations_new(sd_bus *bus, unsigned max, OperationPermits permits, void *userdata) {
        Operations *operations = g_new0(Operations, 1);

        operations->bus = sd_bus_ref(bus);
        operations->max = max;
        operations->permits = permits;
        operations->userdata = userdata;
        return operations;
}

static void operation_free(Operation *operation) {
        g_queue_unlink(&operation->operations->running, &operation->link);
        polkit_question_free(operation->question);
        sd_bus_slot_unref(operation->slot);
        sd_bus_message_unref(operation->message);
        deed_clear(&operation->deed);
        caller_clear(&operation->who);
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

static void finish_with(Operation *operation, int r, const sd_bus_error *error) {
        if (sd_bus_error_is_set(error))
                (void) sd_bus_reply_method_error(operation->message, error);
        else if (r < 0)
                (void) sd_bus_reply_method_errno(operation->message, r, NULL);

        operation_free(operation);
}

static void carry_out(Operation *operation) {
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        int r = operation->run(operation->message, &operation->who, operation->operations->userdata, &error);

        finish_with(operation, r, &error);
}

static void G_GNUC_PRINTF(3, 4) refuse(Operation *operation, const char *name, const char *format, ...) {
        g_autofree char *text = NULL, *deed = deed_describe(&operation->deed);
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        va_list args;
        int r;

        va_start(args, format);
        text = g_strdup_vprintf(format, args);
        va_end(args);

        log_message(LOG_NOTICE, &(LogSubject){ .tree = operation->deed.tree, .run = operation->deed.run },
                    "%s was not allowed to %s: %s", operation->who.text ?: "an unknown caller", deed, text);
        r = sd_bus_error_set(&error, name, text);
        finish_with(operation, r, &error);
}

static void on_polkit_answered(PolkitAnswer answer, void *userdata) {
        Operation *operation = userdata;
        g_autofree char *deed = deed_describe(&operation->deed);
        const char *action = permission_action(operation->deed.permission);

        switch (answer) {
        case POLKIT_YES:
                carry_out(operation);
                break;
        case POLKIT_NO:
                refuse(operation, ERROR_ACCESS_DENIED, "you may not %s: polkit refuses %s", deed, action);
                break;
        case POLKIT_CHALLENGE:
                refuse(operation, SD_BUS_ERROR_INTERACTIVE_AUTHORIZATION_REQUIRED,
                       "to %s, you have to authenticate, and cannot be asked to here; try it on a terminal, or with "
                       "sudo",
                       deed);
                break;
        case POLKIT_ABSENT:
                refuse(operation, ERROR_ACCESS_DENIED, "only root may do this; try it with sudo, or as root");
                break;
        }
}

static bool is_trusted(const Credentials *credentials) {
        return credentials->uid == 0 || credentials->uid == geteuid();
}

static void ask_polkit(Operation *operation) {
        bool interactive = sd_bus_message_get_allow_interactive_authorization(operation->message) > 0;
        int r = polkit_ask(operation->operations->bus, sd_bus_message_get_sender(operation->message), &operation->deed,
                           interactive, on_polkit_answered, operation, &operation->question);

        if (r < 0)
                finish_with(operation, r, NULL);
}

/* Those of one connection, before it is known whose it is. */
static unsigned count_of_sender(const Operations *operations, const char *sender) {
        unsigned n = 0;

        for (const GList *link = operations->running.head; link; link = link->next) {
                const Operation *operation = link->data;

                n += g_strcmp0(sd_bus_message_get_sender(operation->message), sender) == 0;
        }

        return n;
}

/* Those that wait for polkit, of all connections of a user. */
static unsigned count_of_user(const Operations *operations, uint32_t uid) {
        unsigned n = 0;

        for (const GList *link = operations->running.head; link; link = link->next) {
                const Operation *operation = link->data;

                n += operation->question && operation->who.uid == uid;
        }

        return n;
}

static int on_credentials(sd_bus_message *reply, void *userdata, sd_bus_error *unused) {
        Operation *operation = userdata;
        const Operations *operations = operation->operations;
        g_auto(Credentials) credentials = { 0 };
        g_autofree char *error = NULL;
        int r;

        if (sd_bus_message_is_method_error(reply, NULL)) {
                refuse(operation, ERROR_ACCESS_DENIED, "the bus does not tell who asks: %s",
                       sd_bus_message_get_error(reply)->message);
                return 0;
        }

        r = credentials_read(reply, &credentials);
        if (r < 0) {
                finish_with(operation, r, NULL);
                return 0;
        }
        if (!credentials.known) {
                refuse(operation, ERROR_ACCESS_DENIED, "the bus does not tell who asks");
                return 0;
        }

        caller_init(&operation->who, credentials.uid, credentials.pid);
        if (is_trusted(&credentials))
                carry_out(operation);
        else if (count_of_user(operations, credentials.uid) >= operations->max)
                refuse(operation, ERROR_LIMIT_EXCEEDED, TOO_MANY, operations->max);
        else if (!operations->permits(&operation->deed, &credentials, operations->userdata, &error))
                refuse(operation, ERROR_ACCESS_DENIED, "%s", error);
        else
                ask_polkit(operation);

        return 0;
}

int operation_start(Operations *operations, sd_bus_message *message, Deed deed, OperationRun run,
                    sd_bus_error *ret_error) {
        const char *sender = sd_bus_message_get_sender(message);
        g_auto(Deed) taken = deed;
        Operation *operation;
        int r;

        if (count_of_sender(operations, sender) >= operations->max)
                return sd_bus_error_setf(ret_error, ERROR_LIMIT_EXCEEDED, TOO_MANY, operations->max);

        operation = g_new0(Operation, 1);
        operation->operations = operations;
        operation->run = run;
        operation->deed = taken;
        taken = (Deed){ 0 };
        operation->message = sd_bus_message_ref(message);
        operation->link.data = operation;
        g_queue_push_tail_link(&operations->running, &operation->link);

        r = credentials_ask(operations->bus, sender, on_credentials, operation, &operation->slot);
        if (r < 0) {
                operation_free(operation);
                return r;
        }

        return 1;
}
