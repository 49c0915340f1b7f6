/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* btctl: finds the verb that is meant, runs it, and prints the help texts from the tables of verbs and options. */

#include <limits.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>

#include "basic/nearest.h"
#include "basic/version.h"
#include "client/bus/target.h"
#include "client/verbs/verbs.h"
#include "client/view/output.h"

const Verb verb_table[] = {
        { "list", NULL, 0, 0, OPTION_BIT(OPTION_DIRECTORY), "List the trees and their runs", verb_list, true },
        { "status", "[TREE|RUN]", 0, 1, OPTION_BIT(OPTION_DIRECTORY), "Show the status of btd, a run or a tree",
          verb_status, true },
        { "start", "TREE...", 1, UINT_MAX,
          OPTION_BIT(OPTION_INSTANCE) | OPTION_BIT(OPTION_UNESCAPE) | OPTION_BIT(OPTION_SET) | OPTION_BIT(OPTION_WAIT) |
                  OPTION_BIT(OPTION_FOLLOW) | OPTION_BIT(OPTION_ATTACH) | OPTION_BIT(OPTION_REPLACE) |
                  OPTION_BIT(OPTION_ONCE) | OPTION_BIT(OPTION_TOKEN),
          "Start trees, and print the names of the runs", verb_start },
        { "run", "FILE", 1, 1, OPTION_BIT(OPTION_SET) | OPTION_BIT(OPTION_WAIT) | OPTION_BIT(OPTION_FOLLOW),
          "Run a tree file that is not installed", verb_run },
        { "halt", "TREE|RUN...", 1, UINT_MAX,
          OPTION_BIT(OPTION_UNESCAPE) | OPTION_BIT(OPTION_WAIT) | OPTION_BIT(OPTION_TOKEN),
          "Halt all runs of a tree, or one run", verb_halt },
        { "stop", "TREE|RUN...", 1, UINT_MAX,
          OPTION_BIT(OPTION_UNESCAPE) | OPTION_BIT(OPTION_WAIT) | OPTION_BIT(OPTION_TOKEN), "The same as halt",
          verb_halt },
        { "restart", "TREE|RUN...", 1, UINT_MAX,
          OPTION_BIT(OPTION_SET) | OPTION_BIT(OPTION_WAIT) | OPTION_BIT(OPTION_FOLLOW) | OPTION_BIT(OPTION_ONCE),
          "Halt runs, and start them again with the same inputs", verb_restart },
        { "retry", "TREE|RUN", 1, 1,
          OPTION_BIT(OPTION_FROM) | OPTION_BIT(OPTION_SET) | OPTION_BIT(OPTION_YES) | OPTION_BIT(OPTION_DRY_RUN) |
                  OPTION_BIT(OPTION_WAIT) | OPTION_BIT(OPTION_FOLLOW) | OPTION_BIT(OPTION_ONCE),
          "Start a run that takes over what has succeeded in a finished one", verb_retry },
        { "wait", "TREE|RUN...", 1, UINT_MAX, OPTION_BIT(OPTION_ONCE),
          "Wait until runs have finished, and print their results", verb_wait },
        { "follow", "TREE|RUN...", 1, UINT_MAX, OPTION_BIT(OPTION_ONCE),
          "Print all events of runs until they have finished", verb_follow },
        { "get", "TREE|RUN [KEY]", 1, 2, 0, "Print the variables of a run, or one of them", verb_get },
        { "set", "TREE|RUN KEY=JSON...", 2, UINT_MAX, 0, "Set variables of a run", verb_set },
        { "kept", "TREE", 1, 1, 0, "Print the kept variables of a tree, which its next run gets", verb_kept },
        { "forget", "TREE [KEY...]", 1, UINT_MAX, 0, "Forget the kept variables of a tree, or some of them",
          verb_forget },
        { "pause", "TREE|RUN", 1, 1, 0, "Pause a run: it starts no more nodes", verb_pause },
        { "resume", "TREE|RUN", 1, 1, 0, "Resume a paused run", verb_resume },
        { "step", "TREE|RUN", 1, 1, 0, "Run one tick of a paused run", verb_step },
        { "break", "TREE|RUN [NODE]", 1, 2, OPTION_BIT(OPTION_CLEAR),
          "Set a breakpoint at a node, or list those of a run", verb_break },
        { "force", "TREE|RUN NODE STATUS", 3, 3, 0, "Set the outcome of a node: success, failure or skipped",
          verb_force },
        { "history", "[TREE]", 0, 1,
          OPTION_BIT(OPTION_LINES) | OPTION_BIT(OPTION_SINCE) | OPTION_BIT(OPTION_UNTIL) | OPTION_BIT(OPTION_DIRECTORY),
          "List the runs that have finished", verb_history, true },
        { "show", "TREE|RUN|FILE", 1, 1, OPTION_BIT(OPTION_DIRECTORY), "Show the event log of a run", verb_show, true },
        { "logs", "TREE|RUN|FILE...", 1, UINT_MAX,
          OPTION_BIT(OPTION_FOLLOW) | OPTION_BIT(OPTION_NODE) | OPTION_BIT(OPTION_SINCE) | OPTION_BIT(OPTION_UNTIL) |
                  OPTION_BIT(OPTION_LINES) | OPTION_BIT(OPTION_REVERSE) | OPTION_BIT(OPTION_PAGER_END) |
                  OPTION_BIT(OPTION_DIRECTORY),
          "Show the events of runs, and the log of what they started", verb_logs, true },
        { "replay", "TREE|RUN|FILE", 1, 1, OPTION_BIT(OPTION_UNTIL) | OPTION_BIT(OPTION_DIRECTORY),
          "Show the status of a run at a time in the past", verb_replay, true },
        { "plot", "TREE|RUN|FILE", 1, 1, OPTION_BIT(OPTION_FORMAT) | OPTION_BIT(OPTION_DIRECTORY),
          "Draw the timeline of a run", verb_plot },
        { "graph", "TREE|RUN|FILE", 1, 1, OPTION_BIT(OPTION_FORMAT) | OPTION_BIT(OPTION_DIRECTORY),
          "Draw a tree or a run as a picture", verb_graph },
        { "reload", NULL, 0, 0, 0, "Read the tree files again", verb_reload },
        { "edit", "TREE", 1, 1, OPTION_BIT(OPTION_FULL), "Change values of a tree in a drop-in", verb_edit },
        { "revert", "TREE", 1, 1, 0, "Remove what was changed at an installed tree", verb_revert },
        { "delta", NULL, 0, 0, 0, "List what replaces, masks and extends tree files", verb_delta, true },
        { "enable", "TREE...", 1, UINT_MAX, 0, "Start trees with btd", verb_enable },
        { "disable", "TREE...", 1, UINT_MAX, 0, "Do not start trees with btd", verb_disable },
        { "is-enabled", "TREE...", 1, UINT_MAX, 0, "Print whether trees start with btd", verb_is_enabled },
        { "preset", "TREE...", 1, UINT_MAX, 0, "Enable or disable trees as the preset files say", verb_preset },
        { "validate", "FILE...", 1, UINT_MAX, OPTION_BIT(OPTION_FORMAT), "Check tree files, without btd",
          verb_validate },
        { "simulate", "FILE", 1, 1,
          OPTION_BIT(OPTION_INSTANCE) | OPTION_BIT(OPTION_SET) | OPTION_BIT(OPTION_SCRIPT) | OPTION_BIT(OPTION_EXPECT) |
                  OPTION_BIT(OPTION_UNTIL) | OPTION_BIT(OPTION_SEED),
          "Simulate a run of a tree file, without btd", verb_simulate, true },
        { "monitor", NULL, 0, 0, 0, "Print the events of all runs as they happen", verb_monitor },
        { "watch", "[TREE|RUN]", 0, 1, 0, "Watch all trees and runs, or a run, on the whole screen", verb_watch },
        { "stats", "[TREE]", 0, 1, OPTION_BIT(OPTION_SINCE) | OPTION_BIT(OPTION_LINES) | OPTION_BIT(OPTION_DIRECTORY),
          "Show numbers about the finished runs: durations, failures, retries", verb_stats, true },
        { "metrics", NULL, 0, 0, OPTION_BIT(OPTION_FORMAT), "Print the counters of btd for Prometheus", verb_metrics },
        { "users", NULL, 0, 0, 0, "Show what each user uses, and how much of the share that is", verb_users },
        { "cat", "TREE", 1, 1, 0, "Print the text that a tree was loaded from", verb_cat, true },
        { "types", "[TYPE]", 0, 1, 0, "Explain the types of nodes, without btd", verb_types, true },
        { "schema", "[drop-in|outputs]", 0, 1, 0, "Print the JSON schema of tree files, drop-ins or --json",
          verb_schema, true },
        { "help", "[TOPIC]", 0, 1, 0, "Open the manual page about a verb, a type, a key or a word", verb_help },
        { "complete", "line|verbs|options|trees|runs|past|types|topics|nodes|variables [WORD...]", 1, UINT_MAX,
          OPTION_BIT(OPTION_DIRECTORY), NULL, verb_complete },
        {},
};

