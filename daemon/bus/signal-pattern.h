/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Which signals somebody wants: those that have all that is given. NULL is anything.
 */

#include <glib.h>
#include <stdbool.h>

#define BUS_DRIVER "org.freedesktop.DBus"
#define BUS_DRIVER_PATH "/org/freedesktop/DBus"

/* A rule can name this many arguments. */
#define SIGNAL_PATTERN_ARGS 64u

typedef struct SignalPattern {
        const char *sender; /* of a well-known name: whoever owns it at the moment */
        const char *path, *interface, *member;
        const char *arg; /* the argument arg_number is this string, or with arg_is_path a string or an object path */
        unsigned arg_number;
        bool arg_is_path;
        const char *more; /* further conditions for the bus (",arg3='x'"): what others want may come all the same */
} SignalPattern;

/* The pattern of NameOwnerChanged for a name. */
SignalPattern signal_pattern_owner(const char *name);

/* As a match rule. What is too long for a rule, or cannot be quoted in one, is left out: then more signals match. */
char *signal_pattern_rule(const SignalPattern *pattern);
/* A rule for all patterns that differ only in their paths and arguments; NULL: it would match too much. */
char *signal_pattern_wide_rule(const SignalPattern *pattern);

/* Appends a condition for an argument, as for SignalPattern.more. */
void signal_pattern_append_arg(GString *rule, unsigned number, const char *text, bool is_path);
