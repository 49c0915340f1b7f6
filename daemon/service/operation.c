/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Implements operations: method calls that change something. One object owns the message until its reply, and what it
 * waits for meanwhile: the reply of the bus, that of polkit, its turn.
 *
 * A question to polkit can take minutes while a user types a password, and a dbus-daemon limits the calls of a
 * connection. So the number of questions at a time is limited, in total and per user; further questions wait.
 */

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "basic/later.h"
#include "basic/log.h"
#include "runtime/manager.h"
#include "service/arguments.h"
#include "service/credentials.h"
#include "service/errors.h"
#include "service/operation.h"
#include "service/permission.h"
#include "service/polkit.h"
#include "service/turns.h"

/* A dbus-daemon allows 128 pending calls per connection. */
#define QUESTIONS_MAX 24u
#define QUESTIONS_OF_A_USER_MAX 4u

/* The same as the maximum size of a tree file. */
#define WAITING_MIB_MAX 64u
#define WAITING_MAX ((size_t) WAITING_MIB_MAX << 20)

/* Number of callers whose credentials are cached. Credentials do not change, and a bus does not reuse a unique name.
 * The cache is cleared when the connection is lost. */
#define CACHE_MAX 256u

/* So many refusals of a user are logged, and so many requests that are permitted, in so many seconds. */
#define LOGGED_MAX 20u
#define PERMITTED_LOGGED_MAX 300u
#define LOGGING_SEC 30u

#define TOO_LARGE "your calls that wait for a reply would exceed %u MiB; wait for one of the replies"

struct Operations {
        GMainContext *context;
        sd_bus *bus;
        Workers *workers;
        Users *users;
        GSource *unlogged; /* tells how many requests were not logged; NULL: all were */
        unsigned max;      /* limit per caller */
        OperationPermits permits;
        void *userdata;
        GQueue running;    /* Operation */
        GHashTable *cache; /* unique name -> CachedCaller */
        Turns *turns;
        unsigned n_delayed;
        bool open;
};

typedef struct CachedCaller {
        Credentials credentials;
        Caller who;
} CachedCaller;

struct Operation {
        Turn turn; /* must be the first member: the operation's place in the queue */
        Operations *operations;
        GList link;
        Request request;
        OperationRun run;
        OperationBegin begin; /* used instead of run */
        void *waits;          /* data of the work that it has begun; NULL: none, or it has ended */
        GDestroyNotify drop;
        char *sender;
        sd_bus_message *message; /* NULL: refused; only the log message is missing */
        sd_bus_error refusal;    /* the error of a refused call */
        size_t size;             /* of the message's arguments, if it was measured */
        bool measured;
        sd_bus_slot *slot; /* of the call to the bus */
        Credentials credentials;
        Accounts *accounts; /* accounts that the tree names; NULL: not needed so far */
        bool needs_polkit;  /* polkit decides, and has not yet */
        bool delayed;       /* waits for operations_retry() */
        bool logged;        /* the log says who asked for what */
        PolkitQuestion *question;
        Caller who;
};

static bool on_turn(Turn *turn, int64_t until);

static void cached_caller_free(void *data) {
        CachedCaller *cached = data;

        credentials_clear(&cached->credentials);
        caller_clear(&cached->who);
        g_free(cached);
}

Operations *operations_new(GMainContext *context, sd_bus *bus, Workers *workers, Users *users, unsigned max,
                           OperationPermits permits, void *userdata) {
        Operations *operations = g_new0(Operations, 1);

        operations->bus = sd_bus_ref(bus);
        operations->context = context;
        operations->workers = workers;
        operations->users = users;
        operations->max = max;
        operations->permits = permits;
        operations->userdata = userdata;
        operations->cache = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, cached_caller_free);
        operations->turns = turns_new(context, on_turn, NULL, false, NULL);
        return operations;
}

static void tell_number(const User *user, unsigned n, const char *what) {
        if (n > 0)
                log_notice("UID %" PRIu32 ": %u more request%s %s, which %s not logged one by one", user->uid, n,
                           n == 1 ? " was" : "s were", what, n == 1 ? "is" : "are");
}

/* How many requests of each user are not in the log. Then users can have lines of their own again. */
static void tell_unlogged(Operations *operations) {
        g_autoptr(GPtrArray) users = operations->unlogged ? users_list(operations->users) : NULL;

        for (unsigned i = 0; users && i < users->len; i++) {
                User *user = users->pdata[i];

                tell_number(user, user->n_unlogged, "refused");
                tell_number(user, user->n_untold, "permitted");
                user->n_logged = user->n_unlogged = user->n_permitted = user->n_untold = 0;
        }
        g_clear_pointer(&operations->unlogged, g_source_destroy);
}

