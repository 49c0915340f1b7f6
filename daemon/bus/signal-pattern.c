/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Writes match rules (D-Bus specification, "Match Rules"). */

#include <string.h>

#include "bus/signal-pattern.h"

/* The limit of a dbus-daemon. */
#define RULE_LENGTH_MAX 1024u

SignalPattern signal_pattern_owner(const char *name) {
        return (SignalPattern){
                .sender = BUS_DRIVER,
                .path = BUS_DRIVER_PATH,
                .interface = BUS_DRIVER,
                .member = "NameOwnerChanged",
                .arg = name,
        };
}

G_GNUC_PRINTF(3, 4)
static void append(GString *rule, const char *value, const char *format, ...) {
        size_t before = rule->len;
        va_list args;

        if (!value || strchr(value, '\''))
                return;

        va_start(args, format);
        g_string_append_vprintf(rule, format, args);
        va_end(args);
        if (rule->len > RULE_LENGTH_MAX)
                g_string_truncate(rule, before);
}

void signal_pattern_append_arg(GString *rule, unsigned number, const char *text, bool is_path) {
        append(rule, text, ",arg%u%s='%s'", number, is_path ? "path" : "", text);
}

static GString *rule_begin(const SignalPattern *pattern) {
        GString *rule = g_string_new("type='signal'");

        append(rule, pattern->sender, ",sender='%s'", pattern->sender);
        append(rule, pattern->interface, ",interface='%s'", pattern->interface);
        append(rule, pattern->member, ",member='%s'", pattern->member);
        return rule;
}

char *signal_pattern_rule(const SignalPattern *pattern) {
        GString *rule = rule_begin(pattern);

        append(rule, pattern->path, ",path='%s'", pattern->path);
        signal_pattern_append_arg(rule, pattern->arg_number, pattern->arg, pattern->arg_is_path);
        if (pattern->more && rule->len + strlen(pattern->more) <= RULE_LENGTH_MAX)
                g_string_append(rule, pattern->more);
        return g_string_free(rule, FALSE);
}

char *signal_pattern_wide_rule(const SignalPattern *pattern) {
        return pattern->sender || pattern->interface ? g_string_free(rule_begin(pattern), FALSE) : NULL;
}
