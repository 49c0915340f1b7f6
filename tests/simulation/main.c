/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Runs simulations, one for each seed, until a rule is broken. Then it prints the seed, and the command that repeats it
 * with a trace.
 */

#include <glib.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include "clock.h"
#include "directory.h"
#include "kernel.h"
#include "life.h"
#include "simulation.h"
#include "trace.h"
#include "troubles.h"

/* This number takes about a minute. */
#define TOLD_EACH 20000u

typedef struct Wanted {
        gint64 seed, count, seconds;
        gboolean trace, all, list;
        char **troubles;
} Wanted;

static void wanted_clear(Wanted *wanted) {
        g_strfreev(wanted->troubles);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Wanted, wanted_clear)

static void print_tally(const Tally *tally, uint64_t started) {
        double seconds = (double) (clock_real() - started) / 1e6, processor = (double) clock_processor() / 1e6;

        printf("%" PRIu64 " simulations, %" PRIu64 " runs, %" PRIu64
               " crashes in %.1f s: %.0f a second, %.0f a second of "
               "processor time\n",
               tally->simulations, tally->runs, tally->deaths, seconds, (double) tally->deaths / seconds,
               (double) tally->deaths / processor);
        fflush(stdout);
}

/* Used when the process is about to abort. */
static char repetition[512];

static void note_repetition(const char *program, uint64_t seed) {
        g_autofree char *options = troubles_wanted();

        (void) snprintf(repetition, sizeof(repetition), "repeat it with: %s --seed=%" PRIu64 " --count=1%s --trace\n",
                        program, seed, options);
}

/* A failed assertion of the daemon counts as a broken rule. */
static void on_abort(int number) {
        static const char text[] = "the daemon has ended by a signal\n";

        if (write(STDOUT_FILENO, text, sizeof(text) - 1) > 0)
                (void) !write(STDOUT_FILENO, repetition, strlen(repetition));
        (void) signal(number, SIG_DFL);
        (void) raise(number);
}

static int simulate(const Wanted *wanted, const char *program, const char *directory) {
        uint64_t started = clock_real(), end = started + (uint64_t) wanted->seconds * 1000000;
        Tally tally = { 0 };

        for (uint64_t seed = (uint64_t) wanted->seed;; seed++) {
                note_repetition(program, seed);
                if (!simulation_run(seed, directory, &tally)) {
                        print_tally(&tally, started);
                        printf("seed %" PRIu64 ": %s\n%s", seed, violation_text(), repetition);
                        return EXIT_FAILURE;
                }
                if (tally.simulations % TOLD_EACH == 0)
                        print_tally(&tally, started);
                if (wanted->seconds > 0 ? clock_real() >= end : tally.simulations >= (uint64_t) wanted->count)
                        break;
        }

        print_tally(&tally, started);
        return EXIT_SUCCESS;
}

int main(int argc, char **argv) {
        g_autoptr(GOptionContext) context = g_option_context_new("- simulate crashes of the daemon");
        g_auto(Wanted) wanted = { .seed = 1, .count = 100 };
        const GOptionEntry entries[] = {
                { "seed", 0, 0, G_OPTION_ARG_INT64, &wanted.seed, "The first seed", "NUMBER" },
                { "count", 0, 0, G_OPTION_ARG_INT64, &wanted.count, "How many seeds", "NUMBER" },
                { "seconds", 0, 0, G_OPTION_ARG_INT64, &wanted.seconds, "For how long, instead", "NUMBER" },
                { "trouble", 0, 0, G_OPTION_ARG_STRING_ARRAY, &wanted.troubles,
                  "With this kind of trouble in each simulation; can be repeated", "NAME" },
                { "all", 0, 0, G_OPTION_ARG_NONE, &wanted.all, "With the kinds that find known faults, too", NULL },
                { "list", 0, 0, G_OPTION_ARG_NONE, &wanted.list, "List the kinds of trouble", NULL },
                { "trace", 0, 0, G_OPTION_ARG_NONE, &wanted.trace, "Tell what happens", NULL },
                { NULL },
        };
        g_autofree char *directory = NULL;
        g_autoptr(GError) error = NULL;
        int r;

        g_option_context_add_main_entries(context, entries, NULL);
        if (!g_option_context_parse(context, &argc, &argv, &error)) {
                fprintf(stderr, "%s\n", error->message);
                return 2;
        }

        if (wanted.list) {
                troubles_print();
                return EXIT_SUCCESS;
        }
        if (wanted.all)
                troubles_want_all();
        for (char **name = wanted.troubles; name && *name; name++)
                if (!troubles_want(*name)) {
                        fprintf(stderr, "there is no trouble '%s'; --list shows them\n", *name);
                        return 2;
                }

        kernel_keep(SD_LISTEN_FDS_START, LIFE_STORED_MAX);
        g_setenv("NOTIFY_SOCKET", "/nowhere", TRUE);
        /* Simulated processes may write to a closed pipe. */
        (void) signal(SIGPIPE, SIG_IGN);
        (void) signal(SIGABRT, on_abort);
        (void) signal(SIGSEGV, on_abort);
        trace_open(wanted.trace);
        directory = directory_new();
        r = simulate(&wanted, argv[0], directory);
        directory_remove(directory);
        return r;
}
