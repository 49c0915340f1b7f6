/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Owns the connection to btd, which is made when it is first needed, and makes messages of bus errors. */

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "client/bus/client.h"
#include "client/bus/interrupt.h"

/* polkit's agent for terminals, which asks for a password: pkttyagent(1). It lives as long as this. */
typedef struct Agent {
        pid_t pid;
} Agent;

extern char **environ;

/* Is there a person at a terminal who can be asked? */
static bool agent_is_of_use(void) {
        return isatty(STDIN_FILENO) && isatty(STDERR_FILENO);
}

/* The agent inherits only its own end of the pipe, and no blocked signals: agent_free() ends it with SIGTERM, which a
 * verb with a Watch has blocked. */
static int spawn(int ready, pid_t *ret_pid) {
        g_autofree char *notify = g_strdup_printf("--notify-fd=%d", ready),
                        *process = g_strdup_printf("--process=%jd", (intmax_t) getpid());
        char *argv[] = { (char *) "pkttyagent", notify, process, (char *) "--fallback", NULL };
        posix_spawnattr_t attributes;
        sigset_t none;
        int r;

        sigemptyset(&none);
        r = posix_spawnattr_init(&attributes);
        if (r != 0)
                return r;

        r = posix_spawnattr_setsigmask(&attributes, &none);
        if (r == 0)
                r = posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
        if (r == 0)
                r = posix_spawnp(ret_pid, argv[0], NULL, &attributes, argv, environ);
        posix_spawnattr_destroy(&attributes);
        return r;
}

/* NULL: it cannot be started. It says that it is ready by closing the descriptor that it is given for this. */
static Agent *agent_new(void) {
        g_auto(AutoFd) read_end = -1, write_end = -1;
        Agent *agent;
        int fds[2];
        pid_t pid;
        char byte;
        ssize_t n;

        if (pipe(fds) < 0)
                return NULL;

        read_end = fds[0];
        write_end = fds[1];
        if (fcntl(read_end, F_SETFD, FD_CLOEXEC) < 0 || spawn(write_end, &pid) != 0)
                return NULL;

        close(write_end);
        write_end = -1;
        do
                n = read(read_end, &byte, 1);
        while (n > 0 || (n < 0 && errno == EINTR));

        agent = g_new(Agent, 1);
        agent->pid = pid;
        return agent;
}

static void agent_free(Agent *agent) {
        if (!agent)
                return;

        kill(agent->pid, SIGTERM);
        while (waitpid(agent->pid, NULL, 0) < 0 && errno == EINTR)
                ;
        g_free(agent);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Agent, agent_free)

#define SYSTEMD_NAME "org.freedesktop.systemd1"
#define SYSTEMD_UNIT "/org/freedesktop/systemd1/unit/btd_2eservice"

/* How long a call waits for a btd that systemd starts, and how often it looks for it. */
#define START_USEC (30 * G_USEC_PER_SEC)
#define LOOK_USEC (50 * 1000)

/* How long the user may take to enter a password: a little longer than btd waits. */
#define PASSWORD_USEC (6 * 60 * UINT64_C(1000000))

void client_clear(Client *client) {
        options_clear(&client->options);
        g_clear_pointer(&client->next_daemon, g_free);
        client->bus = sd_bus_flush_close_unref(client->bus);
}

static int open_address(const char *address, sd_bus **ret_bus) {
        g_autoptr(sd_bus) bus = NULL;
        int r;

        r = sd_bus_new(&bus);
        if (r >= 0)
                r = sd_bus_set_address(bus, address);
        if (r >= 0)
                r = sd_bus_set_bus_client(bus, true);
        if (r >= 0)
                r = sd_bus_start(bus);
        if (r < 0)
                return r;

        *ret_bus = g_steal_pointer(&bus);
        return 0;
}