/* The column where the explanations start. */
#define HELP_COLUMN 28

static void print_options(uint64_t ids, const char *verb) {
        for (OptionId id = 0; id < OPTION_MAX_; id++) {
                const Option *option = &option_table[id];
                g_autofree char *letter = option->letter ? g_strdup_printf("-%c, ", option->letter) : g_strdup("    ");
                g_autofree char *left =
                        g_strconcat(letter, "--", option->name, option->argument ? "=" : "", option->argument, NULL);

                if (ids & OPTION_BIT(id))
                        printf("  %-*s  %s\n", HELP_COLUMN, left, option_help(id, verb));
        }
}

static int help_print(void) {
        puts("btctl [OPTION...] VERB [OPERAND...]\n"
             "\n"
             "Control btd, which runs behavior trees. Without a verb, show its status.\n"
             "\n"
             "Verbs:");

        for (const Verb *verb = verb_table; verb->name; verb++) {
                g_autofree char *left = g_strconcat(verb->name, verb->operands ? " " : "", verb->operands, NULL);

                if (verb->help)
                        printf("  %-*s  %s\n", HELP_COLUMN, left, verb->help);
        }

        puts("\nOptions:");
        print_options(OPTION_BITS_COMMON, NULL);
        puts("\n'btctl VERB --help' shows the options of a verb; 'btctl help VERB' opens btctl(1) there.");

        return EXIT_SUCCESS;
}

