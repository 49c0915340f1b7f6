/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Gets signals from the bus and brings them to their matches.
 *
 * Rules: what the bus is asked for. The rules with the same sender, interface and member are a family. A family has
 * either its narrow rules on the bus or, once there are many, one wide rule; it stays wide until it is empty. The
 * narrow rules are removed when the bus has confirmed the wide one, so that no signal is missed.
 *
 * Dispatch: the matches of a signal. Matches with equal patterns share a topic. Topics whose patterns have the same
 * fields share a shape; there are few shapes. For each shape, a key is made from the signal's fields and looked up:
 * with the sender's unique name, and with each of its names that is watched.
 */

#include <stdbool.h>
#include <string.h>

#include "basic/audience.h"
#include "basic/cleanup.h"
#include "basic/dbus-value.h"
#include "basic/foreach.h"
#include "basic/log.h"
#include "bus/bus-source.h"
#include "bus/matches.h"
#include "bus/names.h"

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
        if (!pattern->arg_in_variant)
                signal_pattern_append_arg(rule, pattern->arg_number, pattern->arg, pattern->arg_is_path);
        if (pattern->more && rule->len + strlen(pattern->more) <= RULE_LENGTH_MAX)
                g_string_append(rule, pattern->more);
        return g_string_free(rule, FALSE);
}

char *signal_pattern_wide_rule(const SignalPattern *pattern) {
        return pattern->sender || pattern->interface ? g_string_free(rule_begin(pattern), FALSE) : NULL;
}

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
                log_warning("cannot watch signals on bus '%s' (rule %s), trying again: %s: %s", rules->bus_name,
                            text->text, name, reason);
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

static void family_free(void *p) {
        Family *family = p;

        sd_bus_slot_unref(family->wide.slot);
        g_free(family->wide.text);
        g_free(family);
}

static void rule_free(void *p) {
        Rule *rule = p;

        sd_bus_slot_unref(rule->narrow.slot);
        g_free(rule->narrow.text);
        g_free(rule);
}

Rules *rules_new(const char *bus_name) {
        Rules *rules = g_new0(Rules, 1);

        rules->bus_name = bus_name;
        rules->rules = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, rule_free);
        rules->families = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, family_free);
        return rules;
}

void rules_free(Rules *rules) {
        Rule *p;

        if (!rules)
                return;

        TABLE_FOREACH(p, rules->rules)
                for (GList *i = p->uses.head; i; i = i->next)
                        ((RuleUse *) i->data)->rule = NULL;

        g_hash_table_unref(rules->rules);
        g_hash_table_unref(rules->families);
        g_free(rules);
}

void rules_attach(Rules *rules, sd_bus *bus, GSource *source) {
        Rule *rule;

        rules->bus = bus;
        rules->source = source;
        rules->retry_at = 0;
        TABLE_FOREACH(rule, rules->rules)
                text_add(rule_text(rule));
}

void rules_detach(Rules *rules) {
        Family *family;
        Rule *rule;

        TABLE_FOREACH(rule, rules->rules)
                text_forget(&rule->narrow);
        TABLE_FOREACH(family, rules->families)
                text_forget(&family->wide);

        rules->bus = NULL;
        rules->source = NULL;
}

void rules_settle(Rules *rules) {
        Rule *rule;

        if (rules->retry_at == 0)
                return;
        if (rules->retry_at > (uint64_t) g_get_monotonic_time()) {
                bus_source_wake(rules->source, rules->retry_at);
                return;
        }

        rules->retry_at = 0;
        TABLE_FOREACH(rule, rules->rules)
                text_add(rule_text(rule));
}

