/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tests what happens to calls while they wait for polkit, and for calls before them. The test is the other end of the
 * connection: the callers, the bus, and polkit. */

#include <errno.h>
#include <sys/socket.h>

#include "basic/cleanup.h"
#include "runtime/manager.h"
#include "service/errors.h"
#include "service/operation.h"

#define CALLER ":1.7"

typedef struct Stage {
        sd_bus *bus, *other;
        Workers *workers;
        Users *users;
        Operations *operations;
        uint32_t uid;             /* of the caller */
        bool forbidden;           /* by the tree */
        bool not_yet;             /* calls are delayed */
        sd_bus_message *question; /* to polkit */
        GString *done;            /* the calls that were tried and done, and the replies: "1? 1 " */
} Stage;

static int permits(Request *request, const Credentials *credentials, Accounts *accounts, void *userdata,
                   sd_bus_error *ret_error) {
        return ((Stage *) userdata)->forbidden ? sd_bus_error_set(ret_error, ERROR_ACCESS_DENIED, "forbidden") : 0;
}

static int do_call(sd_bus_message *message, const Caller *who, void *userdata, sd_bus_error *ret_error) {
        Stage *stage = userdata;
        uint32_t number;

        g_assert_cmpint(sd_bus_message_read(message, "u", &number), >, 0);
        g_string_append_printf(stage->done, "%u%s ", number, stage->not_yet ? "?" : "");
        return stage->not_yet ? MANAGER_NOT_YET : sd_bus_reply_method_return(message, NULL);
}

static int on_call(sd_bus_message *message, void *userdata, sd_bus_error *ret_error) {
        Request request = { .permission = PERMISSION_HALT, .tree = g_strdup("t") };

        return operation_start(((Stage *) userdata)->operations, message, request, do_call, ret_error);
}

/* Answers as the bus, and keeps what is asked of polkit. */
static int on_question(sd_bus_message *message, void *userdata, sd_bus_error *ret_error) {
        Stage *stage = userdata;

        if (sd_bus_message_is_method_call(message, NULL, "GetConnectionCredentials") > 0)
                return sd_bus_reply_method_return(message, "a{sv}", 1, "UnixUserID", "u", stage->uid);
        if (sd_bus_message_is_method_call(message, NULL, "CheckAuthorization") > 0) {
                g_assert_null(stage->question);
                stage->question = sd_bus_message_ref(message);
                return 1;
        }
        return 0;
}

/* Until nothing is left to do. */
static void turn(const Stage *stage) {
        while (sd_bus_process(stage->bus, NULL) > 0 || sd_bus_process(stage->other, NULL) > 0 ||
               g_main_context_iteration(NULL, FALSE))
                ;
}

static sd_bus *end_new(int fd) {
        sd_bus *bus = NULL;

        g_assert_cmpint(sd_bus_new(&bus), >=, 0);
        g_assert_cmpint(sd_bus_set_fd(bus, fd, fd), >=, 0);
        return bus;
}

static void set_up(Stage *stage, gconstpointer data) {
        sd_id128_t id;
        int fds[2];

        g_assert_cmpint(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds), ==, 0);
        stage->bus = end_new(fds[0]);
        stage->other = end_new(fds[1]);
        g_assert_cmpint(sd_id128_randomize(&id), >=, 0);
        g_assert_cmpint(sd_bus_set_server(stage->other, true, id), >=, 0);
        g_assert_cmpint(sd_bus_start(stage->bus), >=, 0);
        g_assert_cmpint(sd_bus_start(stage->other), >=, 0);
        while (sd_bus_is_ready(stage->bus) <= 0 || sd_bus_is_ready(stage->other) <= 0)
                turn(stage);
        g_assert_cmpint(sd_bus_add_object(stage->bus, NULL, "/t", on_call, stage), >=, 0);
        g_assert_cmpint(sd_bus_add_filter(stage->other, NULL, on_question, stage), >=, 0);
        stage->workers = workers_new(NULL, 1);
        stage->users = users_new(&limits_default);
        stage->operations = operations_new(NULL, stage->bus, stage->workers, stage->users, 10, permits, stage);
        operations_open(stage->operations);
        stage->done = g_string_new(NULL);
}

