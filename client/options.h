/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Owns the command line: the table of all options, and the options given. Options may come anywhere among the operands,
 * even before the verb; "--" ends them.
 */

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef enum OptionId {
        /* For every verb. */
        OPTION_SYSTEM,
        OPTION_USER,
        OPTION_ADDRESS,
        OPTION_HOST,
        OPTION_MACHINE,
        OPTION_JSON,
        OPTION_NO_COLOR,
        OPTION_ASCII,
        OPTION_QUIET,
        OPTION_NO_PAGER,
        OPTION_HELP,
        OPTION_VERSION,
        OPTION_COMMON_MAX_,
        /* For the verbs whose table entry has them. */
        OPTION_INSTANCE = OPTION_COMMON_MAX_,
        OPTION_UNESCAPE,
        OPTION_SET,
        OPTION_WAIT,
        OPTION_ATTACH,
        OPTION_REPLACE,
        OPTION_ONCE,
        OPTION_TOKEN,
        OPTION_FOLLOW,
        OPTION_SCRIPT,
        OPTION_EXPECT,
        OPTION_UNTIL,
        OPTION_SEED,
        OPTION_CLEAR,
        OPTION_FORMAT,
        OPTION_LINES,
        OPTION_SINCE,
        OPTION_DIRECTORY,
        OPTION_NODE,
        OPTION_REVERSE,
        OPTION_PAGER_END,
        OPTION_FROM,
        OPTION_YES,
        OPTION_DRY_RUN,
        OPTION_FULL,
        OPTION_MAX_,
} OptionId;

#define OPTION_BIT(id) (UINT64_C(1) << (id))
#define OPTION_BITS_COMMON (OPTION_BIT(OPTION_COMMON_MAX_) - 1)

typedef struct Option {
        const char *name;
        char letter;          /* 0: none */
        const char *argument; /* placeholder for the value; NULL: takes no value */
        const char *help;
} Option;

extern const Option option_table[OPTION_MAX_];

/* Returns the line that explains the option in the help of a verb; verb NULL: in that of btctl. */
const char *option_help(OptionId id, const char *verb);

typedef struct Options {
        uint64_t given;                  /* bits of OptionId */
        const char *values[OPTION_MAX_]; /* the last value given; borrowed from the command line */
        GPtrArray *sets;                 /* the values of all --set, in order */
} Options;

/* Returns an exit status. operands: what is left of argv, NULL-terminated. */
int options_parse(Options *options, int argc, char **argv, char ***ret_operands);
void options_clear(Options *options);

/* The time of --since or --until, in CLOCK_REALTIME µs; 0 or UINT64_MAX: not given. Returns an exit status. */
int options_time(const Options *options, OptionId id, uint64_t *ret_time);
/* The number of --lines; UINT64_MAX: not given, or all. Returns an exit status. */
int options_lines(const Options *options, uint64_t *ret_lines);
/* Whether --lines is 0. */
bool options_want_none(const Options *options);

bool options_has(const Options *options, OptionId id);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Options, options_clear)
