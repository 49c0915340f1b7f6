/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <glib.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "basic/cleanup.h"
#include "bus.h"
#include "engine/types/types.h"
#include "event-queue.h"
#include "leaf-types/leaf-types.h"
#include "ledger.h"
#include "orders.h"
#include "record/run-record.h"
#include "run/replay.h"
#include "run/retry.h"
#include "trace.h"
#include "troubles.h"
#include "users.h"

#define MANAGER_PATH "/org/btd1"
#define MANAGER "org.btd1.Manager"

#define TOKENS 2u
#define RETRIES 20u
#define SPAN UINT64_C(3000000)

static struct {
        Dice dice;
        const char *directory;
        unsigned n_trees;
        GHashTable *questions; /* of Question, by cookie */
} users;

typedef struct Question {
        uint64_t cookie; /* first: the key */
        unsigned tree;
        char token[16];
        unsigned last; /* the last run of the token when the question was asked */
        bool must_know;
} Question;

/* polkit, which permits everything. */
static void on_called(Link *from, sd_bus_message *call) {
        sd_bus_message *reply = bus_reply_new(call);

        (void) sd_bus_message_append(reply, "(bba{ss})", 1, 0, 0);
        bus_reply(from, reply);
}

static const Peer polkit = { .name = "org.freedesktop.PolicyKit1", .unique = ":1.8", .called = on_called };

static unsigned throw(unsigned n) {
        return (unsigned) dice_below(&users.dice, n);
}

/* A user gives an instance or a token; the other one is NULL. */
static void start(unsigned tree, const char *instance, const char *token) {
        sd_bus_message *message =
                (throw(2) == 0 ? bus_message_to_daemon : bus_message_of_user)(MANAGER_PATH, MANAGER, "StartTree");
        char name[16];

        if (!message)
                return;

        (void) snprintf(name, sizeof(name), "t%u", tree);
        trace("a user starts %s with %s '%s'", name, instance ? "the instance" : "the token", instance ?: token);
        (void) sd_bus_message_append(message, "sa{sv}a{sv}", name, 0, 1, instance ? "instance" : "token", "s",
                                     instance ?: token);
        bus_call(message);
}

static void on_instance(void *userdata) {
        start(throw(users.n_trees), throw(2) == 0 ? "x" : "y", NULL);
}

/* Each has a token of its own, so that the user can repeat the call. */
static void on_replace(void *userdata) {
        sd_bus_message *message = bus_message_to_daemon(MANAGER_PATH, MANAGER, "StartTree");
        unsigned tree = throw(users.n_trees);
        char name[16], token[16];

        if (!message)
                return;

        orders_note_halt(tree);
        (void) snprintf(name, sizeof(name), "t%u", tree);
        (void) snprintf(token, sizeof(token), "r%u", throw(TOKENS));
        trace("a user starts %s with the token '%s' in place of another run", name, token);
        (void) sd_bus_message_append(message, "sa{sv}a{sv}", name, 0, 2, "token", "s", token, "replace", "b", 1);
        bus_call(message);
}

static gint compare_paths(gconstpointer a, gconstpointer b) {
        return strcmp(*(const char *const *) a, *(const char *const *) b);
}

/* NULL: no run has finished. To be freed. */
static char *pick_finished(void) {
        g_autofree char *path = g_build_filename(users.directory, "state", "history", NULL);
        g_autoptr(GPtrArray) files = g_ptr_array_new_with_free_func(g_free);
        g_autoptr(GDir) directory = g_dir_open(path, 0, NULL);
        const char *name;

        while (directory && (name = g_dir_read_name(directory)))
                if (g_str_has_suffix(name, RECORD_SUFFIX))
                        g_ptr_array_add(files, g_build_filename(path, name, NULL));

        g_ptr_array_sort(files, compare_paths);
        return files->len > 0 ? g_strdup(files->pdata[throw(files->len)]) : NULL;
}