static void tear_down(Stage *stage, gconstpointer data) {
        operations_free(stage->operations);
        users_free(stage->users);
        workers_free(stage->workers);
        sd_bus_message_unref(stage->question);
        sd_bus_close_unref(stage->bus);
        sd_bus_close_unref(stage->other);
        g_string_free(stage->done, TRUE);
}

static int on_reply(sd_bus_message *reply, void *userdata, sd_bus_error *ret_error) {
        const sd_bus_error *error = sd_bus_message_get_error(reply);

        g_string_append_printf(((Stage *) userdata)->done, "%s ", error ? error->message : "ok");
        return 1;
}

static void call(Stage *stage, unsigned number) {
        g_autoptr(sd_bus_message) message = NULL;

        g_assert_cmpint(sd_bus_message_new_method_call(stage->other, &message, NULL, "/t", "org.example.T", "Halt"), >=,
                        0);
        g_assert_cmpint(sd_bus_message_set_sender(message, CALLER), >=, 0);
        g_assert_cmpint(sd_bus_message_append(message, "u", number), >=, 0);
        g_assert_cmpint(sd_bus_call_async(stage->other, NULL, message, on_reply, stage, 0), >=, 0);
        turn(stage);
}

/* Polkit permits it. */
static void permit(Stage *stage) {
        g_autoptr(sd_bus_message) question = g_steal_pointer(&stage->question);

        g_assert_nonnull(question);
        g_assert_cmpint(sd_bus_reply_method_return(question, "(bba{ss})", true, false, 0), >=, 0);
        turn(stage);
}

static void assert_done(const Stage *stage, const char *expected) {
        g_assert_cmpstr(stage->done->str, ==, expected);
        g_string_truncate(stage->done, 0);
}

static void test_permitted(Stage *stage, gconstpointer data) {
        stage->uid = 1000;
        call(stage, 1);
        assert_done(stage, "");
        permit(stage);
        assert_done(stage, "1 ok ");
}

/* The tree is changed while a user types a password. */
static void test_forbidden_meanwhile(Stage *stage, gconstpointer data) {
        stage->uid = 1000;
        call(stage, 1);
        stage->forbidden = true;
        permit(stage);
        assert_done(stage, "forbidden ");
}

/* A later call of the same caller waits, too. */
static void test_delayed(Stage *stage, gconstpointer data) {
        stage->not_yet = true;
        call(stage, 1);
        call(stage, 2);
        assert_done(stage, "1? ");
        stage->not_yet = false;
        call(stage, 3);
        assert_done(stage, "");
        operations_retry(stage->operations);
        turn(stage);
        assert_done(stage, "1 2 3 ok ok ok ");
}

/* Of many refusals of a user, only a few are logged; those of root all are. */
static void test_unlogged(Stage *stage, gconstpointer data) {
        const User *user = users_get(stage->users, 70000), *root = users_get(stage->users, 0);

        stage->uid = 70000;
        stage->forbidden = true;
        for (unsigned i = 0; i < 23; i++)
                call(stage, i);
        g_assert_cmpuint(user->refused, ==, 23);
        g_assert_cmpuint(user->n_logged, ==, 20);
        g_assert_cmpuint(user->n_unlogged, ==, 3);
        g_assert_cmpuint(root->n_unlogged, ==, 0);
}

/* The same for those that are permitted, but more of them. */
static void test_untold(Stage *stage, gconstpointer data) {
        const User *user = users_get(stage->users, 70000);

        stage->uid = 70000;
        for (unsigned i = 0; i < 302; i++) {
                call(stage, i);
                permit(stage);
        }
        g_assert_cmpuint(user->refused, ==, 0);
        g_assert_cmpuint(user->n_permitted, ==, 300);
        g_assert_cmpuint(user->n_untold, ==, 2);
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        errors_register();
        g_test_add("/operation/permitted", Stage, NULL, set_up, test_permitted, tear_down);
        g_test_add("/operation/forbidden-meanwhile", Stage, NULL, set_up, test_forbidden_meanwhile, tear_down);
        g_test_add("/operation/delayed", Stage, NULL, set_up, test_delayed, tear_down);
        g_test_add("/operation/unlogged", Stage, NULL, set_up, test_unlogged, tear_down);
        g_test_add("/operation/untold", Stage, NULL, set_up, test_untold, tear_down);
        return g_test_run();
}