static gboolean on_unlogged(void *userdata) {
        tell_unlogged(userdata);
        return G_SOURCE_REMOVE;
}

/* A user can send thousands of requests a second, and journald drops what else btd says then. */
static bool may_log(const Operation *operation, bool permitted) {
        Operations *operations = operation->operations;
        User *user = users_get(operations->users, operation->who.text ? operation->who.uid : UINT32_MAX);
        int64_t now = g_get_monotonic_time();
        unsigned *n;

        if (!user || !limits_bind(user->uid))
                return true;

        if (now - user->logging_since > LOGGING_SEC * G_USEC_PER_SEC && user->n_unlogged == 0 && user->n_untold == 0) {
                user->logging_since = now;
                user->n_logged = user->n_permitted = 0;
        }
        n = permitted ? &user->n_permitted : &user->n_logged;
        if (*n < (permitted ? PERMITTED_LOGGED_MAX : LOGGED_MAX)) {
                *n += 1;
                return true;
        }

        *(permitted ? &user->n_untold : &user->n_unlogged) += 1;
        if (!operations->unlogged)
                operations->unlogged = call_later(operations->context, LOGGING_SEC * 1000, on_unlogged, operations);
        return false;
}

static void count_refused(const Operation *operation) {
        User *user = users_get(operation->operations->users, operation->who.text ? operation->who.uid : UINT32_MAX);

        if (user)
                user->refused++;
}

static void operation_free(Operation *operation) {
        g_queue_unlink(&operation->operations->running, &operation->link);
        operation->operations->n_delayed -= operation->delayed;
        turn_drop(&operation->turn);
        if (operation->waits)
                operation->drop(operation->waits);
        polkit_question_free(operation->question);
        accounts_free(operation->accounts);
        sd_bus_slot_unref(operation->slot);
        sd_bus_message_unref(operation->message);
        sd_bus_error_free(&operation->refusal);
        g_free(operation->sender);
        request_clear(&operation->request);
        credentials_clear(&operation->credentials);
        caller_clear(&operation->who);
        g_free(operation);
}

void operations_free(Operations *operations) {
        if (!operations)
                return;

        while (operations->running.head)
                operation_free(operations->running.head->data);
        tell_unlogged(operations);
        turns_free(operations->turns);
        g_hash_table_unref(operations->cache);
        sd_bus_unref(operations->bus);
        g_free(operations);
}

static void finish_with(Operation *operation, int r, const sd_bus_error *error) {
        if (sd_bus_error_is_set(error))
                (void) sd_bus_reply_method_error(operation->message, error);
        else if (r < 0)
                error_reply(operation->message, r);
        operation_free(operation);
}

/* For example "UID 1000, PID 4711 (btctl)". */
static char *describe_caller(const Operation *operation) {
        const Caller *who = &operation->who;

        if (!who->text)
                return g_strdup_printf("the caller %s", operation->sender);

        return g_strdup_printf("UID %" PRIu32 ", PID %" PRIu32 "%s%s%s", who->uid, who->pid, who->command ? " (" : "",
                               who->command ?: "", who->command ? ")" : "");
}

/* Before the request is carried out, so that its effects are logged after it. A delayed request is logged once. */
static void log_request(Operation *operation) {
        g_autofree char *caller = describe_caller(operation), *request = request_describe(&operation->request);
        LogSubject subject = { .tree = operation->request.tree, .run = operation->request.run };

        if (!operation->logged && may_log(operation, true))
                log_message(LOG_INFO, &subject, "%s asked to %s", caller, request);
        operation->logged = true;
}

/* btctl on a terminal repeats the call interactively. The text about authentication is for that caller, so leave
 * it out of the log. */