/* The bus that btd is expected on: "the bus at unix:path=/tmp/bus". */
static char *bus_description(const Options *options) {
        if (options_has(options, OPTION_ADDRESS))
                return g_strdup_printf("the bus at %s", options->values[OPTION_ADDRESS]);
        if (options_has(options, OPTION_HOST))
                return g_strdup_printf("the system bus of %s", options->values[OPTION_HOST]);
        if (options_has(options, OPTION_MACHINE))
                return g_strdup_printf("the system bus of the container %s", options->values[OPTION_MACHINE]);
        if (options_has(options, OPTION_USER))
                return g_strdup("the user's session bus");

        return g_strdup("the system bus");
}

int client_no_daemon(const Client *client) {
        g_autofree char *bus = bus_description(&client->options);

        if (options_has(&client->options, OPTION_ADDRESS))
                report_error("btd is not running on %s; start it with 'btd --address=ADDR'", bus);
        else if (options_has(&client->options, OPTION_HOST) || options_has(&client->options, OPTION_MACHINE))
                report_error("btd is not running on %s; start it there with 'systemctl start btd'", bus);
        else if (options_has(&client->options, OPTION_USER))
                report_error("btd is not running; start it with 'systemctl --user start btd'");
        else
                report_error("btd is not running; start it with 'systemctl start btd'");

        return EXIT_NO_DAEMON;
}

int client_lost_daemon(const Client *client) {
        if (options_has(&client->options, OPTION_ADDRESS))
                report_error("btd has exited");
        else if (options_has(&client->options, OPTION_USER))
                report_error("btd has exited; 'journalctl --user -u btd' may say why");
        else
                report_error("btd has exited; 'journalctl -u btd' may say why");

        return EXIT_NO_DAEMON;
}

int client_lost_bus(const Client *client) {
        g_autofree char *bus = bus_description(&client->options);

        report_error("the connection to %s was lost", bus);
        return EXIT_NO_DAEMON;
}

bool client_is_away(const sd_bus_error *error, int r) {
        return sd_bus_error_has_names(error, SD_BUS_ERROR_SERVICE_UNKNOWN, SD_BUS_ERROR_NAME_HAS_NO_OWNER,
                                      SD_BUS_ERROR_NO_REPLY, SD_BUS_ERROR_DISCONNECTED) ||
               r == -ECONNRESET || r == -ENOTCONN;
}

/* sd_bus_open*() only starts to connect; asking for the unique name waits for the bus. */
static int connect_bus(Client *client) {
        const Options *options = &client->options;
        int r;

        if (options_has(options, OPTION_ADDRESS))
                r = open_address(options->values[OPTION_ADDRESS], &client->bus);
        else if (options_has(options, OPTION_HOST))
                r = sd_bus_open_system_remote(&client->bus, options->values[OPTION_HOST]);
        else if (options_has(options, OPTION_MACHINE))
                r = sd_bus_open_system_machine(&client->bus, options->values[OPTION_MACHINE]);
        else if (options_has(options, OPTION_USER))
                r = sd_bus_open_user(&client->bus);
        else
                r = sd_bus_open_system(&client->bus);

        return r < 0 ? r : sd_bus_get_unique_name(client->bus, &(const char *){ NULL });
}

int client_connect(Client *client) {
        int r = client->bus ? 0 : connect_bus(client);
        g_autofree char *bus = r < 0 ? bus_description(&client->options) : NULL;
        const char *why;

        if (r >= 0)
                return EXIT_SUCCESS;

        /* The other side may close the connection before or after a message is sent, which gives different errors. */
        switch (r) {
        case -EHOSTDOWN:
                why = "no container of that name is running";
                break;
        case -ECONNRESET:
        case -ENOTCONN:
        case -EPIPE:
                why = "the connection was closed";
                break;
        default:
                why = g_strerror(-r);
        }

        report_error("cannot connect to %s: %s", bus, why);
        return EXIT_NO_DAEMON;
}

bool client_reconnect(Client *client) {
        client->bus = sd_bus_close_unref(client->bus);
        return connect_bus(client) >= 0;
}

