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
#include "service/arguments.h"
#include "service/credentials.h"
#include "service/errors.h"
#include "service/operation.h"
#include "service/polkit.h"
#include "service/turns.h"

/* A dbus-daemon allows a connection 128. */
#define QUESTIONS_MAX 24u
#define QUESTIONS_OF_A_USER_MAX 4u

/* As much as a tree file may have. */
#define WAITING_MIB_MAX 64u

#define TOO_LARGE "calls of yours with more than %u MiB would be waiting to be answered; wait for one of them"

struct Operations {
        sd_bus *bus;
        unsigned max; /* of one caller */
        OperationPermits permits;
        void *userdata;
        GQueue running; /* of Operation */
        Turns *turns;
        bool open;
};

typedef struct Operation {
        Turn turn; /* first: its turn is the operation's */
        Operations *operations;
        GList link;
        Deed deed;
        OperationRun run;
        char *sender;
        sd_bus_message *message; /* NULL: it has been refused, and is only to be logged */
        sd_bus_error refusal;    /* then */
        size_t size;             /* of what it carries */
        sd_bus_slot *slot;       /* of the question to the bus */
        Credentials credentials;
        bool doubted; /* polkit has to be asked */
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
        operations->turns = turns_new(context, on_turn, NULL, NULL);
        return operations;
}

