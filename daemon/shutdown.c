/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Stops btd: waits until the manager is idle or the timeout expires. Before that, asks systemd whether the machine goes
 * down, because systemd stops what runs watch and use beside btd, and sometimes before it.
 */

#include <signal.h>

#include "basic/cleanup.h"
#include "basic/log.h"
#include "leaf-types/unit.h"
#include "leaves/unit/systemd.h"
#include "run/waiters.h"
#include "shutdown.h"

/* How long runs in doubt wait for the answer of systemd, which may be busy; and how long the answer counts that the
 * machine goes down, until the signal comes. */
#define PATIENCE_USEC (5 * UINT64_C(1000) * 1000)
#define ASK_AGAIN_USEC (UINT64_C(1000) * 1000)

struct Shutdown {
        ShutdownOptions options;
        char *unit;          /* of btd; NULL: it is not part of one */
        Timer *timeout;      /* runs since the request to stop */
        Call *question;      /* to systemd */
        SystemdWait *wait;   /* since the request to stop, until systemd can be asked; NULL: it can, or never could */
        bool answered;       /* systemd was there, so it is worth waiting for */
        Timer *patience;     /* until the question is given up, or asked again */
        bool goes_down;      /* the machine, as far as is known */
        ShutdownKnown known; /* or NULL */
        void *known_userdata;
};

static void give_up(void *userdata) {
        Shutdown *shutdown = userdata;
        const GPtrArray *runs = runs_list(shutdown->options.manager->runs);

        for (unsigned i = 0; i < runs->len; i++) {
                const Run *run = g_ptr_array_index(runs, i);

                if (run_status(run) == STATUS_RUNNING)
                        log_message(LOG_WARNING, &(LogSubject){ .tree = run_tree(run), .run = run_id(run) },
                                    "has not ended in time; not waiting for it any longer");
        }

        if (shutdown->goes_down)
                manager_give_up(shutdown->options.manager);
        manager_abandon(shutdown->options.manager);
        manager_copy_records(shutdown->options.manager);
        shutdown->options.over(true, shutdown->options.userdata);
}

static void start_timeout(Shutdown *shutdown) {
        if (!shutdown->timeout)
                shutdown->timeout = timer_new(shutdown->options.timers, shutdown->options.timeout, give_up, shutdown);
}

static void drop_question(Shutdown *shutdown) {
        g_clear_pointer(&shutdown->question, call_free);
        g_clear_pointer(&shutdown->patience, timer_free);
}

/* Once btd stops, its runs end in their own order. */
static void end_doubts(Shutdown *shutdown) {
        ticker_ask(shutdown->options.manager->ticker);
        (void) ticker_resolve(shutdown->options.manager->ticker);
}

static void stop(Shutdown *shutdown, void (*how)(Manager *manager)) {
        Manager *manager = shutdown->options.manager;

        if (manager->stopping)
                return;

        start_timeout(shutdown);
        drop_question(shutdown);
        g_clear_pointer(&shutdown->wait, systemd_wait_free);
        how(manager);
        manager_hold(manager, false);
        end_doubts(shutdown);
}

/* Does not use systemd_get(), which waits for a systemd that is absent: there may never be one. The bus replies at once
 * if there is none; the state that a stopping systemd reports is good enough. */
static void ask(Shutdown *shutdown, Connection *connection, const char *path, const char *interface,
                const char *property, CallDone done) {
        g_autoptr(sd_bus_message) message =
                systemd_message(connection, path, "org.freedesktop.DBus.Properties", "Get", "ss", interface, property);

        call_free(shutdown->question);
        shutdown->question = connection_call(connection, message, done, shutdown);
}

static void ask_state(Shutdown *shutdown, Connection *connection, CallDone done) {
        ask(shutdown, connection, SYSTEMD_MANAGER_PATH, SYSTEMD_MANAGER, "SystemState", done);
}

static void leave(Shutdown *shutdown) {
        manager_copy_records(shutdown->options.manager);
        shutdown->options.over(false, shutdown->options.userdata);
}

static void on_job_type(sd_bus_message *reply, const sd_bus_error *error, void *userdata) {
        Shutdown *shutdown = userdata;
        const char *type;

        if (reply && sd_bus_message_read(reply, "v", "s", &type) >= 0 && g_str_equal(type, "restart"))
                shutdown->options.over(false, shutdown->options.userdata);
        else
                leave(shutdown);
}

