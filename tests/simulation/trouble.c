/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <inttypes.h>
#include <stdio.h>

#include "bus.h"
#include "clock.h"
#include "event-queue.h"
#include "kernel.h"
#include "ledger.h"
#include "life.h"
#include "orders.h"
#include "services.h"
#include "simulation.h"
#include "systemd.h"
#include "trace.h"
#include "trouble.h"
#include "troubles.h"

#define MANAGER_PATH "/org/btd1"
#define MANAGER "org.btd1.Manager"
#define RUN "org.btd1.Run"

#define TROUBLES_MOST 8u
#define SUSPENDS_MOST 6u
/* Most runs have ended by then. */
#define SPAN_MOST UINT64_C(3000000)
#define SETTLED_MOST 200u
#define RETRY_USEC 10000u
/* From attempt to attempt, a user waits longer. */
#define RETRY_MOST_USEC 160000u

static struct {
        Dice dice;
        unsigned n_trees;
        unsigned n_settled;
        uint64_t end;               /* no trouble comes after it */
        uint64_t retry[TREES_MOST]; /* how long a user waits before the next attempt */
} trouble;

static unsigned throw(unsigned n) {
        return (unsigned) dice_below(&trouble.dice, n);
}

static void on_first_start(void *userdata);

static uint64_t next_attempt(unsigned tree) {
        trouble.retry[tree] = MIN(trouble.retry[tree] * 2, RETRY_MOST_USEC);
        return trouble.retry[tree];
}

static void on_start(void *userdata) {
        sd_bus_message *message = bus_message_to_daemon(MANAGER_PATH, MANAGER, "StartTree");
        char tree[16];

        /* The first attempt may fail. */
        if (!ledger_has_run(GPOINTER_TO_UINT(userdata)))
                event_queue_add(next_attempt(GPOINTER_TO_UINT(userdata)), on_first_start, userdata, NULL);
        if (!message)
                return;

        (void) snprintf(tree, sizeof(tree), "t%u", GPOINTER_TO_UINT(userdata));
        trace("a user starts %s", tree);
        (void) sd_bus_message_append(message, "sa{sv}a{sv}", tree, 0, 0);
        bus_call(message);
}

static void calm_down(void);

/* A user tries to start the tree until it is started. A run that is paused may have taken the room for it. */
static void on_first_start(void *userdata) {
        if (ledger_has_run(GPOINTER_TO_UINT(userdata)))
                return;

        if (clock_now() > trouble.end)
                calm_down();
        on_start(userdata);
}

void trouble_halt(unsigned tree) {
        sd_bus_message *message = bus_message_to_daemon(MANAGER_PATH, MANAGER, "HaltTree");
        char name[16];

        if (!message)
                return;

        orders_note_halt(tree);
        (void) snprintf(name, sizeof(name), "t%u", tree);
        trace("a user halts %s", name);
        (void) sd_bus_message_append(message, "sa{sv}", name, 0);
        bus_call(message);
}

static void on_halt(void *userdata) {
        trouble_halt(throw(trouble.n_trees));
}

/* The name of a running run; NULL: there is none, or no daemon. */
static sd_bus_message *message_to_run(const char *run, const char *member) {
        char *path = NULL;
        sd_bus_message *message = NULL;

        if (!run || sd_bus_path_encode("/org/btd1/run", run, &path) < 0)
                return NULL;

        trace("a user: %s %s", member, run);
        message = bus_message_to_daemon(path, RUN, member);
        free(path);
        return message;
}

static sd_bus_message *message_to_any_run(const char *member) {
        g_auto(GStrv) runs = ledger_running();
        unsigned n = g_strv_length(runs);

        return n > 0 ? message_to_run(runs[throw(n)], member) : NULL;
}

static void send(sd_bus_message *message) {
        if (message)
                bus_call(message);
}

static void on_pause(void *userdata) {
        send(message_to_any_run("Pause"));
}

static void on_resume(void *userdata) {
        send(message_to_any_run("Resume"));
}

static void on_step(void *userdata) {
        send(message_to_any_run("Step"));
}

static void on_set(void *userdata) {
        sd_bus_message *message = message_to_any_run("SetVariables");

        if (message)
                (void) sd_bus_message_append(message, "a{sv}", 1, "a", "x", (int64_t) (throw(2) == 0 ? 1 : 4));
        send(message);
}

static void on_breakpoint(void *userdata) {
        sd_bus_message *message = message_to_any_run("SetBreakpoint");

        if (message)
                (void) sd_bus_message_append(message, "ub", throw(30), throw(4) > 0);
        send(message);
}

static void on_force(void *userdata) {
        sd_bus_message *message = message_to_any_run("Force");

        if (message)
                (void) sd_bus_message_append(message, "us", throw(30), throw(2) == 0 ? "success" : "failure");
        send(message);
}

