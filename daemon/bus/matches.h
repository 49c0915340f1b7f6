/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Brings signals to those who wait for them: the pattern of those that a match receives, and, for connection.c and
 * names.c, the match rules of one connection and the dispatch of its signals. See connection_match().
 */

#include <glib.h>
#include <stdbool.h>
#include <systemd/sd-bus.h>

#define BUS_DRIVER "org.freedesktop.DBus"
#define BUS_DRIVER_PATH "/org/freedesktop/DBus"

/* A rule can name this many arguments. */
#define SIGNAL_PATTERN_ARGS 64u

/* All given fields must be equal; NULL matches anything. */
typedef struct SignalPattern {
        const char *sender; /* a well-known name stands for its present owner */
        const char *path, *interface, *member;
        const char *arg; /* the argument arg_number is this string, or with arg_is_path a string or an object path */
        unsigned arg_number;
        bool arg_is_path;
        bool arg_in_variant; /* or a variant with it: only btd compares it, since a bus does not look into variants */
        const char *more;    /* further conditions for the bus (",arg3='x'"); signals without them may still come */
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

/*
 * The match rules of one connection on its bus; equal rules are added once.
 *
 * A bus limits the number of rules (512 per connection on a system bus), and some check all of them for each signal. So
 * if many rules differ only in their paths and arguments, one rule without these replaces them.
 */

/* More rules than this that differ only in their paths and arguments are replaced by one. */
#define RULES_NARROW_MAX 50u

typedef struct Rules Rules;
typedef struct Rule Rule;

/* Part of its user's struct. confirmed is called each time that the bus has confirmed the rule, but not from within
 * rule_use(). It must not call rule_use() or rule_leave(). */
typedef struct RuleUse {
        void (*confirmed)(void *userdata);
        void *userdata;
        Rule *rule;
        GList link;
} RuleUse;

/* bus_name: for messages, borrowed. */
Rules *rules_new(const char *bus_name);
/* Remaining uses can still be left. */
void rules_free(Rules *rules);

/* The bus is connected: all rules are added. source: see bus/bus-source.h. */
void rules_attach(Rules *rules, sd_bus *bus, GSource *source);
void rules_detach(Rules *rules);
/* Does deferred work, from the main loop. */
void rules_settle(Rules *rules);

void rule_use(Rules *rules, RuleUse *use, const SignalPattern *pattern);
void rule_leave(RuleUse *use);
bool rule_is_confirmed(const RuleUse *use);

/*
 * The matches of one connection: dispatches a signal by a few lookups, however many matches there are.
 */

typedef struct Match Match;
typedef struct Matches Matches;
typedef struct Names Names;

typedef void (*MatchSignal)(sd_bus_message *message, void *userdata);
typedef void (*MatchReady)(void *userdata);

/* Borrows both. */
Matches *matches_new(Rules *rules, Names *names);
void matches_free(Matches *matches);

void matches_detach(Matches *matches);
/* Does deferred work, from the main loop. */
void matches_settle(Matches *matches);
/* Calls the matches of a signal. */
void matches_dispatch(Matches *matches, sd_bus_message *signal);

/* ready may be NULL; see connection_match(). */
Match *matches_add(Matches *matches, const SignalPattern *pattern, MatchSignal signal, MatchReady ready,
                   void *userdata);
void match_free(Match *match);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Rules, rules_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Matches, matches_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Match, match_free)