static void operation_free(Operation *operation) {
        g_queue_unlink(&operation->operations->running, &operation->link);
        turn_drop(&operation->turn);
        polkit_question_free(operation->question);
        sd_bus_slot_unref(operation->slot);
        sd_bus_message_unref(operation->message);
        sd_bus_error_free(&operation->refusal);
        g_free(operation->sender);
        deed_clear(&operation->deed);
        credentials_clear(&operation->credentials);
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

static void reply(Operation *operation, int r, const sd_bus_error *error) {
        if (sd_bus_error_is_set(error))
                (void) sd_bus_reply_method_error(operation->message, error);
        else if (r < 0)
                (void) sd_bus_reply_method_errno(operation->message, r, NULL);
}

static void finish_with(Operation *operation, int r, const sd_bus_error *error) {
        reply(operation, r, error);
        operation_free(operation);
}

/* "UID 1000, PID 4711 (btctl)" */
static char *describe_caller(const Operation *operation) {
        const Caller *who = &operation->who;

        if (!who->text)
                return g_strdup_printf("the caller %s", operation->sender);

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

/* Who is on a terminal asks again, and is asked then: "cannot be asked to here" is for him, not for the log. */
static void log_refusal(const Operation *operation, const sd_bus_error *error) {
        g_autofree char *deed = deed_describe(&operation->deed), *caller = describe_caller(operation);
        bool asks = sd_bus_error_has_name(error, SD_BUS_ERROR_INTERACTIVE_AUTHORIZATION_REQUIRED);

        log_message(LOG_NOTICE, &(LogSubject){ .tree = operation->deed.tree, .run = operation->deed.run },
                    "%s was not allowed to %s%s%s", caller, deed, asks ? " without a password" : ": ",
                    asks ? "" : error->message);
}

static void refuse_with(Operation *operation, const sd_bus_error *error) {
        log_refusal(operation, error);
        finish_with(operation, 0, error);
}

static void G_GNUC_PRINTF(3, 4) refuse(Operation *operation, const char *name, const char *format, ...) {
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        va_list args;

        va_start(args, format);
        (void) sd_bus_error_setfv(&error, name, format, args);
        va_end(args);
        refuse_with(operation, &error);
}

static bool is_trusted(const Operation *operation) {
        return operation->credentials.uid == 0 || operation->credentials.uid == geteuid();
}

/* False: it has been refused. */
static bool check_permitted(Operation *operation) {
        const Operations *operations = operation->operations;
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;

        if (operations->permits(&operation->deed, &operation->credentials, operations->userdata, &error) >= 0)
                return true;

        refuse_with(operation, &error);
        return false;
}

/* Much may have changed while polkit was asked. */
static void on_turn(Turn *turn) {
        Operation *operation = (Operation *) turn;
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        int r;

        if (!is_trusted(operation) && !check_permitted(operation))
                return;

        r = operation->run(operation->message, &operation->who, operation->operations->userdata, &error);
        log_carried_out(operation, r, &error);
        finish_with(operation, r, &error);
}

static void carry_out(Operation *operation) {
        operation->doubted = false;
        turns_add(operation->operations->turns, &operation->turn, operation->sender);
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

static void on_polkit_answered(PolkitAnswer answer, void *userdata);

static void ask_polkit(Operation *operation) {
        bool interactive = sd_bus_message_get_allow_interactive_authorization(operation->message) > 0;
        int r = polkit_ask(operation->operations->bus, operation->sender, &operation->deed, interactive,
                           on_polkit_answered, operation, &operation->question);

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
        for (GList *link = operations->open ? operations->running.head : NULL, *next; link; link = next) {
                Operation *operation = link->data;

                next = link->next;
                if (operation->doubted && !operation->question && may_ask_now(operation) && check_permitted(operation))
                        ask_polkit(operation);
        }
}

static void doubt(Operation *operation) {
        operation->doubted = true;
        ask_those_that_wait(operation->operations);
}

void operations_open(Operations *operations) {
        operations->open = true;
        turns_open(operations->turns);
        ask_those_that_wait(operations);
}

static void on_polkit_answered(PolkitAnswer answer, void *userdata) {
        Operation *operation = userdata;
        Operations *operations = operation->operations;

        g_clear_pointer(&operation->question, polkit_question_free);
        take_answer(operation, answer);
        ask_those_that_wait(operations);
}

static bool is_of_sender(const Operation *one, const Operation *other) {
        return g_str_equal(one->sender, other->sender);
}

static bool is_of_user(const Operation *one, const Operation *other) {
        return other->who.text && one->who.uid == other->who.uid;
}

/* Does it wait with too many others, or they with too much? */
static bool is_too_much(const Operation *operation, bool (*is_with)(const Operation *one, const Operation *other),
                        sd_bus_error *ret_error) {
        unsigned n = 0, max = operation->operations->max;
        size_t size = 0;

        for (const GList *link = operation->operations->running.head; link; link = link->next) {
                const Operation *other = link->data;

                if (!other->message || !is_with(operation, other))
                        continue;

                n++;
                size += other->size;
        }

        if (n > max)
                (void) sd_bus_error_setf(ret_error, ERROR_LIMIT_EXCEEDED, TEXT_TOO_MANY_CALLS, max);
        else if (size >> 20 >= WAITING_MIB_MAX && n > 1)
                (void) sd_bus_error_setf(ret_error, ERROR_LIMIT_EXCEEDED, TOO_LARGE, WAITING_MIB_MAX);

        return sd_bus_error_is_set(ret_error);
}

/* False: with the error. */
static bool learn_caller(Operation *operation, sd_bus_message *reply, sd_bus_error *ret_error) {
        Credentials *credentials = &operation->credentials;

        if (sd_bus_message_is_method_error(reply, NULL)) {
                (void) sd_bus_error_setf(ret_error, ERROR_ACCESS_DENIED, "the bus does not tell who asks: %s",
                                         sd_bus_message_get_error(reply)->message);
                return false;
        }
        if (credentials_read(reply, credentials) < 0 || !credentials->known) {
                (void) sd_bus_error_set(ret_error, ERROR_ACCESS_DENIED, "the bus does not tell who asks");
                return false;
        }

        caller_init(&operation->who, credentials->uid, credentials->pid);
        return true;
}

static int on_credentials(sd_bus_message *answer, void *userdata, sd_bus_error *unused) {
        Operation *operation = userdata;
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        bool known = learn_caller(operation, answer, &error);

        if (!operation->message) {
                log_refusal(operation, &operation->refusal);
                operation_free(operation);
        } else if (!known) {
                refuse_with(operation, &error);
        } else if (is_trusted(operation)) {
                carry_out(operation);
        } else if (is_too_much(operation, is_of_user, &error)) {
                refuse_with(operation, &error);
        } else {
                doubt(operation);
        }

        return 0;
}

/* Answered at once; who it was is still to be found out, for the log. */
static void turn_away(Operation *operation) {
        reply(operation, 0, &operation->refusal);
        operation->message = sd_bus_message_unref(operation->message);
}

int operation_start(Operations *operations, sd_bus_message *message, Deed deed, OperationRun run,
                    sd_bus_error *ret_error) {
        Operation *operation = g_new0(Operation, 1);
        int r;

        operation->operations = operations;
        operation->run = run;
        operation->deed = deed;
        operation->sender = g_strdup(sd_bus_message_get_sender(message));
        operation->message = sd_bus_message_ref(message);
        operation->size = arguments_size(message);
        operation->link.data = operation;
        g_queue_push_tail_link(&operations->running, &operation->link);
        if (is_too_much(operation, is_of_sender, &operation->refusal))
                turn_away(operation);

        r = credentials_ask(operations->bus, operation->sender, on_credentials, operation, &operation->slot);
        if (r < 0) {
                operation_free(operation);
                return r;
        }

        return 1;
}
