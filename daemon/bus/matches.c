/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * A rule lives as long as somebody wants its signals. Its members may come and go while they are called, so
 * the one to be called next is kept in the rule, where leaving moves it on.
 */

#include <stdbool.h>

#include "basic/cleanup.h"
#include "basic/log.h"
#include "bus/bus-source.h"
#include "bus/matches.h"

/* A bus that refuses a rule (dbus-daemon has a limit) is asked again at this interval. */
#define REFUSED_RETRY_USEC (UINT64_C(1000) * 1000)

struct Matches {
        const char *bus_name;
        sd_bus *bus; /* NULL: not there */
        GSource *source;
        GHashTable *rules; /* by their text */
        GQueue unready;    /* matches whose rule is confirmed, and who have not been told */
        uint64_t retry_at; /* 0: no rule was refused */
};

typedef struct Rule {
        Matches *matches;
        char *text;
        sd_bus_slot *slot; /* NULL: not on the bus */
        bool confirmed;
        bool complained;
        GQueue members;
        GList *next;  /* the member to be called next */
        bool calling; /* so the rule must stay */
} Rule;

struct Match {
        Rule *rule;
        GList link;       /* in the rule's members */
        GList ready_link; /* in unready, while it has data */
        MatchSignal signal;
        MatchReady ready;
        void *userdata;
};

static void match_want_ready(Match *match) {
        Matches *matches = match->rule->matches;

        if (!match->ready || match->ready_link.data)
                return;

        match->ready_link.data = match;
        g_queue_push_tail_link(&matches->unready, &match->ready_link);
        bus_source_wake(matches->source, 0);
}

static void match_unwant_ready(Match *match) {
        if (!match->ready_link.data)
                return;

        g_queue_unlink(&match->rule->matches->unready, &match->ready_link);
        match->ready_link.data = NULL;
}

static void rule_free(void *p) {
        Rule *rule = p;

        sd_bus_slot_unref(rule->slot);
        g_free(rule->text);
        g_free(rule);
}

static void rule_drop_unused(Rule *rule) {
        if (rule->members.length == 0 && !rule->calling)
                g_hash_table_remove(rule->matches->rules, rule->text);
}

static int on_signal(sd_bus_message *message, void *userdata, sd_bus_error *ret_error) {
        Rule *rule = userdata;

        rule->calling = true;
        rule->next = rule->members.head;
        while (rule->next) {
                Match *match = rule->next->data;

                rule->next = rule->next->next;
                if (sd_bus_message_rewind(message, true) >= 0)
                        match->signal(message, match->userdata);
        }
        rule->calling = false;

        rule_drop_unused(rule);
        return 0;
}

static void rule_refused(Rule *rule, const char *name, const char *reason) {
        Matches *matches = rule->matches;

        if (!rule->complained)
                log_warning("bus '%s': cannot watch signals, trying again: %s: %s (rule %s)", matches->bus_name, name,
                            reason, rule->text);
        rule->complained = true;
        rule->slot = sd_bus_slot_unref(rule->slot);

        matches->retry_at = (uint64_t) g_get_monotonic_time() + REFUSED_RETRY_USEC;
        bus_source_wake(matches->source, matches->retry_at);
}

static int on_added(sd_bus_message *reply, void *userdata, sd_bus_error *ret_error) {
        const sd_bus_error *error = sd_bus_message_get_error(reply);
        Rule *rule = userdata;

        if (error) {
                if (sd_bus_is_open(rule->matches->bus) > 0)
                        rule_refused(rule, error->name, error->message);
                return 1;
        }

        rule->confirmed = true;
        rule->complained = false;
        for (GList *i = rule->members.head; i; i = i->next)
                match_want_ready(i->data);
        return 1;
}

static void rule_install(Rule *rule) {
        Matches *matches = rule->matches;
        int r;

        if (!matches->bus || rule->slot)
                return;

        r = sd_bus_add_match_async(matches->bus, &rule->slot, rule->text, on_signal, on_added, rule);
        if (r < 0 && sd_bus_is_open(matches->bus) > 0)
                rule_refused(rule, "it cannot be sent", g_strerror(-r));
}

static void rule_uninstall(Rule *rule) {
        rule->slot = sd_bus_slot_unref(rule->slot);
        rule->confirmed = false;
        for (GList *i = rule->members.head; i; i = i->next)
                match_unwant_ready(i->data);
}

static void rules_foreach(Matches *matches, void (*function)(Rule *rule)) {
        GHashTableIter iterator;
        void *rule;

        g_hash_table_iter_init(&iterator, matches->rules);
        while (g_hash_table_iter_next(&iterator, NULL, &rule))
                function(rule);
}

/* The matches are their owners'. */
static void rule_disown(Rule *rule) {
        rule_uninstall(rule);
        for (GList *i = rule->members.head; i; i = i->next)
                ((Match *) i->data)->rule = NULL;
}

Matches *matches_new(const char *bus_name) {
        Matches *matches = g_new0(Matches, 1);

        matches->bus_name = bus_name;
        matches->rules = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, rule_free);
        return matches;
}

void matches_free(Matches *matches) {
        if (!matches)
                return;

        rules_foreach(matches, rule_disown);
        g_hash_table_unref(matches->rules);
        g_free(matches);
}

void matches_attach(Matches *matches, sd_bus *bus, GSource *source) {
        matches->bus = bus;
        matches->source = source;
        matches->retry_at = 0;
        rules_foreach(matches, rule_install);
}

void matches_detach(Matches *matches) {
        rules_foreach(matches, rule_uninstall);
        matches->bus = NULL;
        matches->source = NULL;
}

void matches_settle(Matches *matches) {
        /* Those that come meanwhile have asked to be called in the next turn. */
        for (unsigned n = matches->unready.length; n > 0 && matches->unready.length > 0; n--) {
                Match *match = matches->unready.head->data;

                match_unwant_ready(match);
                match->ready(match->userdata);
        }

        if (matches->retry_at == 0)
                return;
        if (matches->retry_at > (uint64_t) g_get_monotonic_time()) {
                bus_source_wake(matches->source, matches->retry_at);
                return;
        }

        matches->retry_at = 0;
        rules_foreach(matches, rule_install);
}

Match *matches_add(Matches *matches, const char *text, MatchSignal signal, MatchReady ready, void *userdata) {
        Match *match = g_new0(Match, 1);
        Rule *rule = g_hash_table_lookup(matches->rules, text);

        if (!rule) {
                rule = g_new0(Rule, 1);
                rule->matches = matches;
                rule->text = g_strdup(text);
                g_hash_table_insert(matches->rules, rule->text, rule);
                rule_install(rule);
        }

        match->rule = rule;
        match->link.data = match;
        match->signal = signal;
        match->ready = ready;
        match->userdata = userdata;

        g_queue_push_tail_link(&rule->members, &match->link);
        if (rule->confirmed)
                match_want_ready(match);
        return match;
}

void match_free(Match *match) {
        Rule *rule;

        if (!match)
                return;

        rule = match->rule;
        if (rule) {
                match_unwant_ready(match);
                if (rule->next == &match->link)
                        rule->next = match->link.next;
                g_queue_unlink(&rule->members, &match->link);
                rule_drop_unused(rule);
        }

        g_free(match);
}