/* With what has failed, or with any node. */
static RetryPlan *make_plan(const Run *run, uint32_t n_nodes) {
        for (unsigned i = 0; i < 10; i++) {
                g_autofree char *error = NULL;
                RetryPlan *plan;

                if (retry_plan_new(run, i == 0 ? NODE_NONE : n_nodes - 1 - throw(1 + n_nodes / 2), &plan, &error) >= 0)
                        return plan;
        }

        return NULL;
}

/* As btctl does it. A run of another engine may not be replayed, and a tree may have changed since. */
static bool retry(const char *path) {
        static const NodeType *const *const tables[] = { engine_types, leaf_types, NULL };
        g_autoptr(Definition) definition = NULL;
        g_autoptr(RunRecord) record = NULL;
        g_autofree char *error = NULL;
        g_autoptr(RetryPlan) plan = NULL;
        g_autoptr(Replay) replay = NULL;
        sd_bus_message *message;
        char token[16];

        if (run_record_read_file(path, false, UINT64_MAX, &record, &error) < 0 ||
            record_definition_new(&record->header, tables, &definition, &error) < 0 ||
            replay_new_after(record, definition, UINT64_MAX, &replay, &error) < 0 ||
            replay_until(replay, UINT64_MAX, &error) < 0 ||
            !(plan = make_plan(replay_run(replay), definition_tree(definition)->n_nodes)))
                return false;
        message = bus_message_to_daemon(MANAGER_PATH, MANAGER, "RetryTree");
        if (!message)
                return false;

        (void) snprintf(token, sizeof(token), "q%u", throw(2 * TOKENS));
        trace("a user starts what is left of %s: %u nodes are taken over", record->header.run, plan->taken->len);
        (void) sd_bus_message_append(message, "sa{sv}ss", record->header.tree, 0, record->header.run,
                                     record->header.hash);
        (void) sd_bus_message_append_array(message, 'u', plan->taken->data, plan->taken->len * sizeof(NodeId));
        (void) sd_bus_message_append(message, "a{sv}a{sv}", 1, "b", "x", (int64_t) 5, 1, "token", "s", token);
        bus_call(message);
        return true;
}

/* Until a run has failed, and a daemon is there. */
static void on_retry(void *userdata) {
        unsigned left = GPOINTER_TO_UINT(userdata);
        g_autofree char *path = pick_finished();

        if (left > 0 && !(path && retry(path)))
                event_queue_add(SPAN / 20, on_retry, GUINT_TO_POINTER(left - 1), NULL);
}

static void choose_token(char *token, size_t size) {
        (void) snprintf(token, size, "k%u", throw(TOKENS));
}

static void on_token(void *userdata) {
        char token[16];

        choose_token(token, sizeof(token));
        start(throw(users.n_trees), NULL, token);
}

static void on_question(void *userdata) {
        sd_bus_message *message = bus_message_to_daemon(MANAGER_PATH, MANAGER, "GetOutcome");
        Question *question;
        char tree[16];

        if (!message)
                return;

        question = g_new0(Question, 1);
        question->tree = throw(users.n_trees);
        choose_token(question->token, sizeof(question->token));
        question->last = orders_last_of_token(question->tree, question->token);
        question->must_know = orders_must_know(question->tree, question->token);
        (void) snprintf(tree, sizeof(tree), "t%u", question->tree);
        (void) sd_bus_message_append(message, "ssa{sv}", tree, question->token, 0);
        question->cookie = bus_ask(message);
        trace("a user asks for the outcome of '%s' of %s, last run %u: question %" PRIu64, question->token, tree,
              question->last, question->cookie);
        g_hash_table_insert(users.questions, &question->cookie, question);
}

