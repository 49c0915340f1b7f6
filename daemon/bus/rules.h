/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The match rules of one connection on its bus; equal rules are added once. Matches and names use them.
 *
 * A bus limits the number of rules (512 per connection on a system bus), and some check all of them for each signal. So
 * if many rules differ only in their paths and arguments, one rule without these replaces them.
 */

#include <glib.h>
#include <systemd/sd-bus.h>

#include "bus/signal-pattern.h"

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

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Rules, rules_free)