void rule_use(Rules *rules, RuleUse *use, const SignalPattern *pattern) {
        g_autofree char *text = signal_pattern_rule(pattern), *wide = NULL;
        Rule *rule = g_hash_table_lookup(rules->rules, text);
        Family *family;

        use->link = (GList){ .data = use };
        if (rule) {
                use->rule = rule;
                g_queue_push_tail_link(&rule->uses, &use->link);
                return;
        }

        rule = g_new0(Rule, 1);
        rule->narrow = (Text){ .rules = rules, .on_confirmed = rule_confirmed, .userdata = rule };
        rule->narrow.text = g_steal_pointer(&text);
        g_hash_table_insert(rules->rules, rule->narrow.text, rule);

        wide = signal_pattern_wide_rule(pattern);
        family = wide ? g_hash_table_lookup(rules->families, wide) : NULL;
        if (wide && !family) {
                family = g_new0(Family, 1);
                family->wide = (Text){ .rules = rules, .on_confirmed = family_confirmed, .userdata = family };
                family->wide.text = g_steal_pointer(&wide);
                g_hash_table_insert(rules->families, family->wide.text, family);
        }
        if (family) {
                rule->family = family;
                rule->link.data = rule;
                g_queue_push_tail_link(&family->members, &rule->link);
                family->is_wide |= family->members.length > RULES_NARROW_MAX;
        }
        text_add(rule_text(rule));
        use->rule = rule;
        g_queue_push_tail_link(&rule->uses, &use->link);
}

void rule_leave(RuleUse *use) {
        Rule *rule = use->rule;
        Family *family;

        if (!rule)
                return;

        use->rule = NULL;
        g_queue_unlink(&rule->uses, &use->link);
        if (rule->uses.length > 0)
                return;

        text_remove(&rule->narrow);
        family = rule->family;
        if (family) {
                g_queue_unlink(&family->members, &rule->link);
                if (family->members.length == 0) {
                        text_remove(&family->wide);
                        g_hash_table_remove(family->wide.rules->families, family->wide.text);
                }
        }
        g_hash_table_remove(rule->narrow.rules->rules, rule->narrow.text);
}

bool rule_is_confirmed(const RuleUse *use) {
        return rule_text(use->rule)->confirmed || use->rule->narrow.confirmed;
}

typedef enum Field {
        FIELD_SENDER,
        FIELD_PATH,
        FIELD_INTERFACE,
        FIELD_MEMBER,
        FIELD_ARG,
        FIELD_MAX_,
} Field;

/* A field that is not given is NULL. */
typedef struct Key {
        const char *fields[FIELD_MAX_];
} Key;

typedef struct Shape {
        unsigned given; /* bits of fields */
        unsigned arg_number;
        bool arg_is_path, arg_in_variant;
        GHashTable *topics; /* by their keys */
} Shape;

typedef struct Topic {
        Key key; /* its texts are the topic's */
        Shape *shape;
        Audience audience;
        sd_bus_message *signal; /* being dispatched; borrowed */
        bool kept;              /* must not be freed yet, even without matches */
} Topic;

struct Matches {
        Rules *rules;
        Names *names;
        GPtrArray *shapes; /* never freed before the end */
        GPtrArray *found;  /* the topics of a signal */
        GQueue all;
        GQueue unready; /* matches that are ready, and whose callback was not called yet */
};

struct Match {
        Matches *matches;
        Topic *topic;
        Follower follower; /* of the topic */
        RuleUse rule;
        NameUse sender;   /* if it is a well-known name */
        GList link;       /* in all */
        GList ready_link; /* in unready, while it has data */
        bool is_ready;
        MatchSignal signal;
        MatchReady ready;
        void *userdata;
};

static guint key_hash(const void *p) {
        const Key *key = p;
        guint hash = 0;

        for (unsigned i = 0; i < FIELD_MAX_; i++)
                if (key->fields[i])
                        hash = hash * 31 + g_str_hash(key->fields[i]);
        return hash;
}

static gboolean key_equal(const void *a, const void *b) {
        for (unsigned i = 0; i < FIELD_MAX_; i++)
                if (g_strcmp0(((const Key *) a)->fields[i], ((const Key *) b)->fields[i]) != 0)
                        return FALSE;
        return TRUE;
}

static void topic_free(void *p) {
        Topic *topic = p;

        for (unsigned i = 0; i < FIELD_MAX_; i++)
                g_free((char *) topic->key.fields[i]);
        g_free(topic);
}

static void topic_drop_unused(Topic *topic) {
        if (audience_is_unused(&topic->audience) && !topic->kept)
                g_hash_table_remove(topic->shape->topics, &topic->key);
}