static void log_refusal(const Operation *operation, const sd_bus_error *error) {
        g_autofree char *request = request_describe(&operation->request), *caller = describe_caller(operation);
        bool asks = sd_bus_error_has_name(error, SD_BUS_ERROR_INTERACTIVE_AUTHORIZATION_REQUIRED);

        count_refused(operation);
        if (!may_log(operation, false))
                return;

        log_message(LOG_NOTICE, &(LogSubject){ .tree = operation->request.tree, .run = operation->request.run },
                    "%s was not allowed to %s%s%s", caller, request, asks ? " without a password" : ": ",
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

typedef enum Permitted {
        PERMITTED_YES,
        PERMITTED_NO, /* refused, with a reply */
        PERMITTED_NOT_YET,
} Permitted;

static void on_accounts_known(void *userdata);

static bool is_looking_up(const Operation *operation) {
        return operation->accounts && accounts_are_looked_up(operation->accounts);
}

static Permitted check_permitted(Operation *operation) {
        const Operations *operations = operation->operations;
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        int r;

        if (is_looking_up(operation))
                return PERMITTED_NOT_YET;

        operation->accounts = operation->accounts ?: accounts_new();
        r = operations->permits(&operation->request, &operation->credentials, operation->accounts, operations->userdata,
                                &error);
        if (r >= 0)
                return PERMITTED_YES;
        if (r == TREE_ACCESS_NOT_KNOWN) {
                accounts_look_up(operation->accounts, operations->workers, on_accounts_known, operation);
                return PERMITTED_NOT_YET;
        }

        refuse_with(operation, &error);
        return PERMITTED_NO;
}

/* True: an earlier call of the same caller is delayed. Calls of one caller are done in order. */
static bool is_behind_delayed(const Operation *operation) {
        const Operations *operations = operation->operations;

        for (const GList *link = operations->n_delayed > 0 ? operations->running.head : NULL; link; link = link->next) {
                const Operation *other = link->data;

                if (other->delayed && g_str_equal(other->sender, operation->sender))
                        return true;
        }

        return false;
}

static void delay(Operation *operation) {
        operation->delayed = true;
        operation->operations->n_delayed++;
}

void operations_retry(Operations *operations) {
        for (const GList *link = operations->n_delayed > 0 ? operations->running.head : NULL; link; link = link->next) {
                Operation *operation = link->data;

                if (!operation->delayed)
                        continue;

                operation->delayed = false;
                operations->n_delayed--;
                turns_add(operations->turns, &operation->turn, operation->who.uid, operation->sender);
        }
}

void operation_end(Operation *operation, int r, const sd_bus_error *error) {
        g_autofree char *caller = describe_caller(operation), *request = request_describe(&operation->request);
        LogSubject subject = { .tree = operation->request.tree, .run = operation->request.run };
        bool failed = sd_bus_error_is_set(error) || r < 0;

        operation->waits = NULL;
        if (failed)
                count_refused(operation);
        else
                log_request(operation);
        if (failed && may_log(operation, false))
                log_message(LOG_NOTICE, &subject, "%s asked to %s: %s", caller, request,
                            sd_bus_error_is_set(error) ? error->message : g_strerror(-r));
        finish_with(operation, r, error);
}

void operation_waits(Operation *operation, void *data, GDestroyNotify drop) {
        operation->waits = data;
        operation->drop = drop;
}

sd_bus_message *operation_message(const Operation *operation) {
        return operation->message;
}

/* Check again: the state may have changed while polkit was asked. */
static bool on_turn(Turn *turn, int64_t until) {
        Operation *operation = (Operation *) turn;
        void *userdata = operation->operations->userdata;
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        Permitted permitted;
        const User *user;
        int r;

        if (is_behind_delayed(operation)) {
                delay(operation);
                return true;
        }
        permitted = is_trusted(operation) ? PERMITTED_YES : check_permitted(operation);
        if (permitted == PERMITTED_NOT_YET)
                delay(operation);
        if (permitted != PERMITTED_YES)
                return true;

        /* Once refusals of a user are not logged any more, a request is logged when it has succeeded. */
        user = users_get(operation->operations->users, operation->who.uid);
        if (!user || user->n_unlogged == 0)
                log_request(operation);
        r = operation->begin ? operation->begin(operation, operation->message, &operation->who, userdata, &error)
                             : operation->run(operation->message, &operation->who, userdata, &error);
        if (r == MANAGER_NOT_YET) {
                (void) sd_bus_message_rewind(operation->message, true);
                delay(operation);
        } else if (!operation->waits) {
                operation_end(operation, r, &error);
        }
        return true;
}

static void carry_out(Operation *operation) {
        operation->needs_polkit = false;
        turns_add(operation->operations->turns, &operation->turn, operation->who.uid, operation->sender);
}

static void take_answer(Operation *operation, PolkitAnswer answer) {
        g_autofree char *request = request_describe(&operation->request);
        const char *action = permission_action(operation->request.permission);
        bool interactive;

        switch (answer) {
        case POLKIT_YES:
                carry_out(operation);
                break;
        case POLKIT_NO:
                refuse(operation, ERROR_ACCESS_DENIED, "you may not %s: polkit refuses %s", request, action);
                break;
        case POLKIT_CHALLENGE:
                interactive = sd_bus_message_get_allow_interactive_authorization(operation->message) > 0;
                refuse(operation, SD_BUS_ERROR_INTERACTIVE_AUTHORIZATION_REQUIRED,
                       "to %s, you have to authenticate for %s; %s, or call as root", request, action,
                       interactive ? "run an authentication agent such as pkttyagent in your session"
                                   : "let the call allow interactive authorization");
                break;
        case POLKIT_FAILED:
                refuse(operation, ERROR_ACCESS_DENIED,
                       "only root may %s: polkit, which could permit %s to others, could not decide; has the caller "
                       "left "
                       "the bus?",
                       request, action);
                break;
        case POLKIT_ABSENT:
                refuse(operation, ERROR_ACCESS_DENIED,
                       "only root may %s: polkit, which could permit %s to others, is not running", request, action);
                break;
        case POLKIT_LEFT_OUT:
                refuse(operation, ERROR_ACCESS_DENIED,
                       "only root may %s: this btd was built without polkit, which could permit %s to others", request,
                       action);
                break;
        }
}

static void on_polkit_answered(PolkitAnswer answer, void *userdata);

static bool may_ask_now(const Operation *operation) {
        unsigned all = 0, of_user = 0;

        for (const GList *link = operation->operations->running.head; link; link = link->next) {
                const Operation *other = link->data;

                all += other->question != NULL;
                of_user += other->question && other->who.uid == operation->who.uid;
        }

        return all < QUESTIONS_MAX && of_user < QUESTIONS_OF_A_USER_MAX;
}

static void ask_polkit_for_waiting(Operations *operations) {
        for (GList *link = operations->open ? operations->running.head : NULL, *next; link; link = next) {
                Operation *operation = link->data;
                bool interactive;
                int r;

                next = link->next;
                if (!operation->needs_polkit || operation->question || is_looking_up(operation) ||
                    !may_ask_now(operation) || check_permitted(operation) != PERMITTED_YES)
                        continue;

                interactive = sd_bus_message_get_allow_interactive_authorization(operation->message) > 0;
                r = polkit_ask(operations->bus, operation->sender, &operation->request, interactive, on_polkit_answered,
                               operation, &operation->question);
                if (r == -EOPNOTSUPP)
                        take_answer(operation, POLKIT_LEFT_OUT);
                else if (r < 0)
                        finish_with(operation, r, NULL);
        }
}

/* Continue: ask polkit, or run the operation if polkit has already permitted it. */
static void on_accounts_known(void *userdata) {
        Operations *operations = ((Operation *) userdata)->operations;

        if (((const Operation *) userdata)->delayed)
                operations_retry(operations);
        else
                ask_polkit_for_waiting(operations);
}

void operations_open(Operations *operations) {
        operations->open = true;
        turns_open(operations->turns);
        ask_polkit_for_waiting(operations);
}

static void on_polkit_answered(PolkitAnswer answer, void *userdata) {
        Operation *operation = userdata;
        Operations *operations = operation->operations;

        g_clear_pointer(&operation->question, polkit_question_free);
        take_answer(operation, answer);
        ask_polkit_for_waiting(operations);
}

/* Measures a message only when it matters: sd-bus checks each text that it reads, which takes milliseconds for a long
 * one. */
static size_t size_of(Operation *operation) {
        if (!operation->measured)
                operation->size = arguments_size(operation->message, WAITING_MAX);
        operation->measured = true;
        return operation->size;
}

/* Do too many calls of this caller, or of its user, wait, or calls with too much data? A single call never has too
 * much. */
static bool is_too_much(Operation *operation, bool of_user, sd_bus_error *ret_error) {
        unsigned n = 0, max = operation->operations->max;
        size_t size = 0;

        for (const GList *link = operation->operations->running.head; link; link = link->next) {
                Operation *other = link->data;
                bool counts = of_user ? other->who.text && operation->who.uid == other->who.uid
                                      : g_str_equal(operation->sender, other->sender);

                if (!other->message || !counts)
                        continue;

                n++;
                if (other != operation)
                        size += size_of(other);
        }

        if (n > 1)
                size += size_of(operation);
        if (n > max)
                (void) sd_bus_error_setf(ret_error, ERROR_LIMIT_EXCEEDED, TEXT_TOO_MANY_CALLS, max);
        else if (size >= WAITING_MAX && n > 1)
                (void) sd_bus_error_setf(ret_error, ERROR_LIMIT_EXCEEDED, TOO_LARGE, WAITING_MIB_MAX);

        return sd_bus_error_is_set(ret_error);
}

/* Returns the cached credentials; not if a call of the same caller still waits for them, because calls must stay in
 * order. */
static const CachedCaller *find_cached(const Operation *operation) {
        const Operations *operations = operation->operations;

        for (const GList *link = operations->running.head; link; link = link->next) {
                const Operation *other = link->data;

                if (other->slot && g_str_equal(other->sender, operation->sender))
                        return NULL;
        }

        return g_hash_table_lookup(operations->cache, operation->sender);
}

/* The credentials are known. */
static void decide(Operation *operation) {
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;

        if (!operation->message) {
                log_refusal(operation, &operation->refusal);
                operation_free(operation);
        } else if (is_trusted(operation)) {
                carry_out(operation);
        } else if (is_too_much(operation, true, &error)) {
                refuse_with(operation, &error);
        } else {
                operation->needs_polkit = true;
                ask_polkit_for_waiting(operation->operations);
        }
}

static int on_credentials(sd_bus_message *answer, void *userdata, sd_bus_error *unused) {
        Operation *operation = userdata;
        GHashTable *cache = operation->operations->cache;
        Credentials *credentials = &operation->credentials;
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        CachedCaller *cached;

        if (sd_bus_message_is_method_error(answer, NULL))
                (void) sd_bus_error_setf(&error, ERROR_ACCESS_DENIED, "the bus does not tell who asks: %s",
                                         sd_bus_message_get_error(answer)->message);
        else if (credentials_read(answer, credentials) < 0 || !credentials->known)
                (void) sd_bus_error_set(&error, ERROR_ACCESS_DENIED, "the bus does not tell who asks");
        operation->slot = sd_bus_slot_unref(operation->slot);

        if (!sd_bus_error_is_set(&error)) {
                caller_init(&operation->who, credentials->uid, credentials->pid);
                cached = g_new0(CachedCaller, 1);
                if (g_hash_table_size(cache) >= CACHE_MAX)
                        g_hash_table_remove_all(cache);
                credentials_copy(credentials, &cached->credentials);
                caller_copy(&operation->who, &cached->who);
                g_hash_table_replace(cache, g_strdup(operation->sender), cached);
        }
        if (sd_bus_error_is_set(&error) && operation->message)
                refuse_with(operation, &error);
        else
                decide(operation);

        return 0;
}

static int start(Operations *operations, sd_bus_message *message, Request request, OperationRun run,
                 OperationBegin begin) {
        Operation *operation = g_new0(Operation, 1);
        const CachedCaller *cached;
        int r;

        operation->operations = operations;
        operation->run = run;
        operation->begin = begin;
        operation->request = request;
        operation->sender = g_strdup(sd_bus_message_get_sender(message));
        operation->message = sd_bus_message_ref(message);
        operation->link.data = operation;
        g_queue_push_tail_link(&operations->running, &operation->link);
        /* The caller has its error at once. Its credentials are still needed for the log. */
        if (is_too_much(operation, false, &operation->refusal)) {
                (void) sd_bus_reply_method_error(operation->message, &operation->refusal);
                operation->message = sd_bus_message_unref(operation->message);
        }

        cached = find_cached(operation);
        if (cached) {
                credentials_copy(&cached->credentials, &operation->credentials);
                caller_copy(&cached->who, &operation->who);
                decide(operation);
                return 1;
        }

        r = credentials_ask(operations->bus, operation->sender, on_credentials, operation, &operation->slot);
        if (r < 0) {
                operation_free(operation);
                return r;
        }

        return 1;
}

int operation_start(Operations *operations, sd_bus_message *message, Request request, OperationRun run,
                    sd_bus_error *ret_error) {
        return start(operations, message, request, run, NULL);
}

int operation_start_long(Operations *operations, sd_bus_message *message, Request request, OperationBegin begin,
                         sd_bus_error *ret_error) {
        return start(operations, message, request, NULL, begin);
}