int client_bad_message(int r) {
        return report_error("cannot read the message from btd (%s); are btd and btctl of the same version?",
                            g_strerror(-r));
}

static int call_failed(const Client *client, const sd_bus_error *error, int r) {
        if (sd_bus_error_has_names(error, SD_BUS_ERROR_SERVICE_UNKNOWN, SD_BUS_ERROR_NAME_HAS_NO_OWNER))
                return client_no_daemon(client);

        if (client_is_away(error, r))
                return sd_bus_is_open(client->bus) > 0 ? client_lost_daemon(client) : client_lost_bus(client);

        if (r == -ETIMEDOUT)
                return report_error("btd does not answer; see 'systemctl status btd'");

        if (sd_bus_error_has_name(error, BTD_STOPPING)) {
                report_error("%s", error->message);
                return EXIT_NO_DAEMON;
        }

        if (sd_bus_error_has_name(error, SD_BUS_ERROR_ACCESS_DENIED))
                return report_error("only root may do this; try it with sudo");

        if (sd_bus_error_has_name(error, SD_BUS_ERROR_UNKNOWN_OBJECT))
                return report_error("the tree or run no longer exists; 'btctl list' shows the trees and the runs");

        if (sd_bus_error_has_name(error, BTD_MISSING_INPUT))
                return report_missing_input(error->message);

        if (sd_bus_error_has_name(error, SD_BUS_ERROR_INTERACTIVE_AUTHORIZATION_REQUIRED))
                /* After the semicolon, the message of btd has advice for other programs; btctl gives its own. On a
                 * terminal, there was no agent to ask: it is not installed, or the user has no session. */
                return report_error("%.*s; try it %swith sudo", (int) strcspn(error->message, ";"), error->message,
                                    agent_is_of_use() ? "" : "on a terminal, or ");

        return report_error("%s", error->message ?: g_strerror(-r));
}

int client_message(Client *client, const char *path, const char *interface, const char *member,
                   sd_bus_message **ret_message) {
        g_autoptr(sd_bus_message) message = NULL;
        int status, r;

        status = client_connect(client);
        if (status != EXIT_SUCCESS)
                return status;

        r = sd_bus_message_new_method_call(client->bus, &message, BTD_NAME, path, interface, member);
        if (r >= 0)
                r = sd_bus_message_set_auto_start(message, false);
        if (r < 0)
                return client_bad_message(r);

        *ret_message = g_steal_pointer(&message);
        return EXIT_SUCCESS;
}

static int call(sd_bus *bus, sd_bus_message *message, uint64_t usec, sd_bus_error *error, sd_bus_message **ret_reply) {
        g_autoptr(Interrupt) interrupt G_GNUC_UNUSED = interrupt_new(NULL, NULL);

        return sd_bus_call(bus, message, usec, error, ret_reply);
}

/* The question for a password. */
typedef struct Question {
        const Agent *agent; /* NULL: it cannot be asked */
        bool cancelled;
} Question;

/* polkit refuses the call when its agent has gone. */
static void cancel_question(void *userdata) {
        Question *question = userdata;

        question->cancelled = true;
        kill(question->agent->pid, SIGTERM);
}

/* Sends the call. A verb that has a screen continues after Ctrl-C. */
static int call_with_question(const Client *client, sd_bus_message *message, Question *question, sd_bus_error *error,
                              sd_bus_message **ret_reply) {
        bool can_cancel = client->before_password && question->agent;
        g_autoptr(Interrupt) interrupt G_GNUC_UNUSED = interrupt_new(can_cancel ? cancel_question : NULL, question);

        return sd_bus_call(client->bus, message, PASSWORD_USEC, error, ret_reply);
}