static int help_print_verb(const Verb *verb) {
        printf("btctl %s%s%s%s\n\n%s.\n", verb->name, verb->options ? " [OPTION...]" : "", verb->operands ? " " : "",
               verb->operands ?: "", verb->help ?: "For shell completion");

        if (verb->options) {
                puts("\nOptions:");
                print_options(verb->options, verb->name);
        }
        puts("\n'btctl --help' shows the options that every verb has; btctl(1) explains everything.");

        return EXIT_SUCCESS;
}

/* Verbs of other tools that no verb of btctl resembles. */
static const struct {
        const char *name, *hint;
} foreign_verbs[] = {
        { "daemon-reload", "'btctl reload' reads the tree files again" },
        { "is-active", "'btctl status' shows whether a tree is running" },
        { "journal", "'btctl logs' shows what a run has logged" },
        { "kill", "'btctl halt' halts a run" },
};

static int unknown_verb(const char *name) {
        Nearest nearest = { .word = name };

        for (size_t i = 0; i < G_N_ELEMENTS(foreign_verbs); i++)
                if (strcmp(foreign_verbs[i].name, name) == 0)
                        return report_usage("unknown verb '%s'; %s", name, foreign_verbs[i].hint);
        for (const Verb *verb = verb_table; verb->name; verb++)
                if (verb->help)
                        nearest_offer(&nearest, verb->name);
        if (nearest.best)
                return report_usage("unknown verb '%s'; did you mean '%s'?", name, nearest.best);

        return report_usage("unknown verb '%s'", name);
}