/* After a restart, the next btd is there at once. */
static void on_job_of_stop(sd_bus_message *reply, const sd_bus_error *error, void *userdata) {
        Shutdown *shutdown = userdata;
        const char *path;
        uint32_t id = 0;

        if (reply && sd_bus_message_read(reply, "v", "(uo)", &id, &path) >= 0 && id > 0)
                ask(shutdown, shutdown->options.connection, path, SYSTEMD_JOB, "JobType", on_job_type);
        else
                leave(shutdown);
}

/* Make a round trip to PID 1 before exiting. systemd refuses requests if the sender has left the bus before it reads
 * them; its reply means that it has read all earlier ones. */
static void on_idle(void *userdata) {
        Shutdown *shutdown = userdata;
        Connection *connection = shutdown->options.connection;

        manager_abandon(shutdown->options.manager);
        if (shutdown->unit && shutdown->options.stored && connection_is_ready(connection)) {
                g_autofree char *path = unit_name_path(shutdown->unit);

                ask(shutdown, connection, path, SYSTEMD_UNIT, "Job", on_job_of_stop);
        } else {
                leave(shutdown);
        }
}

static void ask_in_doubt(void *userdata);

/* While the machine goes down, nothing happens until btd is stopped; but the shutdown can be cancelled. */
static void answer_doubts(Shutdown *shutdown, bool goes_down) {
        Manager *manager = shutdown->options.manager;
        ShutdownKnown known = g_steal_pointer(&shutdown->known);
        bool doubted;

        drop_question(shutdown);
        if (goes_down != shutdown->goes_down)
                log_notice(goes_down ? "the machine goes down: all runs wait until btd is stopped"
                                     : "the machine does not go down any more: all runs continue");
        shutdown->goes_down = goes_down;
        doubted = !goes_down && ticker_resolve(manager->ticker);
        manager_hold(manager, goes_down);
        if (goes_down)
                shutdown->patience = timer_new(shutdown->options.timers, ASK_AGAIN_USEC, ask_in_doubt, shutdown);
        else if (doubted && !shutdown->question)
                ask_in_doubt(shutdown);

        if (known)
                known(shutdown->known_userdata);
}

/* systemd has not said anything else. */
static void on_no_answer(void *userdata) {
        Shutdown *shutdown = userdata;

        answer_doubts(shutdown, shutdown->goes_down);
}

/* In rescue mode, btd can be up because an administrator has started it. */
static void on_own_job(sd_bus_message *reply, const sd_bus_error *error, void *userdata) {
        uint32_t id = 0;

        if (!reply) {
                on_no_answer(userdata);
                return;
        }

        if (sd_bus_message_enter_container(reply, SD_BUS_TYPE_VARIANT, "(uo)") >= 0)
                (void) sd_bus_message_read(reply, "(uo)", &id, NULL);
        answer_doubts(userdata, id > 0);
}

static const char *read_state(Shutdown *shutdown, sd_bus_message *reply) {
        const char *state = NULL;

        if (reply && sd_bus_message_read(reply, "v", "s", &state) >= 0)
                shutdown->answered = true;
        return state ?: "";
}

static void on_machine_state(sd_bus_message *reply, const sd_bus_error *error, void *userdata) {
        if (reply)
                answer_doubts(userdata, g_str_equal(read_state(userdata, reply), "stopping"));
        else
                on_no_answer(userdata);
}

static void on_state_in_doubt(sd_bus_message *reply, const sd_bus_error *error, void *userdata) {
        Shutdown *shutdown = userdata;
        const char *state = read_state(shutdown, reply);
        Connection *system = shutdown->options.user ? buses_find(shutdown->options.buses, "system") : NULL;
        g_autofree char *path = NULL;

        if (!reply && shutdown->goes_down) {
                on_no_answer(shutdown);
                return;
        }

        /* Units of the system that a user's runs watch are stopped beside the service manager of the user. */
        if (!g_str_equal(state, "stopping") && system && connection_is_ready(system)) {
                ask_state(shutdown, system, on_machine_state);
                return;
        }
        if (!g_str_equal(state, "maintenance") || !shutdown->unit) {
                answer_doubts(shutdown, g_str_equal(state, "stopping"));
                return;
        }

        path = unit_name_path(shutdown->unit);
        ask(shutdown, shutdown->options.questions, path, SYSTEMD_UNIT, "Job", on_own_job);
}