static char *read_text(sd_bus_message *reply, const char *wanted) {
        const char *name, *text;
        char *found = NULL;

        (void) sd_bus_message_rewind(reply, true);
        if (sd_bus_message_enter_container(reply, 'a', "{sv}") < 0)
                return NULL;

        while (!found && sd_bus_message_enter_container(reply, 'e', "sv") > 0) {
                if (sd_bus_message_read(reply, "s", &name) < 0)
                        break;
                if (g_str_equal(name, wanted) && sd_bus_message_read(reply, "v", "s", &text) >= 0)
                        found = g_strdup(text);
                else
                        (void) sd_bus_message_skip(reply, "v");
                (void) sd_bus_message_exit_container(reply);
        }

        return found;
}

static void check_outcome(const Question *question, sd_bus_message *reply) {
        g_autofree char *run = read_text(reply, "id"), *status = read_text(reply, "status");
        const char *dot = run ? strrchr(run, '.') : NULL, *known;
        unsigned number = dot ? (unsigned) g_ascii_strtoull(dot + 1, NULL, 10) : 0;

        trace("question %" PRIu64 ": %s is %s", question->cookie, run, status);
        if (!question->must_know)
                return;

        if (number < question->last && troubles_check(TROUBLE_FAR))
                violation("the outcome of '%s' is that of run %s, and t%u.%u was begun later", question->token, run,
                          question->tree, question->last);
        known = orders_status(question->tree, number);
        if (known && status && *status && !g_str_equal(status, "running") && !g_str_equal(status, known))
                violation("the outcome of %s is said to be %s, and its run record says %s", run, status, known);
}

void users_answered(sd_bus_message *reply) {
        const sd_bus_error *error = sd_bus_message_get_error(reply);
        const Question *question;
        uint64_t cookie;

        if (sd_bus_message_get_reply_cookie(reply, &cookie) < 0 ||
            !(question = g_hash_table_lookup(users.questions, &cookie)))
                return;

        if (!error) {
                check_outcome(question, reply);
        } else {
                trace("question %" PRIu64 ": %s", cookie, error->name);
                if (g_str_has_suffix(error->name, ".NoSuchRun") && question->must_know &&
                    orders_must_know(question->tree, question->token))
                        violation("the daemon does not know the token '%s' of t%u.%u: %s", question->token,
                                  question->tree, question->last, error->message);
        }
        g_hash_table_remove(users.questions, &cookie);
}

static void plan(unsigned n, EventDo what) {
        while (n-- > 0)
                event_queue_add(dice_below(&users.dice, throw(2) == 0 ? SPAN : SPAN / 10), what, NULL, NULL);
}

void users_open(const char *directory, unsigned n_trees) {
        users.directory = directory;
        users.n_trees = n_trees;
        users.questions = g_hash_table_new_full(g_int64_hash, g_int64_equal, NULL, g_free);
        bus_join(&polkit);
        if (troubles_have(TROUBLE_CUT)) {
                users.dice = troubles_dice(TROUBLE_CUT, 0);
                for (unsigned i = 0; i < n_trees; i++)
                        ledger_share(i);
                plan(2 + throw(4), on_instance);
        }
        if (troubles_have(TROUBLE_REPLACE)) {
                users.dice = troubles_dice(TROUBLE_REPLACE, 0);
                plan(4 + throw(8), on_replace);
        }
        if (troubles_have(TROUBLE_RETRY)) {
                users.dice = troubles_dice(TROUBLE_RETRY, 0);
                for (unsigned n = 2 + throw(4); n > 0; n--)
                        event_queue_add(dice_below(&users.dice, SPAN), on_retry, GUINT_TO_POINTER(RETRIES), NULL);
        }
        if (troubles_have(TROUBLE_TOKEN) || troubles_have(TROUBLE_FAR)) {
                users.dice = troubles_dice(TROUBLE_TOKEN, 0);
                plan(6 + throw(10), on_token);
                plan(6 + throw(10), on_question);
        }
}

void users_close(void) {
        g_clear_pointer(&users.questions, g_hash_table_unref);
}
