/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Finds the matches of a signal. Matches with equal patterns share a topic. Topics whose patterns have the same fields
 * share a shape; there are few shapes. For each shape, a key is made from the signal's fields and looked up: with the
 * sender's unique name, and with each of its names that is watched.
 */

#include <stdbool.h>
#include <string.h>

#include "bus/bus-source.h"
#include "bus/matches.h"

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
        bool arg_is_path;
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
        GSource *source;   /* of the bus; NULL: not connected */
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
        if (audience_is_over(&topic->audience) && !topic->kept)
                g_hash_table_remove(topic->shape->topics, &topic->key);
}

static void shape_free(void *p) {
        Shape *shape = p;

        g_hash_table_unref(shape->topics);
        g_free(shape);
}

static Shape *shape_get(Matches *matches, const Key *key, const SignalPattern *pattern) {
        unsigned number = pattern->arg ? pattern->arg_number : 0;
        bool is_path = pattern->arg && pattern->arg_is_path;
        unsigned given = 0;
        Shape *shape;

        for (unsigned i = 0; i < FIELD_MAX_; i++)
                given |= key->fields[i] ? 1u << i : 0;

        for (guint i = 0; i < matches->shapes->len; i++) {
                shape = matches->shapes->pdata[i];
                if (shape->given == given && shape->arg_number == number && shape->arg_is_path == is_path)
                        return shape;
        }

        shape = g_new0(Shape, 1);
        *shape = (Shape){ .given = given, .arg_number = number, .arg_is_path = is_path };
        shape->topics = g_hash_table_new_full(key_hash, key_equal, NULL, topic_free);
        g_ptr_array_add(matches->shapes, shape);
        return shape;
}

static Topic *topic_get(Matches *matches, const SignalPattern *pattern) {
        Key key = { { pattern->sender, pattern->path, pattern->interface, pattern->member, pattern->arg } };
        Shape *shape = shape_get(matches, &key, pattern);
        Topic *topic = g_hash_table_lookup(shape->topics, &key);

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
static const char *read_arg(sd_bus_message *signal, unsigned number, bool is_path) {
        const char *contents, *text;
        char type;

        if (sd_bus_message_rewind(signal, true) < 0)
                return NULL;
        for (unsigned i = 0; i < number; i++)
                if (sd_bus_message_skip(signal, NULL) < 0)
                        return NULL;

        if (sd_bus_message_peek_type(signal, &type, &contents) <= 0 ||
            (type != SD_BUS_TYPE_STRING && !(is_path && type == SD_BUS_TYPE_OBJECT_PATH)) ||
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

static void find_topics(Matches *matches, const Shape *shape, sd_bus_message *signal, const GPtrArray *names) {
        Key key = { {
                [FIELD_PATH] = sd_bus_message_get_path(signal),
                [FIELD_INTERFACE] = sd_bus_message_get_interface(signal),
                [FIELD_MEMBER] = sd_bus_message_get_member(signal),
        } };

        for (unsigned i = 0; i < FIELD_MAX_; i++)
                if (!(shape->given & 1u << i))
                        key.fields[i] = NULL;
        if (shape->given & 1u << FIELD_ARG) {
                key.fields[FIELD_ARG] = read_arg(signal, shape->arg_number, shape->arg_is_path);
                if (!key.fields[FIELD_ARG])
                        return;
        }

        if (!(shape->given & 1u << FIELD_SENDER)) {
                find_topic(matches, shape, &key, NULL);
                return;
        }

        find_topic(matches, shape, &key, sd_bus_message_get_sender(signal));
        for (guint i = 0; names && i < names->len; i++)
                find_topic(matches, shape, &key, names->pdata[i]);
}

void matches_dispatch(Matches *matches, sd_bus_message *signal) {
        const GPtrArray *names = names_of_owner(matches->names, sd_bus_message_get_sender(signal));

        for (guint i = 0; i < matches->shapes->len; i++) {
                const Shape *shape = matches->shapes->pdata[i];

                if (g_hash_table_size(shape->topics) > 0)
                        find_topics(matches, shape, signal, names);
        }

        for (guint i = 0; i < matches->found->len; i++) {
                Topic *topic = matches->found->pdata[i];

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

static void match_want_ready(Match *match) {
        Matches *matches = match->matches;

        if (match->is_ready || !rule_is_confirmed(&match->rule) ||
            (match->sender.name && name_state(&match->sender) == NAME_UNKNOWN))
                return;

        match->is_ready = true;
        if (!match->ready)
                return;

        match->ready_link.data = match;
        g_queue_push_tail_link(&matches->unready, &match->ready_link);
        bus_source_wake(matches->source, 0);
}

static void match_unwant_ready(Match *match) {
        if (!match->ready_link.data)
                return;

        g_queue_unlink(&match->matches->unready, &match->ready_link);
        match->ready_link.data = NULL;
}

static void on_confirmed(void *userdata) {
        match_want_ready(userdata);
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

void matches_attach(Matches *matches, GSource *source) {
        matches->source = source;
}

void matches_detach(Matches *matches) {
        matches->source = NULL;
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

/* The name of the bus itself, and a unique name, are their own owners. */
static bool is_well_known(const char *name) {
        return name && *name != ':' && strcmp(name, BUS_DRIVER) != 0;
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
        if (is_well_known(pattern->sender)) {
                match->sender.follower = (Follower){ .changed = on_confirmed, .userdata = match };
                name_use(matches->names, &match->sender, pattern->sender);
        }

        match_want_ready(match);
        return match;
}

void match_free(Match *match) {
        if (match && match->matches)
                match_leave(match);

        g_free(match);
}