static void shape_free(void *p) {
        Shape *shape = p;

        g_hash_table_unref(shape->topics);
        g_free(shape);
}

static Topic *topic_get(Matches *matches, const SignalPattern *pattern) {
        Key key = { { pattern->sender, pattern->path, pattern->interface, pattern->member, pattern->arg } };
        Shape wanted = {
                .arg_number = pattern->arg ? pattern->arg_number : 0,
                .arg_is_path = pattern->arg && pattern->arg_is_path,
                .arg_in_variant = pattern->arg && pattern->arg_in_variant,
        };
        Shape *shape = NULL;
        Topic *topic;

        for (unsigned i = 0; i < FIELD_MAX_; i++)
                wanted.given |= key.fields[i] ? 1u << i : 0;
        PTRS_FOREACH(Shape, each, matches->shapes)
                if (each->given == wanted.given && each->arg_number == wanted.arg_number &&
                    each->arg_is_path == wanted.arg_is_path && each->arg_in_variant == wanted.arg_in_variant)
                        shape = each;
        if (!shape) {
                shape = g_new(Shape, 1);
                *shape = wanted;
                shape->topics = g_hash_table_new_full(key_hash, key_equal, NULL, topic_free);
                g_ptr_array_add(matches->shapes, shape);
        }

        topic = g_hash_table_lookup(shape->topics, &key);
        if (topic)
                return topic;

        topic = g_new0(Topic, 1);
        topic->shape = shape;
        for (unsigned i = 0; i < FIELD_MAX_; i++)
                topic->key.fields[i] = g_strdup(key.fields[i]);
        g_hash_table_insert(shape->topics, &topic->key, topic);
        return topic;
}

/* Borrowed from the message, whose read position changes. NULL: it has no such argument. */
static const char *read_arg(sd_bus_message *signal, const Shape *shape) {
        const char *contents, *text;
        char type;

        if (sd_bus_message_rewind(signal, true) < 0)
                return NULL;
        for (unsigned i = 0; i < shape->arg_number; i++)
                if (value_skip(signal) < 0)
                        return NULL;

        if (sd_bus_message_peek_type(signal, &type, &contents) <= 0)
                return NULL;
        while (shape->arg_in_variant && type == SD_BUS_TYPE_VARIANT)
                if (sd_bus_message_enter_container(signal, type, contents) <= 0 ||
                    sd_bus_message_peek_type(signal, &type, &contents) <= 0)
                        return NULL;

        if ((type != SD_BUS_TYPE_STRING && !(shape->arg_is_path && type == SD_BUS_TYPE_OBJECT_PATH)) ||
            sd_bus_message_read_basic(signal, type, &text) <= 0)
                return NULL;
        return text;
}

static void find_topic(Matches *matches, const Shape *shape, Key *key, const char *sender) {
        Topic *topic;

        key->fields[FIELD_SENDER] = sender;
        topic = g_hash_table_lookup(shape->topics, key);
        if (!topic)
                return;

        topic->kept = true;
        g_ptr_array_add(matches->found, topic);
}

void matches_dispatch(Matches *matches, sd_bus_message *signal) {
        const char *sender = sd_bus_message_get_sender(signal);
        const GPtrArray *names = names_of_owner(matches->names, sender);

        PTRS_FOREACH(const Shape, shape, matches->shapes) {
                Key key = { {
                        [FIELD_PATH] = sd_bus_message_get_path(signal),
                        [FIELD_INTERFACE] = sd_bus_message_get_interface(signal),
                        [FIELD_MEMBER] = sd_bus_message_get_member(signal),
                } };

                if (g_hash_table_size(shape->topics) == 0)
                        continue;
                for (unsigned i = 0; i < FIELD_MAX_; i++)
                        if (!(shape->given & 1u << i))
                                key.fields[i] = NULL;
                if (shape->given & 1u << FIELD_ARG && !(key.fields[FIELD_ARG] = read_arg(signal, shape)))
                        continue;
                if (!(shape->given & 1u << FIELD_SENDER)) {
                        find_topic(matches, shape, &key, NULL);
                        continue;
                }

                /* Its own name can be watched, too. */
                find_topic(matches, shape, &key, sender);
                for (guint i = 0; names && i < names->len; i++)
                        if (!g_str_equal(names->pdata[i], sender))
                                find_topic(matches, shape, &key, names->pdata[i]);
        }

        PTRS_FOREACH(Topic, topic, matches->found) {
                topic->signal = signal;
                audience_tell(&topic->audience);
                topic->kept = false;
                topic_drop_unused(topic);
        }
        g_ptr_array_set_size(matches->found, 0);
}

