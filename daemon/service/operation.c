/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * One object owns the message that waits for its reply, and what it waits for meanwhile: the answer of the bus, that of
 * polkit, its turn. Questions to polkit can take minutes, while somebody looks for a password, and a dbus-daemon allows
 * a connection only so many calls in all: only some are asked at once, and fewer of one user; the others wait.
 */

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "basic/log.h"
#include "service/credentials.h"
#include "service/errors.h"
#include "service/operation.h"
#include "service/polkit.h"
#include "service/turns.h"

/* What a dbus-daemon allows (128) beyond the window of the connection. */
#define QUESTIONS_MAX 24u
#define QUESTIONS_OF_A_USER_MAX 4u

struct Operations {
        sd_bus *bus;
        unsigned max; /* of one caller */
        OperationPermits permits;
        void *userdata;
        GQueue running; /* of Operation */
        Turns *turns;
};

typedef struct Operation {
        Turn turn; /* first: its turn is the operation's */
        Operations *operations;
        GList link;
        Deed deed;
        OperationRun run;
        sd_bus_message *message;
        sd_bus_slot *slot; /* of the question to the bus */
        bool doubted;      /* polkit has to be asked */
        PolkitQuestion *question;
        Caller who;
} Operation;

static void on_turn(Turn *turn);

Operations *operations_new(GMainContext *context, sd_bus *bus, unsigned max, OperationPermits permits, void *userdata) {
        Operations *operations = g_new0(Operations, 1);

        operations->bus = sd_bus_ref(bus);
        operations->max = max;
        operations->permits = permits;
        operations->userdata = userdata;
        operations->turns = turns_new(context, on_turn);
        return operations;
}

static void operation_free(Operation *operation) {
        g_queue_unlink(&operation->operations->running, &operation->link);
        turn_drop(&operation->turn);
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
        turns_free(operations->turns);
        sd_bus_unref(operations->bus);
        g_free(operations);
}

void operations_open(Operations *operations) {
        turns_open(operations->turns);
}

static void finish_with(Operation *operation, int r, const sd_bus_error *error) {
        if (sd_bus_error_is_set(error))
                (void) sd_bus_reply_method_error(operation->message, error);
        else if (r < 0)
                (void) sd_bus_reply_method_errno(operation->message, r, NULL);

        operation_free(operation);
}

/* "UID 1000, PID 4711 (btctl)" */
static char *describe_caller(const Operation *operation) {
        const Caller *who = &operation->who;

        if (!who->text)
                return g_strdup_printf("the caller %s", sd_bus_message_get_sender(operation->message));

        return g_strdup_printf("UID %" PRIu32 ", PID %" PRIu32 "%s%s%s", who->uid, who->pid, who->command ? " (" : "",
                               who->command ?: "", who->command ? ")" : "");
}

static void log_carried_out(const Operation *operation, int r, const sd_bus_error *error) {
        g_autofree char *caller = describe_caller(operation), *deed = deed_describe(&operation->deed);
        LogSubject subject = { .tree = operation->deed.tree, .run = operation->deed.run };

        if (sd_bus_error_is_set(error))
                log_message(LOG_NOTICE, &subject, "%s asked to %s: %s", caller, deed, error->message);
        else if (r < 0)
                log_message(LOG_NOTICE, &subject, "%s asked to %s: %s", caller, deed, g_strerror(-r));
        else
                log_message(LOG_INFO, &subject, "%s asked to %s", caller, deed);
}

static void on_turn(Turn *turn) {
        Operation *operation = (Operation *) turn;
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        int r = operation->run(operation->message, &operation->who, operation->operations->userdata, &error);

        log_carried_out(operation, r, &error);
        finish_with(operation, r, &error);
}

static void carry_out(Operation *operation) {
        operation->doubted = false;
        turns_add(operation->operations->turns, &operation->turn, sd_bus_message_get_sender(operation->message));
}