static void ask_in_doubt(void *userdata) {
        Shutdown *shutdown = userdata;

        drop_question(shutdown);
        ticker_ask(shutdown->options.manager->ticker);
        if (!connection_is_ready(shutdown->options.questions)) {
                on_no_answer(shutdown);
                return;
        }

        shutdown->patience = timer_new(shutdown->options.timers, PATIENCE_USEC, on_no_answer, shutdown);
        ask_state(shutdown, shutdown->options.questions, on_state_in_doubt);
}

/* What happens after the question was asked may be a part of a shutdown that systemd had not begun yet when it
 * answered: answer_doubts() asks again. */
static void on_in_doubt(void *userdata) {
        Shutdown *shutdown = userdata;

        if (shutdown->timeout)
                end_doubts(shutdown);
        else if (!shutdown->question)
                ask_in_doubt(shutdown);
}

static const ManagerObserver observer = { .in_doubt = on_in_doubt, .idle = on_idle };

/* When the machine shuts down, there is no next btd: halt all runs while this is possible. So it is in rescue mode and
 * in emergency mode, which stop all services. */
static void stop_with(Shutdown *shutdown, bool goes_down) {
        shutdown->goes_down = goes_down;
        if (!goes_down) {
                stop(shutdown, manager_leave);
                return;
        }

        shutdown->options.going_down(shutdown->options.userdata);
        stop(shutdown, manager_stop);
}

static void on_awaited(bool there, void *userdata);

/* If the bus was lost, what systemd has said last counts only if they do not come back. */
static void stop_without_answer(Shutdown *shutdown) {
        if (shutdown->answered && !shutdown->wait && !connection_is_ready(shutdown->options.questions))
                shutdown->wait =
                        systemd_wait_new(shutdown->options.questions, shutdown->options.timers, on_awaited, shutdown);
        else
                stop_with(shutdown, shutdown->goes_down);
}

static void on_system_state(sd_bus_message *reply, const sd_bus_error *error, void *userdata) {
        Shutdown *shutdown = userdata;
        const char *state = read_state(shutdown, reply);

        if (reply)
                stop_with(shutdown, g_str_equal(state, "stopping") || g_str_equal(state, "maintenance"));
        else
                stop_without_answer(shutdown);
}

static void on_awaited(bool there, void *userdata) {
        Shutdown *shutdown = userdata;

        if (there)
                ask_state(shutdown, shutdown->options.questions, on_system_state);
        else
                stop_with(shutdown, shutdown->goes_down);
}

void shutdown_find_out(Shutdown *shutdown, ShutdownKnown known, void *userdata) {
        if (!shutdown->options.supervised) {
                known(userdata);
                return;
        }

        shutdown->known = known;
        shutdown->known_userdata = userdata;
        ask_in_doubt(shutdown);
}

/* SIGINT, or no service manager: halt all runs. As a service, leave runs that can continue to the next btd. */
void shutdown_on_signal(Shutdown *shutdown, int number) {
        if (shutdown->timeout) {
                log_warning("asked to stop again; not waiting any longer");
                give_up(shutdown);
                return;
        }

        log_info("stopping");
        if (number == SIGINT || !shutdown->options.supervised) {
                stop(shutdown, manager_stop);
                return;
        }

        start_timeout(shutdown);
        manager_hold(shutdown->options.manager, true);
        drop_question(shutdown);
        if (!connection_is_ready(shutdown->options.questions))
                stop_without_answer(shutdown);
        else
                ask_state(shutdown, shutdown->options.questions, on_system_state);
}

void shutdown_leave(Shutdown *shutdown) {
        stop(shutdown, manager_leave);
}

Shutdown *shutdown_new(const ShutdownOptions *options) {
        Shutdown *shutdown = g_new0(Shutdown, 1);

        shutdown->options = *options;
        if (options->supervised) {
                shutdown->unit = waiters_unit_of(options->user, 0);
                manager_expect_doubts(options->manager);
        }
        manager_observe(options->manager, &observer, shutdown);
        return shutdown;
}

void shutdown_free(Shutdown *shutdown) {
        if (!shutdown)
                return;

        manager_unobserve(shutdown->options.manager, &observer, shutdown);
        drop_question(shutdown);
        systemd_wait_free(shutdown->wait);
        timer_free(shutdown->timeout);
        g_free(shutdown->unit);
        g_free(shutdown);
}