static int copy_call(const Client *client, sd_bus_message *message, sd_bus_message **ret_copy) {
        g_autoptr(sd_bus_message) copy = NULL;
        int r;

        r = sd_bus_message_new_method_call(client->bus, &copy, BTD_NAME, sd_bus_message_get_path(message),
                                           sd_bus_message_get_interface(message), sd_bus_message_get_member(message));
        if (r >= 0)
                r = sd_bus_message_set_auto_start(copy, false);
        if (r >= 0)
                r = sd_bus_message_rewind(message, true);
        if (r >= 0)
                r = sd_bus_message_copy(copy, message, true);
        if (r < 0)
                return r;

        *ret_copy = g_steal_pointer(&copy);
        return 0;
}

/* Repeats the call and allows btd to ask the user for authorization. ret_cancelled: the user pressed Ctrl-C. */
static int call_again(Client *client, sd_bus_message *message, sd_bus_error *error, sd_bus_message **ret_reply,
                      bool *ret_cancelled) {
        g_autoptr(sd_bus_message) again = NULL;
        g_autoptr(Agent) agent = NULL;
        Question question = {};
        int r;

        if (client->before_password)
                client->before_password();
        agent = agent_new();

        r = copy_call(client, message, &again);
        if (r >= 0)
                r = sd_bus_message_set_allow_interactive_authorization(again, true);
        if (r < 0)
                return r;

        sd_bus_error_free(error);
        question.agent = agent;
        r = call_with_question(client, again, &question, error, ret_reply);
        *ret_cancelled = question.cancelled;
        return r;
}

static bool is_for_next(const sd_bus_error *error) {
        return sd_bus_error_has_names(error, SD_BUS_ERROR_SERVICE_UNKNOWN, SD_BUS_ERROR_NAME_HAS_NO_OWNER,
                                      BTD_STOPPING);
}

/* Whether systemd starts btd, or will do so soon: an upgrade restarts it. */
static bool is_coming(const Client *client) {
        g_autoptr(sd_bus_message) reply = NULL;
        g_autofree char *state = NULL, *type = NULL;
        const char *job;
        uint32_t id;

        if (sd_bus_get_property_string(client->bus, SYSTEMD_NAME, SYSTEMD_UNIT, SYSTEMD_NAME ".Unit", "ActiveState",
                                       NULL, &state) < 0 ||
            sd_bus_get_property(client->bus, SYSTEMD_NAME, SYSTEMD_UNIT, SYSTEMD_NAME ".Unit", "Job", NULL, &reply,
                                "(uo)") < 0 ||
            sd_bus_message_read(reply, "(uo)", &id, &job) < 0)
                return false;
        if (id == 0)
                return !g_str_equal(state, "inactive") && !g_str_equal(state, "failed");

        return sd_bus_get_property_string(client->bus, SYSTEMD_NAME, job, SYSTEMD_NAME ".Job", "JobType", NULL, &type) <
                       0 ||
               !g_str_equal(type, "stop");
}

/* Sends a call again that no btd has received, or that was refused because btd stops, until the next btd answers. */
static int call_next(Client *client, sd_bus_message *message, sd_bus_error *error, sd_bus_message **ret_reply) {
        g_autoptr(Interrupt) interrupt G_GNUC_UNUSED = interrupt_new(NULL, NULL);
        const int64_t end = g_get_monotonic_time() + START_USEC;
        int r;

        if (!client->output.quiet)
                report_error("btd is not running yet; waiting until systemd has started it");

        do {
                g_autoptr(sd_bus_message) next = NULL;

                g_usleep(LOOK_USEC);
                sd_bus_error_free(error);
                r = copy_call(client, message, &next);
                if (r >= 0)
                        r = call(client->bus, next, 0, error, ret_reply);
        } while (r < 0 && is_for_next(error) && g_get_monotonic_time() < end && is_coming(client));

        if (r >= 0) {
                g_free(client->next_daemon);
                client->next_daemon = client_find_daemon(client);
        }
        return r;
}

