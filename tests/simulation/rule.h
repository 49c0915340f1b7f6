/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * A match rule as it was asked for, and whether a signal fits it.
 */

#include <stdbool.h>
#include <systemd/sd-bus.h>

typedef struct BusRule {
        char *text;
        char **parts; /* key, value, key, value, ... */
} BusRule;

BusRule *bus_rule_new(const char *text);
void bus_rule_free(BusRule *rule);

/* sender: its well-known name; arg0: or NULL. */
bool bus_rule_fits(const BusRule *rule, const char *sender, const char *unique, const char *path, const char *interface,
                   const char *member, const char *arg0);
