/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The match rules of one connection on its bus, each once however many use it.
 *
 * A bus takes only so many rules (a system bus 512 a connection), and some look at all of them for each signal. So
 * where many rules differ only in their paths and arguments, one that leaves these out takes their place.
 */

#include <glib.h>
#include <systemd/sd-bus.h>

#include "bus/signal-pattern.h"

/* So many rules that differ only in their paths and arguments are on the bus, before one takes their place. */
#define RULES_NARROW_MAX 50u

typedef struct Rules Rules;
typedef struct Rule Rule;

/* Part of whatever uses a rule. confirmed is called each time that the bus has the rule; not from within rule_use(). It
 * must not use or leave rules. */
typedef struct RuleUse {
        void (*confirmed)(void *userdata);
        void *userdata;
        Rule *rule;
        GList link;
} RuleUse;

/* bus_name: for messages, borrowed. */
Rules *rules_new(const char *bus_name);
/* Uses that are left over can be left. */
void rules_free(Rules *rules);

/* The bus is there: all rules are added to it. The source is that of the bus, see bus/bus-source.h. */
void rules_attach(Rules *rules, sd_bus *bus, GSource *source);
void rules_detach(Rules *rules);
/* From the main loop: does what had to be put off. */
void rules_settle(Rules *rules);

void rule_use(Rules *rules, RuleUse *use, const SignalPattern *pattern);
void rule_leave(RuleUse *use);
bool rule_is_confirmed(const RuleUse *use);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Rules, rules_free)