static void on_service(void *userdata) {
        services_toggle(throw(SERVICES_N));
}

static void on_systemd_back(void *userdata) {
        systemd_set_there(true);
}

static void on_systemd(void *userdata) {
        systemd_set_there(false);
        event_queue_add(1 + throw(100000), on_systemd_back, NULL, NULL);
}

static void on_reload(void *userdata) {
        systemd_reload(&trouble.dice, false);
}

static void on_reexec(void *userdata) {
        systemd_reload(&trouble.dice, true);
}

static void on_bus_back(void *userdata) {
        bus_start();
}

static void on_bus(void *userdata) {
        bus_stop();
        event_queue_add(1 + throw(300000), on_bus_back, NULL, NULL);
}

static void on_disk_fine(void *userdata) {
        kernel_set_disk(DISK_FINE);
}

static void on_disk(void *userdata) {
        kernel_set_disk(throw(2) == 0 ? DISK_FULL : DISK_READ_ONLY);
        event_queue_add(1 + throw(200000), on_disk_fine, NULL, NULL);
}

static void on_suspend(void *userdata) {
        uint64_t usec = (UINT64_C(1) + throw(120)) * 1000000;

        trace("-- the machine is suspended for %" PRIu64 " s", usec / 1000000);
        clock_suspend(usec);
}

static void on_terminate(void *userdata) {
        life_terminate();
}

/* The daemon is killed soon after it was told to stop: see TROUBLE_CUT. */
static void on_cut(void *userdata) {
        static const unsigned calls[] = { 2, 8, 20, 60 };

        life_terminate();
        kernel_kill_after(throw(calls[throw(G_N_ELEMENTS(calls))]));
}

static void on_history_fine(void *userdata) {
        kernel_set_history_disk(DISK_FINE);
}

static void on_history_full(void *userdata) {
        kernel_set_history_disk(DISK_FULL);
        event_queue_add(500000 + throw(1500000), on_history_fine, NULL, NULL);
}

static void plan_full(void) {
        Dice dice = troubles_dice(TROUBLE_DISK, 0);

        if (troubles_have(TROUBLE_DISK))
                for (uint64_t n = 1 + dice_below(&dice, 2); n > 0; n--)
                        event_queue_add(dice_below(&dice, SPAN_MOST), on_history_full, NULL, NULL);
}

#define CUTS_MOST 4u

static void plan_cuts(void) {
        Dice dice = troubles_dice(TROUBLE_CUT, 1);

        if (troubles_have(TROUBLE_CUT))
                for (uint64_t n = 1 + dice_below(&dice, CUTS_MOST); n > 0; n--)
                        event_queue_add(dice_below(&dice, SPAN_MOST / 2), on_cut, NULL, NULL);
}

static const EventDo troubles[] = {
        on_halt,      on_halt,  on_pause,   on_resume,  on_step,   on_set,    on_breakpoint,
        on_force,     on_force, on_service, on_service, on_bus,    on_disk,   on_terminate,
        on_terminate, on_start, on_systemd, on_reload,  on_reload, on_reexec, on_reexec,
};

void trouble_open(Dice dice, unsigned n_trees, bool none) {
        trouble.dice = dice;
        trouble.n_trees = n_trees;
        trouble.n_settled = 0;
        trouble.end = clock_now() + SPAN_MOST;

        for (unsigned i = 0; i < TREES_MOST; i++)
                trouble.retry[i] = RETRY_USEC;
        for (unsigned i = 0; i < n_trees; i++)
                if (!ledger_expects_run(i))
                        event_queue_add(throw(100000), on_first_start, GUINT_TO_POINTER(i), NULL);
        for (unsigned n = none ? 0 : throw(TROUBLES_MOST + 1); n > 0; n--)
                event_queue_add(dice_below(&trouble.dice, throw(2) == 0 ? SPAN_MOST : SPAN_MOST / 30),
                                troubles[throw(G_N_ELEMENTS(troubles))], GUINT_TO_POINTER(throw(n_trees)), NULL);
        for (unsigned n = none ? 0 : throw(SUSPENDS_MOST + 1); n > 0; n--)
                event_queue_add(dice_below(&trouble.dice, SPAN_MOST / (throw(2) == 0 ? 3 : 30)), on_suspend, NULL,
                                NULL);
        plan_cuts();
        plan_full();
}

/* Nothing is left that keeps a run from its end. */
static void calm_down(void) {
        g_auto(GStrv) runs = ledger_running();

        services_all_join();
        for (char **run = runs; *run; run++)
                send(message_to_run(*run, "Resume"));
}

bool trouble_settle(void) {
        g_auto(GStrv) runs = ledger_running();

        /* The daemon may be killed by the message. */
        if (!*runs || trouble.n_settled++ > SETTLED_MOST)
                return false;

        calm_down();
        return event_queue_next() != UINT64_MAX;
}
