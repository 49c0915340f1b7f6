/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Parses the command line with getopt_long(3), from the table of options, with its own messages. */

#include <getopt.h>
#include <string.h>
#include <time.h>

#include "basic/nearest.h"
#include "basic/span.h"
#include "client/options.h"
#include "client/view/report.h"

const Option option_table[OPTION_MAX_] = {
        [OPTION_SYSTEM] = { "system", 0, NULL, "Use the btd of the system (the default)" },
        [OPTION_USER] = { "user", 0, NULL, "Use the btd of the user" },
        [OPTION_ADDRESS] = { "address", 0, "ADDR", "Use the btd on the bus with this D-Bus address" },
        [OPTION_HOST] = { "host", 'H', "[USER@]HOST", "Use the btd of another host, over ssh" },
        [OPTION_MACHINE] = { "machine", 'M', "NAME", "Use the btd of a local container" },
        [OPTION_JSON] = { "json", 0, NULL, "Print JSON" },
        [OPTION_NO_COLOR] = { "no-color", 0, NULL, "Print without colors" },
        [OPTION_ASCII] = { "ascii", 0, NULL, "Print ASCII characters only" },
        [OPTION_QUIET] = { "quiet", 'q', NULL, "Print only requested data and errors" },
        [OPTION_NO_PAGER] = { "no-pager", 0, NULL, "Do not show long output in a pager" },
        [OPTION_HELP] = { "help", 'h', NULL, "Print this help, or the help of a verb" },
        [OPTION_VERSION] = { "version", 0, NULL, "Print the version" },
        [OPTION_INSTANCE] = { "instance", 0, "NAME", "The instance; one tree can have several instances" },
        [OPTION_UNESCAPE] = { "unescape", 0, NULL, "The operand is a part of the name of a unit, and is escaped" },
        [OPTION_SET] = { "set", 0, "KEY=JSON", "Set a variable of the run; may be given more than once" },
        [OPTION_WAIT] = { "wait", 0, NULL, "Wait until the run has finished" },
        [OPTION_ATTACH] = { "attach", 0, NULL, "Use the run that is running, if there is one" },
        [OPTION_REPLACE] = { "replace", 0, NULL,
                             "Halt the run that is running, if there is one, and start when it has ended" },
        [OPTION_ONCE] = { "once", 0, NULL, "Wait for this run only, not for its restarts" },
        [OPTION_TOKEN] = { "token", 0, "TOKEN", "Start only once with this token" },
        [OPTION_FOLLOW] = { "follow", 'f', NULL, "Print what happens, until the run has finished" },
        [OPTION_SCRIPT] = { "script", 0, "FILE", "Read the outcomes of the leaves from this file" },
        [OPTION_EXPECT] = { "expect", 0, "TRACE", "Compare the events with a stored trace" },
        [OPTION_UNTIL] = { "until", 'U', "TIME", "Only until this time: a date, a time, or a time span before now" },
        [OPTION_SEED] = { "seed", 0, "N", "Seed for random numbers (default: 0)" },
        [OPTION_CLEAR] = { "clear", 0, NULL, "Remove the breakpoint" },
        [OPTION_DIRECTORY] = { "directory", 'D', "DIR", "Read the run records in this directory, without btd" },
        [OPTION_SINCE] = { "since", 'S', "TIME", "Only since this time: a date, a time, or a time span before now" },
        [OPTION_LINES] = { "lines", 'n', "N", "Only the last N lines or runs; 'all': all of them" },
        [OPTION_NODE] = { "node", 0, "NODE", "Only this node and the nodes below it" },
        [OPTION_REVERSE] = { "reverse", 'r', NULL, "Print the newest lines first" },
        [OPTION_PAGER_END] = { "pager-end", 'e', NULL, "Show the end of the output in the pager" },
        [OPTION_FROM] = { "from", 0, "NODE", "Begin with this node, also if it has succeeded" },
        [OPTION_YES] = { "yes", 'y', NULL, "Do not ask" },
        [OPTION_DRY_RUN] = { "dry-run", 0, NULL, "Only say what would be done" },
        [OPTION_FULL] = { "full", 0, NULL, "Copy the whole file, and change the copy" },
        [OPTION_FORMAT] = { "format", 0, "FORMAT", "The format of the output" },
};

/* Replaces the help of option_table for some verbs. */
static const struct {
        OptionId id;
        const char *verb, *help;
} verb_helps[] = {
        { OPTION_TOKEN, "halt", "Halt only the runs that were started with this token" },
        { OPTION_TOKEN, "stop", "Halt only the runs that were started with this token" },
        { OPTION_UNTIL, "simulate", "Stop after this time span" },
        { OPTION_UNTIL, "replay", "Only until this time span after the start" },
        { OPTION_FORMAT, "graph", "svg, html, dot or mermaid" },
        { OPTION_FORMAT, "plot", "svg, html or trace" },
        { OPTION_FORMAT, "validate", "sarif" },
        { OPTION_FORMAT, "metrics", "openmetrics or http" },
};

const char *option_help(OptionId id, const char *verb) {
        for (size_t i = 0; verb && i < G_N_ELEMENTS(verb_helps); i++)
                if (verb_helps[i].id == id && g_str_equal(verb_helps[i].verb, verb))
                        return verb_helps[i].help;

        return option_table[id].help;
}