static int send_expecting(Client *client, sd_bus_message *message, const char *const *expected,
                          sd_bus_message **ret_reply) {
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        bool cancelled = false;
        int r;

        r = call(client->bus, message, 0, &error, ret_reply);
        if (r < 0 && is_for_next(&error) && is_coming(client))
                r = call_next(client, message, &error, ret_reply);
        if (r < 0 && sd_bus_error_has_name(&error, SD_BUS_ERROR_INTERACTIVE_AUTHORIZATION_REQUIRED) &&
            agent_is_of_use())
                r = call_again(client, message, &error, ret_reply, &cancelled);
        if (r < 0 && cancelled &&
            sd_bus_error_has_names(&error, "org.btd1.Error.AccessDenied",
                                   SD_BUS_ERROR_INTERACTIVE_AUTHORIZATION_REQUIRED))
                return report_error("nothing was changed, because the password was not entered");
        if (r < 0 && expected && error.name && g_strv_contains(expected, error.name))
                return EXIT_SUCCESS;
        if (r < 0)
                return call_failed(client, &error, r);

        return EXIT_SUCCESS;
}

int client_send(Client *client, sd_bus_message *message, sd_bus_message **ret_reply) {
        return send_expecting(client, message, NULL, ret_reply);
}

static int call_with(Client *client, const char *const *expected, sd_bus_message **ret_reply, const char *path,
                     const char *interface, const char *member, const char *types, va_list arguments) {
        g_autoptr(sd_bus_message) message = NULL;
        int status = client_message(client, path, interface, member, &message), r;

        if (status != EXIT_SUCCESS)
                return status;

        r = types ? sd_bus_message_appendv(message, types, arguments) : 0;
        return r < 0 ? client_bad_message(r) : send_expecting(client, message, expected, ret_reply);
}

int client_call(Client *client, sd_bus_message **ret_reply, const char *path, const char *interface, const char *member,
                const char *types, ...) {
        va_list arguments;
        int status;

        va_start(arguments, types);
        status = call_with(client, NULL, ret_reply, path, interface, member, types, arguments);
        va_end(arguments);
        return status;
}

int client_call_expecting(Client *client, const char *const *expected, sd_bus_message **ret_reply, const char *path,
                          const char *interface, const char *member, const char *types, ...) {
        va_list arguments;
        int status;

        va_start(arguments, types);
        status = call_with(client, expected, ret_reply, path, interface, member, types, arguments);
        va_end(arguments);
        return status;
}

int client_try(const Client *client, sd_bus_error *error, sd_bus_message **ret_reply, const char *member,
               const char *types, ...) {
        g_autoptr(sd_bus_message) message = NULL;
        va_list arguments;
        int r;

        r = sd_bus_message_new_method_call(client->bus, &message, BTD_NAME, BTD_PATH, BTD_MANAGER, member);
        if (r >= 0)
                r = sd_bus_message_set_auto_start(message, false);
        if (r < 0)
                return r;

        va_start(arguments, types);
        r = sd_bus_message_appendv(message, types, arguments);
        va_end(arguments);
        return r < 0 ? r : call(client->bus, message, 0, error, ret_reply);
}

int client_try_get(const Client *client, const char *run_path, const char *property, char type, void *ret_value) {
        g_autoptr(sd_bus_message) message = NULL, reply = NULL;
        int r;

        r = sd_bus_message_new_method_call(client->bus, &message, BTD_NAME, run_path, "org.freedesktop.DBus.Properties",
                                           "Get");
        if (r >= 0)
                r = sd_bus_message_set_auto_start(message, false);
        if (r >= 0)
                r = sd_bus_message_append(message, "ss", BTD_RUN, property);
        if (r >= 0)
                r = call(client->bus, message, 0, NULL, &reply);
        if (r >= 0)
                r = sd_bus_message_enter_container(reply, SD_BUS_TYPE_VARIANT, (char[]){ type, 0 });
        return r < 0 ? r : sd_bus_message_read_basic(reply, type, ret_value);
}