/* Who is on a terminal asks again, and is asked then: "cannot be asked to here" is for him, not for the log. */
static void log_refusal(const Operation *operation, const char *name, const char *text) {
        g_autofree char *deed = deed_describe(&operation->deed), *caller = describe_caller(operation);
        bool asks = g_str_equal(name, SD_BUS_ERROR_INTERACTIVE_AUTHORIZATION_REQUIRED);

        log_message(LOG_NOTICE, &(LogSubject){ .tree = operation->deed.tree, .run = operation->deed.run },
                    "%s was not allowed to %s%s%s", caller, deed, asks ? " without a password" : ": ",
                    asks ? "" : text);
}

static void G_GNUC_PRINTF(3, 4) refuse(Operation *operation, const char *name, const char *format, ...) {
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        g_autofree char *text = NULL;
        va_list args;
        int r;

        va_start(args, format);
        text = g_strdup_vprintf(format, args);
        va_end(args);

        log_refusal(operation, name, text);
        r = sd_bus_error_set(&error, name, text);
        finish_with(operation, r, &error);
}

static void take_answer(Operation *operation, PolkitAnswer answer) {
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

static void on_polkit_answered(PolkitAnswer answer, void *userdata);

static void ask_polkit(Operation *operation) {
        bool interactive = sd_bus_message_get_allow_interactive_authorization(operation->message) > 0;
        int r = polkit_ask(operation->operations->bus, sd_bus_message_get_sender(operation->message), &operation->deed,
                           interactive, on_polkit_answered, operation, &operation->question);

        if (r < 0)
                finish_with(operation, r, NULL);
}

static bool may_ask_now(const Operation *operation) {
        unsigned all = 0, of_user = 0;

        for (const GList *link = operation->operations->running.head; link; link = link->next) {
                const Operation *other = link->data;

                all += other->question != NULL;
                of_user += other->question && other->who.uid == operation->who.uid;
        }

        return all < QUESTIONS_MAX && of_user < QUESTIONS_OF_A_USER_MAX;
}

static void ask_those_that_wait(Operations *operations) {
        for (GList *link = operations->running.head, *next; link; link = next) {
                Operation *operation = link->data;

                next = link->next;
                if (operation->doubted && !operation->question && may_ask_now(operation))
                        ask_polkit(operation);
        }
}

static void doubt(Operation *operation) {
        operation->doubted = true;
        ask_those_that_wait(operation->operations);
}

static void on_polkit_answered(PolkitAnswer answer, void *userdata) {
        Operation *operation = userdata;
        Operations *operations = operation->operations;

        g_clear_pointer(&operation->question, polkit_question_free);
        take_answer(operation, answer);
        ask_those_that_wait(operations);
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

/* Those of all connections of a user, as far as it is known whose they are. */
static unsigned count_of_user(const Operations *operations, uint32_t uid) {
        unsigned n = 0;

        for (const GList *link = operations->running.head; link; link = link->next) {
                const Operation *operation = link->data;

                n += operation->who.text && operation->who.uid == uid;
        }

        return n;
}

static int on_credentials(sd_bus_message *reply, void *userdata, sd_bus_error *unused) {
        Operation *operation = userdata;
        Operations *operations = operation->operations;
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
        else if (count_of_user(operations, credentials.uid) > operations->max)
                refuse(operation, ERROR_LIMIT_EXCEEDED, TEXT_TOO_MANY_CALLS, operations->max);
        else if (!operations->permits(&operation->deed, &credentials, operations->userdata, &error))
                refuse(operation, ERROR_ACCESS_DENIED, "%s", error);
        else
                doubt(operation);

        return 0;
}

int operation_start(Operations *operations, sd_bus_message *message, Deed deed, OperationRun run,
                    sd_bus_error *ret_error) {
        const char *sender = sd_bus_message_get_sender(message);
        unsigned n_before = count_of_sender(operations, sender);
        Operation *operation = g_new0(Operation, 1);
        int r;

        operation->operations = operations;
        operation->run = run;
        operation->deed = deed;
        operation->message = sd_bus_message_ref(message);
        operation->link.data = operation;
        g_queue_push_tail_link(&operations->running, &operation->link);

        if (n_before >= operations->max) {
                refuse(operation, ERROR_LIMIT_EXCEEDED, TEXT_TOO_MANY_CALLS, operations->max);
                return 1;
        }

        r = credentials_ask(operations->bus, sender, on_credentials, operation, &operation->slot);
        if (r < 0) {
                operation_free(operation);
                return r;
        }

        return 1;
}