/* getopt_long() returns this plus the OptionId for a long option; it is beyond all letters. */
#define LONG_BASE 256

static int unknown_name(const char *word) {
        g_autofree char *name = g_strndup(word, strcspn(word, "="));
        Nearest nearest = { .word = name + strlen("--") };

        for (OptionId id = 0; id < OPTION_MAX_; id++)
                nearest_offer(&nearest, option_table[id].name);
        if (nearest.best)
                return report_usage("unknown option '%s'; did you mean '--%s'?", name, nearest.best);

        return report_usage("unknown option '%s'", name);
}

static OptionId option_of_letter(int letter) {
        OptionId id = 0;

        if (letter >= LONG_BASE)
                return letter - LONG_BASE;

        while (id < OPTION_MAX_ && option_table[id].letter != letter)
                id++;

        return id;
}

/* Only one bus can be given. --system is only the default, and can be combined with -H and -M. */
static int check_transport(const Options *options) {
        static const OptionId transports[] = { OPTION_USER, OPTION_ADDRESS, OPTION_HOST, OPTION_MACHINE,
                                               OPTION_DIRECTORY };
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

int options_parse(Options *options, int argc, char **argv, char ***ret_operands) {
        g_autoptr(GString) letters = g_string_new(":");
        struct option longs[OPTION_MAX_ + 1] = {};
        OptionId id;
        int c, status;

        *options = (Options){ .sets = g_ptr_array_new() };
        for (id = 0; id < OPTION_MAX_; id++) {
                const Option *option = &option_table[id];

                longs[id] = (struct option){ option->name, option->argument ? required_argument : no_argument, NULL,
                                             LONG_BASE + id };
                if (option->letter)
                        g_string_append_printf(letters, "%c%s", option->letter, option->argument ? ":" : "");
        }

        opterr = 0;
        while ((c = getopt_long(argc, argv, letters->str, longs, NULL)) >= 0) {
                if (c == ':') {
                        const Option *option = &option_table[option_of_letter(optopt)];

                        return report_usage("option '--%s' needs a value: --%s=%s", option->name, option->name,
                                            option->argument);
                }
                if (c == '?' && optopt >= LONG_BASE)
                        return report_usage("option '--%s' takes no value", option_table[optopt - LONG_BASE].name);
                if (c == '?' && optopt != 0)
                        return report_usage("unknown option '-%c'", optopt);
                if (c == '?')
                        return unknown_name(argv[optind - 1]);

                id = option_of_letter(c);
                options->given |= OPTION_BIT(id);
                options->values[id] = optarg;
                if (id == OPTION_SET)
                        g_ptr_array_add(options->sets, optarg);
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

/* Times as journalctl(1) has them, see systemd.time(7). False: it is something else. */
static bool parse_time(const char *text, uint64_t *ret_time) {
        static const char *const formats[] = {
                "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M",
                "%Y-%m-%d",          "%H:%M:%S",          "%H:%M",          "@%s",
        };
        bool before = *text == '-', ago = g_str_has_suffix(text, " ago"), yesterday = g_str_equal(text, "yesterday");
        g_autofree char *past = g_strndup(text + before, strlen(text) - before - (ago ? strlen(" ago") : 0));
        uint64_t span, now = (uint64_t) g_get_real_time();
        time_t seconds = (time_t) (now / G_USEC_PER_SEC);
        struct tm today;

        if (span_parse(past, &span) >= 0) {
                *ret_time = span < now ? now - span : 0;
                return true;
        }

        if (g_str_equal(text, "now")) {
                *ret_time = now;
                return true;
        }

        (void) localtime_r(&seconds, &today);
        today.tm_hour = today.tm_min = today.tm_sec = 0;
        today.tm_mday -= yesterday;
        today.tm_isdst = -1;
        if (yesterday || g_str_equal(text, "today")) {
                *ret_time = (uint64_t) mktime(&today) * G_USEC_PER_SEC;
                return true;
        }

        for (size_t i = 0; i < G_N_ELEMENTS(formats); i++) {
                struct tm date = today;
                const char *end = strptime(text, formats[i], &date);

                if (!end || *end)
                        continue;
                seconds = mktime(&date);
                if (seconds < 0)
                        return false;
                *ret_time = (uint64_t) seconds * G_USEC_PER_SEC;
                return true;
        }

        return false;
}

int options_time(const Options *options, OptionId id, uint64_t *ret_time) {
        const char *text = options->values[id];

        *ret_time = id == OPTION_UNTIL ? UINT64_MAX : 0;
        if (text && !parse_time(text, ret_time))
                return report_usage(
                        "--%s: '%s' is neither a time span such as '2h', nor a date such as '2026-11-23 14:00'",
                        option_table[id].name, text);

        return EXIT_SUCCESS;
}

int options_lines(const Options *options, uint64_t *ret_lines) {
        const char *text = options->values[OPTION_LINES];
        guint64 lines = UINT64_MAX;

        if (text && !g_str_equal(text, "all") && !g_ascii_string_to_unsigned(text, 10, 0, G_MAXINT32, &lines, NULL))
                return report_usage("--lines: '%s' is neither a number nor 'all'", text);

        *ret_lines = lines;
        return EXIT_SUCCESS;
}

bool options_want_none(const Options *options) {
        uint64_t lines = UINT64_MAX;

        return options_lines(options, &lines) == EXIT_SUCCESS && lines == 0;
}
