/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The options by table, read by getopt_long(3), with messages of our own. */

#include <getopt.h>
#include <string.h>

#include "basic/nearest.h"
#include "options.h"
#include "report.h"

const Option option_table[OPTION_MAX_] = {
        [OPTION_SYSTEM] = { "system", 0, NULL, "Talk to the system's btd (the default)" },
        [OPTION_USER] = { "user", 0, NULL, "Talk to the user's own btd" },
        [OPTION_ADDRESS] = { "address", 0, "ADDR", "Talk to the btd on the bus with this D-Bus address" },
        [OPTION_HOST] = { "host", 'H', "[USER@]HOST", "Talk to the btd of another host, over ssh" },
        [OPTION_MACHINE] = { "machine", 'M', "NAME", "Talk to the btd of a local container" },
        [OPTION_JSON] = { "json", 0, NULL, "Print JSON" },
        [OPTION_NO_COLOR] = { "no-color", 0, NULL, "Print without colours" },
        [OPTION_ASCII] = { "ascii", 0, NULL, "Print ASCII characters only" },
        [OPTION_QUIET] = { "quiet", 'q', NULL, "Print nothing but what was asked for, and errors" },
        [OPTION_HELP] = { "help", 'h', NULL, "Print this help, or that of a verb" },
        [OPTION_VERSION] = { "version", 0, NULL, "Print the version" },
        [OPTION_INSTANCE] = { "instance", 0, "NAME", "Start another run of a tree that runs already" },
        [OPTION_SET] = { "set", 0, "KEY=JSON", "Set a variable of the run; may be given more than once" },
        [OPTION_WAIT] = { "wait", 0, NULL, "Wait until it is over" },
        [OPTION_FOLLOW] = { "follow", 0, NULL, "Print what happens to the nodes, and wait until it is over" },
        [OPTION_SCRIPT] = { "script", 0, "FILE", "Read what the leaves do" },
        [OPTION_EXPECT] = { "expect", 0, "TRACE", "Compare what happens with a stored trace" },
        [OPTION_UNTIL] = { "until", 0, "SPAN", "Stop when so much time of the run is over" },
        [OPTION_SEED] = { "seed", 0, "N", "Draw other random numbers, where there are any (0)" },
        [OPTION_CLEAR] = { "clear", 0, NULL, "Pause there no more" },
        [OPTION_FORMAT] = { "format", 0, "FORMAT", "Draw a picture (svg, the default), or for trace viewers (trace)" },
};

/* What getopt_long() returns for a long option: beyond all letters. */
#define LONG_BASE 256

static int unknown_letter(int letter) {
        return report_usage("unknown option '-%c'", letter);
}

static int unknown_name(const char *word) {
        g_autofree char *name = g_strndup(word, strcspn(word, "="));
        Nearest nearest = { .word = name + strlen("--") };

        for (OptionId id = 0; id < OPTION_MAX_; id++)
                nearest_offer(&nearest, option_table[id].name);
        if (nearest.best)
                return report_usage("unknown option '%s'; did you mean '--%s'?", name, nearest.best);

        return report_usage("unknown option '%s'", name);
}

static int no_value(const Option *option) {
        return report_usage("option '--%s' needs a value: --%s=%s", option->name, option->name, option->argument);
}

static int needless_value(const Option *option) {
        return report_usage("option '--%s' takes no value", option->name);
}

static OptionId option_of_letter(int letter) {
        OptionId id = 0;

        if (letter >= LONG_BASE)
                return letter - LONG_BASE;

        while (id < OPTION_MAX_ && option_table[id].letter != letter)
                id++;

        return id;
}

static void take_option(Options *options, OptionId id, char *value) {
        options->given |= OPTION_BIT(id);
        options->values[id] = value;
        if (id == OPTION_SET)
                g_ptr_array_add(options->sets, value);
}

/* One bus at a time. --system is only the default, and says nothing against -H and -M. */
static int check_transport(const Options *options) {
        static const OptionId transports[] = { OPTION_USER, OPTION_ADDRESS, OPTION_HOST, OPTION_MACHINE };
        const char *first = NULL;

        if (options_has(options, OPTION_SYSTEM) && options_has(options, OPTION_USER))
                return report_usage("--system and --user cannot be given together");

        for (size_t i = 0; i < G_N_ELEMENTS(transports); i++) {
                const char *name = option_table[transports[i]].name;

                if (!options_has(options, transports[i]))
                        continue;
                if (first)
                        return report_usage("--%s and --%s cannot be given together", first, name);
                first = name;
        }

        return EXIT_SUCCESS;
}

static void make_getopt_tables(GString *letters, struct option *longs) {
        g_string_append_c(letters, ':');
        for (OptionId id = 0; id < OPTION_MAX_; id++) {
                const Option *option = &option_table[id];

                longs[id] = (struct option){ option->name, option->argument ? required_argument : no_argument, NULL,
                                             LONG_BASE + id };
                if (option->letter)
                        g_string_append_printf(letters, "%c%s", option->letter, option->argument ? ":" : "");
        }
}

int options_parse(Options *options, int argc, char **argv, char ***ret_operands) {
        g_autoptr(GString) letters = g_string_new(NULL);
        struct option longs[OPTION_MAX_ + 1] = {};
        int c, status;

        *options = (Options){ .sets = g_ptr_array_new() };
        make_getopt_tables(letters, longs);

        opterr = 0;
        while ((c = getopt_long(argc, argv, letters->str, longs, NULL)) >= 0) {
                if (c == ':')
                        return no_value(&option_table[option_of_letter(optopt)]);
                if (c == '?' && optopt >= LONG_BASE)
                        return needless_value(&option_table[option_of_letter(optopt)]);
                if (c == '?' && optopt != 0)
                        return unknown_letter(optopt);
                if (c == '?')
                        return unknown_name(argv[optind - 1]);

                take_option(options, option_of_letter(c), optarg);
        }

        status = check_transport(options);
        if (status == EXIT_SUCCESS)
                *ret_operands = argv + optind;

        return status;
}

void options_clear(Options *options) {
        g_clear_pointer(&options->sets, g_ptr_array_unref);
}

bool options_has(const Options *options, OptionId id) {
        return options->given & OPTION_BIT(id);
}
