/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <glib.h>
#include <glib/gstdio.h>
#include <inttypes.h>
#include <string.h>

#include "administrator.h"
#include "bus.h"
#include "clock.h"
#include "directory.h"
#include "disk.h"
#include "event-queue.h"
#include "file-times.h"
#include "forest.h"
#include "history.h"
#include "judge.h"
#include "kernel.h"
#include "ledger.h"
#include "life-limits.h"
#include "life.h"
#include "orders.h"
#include "processes.h"
#include "record/record-writer.h"
#include "services.h"
#include "simulation.h"
#include "systemd.h"
#include "trace.h"
#include "tree-files.h"
#include "trouble.h"
#include "troubles.h"
#include "users.h"
#include "witness.h"

/* The start of the simulation, long after the boot. */
#define BEGINNING (UINT64_C(5000) * 1000000)
/* A simulation that takes longer will never end. */
#define HOURS (UINT64_C(20) * 3600 * 1000000)
#define DEATHS_MOST 60u

typedef struct Simulation {
        uint64_t seed;
        const char *directory;
        Dice dice;
        ForestKind kind;
        BusManners manners;
        unsigned n_trees, n_deaths;
        unsigned slow; /* the percentage of sent messages that must wait */
        bool deadly;   /* daemons are killed */
} Simulation;

static const KernelHooks hooks = {
        .opened = ledger_note_opened,
        .written = ledger_note_written,
        .renamed = ledger_note_moved,
        .removed = ledger_note_removed,
        .failed = ledger_note_failed,
        .sent = bus_note_sent,
};

static void write_part(const char *file, const char *text, void *userdata) {
        const Simulation *simulation = userdata;
        g_autofree char *path = g_build_filename(simulation->directory, "trees", file, NULL);

        if (!g_file_set_contents(path, text, -1, NULL))
                g_error("cannot write %s", path);
}

static void write_trees(Simulation *simulation) {
        g_autofree char *directory = g_build_filename(simulation->directory, "trees", NULL),
                        *lib = g_build_filename(directory, "lib", NULL);
        Dice dice = dice_of(simulation->seed, 1, 0, 0);

        (void) g_mkdir_with_parents(lib, 0700);
        forest_parts(0, write_part, simulation);
        for (unsigned i = 0; i < simulation->n_trees; i++) {
                g_autofree char *name = g_strdup_printf("t%u.json", i), *path = g_build_filename(directory, name, NULL);
                g_autofree char *text = forest_tree(&dice, i, simulation->kind);

                trace("t%u: %s", i, text);
                if (!g_file_set_contents(path, text, -1, NULL))
                        g_error("cannot write %s", path);
        }
}

/* A limit of a bus is most often small: then calls of all leaves wait for each other. */
static unsigned most_pending(void) {
        Dice dice = troubles_dice(TROUBLE_WINDOW, 0);

        return 2 + (unsigned) dice_below(&dice, dice_chance(&dice, 80) ? 8 : 99);
}

static ServicesManner manner_of_services(Simulation *simulation) {
        bool silent = simulation->kind == FOREST_ANY && dice_chance(&simulation->dice, 30);

        return troubles_have(TROUBLE_WINDOW) ? SERVICES_SLOW : silent ? SERVICES_SILENT : SERVICES_LIVELY;
}

static void open_world(Simulation *simulation) {
        clock_begin(BEGINNING);
        violation_clear();
        life_begin();
        orders_open();
        history_open();
        witness_open();
        judge_open();
        ledger_open(TREES_MOST);
        bus_open(dice_of(simulation->seed, 2, 0, 0), &simulation->manners);
        systemd_open(simulation->seed, troubles_have(TROUBLE_WINDOW) ? 20 : 0);
        processes_open(simulation->seed);
        services_open(simulation->seed, manner_of_services(simulation));
        kernel_open(simulation->directory, &hooks, dice_of(simulation->seed, 3, simulation->deadly, 0));
        kernel_set_slow(simulation->slow);
        kernel_set_far(troubles_have(TROUBLE_FAR) || troubles_have(TROUBLE_DISK));
        file_times_clear();
        disk_simulate(dice_of(simulation->seed, 6, 0, 0), simulation->kind == FOREST_RECOVERABLE ? 0 : 10);
        record_writer_set_part(UINT64_C(256) << (simulation->seed % 8));
        limits_open();
        write_trees(simulation);
        trouble_open(dice_of(simulation->seed, 4, 0, 0), simulation->n_trees, simulation->kind == FOREST_RECOVERABLE);
        users_open(simulation->directory, simulation->n_trees);
        administrator_open(simulation->n_trees);
        tree_files_open(simulation->directory, simulation->n_trees);
}

static void close_world(void) {
        event_queue_clear();
        users_close();
        services_close();
        processes_close();
        systemd_close();
        bus_close();
        ledger_close();
        orders_close();
        history_close();
        judge_close();
        witness_close();
}

