/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Prints the tables of verbs and options as people read them. */

#include <stdio.h>

#include "help.h"

/* Where the explanations start. */
#define HELP_COLUMN 28

static void print_options(uint32_t ids) {
        for (OptionId id = 0; id < OPTION_MAX_; id++) {
                const Option *option = &option_table[id];
                g_autofree char *letter = option->letter ? g_strdup_printf("-%c, ", option->letter) : g_strdup("    ");
                g_autofree char *left =
                        g_strconcat(letter, "--", option->name, option->argument ? "=" : "", option->argument, NULL);

                if (ids & OPTION_BIT(id))
                        printf("  %-*s  %s\n", HELP_COLUMN, left, option->help);
        }
}

int help_print(void) {
        puts("btctl [OPTION...] VERB [OPERAND...]\n"
             "\n"
             "Control btd, which runs behavior trees. Without a verb: show how it fares.\n"
             "\n"
             "Verbs:");

        for (const Verb *verb = verb_table; verb->name; verb++) {
                g_autofree char *left = g_strconcat(verb->name, verb->operands ? " " : "", verb->operands, NULL);

                if (verb->help)
                        printf("  %-*s  %s\n", HELP_COLUMN, left, verb->help);
        }

        puts("\nOptions:");
        print_options(OPTION_BITS_COMMON);
        puts("\n'btctl VERB --help' shows the options of a verb; btctl(1) explains everything.");

        return EXIT_SUCCESS;
}

int help_print_verb(const Verb *verb) {
        printf("btctl %s%s%s%s\n\n%s.\n", verb->name, verb->options ? " [OPTION...]" : "", verb->operands ? " " : "",
               verb->operands ?: "", verb->help ?: "For shell completion");

        if (verb->options) {
                puts("\nOptions:");
                print_options(verb->options);
        }
        puts("\n'btctl --help' shows the options that every verb has; btctl(1) explains everything.");

        return EXIT_SUCCESS;
}

int help_print_version(void) {
        puts("btctl " BTD_VERSION);
        return EXIT_SUCCESS;
}
