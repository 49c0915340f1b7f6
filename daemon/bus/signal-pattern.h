/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The pattern of the signals that a match receives: all given fields must be equal; NULL matches anything.
 */

#include <glib.h>
#include <stdbool.h>

#define BUS_DRIVER "org.freedesktop.DBus"
#define BUS_DRIVER_PATH "/org/freedesktop/DBus"

/* A rule can name this many arguments. */
#define SIGNAL_PATTERN_ARGS 64u

typedef struct SignalPattern {
        const char *sender; /* a well-known name stands for its present owner */
        const char *path, *interface, *member;
        const char *arg; /* the argument arg_number is this string, or with arg_is_path a string or an object path */
        unsigned arg_number;
        bool arg_is_path;
        const char *more; /* further conditions for the bus (",arg3='x'"); signals without them may still come */
} SignalPattern;

/* The pattern of NameOwnerChanged for a name. */
SignalPattern signal_pattern_owner(const char *name);

/* The pattern as a match rule. Values that are too long for a rule, or cannot be quoted, are left out: then more
 * signals match. */
char *signal_pattern_rule(const SignalPattern *pattern);
/* A rule for all patterns that differ only in their paths and arguments; NULL: it would match too much. */
char *signal_pattern_wide_rule(const SignalPattern *pattern);

/* Appends a condition for an argument, as for SignalPattern.more. */
void signal_pattern_append_arg(GString *rule, unsigned number, const char *text, bool is_path);