static void on_signal(void *userdata) {
        Match *match = userdata;
        sd_bus_message *signal = match->topic->signal;

        if (sd_bus_message_rewind(signal, true) >= 0)
                match->signal(signal, match->userdata);
}

/* The rule is confirmed, or the sender known. */
static void on_confirmed(void *userdata) {
        Match *match = userdata;
        Matches *matches = match->matches;

        if (match->is_ready || !rule_is_confirmed(&match->rule) ||
            (match->sender.name && name_state(&match->sender) == NAME_UNKNOWN))
                return;

        match->is_ready = true;
        if (!match->ready)
                return;

        match->ready_link.data = match;
        g_queue_push_tail_link(&matches->unready, &match->ready_link);
        bus_source_wake(matches->rules->source, 0);
}

static void match_unwant_ready(Match *match) {
        if (!match->ready_link.data)
                return;

        g_queue_unlink(&match->matches->unready, &match->ready_link);
        match->ready_link.data = NULL;
}

Matches *matches_new(Rules *rules, Names *names) {
        Matches *matches = g_new0(Matches, 1);

        matches->rules = rules;
        matches->names = names;
        matches->shapes = g_ptr_array_new_with_free_func(shape_free);
        matches->found = g_ptr_array_new();
        return matches;
}

static void match_leave(Match *match) {
        match_unwant_ready(match);
        rule_leave(&match->rule);
        name_leave(&match->sender);
        audience_leave(&match->topic->audience, &match->follower);
        topic_drop_unused(match->topic);
        g_queue_unlink(&match->matches->all, &match->link);
        match->matches = NULL;
}

/* The matches belong to their owners. */
void matches_free(Matches *matches) {
        if (!matches)
                return;

        while (matches->all.length > 0)
                match_leave(matches->all.head->data);
        g_ptr_array_unref(matches->shapes);
        g_ptr_array_unref(matches->found);
        g_free(matches);
}

void matches_detach(Matches *matches) {
        for (GList *i = matches->all.head; i; i = i->next) {
                Match *match = i->data;

                match_unwant_ready(match);
                match->is_ready = false;
        }
}

void matches_settle(Matches *matches) {
        /* Matches that become ready meanwhile are called in the next turn. */
        for (unsigned n = matches->unready.length; n > 0 && matches->unready.length > 0; n--) {
                Match *match = matches->unready.head->data;

                match_unwant_ready(match);
                match->ready(match->userdata);
        }
}

Match *matches_add(Matches *matches, const SignalPattern *pattern, MatchSignal signal, MatchReady ready,
                   void *userdata) {
        Match *match = g_new0(Match, 1);

        match->matches = matches;
        match->signal = signal;
        match->ready = ready;
        match->userdata = userdata;
        match->link.data = match;
        g_queue_push_tail_link(&matches->all, &match->link);

        match->topic = topic_get(matches, pattern);
        match->follower = (Follower){ .changed = on_signal, .userdata = match };
        audience_join(&match->topic->audience, &match->follower);

        match->rule = (RuleUse){ .confirmed = on_confirmed, .userdata = match };
        rule_use(matches->rules, &match->rule, pattern);
        /* The name of the bus itself, and a unique name, are their own owners. */
        if (pattern->sender && *pattern->sender != ':' && !g_str_equal(pattern->sender, BUS_DRIVER)) {
                match->sender.follower = (Follower){ .changed = on_confirmed, .userdata = match };
                name_use(matches->names, &match->sender, pattern->sender);
        }

        on_confirmed(match);
        return match;
}

void match_free(Match *match) {
        if (match && match->matches)
                match_leave(match);

        g_free(match);
}
