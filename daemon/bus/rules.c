/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Keeps match rules on a bus. The rules with the same sender, interface and member are a family. A family has either
 * its narrow rules on the bus or, once there are many, one wide rule; it stays wide until it is empty. The narrow rules
 * are removed when the bus has confirmed the wide one, so that no signal is missed.
 */

#include <stdbool.h>

#include "basic/cleanup.h"
#include "basic/log.h"
#include "bus/bus-source.h"
#include "bus/rules.h"

/* A bus that refuses a rule (dbus-daemon has a limit) is asked again at this interval. */
#define REFUSED_RETRY_USEC (UINT64_C(1000) * 1000)

struct Rules {
        const char *bus_name;
        sd_bus *bus; /* NULL: not connected */
        GSource *source;
        GHashTable *rules;    /* by their text */
        GHashTable *families; /* by the text of the wide one */
        uint64_t retry_at;    /* 0: no rule was refused */
};

/* A rule that is, or will be, on the bus. */
typedef struct Text {
        Rules *rules;
        char *text;
        sd_bus_slot *slot; /* until the bus has replied */
        bool confirmed;    /* it is on the bus */
        bool warned;
        void (*on_confirmed)(void *userdata);
        void *userdata;
} Text;

typedef struct Family {
        Text wide;
        bool is_wide;
        GQueue members;
} Family;

struct Rule {
        Text narrow;
        Family *family; /* NULL: it has no wide rule */
        GList link;     /* in the family's members */
        GQueue uses;
};

static void refused(Text *text, const char *name, const char *reason) {
        Rules *rules = text->rules;

        if (!text->warned)
                log_warning("bus '%s': cannot watch signals, trying again: %s: %s (rule %s)", rules->bus_name, name,
                            reason, text->text);
        text->warned = true;

        rules->retry_at = (uint64_t) g_get_monotonic_time() + REFUSED_RETRY_USEC;
        bus_source_wake(rules->source, rules->retry_at);
}

static int on_added(sd_bus_message *reply, void *userdata, sd_bus_error *ret_error) {
        const sd_bus_error *error = sd_bus_message_get_error(reply);
        Text *text = userdata;

        text->slot = sd_bus_slot_unref(text->slot);
        if (error) {
                if (sd_bus_is_open(text->rules->bus) > 0)
                        refused(text, error->name, error->message);
                return 1;
        }

        text->confirmed = true;
        text->warned = false;
        text->on_confirmed(text->userdata);
        return 1;
}

static int driver_message(sd_bus *bus, sd_bus_message **ret_message, const char *member, const char *rule) {
        int r = sd_bus_message_new_method_call(bus, ret_message, BUS_DRIVER, BUS_DRIVER_PATH, BUS_DRIVER, member);

        return r < 0 ? r : sd_bus_message_append(*ret_message, "s", rule);
}

static void text_add(Text *text) {
        g_autoptr(sd_bus_message) message = NULL;
        sd_bus *bus = text->rules->bus;
        int r;

        if (!bus || text->slot || text->confirmed)
                return;

        r = driver_message(bus, &message, "AddMatch", text->text);
        if (r >= 0)
                r = sd_bus_call_async(bus, &text->slot, message, on_added, text, UINT64_MAX);
        if (r < 0 && sd_bus_is_open(bus) > 0)
                refused(text, "it cannot be sent", g_strerror(-r));
}

/* If the bus has not replied yet, it adds or refuses the rule before it removes it. */
static void text_remove(Text *text) {
        g_autoptr(sd_bus_message) message = NULL;
        sd_bus *bus = text->rules->bus;

        if (!text->slot && !text->confirmed)
                return;

        text->slot = sd_bus_slot_unref(text->slot);
        text->confirmed = false;
        if (driver_message(bus, &message, "RemoveMatch", text->text) >= 0 &&
            sd_bus_message_set_expect_reply(message, false) >= 0)
                (void) sd_bus_send(bus, message, NULL); /* a bus that closes has no rules any more */
}

/* The bus is lost, and the rule with it. */
static void text_forget(Text *text) {
        text->slot = sd_bus_slot_unref(text->slot);
        text->confirmed = false;
}

static Text *rule_text(Rule *rule) {
        return rule->family && rule->family->is_wide ? &rule->family->wide : &rule->narrow;
}

static void rule_confirmed(void *userdata) {
        Rule *rule = userdata;

        for (GList *i = rule->uses.head; i; i = i->next) {
                RuleUse *use = i->data;

                use->confirmed(use->userdata);
        }
}

/* Users of rules that were on the bus themselves have missed nothing. */
static void family_confirmed(void *userdata) {
        Family *family = userdata;

        for (GList *i = family->members.head; i; i = i->next) {
                Rule *rule = i->data;
                bool was_confirmed = rule->narrow.confirmed;

                text_remove(&rule->narrow);
                if (!was_confirmed)
                        rule_confirmed(rule);
        }
}