static int check_usage(const Verb *verb, const Options *options, char **operands) {
        unsigned n_operands = g_strv_length(operands);
        const char *operand;
        uint64_t lines;
        int status;

        for (OptionId id = OPTION_COMMON_MAX_; id < OPTION_MAX_; id++)
                if (options_has(options, id) && !(verb->options & OPTION_BIT(id)))
                        return report_usage("'%s' takes no option '--%s'", verb->name, option_table[id].name);

        /* Its value may be meant as the operand. */
        status = options_lines(options, &lines);
        if (status != EXIT_SUCCESS)
                return status;

        if (n_operands < verb->min_operands)
                return report_usage("'%s' needs %s: btctl %s %s", verb->name,
                                    verb->min_operands == 1 ? "an operand" : "operands", verb->name, verb->operands);

        if (n_operands <= verb->max_operands)
                return EXIT_SUCCESS;

        operand = operands[verb->max_operands];
        if (verb->options & OPTION_BIT(OPTION_SET) && strchr(operand, '='))
                return report_usage("'%s' is unexpected; set a variable with --set KEY=JSON", operand);
        if (verb->operands)
                return report_usage("'%s' is unexpected: btctl %s %s", operand, verb->name, verb->operands);

        return report_usage("'%s' is unexpected: '%s' takes no operands", operand, verb->name);
}

static void open_pager(const Client *client, Pager *pager) {
        if (!options_has(&client->options, OPTION_NO_PAGER))
                pager_open(pager, options_has(&client->options, OPTION_PAGER_END));
}

static int run_unescaped(Client *client, const Verb *verb, char **operands) {
        g_autoptr(GStrvBuilder) builder = g_strv_builder_new();
        g_auto(GStrv) unescaped = NULL;

        for (; *operands; operands++) {
                g_autofree char *operand = target_unescape(*operands);

                if (!operand)
                        return report_usage("'%s' is not escaped as systemd-escape(1) does it", *operands);
                g_strv_builder_add(builder, operand);
        }

        unescaped = g_strv_builder_end(builder);
        return verb->run(client, unescaped);
}

/* Long output goes to a pager, which the caller closes. */
static int run_verb(Client *client, char **operands, Pager *pager) {
        const char *name = operands[0] ?: "status";
        const Verb *verb = verb_table;
        int status;

        if (options_has(&client->options, OPTION_VERSION)) {
                version_print("btctl", BTD_VERSION);
                return EXIT_SUCCESS;
        }
        if (!operands[0] && options_has(&client->options, OPTION_HELP)) {
                open_pager(client, pager);
                return help_print();
        }

        while (verb->name && strcmp(verb->name, name) != 0)
                verb++;
        if (!verb->name)
                return unknown_verb(name);
        if (options_has(&client->options, OPTION_HELP))
                return help_print_verb(verb);

        operands += operands[0] ? 1 : 0;
        status = check_usage(verb, &client->options, operands);
        if (status != EXIT_SUCCESS)
                return status;

        if (verb->pages && !options_has(&client->options, OPTION_FOLLOW))
                open_pager(client, pager);
        return options_has(&client->options, OPTION_UNESCAPE) ? run_unescaped(client, verb, operands)
                                                              : verb->run(client, operands);
}

int main(int argc, char **argv) {
        g_auto(Client) client = {};
        Pager pager = {};
        char **operands;
        int status;

        /* Only for the characters that the terminal can show. Numbers and sorting do not depend on the locale. */
        setlocale(LC_CTYPE, "");

        status = options_parse(&client.options, argc, argv, &operands);
        if (status != EXIT_SUCCESS)
                return status;

        output_watch();
        output_detect(&client.output);
        client.output.json = options_has(&client.options, OPTION_JSON);
        client.output.quiet = options_has(&client.options, OPTION_QUIET);
        client.output.ascii |= options_has(&client.options, OPTION_ASCII);
        client.output.colour &= !options_has(&client.options, OPTION_NO_COLOR);
        status = run_verb(&client, operands, &pager);

        /* Report a failed write, for example to a full disk. A reader that wants no more, such as head(1), is no error.
         */
        if ((fflush(stdout) != 0 || ferror(stdout)) && status == EXIT_SUCCESS && !output_is_closed())
                status = report_error("cannot write the output: %m");

        pager_close(&pager);
        return status;
}
