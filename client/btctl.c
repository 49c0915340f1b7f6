/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* btctl: the table of verbs, and finding the one that is meant. */

#include <limits.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>

#include "basic/nearest.h"
#include "help.h"
#include "verbs.h"

const Verb verb_table[] = {
        { "list", NULL, 0, 0, 0, "List the trees and their runs", verb_list },
        { "status", "[TREE|RUN]", 0, 1, 0, "Show how btd, a run or a tree fares", verb_status },
        { "start", "TREE", 1, 1,
          OPTION_BIT(OPTION_INSTANCE) | OPTION_BIT(OPTION_SET) | OPTION_BIT(OPTION_WAIT) | OPTION_BIT(OPTION_FOLLOW),
          "Start a tree, and print the name of the run", verb_start },
        { "run", "FILE", 1, 1, OPTION_BIT(OPTION_SET) | OPTION_BIT(OPTION_WAIT) | OPTION_BIT(OPTION_FOLLOW),
          "Run a tree file that btd does not know, as root", verb_run },
        { "halt", "TREE|RUN", 1, 1, OPTION_BIT(OPTION_WAIT), "Halt all runs of a tree, or one run", verb_halt },
        { "get", "TREE|RUN [KEY]", 1, 2, 0, "Print the variables of a run, or one of them", verb_get },
        { "set", "TREE|RUN KEY=JSON...", 2, UINT_MAX, 0, "Set variables of a run", verb_set },
        { "pause", "TREE|RUN", 1, 1, 0, "Let a run start nothing new", verb_pause },
        { "resume", "TREE|RUN", 1, 1, 0, "Let a paused run go on", verb_resume },
        { "step", "TREE|RUN", 1, 1, 0, "Let a paused run go one tick further", verb_step },
        { "break", "TREE|RUN [NODE]", 1, 2, OPTION_BIT(OPTION_CLEAR),
          "Pause a run before a node starts, or list where it would", verb_break },
        { "force", "TREE|RUN NODE STATUS", 3, 3, 0, "Give a node its result: success, failure or skipped", verb_force },
        { "history", "[TREE]", 0, 1, 0, "List the runs that have finished", verb_history },
        { "show", "TREE|RUN|FILE", 1, 1, 0, "Tell the whole story of a run", verb_show },
        { "replay", "TREE|RUN|FILE", 1, 1, OPTION_BIT(OPTION_UNTIL), "Show how a run was at any moment", verb_replay },
        { "plot", "TREE|RUN|FILE", 1, 1, OPTION_BIT(OPTION_FORMAT), "Draw when each node of a run was running",
          verb_plot },
        { "reload", NULL, 0, 0, 0, "Read the tree files again", verb_reload },
        { "validate", "FILE...", 1, UINT_MAX, 0, "Check tree files, without btd", verb_validate },
        { "simulate", "FILE", 1, 1,
          OPTION_BIT(OPTION_SET) | OPTION_BIT(OPTION_SCRIPT) | OPTION_BIT(OPTION_EXPECT) | OPTION_BIT(OPTION_UNTIL) |
                  OPTION_BIT(OPTION_SEED),
          "Run a tree file by a script, without btd", verb_simulate },
        { "monitor", NULL, 0, 0, 0, "Print what happens, as it comes", verb_monitor },
        { "cat", "TREE", 1, 1, 0, "Print the text of a tree, as it was loaded", verb_cat },
        { "types", "[TYPE]", 0, 1, 0, "Explain the types of nodes, without btd", verb_types },
        { "schema", NULL, 0, 0, 0, "Print the JSON schema of tree files", verb_schema },
        { "complete", "verbs|options|trees|runs|past|types|nodes|variables", 1, 2, 0, NULL, verb_complete },
        {},
};

static const Verb *find_verb(const char *name) {
        for (const Verb *verb = verb_table; verb->name; verb++)
                if (strcmp(verb->name, name) == 0)
                        return verb;

        return NULL;
}

static int unknown_verb(const char *name) {
        Nearest nearest = { .word = name };

        for (const Verb *verb = verb_table; verb->name; verb++)
                if (verb->help)
                        nearest_offer(&nearest, verb->name);
        if (nearest.best)
                return report_usage("unknown verb '%s'; did you mean '%s'?", name, nearest.best);

        return report_usage("unknown verb '%s'", name);
}

static int report_too_much(const Verb *verb, const char *operand) {
        if (verb->options & OPTION_BIT(OPTION_SET) && strchr(operand, '='))
                return report_usage("'%s' is too much; a variable is given as --set KEY=JSON", operand);
        if (verb->operands)
                return report_usage("'%s' is too much: btctl %s %s", operand, verb->name, verb->operands);

        return report_usage("'%s' is too much: '%s' takes no operands", operand, verb->name);
}

static int check_usage(const Verb *verb, const Options *options, char **operands) {
        unsigned n_operands = g_strv_length(operands);

        for (OptionId id = OPTION_COMMON_MAX_; id < OPTION_MAX_; id++)
                if (options_has(options, id) && !(verb->options & OPTION_BIT(id)))
                        return report_usage("'%s' takes no option '--%s'", verb->name, option_table[id].name);

        if (n_operands < verb->min_operands)
                return report_usage("'%s' needs %s: btctl %s %s", verb->name,
                                    verb->min_operands == 1 ? "an operand" : "operands", verb->name, verb->operands);

        return n_operands > verb->max_operands ? report_too_much(verb, operands[verb->max_operands]) : EXIT_SUCCESS;
}

static int run_verb(Client *client, char **operands) {
        const char *name = operands[0] ?: "status";
        const Verb *verb = find_verb(name);
        int status;

        if (options_has(&client->options, OPTION_VERSION))
                return help_print_version();
        if (!operands[0] && options_has(&client->options, OPTION_HELP))
                return help_print();
        if (!verb)
                return unknown_verb(name);
        if (options_has(&client->options, OPTION_HELP))
                return help_print_verb(verb);

        operands += operands[0] ? 1 : 0;
        status = check_usage(verb, &client->options, operands);
        return status != EXIT_SUCCESS ? status : verb->run(client, operands);
}

static void client_setup(Client *client) {
        output_detect(&client->output);
        client->output.json = options_has(&client->options, OPTION_JSON);
        client->output.quiet = options_has(&client->options, OPTION_QUIET);
        client->output.ascii |= options_has(&client->options, OPTION_ASCII);
        client->output.colour &= !options_has(&client->options, OPTION_NO_COLOR);
}

int main(int argc, char **argv) {
        g_auto(Client) client = {};
        char **operands;
        int status;

        /* For the characters that the terminal can show; numbers and their order are the same everywhere. */
        setlocale(LC_CTYPE, "");

        status = options_parse(&client.options, argc, argv, &operands);
        if (status != EXIT_SUCCESS)
                return status;

        client_setup(&client);
        status = run_verb(&client, operands);

        /* What could not be written to a full disk was not printed. */
        if ((fflush(stdout) != 0 || ferror(stdout)) && status == EXIT_SUCCESS)
                status = report_error("cannot write the output: %m");

        return status;
}