static Family *family_get(Rules *rules, const SignalPattern *pattern) {
        g_autofree char *text = signal_pattern_wide_rule(pattern);
        Family *family = text ? g_hash_table_lookup(rules->families, text) : NULL;

        if (!text || family)
                return family;

        family = g_new0(Family, 1);
        family->wide = (Text){ .rules = rules, .on_confirmed = family_confirmed, .userdata = family };
        family->wide.text = g_steal_pointer(&text);
        g_hash_table_insert(rules->families, family->wide.text, family);
        return family;
}

static void family_free(void *p) {
        Family *family = p;

        sd_bus_slot_unref(family->wide.slot);
        g_free(family->wide.text);
        g_free(family);
}

static void family_join(Family *family, Rule *rule) {
        rule->family = family;
        rule->link.data = rule;
        g_queue_push_tail_link(&family->members, &rule->link);
        if (family->members.length > RULES_NARROW_MAX)
                family->is_wide = true;
}

static void family_leave(Family *family, Rule *rule) {
        g_queue_unlink(&family->members, &rule->link);
        if (family->members.length > 0)
                return;

        text_remove(&family->wide);
        g_hash_table_remove(family->wide.rules->families, family->wide.text);
}

static Rule *rule_get(Rules *rules, const SignalPattern *pattern) {
        g_autofree char *text = signal_pattern_rule(pattern);
        Rule *rule = g_hash_table_lookup(rules->rules, text);
        Family *family;

        if (rule)
                return rule;

        rule = g_new0(Rule, 1);
        rule->narrow = (Text){ .rules = rules, .on_confirmed = rule_confirmed, .userdata = rule };
        rule->narrow.text = g_steal_pointer(&text);
        g_hash_table_insert(rules->rules, rule->narrow.text, rule);

        family = family_get(rules, pattern);
        if (family)
                family_join(family, rule);
        text_add(rule_text(rule));
        return rule;
}

static void rule_free(void *p) {
        Rule *rule = p;

        sd_bus_slot_unref(rule->narrow.slot);
        g_free(rule->narrow.text);
        g_free(rule);
}

static void rules_foreach(Rules *rules, void (*function)(Text *text)) {
        GHashTableIter iterator;
        void *p;

        g_hash_table_iter_init(&iterator, rules->rules);
        while (g_hash_table_iter_next(&iterator, NULL, &p))
                function(rule_text(p));
}

static void rules_forget(Rules *rules) {
        GHashTableIter iterator;
        void *p;

        g_hash_table_iter_init(&iterator, rules->rules);
        while (g_hash_table_iter_next(&iterator, NULL, &p))
                text_forget(&((Rule *) p)->narrow);

        g_hash_table_iter_init(&iterator, rules->families);
        while (g_hash_table_iter_next(&iterator, NULL, &p))
                text_forget(&((Family *) p)->wide);
}

Rules *rules_new(const char *bus_name) {
        Rules *rules = g_new0(Rules, 1);

        rules->bus_name = bus_name;
        rules->rules = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, rule_free);
        rules->families = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, family_free);
        return rules;
}

void rules_free(Rules *rules) {
        GHashTableIter iterator;
        void *p;

        if (!rules)
                return;

        g_hash_table_iter_init(&iterator, rules->rules);
        while (g_hash_table_iter_next(&iterator, NULL, &p))
                for (GList *i = ((Rule *) p)->uses.head; i; i = i->next)
                        ((RuleUse *) i->data)->rule = NULL;

        g_hash_table_unref(rules->rules);
        g_hash_table_unref(rules->families);
        g_free(rules);
}

void rules_attach(Rules *rules, sd_bus *bus, GSource *source) {
        rules->bus = bus;
        rules->source = source;
        rules->retry_at = 0;
        rules_foreach(rules, text_add);
}

void rules_detach(Rules *rules) {
        rules_forget(rules);
        rules->bus = NULL;
        rules->source = NULL;
}

void rules_settle(Rules *rules) {
        if (rules->retry_at == 0)
                return;
        if (rules->retry_at > (uint64_t) g_get_monotonic_time()) {
                bus_source_wake(rules->source, rules->retry_at);
                return;
        }

        rules->retry_at = 0;
        rules_foreach(rules, text_add);
}

void rule_use(Rules *rules, RuleUse *use, const SignalPattern *pattern) {
        use->rule = rule_get(rules, pattern);
        use->link = (GList){ .data = use };
        g_queue_push_tail_link(&use->rule->uses, &use->link);
}

void rule_leave(RuleUse *use) {
        Rule *rule = use->rule;

        if (!rule)
                return;

        use->rule = NULL;
        g_queue_unlink(&rule->uses, &use->link);
        if (rule->uses.length > 0)
                return;

        text_remove(&rule->narrow);
        if (rule->family)
                family_leave(rule->family, rule);
        g_hash_table_remove(rule->narrow.rules->rules, rule->narrow.text);
}

bool rule_is_confirmed(const RuleUse *use) {
        return rule_text(use->rule)->confirmed || use->rule->narrow.confirmed;
}