/* The service manager starts the next one. */
static void pass_time(uint64_t usec) {
        uint64_t end = clock_now() + usec;

        bus_turn();
        while (event_queue_next() <= end) {
                clock_set(MAX(clock_now(), event_queue_next()));
                event_queue_run();
                bus_turn();
        }
        clock_set(end);
}

/* Often early: a daemon has most to do at its start. */
static void plan_death(Simulation *simulation) {
        static const uint64_t calls[] = { 12, 25, 25, 50, 50, 150 };
        uint64_t most = calls[dice_below(&simulation->dice, G_N_ELEMENTS(calls))];
        bool dies = simulation->deadly && simulation->n_deaths < DEATHS_MOST;

        kernel_kill_after(dies ? dice_below(&simulation->dice, most) : UINT64_MAX);
}

/* The next daemon may be newer. If its engine behaves differently, no run may be replayed. */
static void upgrade(LifeOptions *options, Dice *dice, Death death, bool timeless) {
        if (!dice_chance(dice, 30))
                return;

        options->engine++;
        if (death == DEATH_EXITED && !timeless && life_has_left_snapshots(options))
                options->later += 1000;
        trace("-- upgraded to engine %" PRIu32 ", whose timers are %" PRIu64 "us late", options->engine,
              options->later);
}

static void live(Simulation *simulation) {
        bool timeless = simulation->kind == FOREST_RECOVERABLE;
        Dice upgrades = dice_of(simulation->seed, 5, 0, 0);
        LifeOptions options = {
                .directory = simulation->directory,
                .turn = timeless ? 0 : 1,
                .settle = trouble_settle,
                .engine = 1,
        };
        Death death = DEATH_KILLED;

        while (death != DEATH_NONE && !violation_text()) {
                plan_death(simulation);
                judge_note_life();
                tree_files_note_life();
                options.limits = limits_next();
                death = life_live(&options);
                g_clear_pointer(&options.limits, g_strfreev);
                processes_end();
                if (death == DEATH_KILLED)
                        forest_parts(++simulation->n_deaths, write_part, simulation);
                upgrade(&options, &upgrades, death, timeless);
                pass_time(administrator_span(timeless ? 0 : dice_below(&simulation->dice, 200000)));
        }
}

/* The results of all runs, to be freed; NULL: they cannot be compared. */
static char *play(Simulation *simulation, bool deadly, Tally *tally) {
        char *summary;

        simulation->deadly = deadly;
        simulation->n_deaths = 0;
        directory_empty(simulation->directory);
        open_world(simulation);
        live(simulation);
        if (!violation_text())
                ledger_check();

        tally->runs += ledger_n_runs();
        tally->deaths += simulation->n_deaths;
        tally->calls += kernel_calls();
        summary = event_queue_had_ties() ? NULL : ledger_summary();
        close_world();
        return summary;
}

static void compare(const char *undisturbed, const char *disturbed) {
        g_auto(GStrv) one = g_strsplit(undisturbed, "\n", -1), other = g_strsplit(disturbed, "\n", -1);

        for (unsigned i = 0; one[i] || other[i]; i++)
                if (g_strcmp0(one[i], other[i]) != 0) {
                        violation("'%s' came of it where daemons died, and '%s' where none did", other[i], one[i]);
                        return;
                }
}

/* If leaves continue where they were, and death takes no time, killing the daemon must change nothing. */
static void play_twice(Simulation *simulation, Tally *tally) {
        g_autofree char *undisturbed = play(simulation, false, tally), *disturbed = NULL;

        if (violation_text())
                return;

        disturbed = play(simulation, true, tally);
        if (!violation_text() && undisturbed && disturbed)
                compare(undisturbed, disturbed);
}

bool simulation_run(uint64_t seed, const char *directory, Tally *tally) {
        Simulation simulation = {
                .seed = seed,
                .directory = directory,
                .dice = dice_of(seed, 0, 0, 0),
                .manners = { .heard = services_heard, .answered = users_answered },
        };

        g_random_set_seed((guint32) seed);
        simulation.n_trees = 1 + (unsigned) dice_below(&simulation.dice, TREES_MOST);
        simulation.manners.patient = dice_chance(&simulation.dice, 50);
        simulation.kind = dice_chance(&simulation.dice, 30) ? FOREST_RECOVERABLE : FOREST_ANY;
        troubles_throw(seed, simulation.kind == FOREST_RECOVERABLE);
        if (troubles_have(TROUBLE_SHARED) || troubles_have(TROUBLE_FOLLOW))
                simulation.n_trees = MAX(simulation.n_trees, 2);
        if (simulation.kind == FOREST_RECOVERABLE) {
                simulation.n_trees = 1;
                play_twice(&simulation, tally);
        } else {
                simulation.manners.delay = dice_chance(&simulation.dice, 50) ? 0 : 5000;
                simulation.slow = dice_chance(&simulation.dice, 70) ? 0 : 20;
                simulation.manners.most_pending = troubles_have(TROUBLE_WINDOW) ? most_pending() : 0;
                simulation.manners.twice = dice_chance(&simulation.dice, 50) ? 0 : 30;
                g_free(play(&simulation, true, tally));
        }

        tally->simulations++;
        return !violation_text();
}