char *client_find_daemon(const Client *client) {
        g_autoptr(sd_bus_message) reply = NULL;
        const char *name;

        if (sd_bus_call_method(client->bus, "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus",
                               "GetNameOwner", NULL, &reply, "s", BTD_NAME) < 0 ||
            sd_bus_message_read(reply, "s", &name) < 0)
                return NULL;

        return g_strdup(name);
}

bool client_has_daemon(Client *client) {
        g_autofree char *owner = NULL;

        if (client->bus || client_reconnect(client))
                owner = client_find_daemon(client);
        else
                client->bus = sd_bus_close_unref(client->bus);

        return owner || (client->bus && is_coming(client));
}

int client_get(Client *client, const char *path, const char *interface, const char *property, const char *type,
               sd_bus_message **ret_reply) {
        g_autoptr(sd_bus_message) reply = NULL;
        int status, r;

        status = client_call(client, &reply, path, "org.freedesktop.DBus.Properties", "Get", "ss", interface, property);
        if (status != EXIT_SUCCESS)
                return status;

        r = sd_bus_message_enter_container(reply, SD_BUS_TYPE_VARIANT, type);
        if (r < 0)
                return client_bad_message(r);

        *ret_reply = g_steal_pointer(&reply);
        return EXIT_SUCCESS;
}

int client_get_string(Client *client, const char *path, const char *interface, const char *property, char **ret_text) {
        g_autoptr(sd_bus_message) reply = NULL;
        int status;

        status = client_get(client, path, interface, property, "s", &reply);
        return status != EXIT_SUCCESS ? status : client_read_string(reply, ret_text);
}

int client_get_strings(Client *client, const char *path, const char *interface, const char *property,
                       char ***ret_texts) {
        g_autoptr(sd_bus_message) reply = NULL;
        int status;

        status = client_get(client, path, interface, property, "as", &reply);
        return status != EXIT_SUCCESS ? status : client_read_strings(reply, ret_texts);
}

int client_read_string(sd_bus_message *message, char **ret_text) {
        const char *text;
        int r;

        r = sd_bus_message_read(message, "s", &text);
        if (r < 0)
                return client_bad_message(r);

        *ret_text = g_strdup(text);
        return EXIT_SUCCESS;
}

int client_read_strings(sd_bus_message *message, char ***ret_texts) {
        g_auto(GStrv) texts = NULL;
        int r;

        r = sd_bus_message_read_strv(message, &texts);
        if (r < 0)
                return client_bad_message(r);

        *ret_texts = texts ? g_steal_pointer(&texts) : g_new0(char *, 1);
        return EXIT_SUCCESS;
}

int client_read_record(sd_bus_message *message, const RecordField *fields) {
        int r = sd_bus_message_enter_container(message, 'a', "{sv}");

        if (r <= 0)
                return r;

        while ((r = sd_bus_message_enter_container(message, 'e', "sv")) > 0) {
                const RecordField *field = fields;
                const char *key;

                r = sd_bus_message_read(message, "s", &key);
                while (r >= 0 && field->key && strcmp(field->key, key) != 0)
                        field++;
                if (r >= 0)
                        r = field->key ? sd_bus_message_read(message, "v", field->type, field->value)
                                       : sd_bus_message_skip(message, "v");
                if (r >= 0)
                        r = sd_bus_message_exit_container(message);
                if (r < 0)
                        return r;
        }
        if (r >= 0)
                r = sd_bus_message_exit_container(message);
        return r < 0 ? r : 1;
}

void client_say(const Client *client, const char *format, ...) {
        g_autoptr(GString) line = g_string_new(NULL);
        g_autofree char *text = NULL;
        va_list arguments;

        if (client->output.quiet || client->output.json)
                return;

        va_start(arguments, format);
        text = g_strdup_vprintf(format, arguments);
        va_end(arguments);

        output_append(&client->output, line, STYLE_PLAIN, text);
        puts(line->str);
}
