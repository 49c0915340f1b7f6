/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Follows the owners of names. The query for the owner is sent right after the match rule, before any other message: so
 * the owner is known before a signal that a later message causes. The bus sends its reply and its signals in the order
 * of events, so they need no comparison.
 */

#include <stdbool.h>

#include "basic/cleanup.h"
#include "basic/foreach.h"
#include "basic/log.h"
#include "bus/names.h"

struct Names {
        Rules *rules;
        sd_bus *bus;          /* NULL: not connected */
        GHashTable *names;    /* Name by text */
        GHashTable *by_owner; /* unique name -> GPtrArray of texts */
};

struct Name {
        Names *names;
        char *text;
        NameState state;
        char *owner; /* NAME_OWNED */
        RuleUse rule;
        sd_bus_slot *question; /* until the reply */
        Audience audience;
        bool kept; /* must not be freed yet, even without uses */
};

/* owner NULL: none. */
static void set_owner(Name *name, const char *owner) {
        GHashTable *by_owner = name->names->by_owner;
        GPtrArray *texts = name->owner ? g_hash_table_lookup(by_owner, name->owner) : NULL;

        if (texts) {
                g_ptr_array_remove_fast(texts, name->text);
                if (texts->len == 0)
                        g_hash_table_remove(by_owner, name->owner);
        }

        g_free(name->owner);
        name->owner = g_strdup(owner);
        if (!owner)
                return;

        texts = g_hash_table_lookup(by_owner, owner);
        if (!texts) {
                texts = g_ptr_array_new();
                g_hash_table_insert(by_owner, g_strdup(owner), texts);
        }
        g_ptr_array_add(texts, name->text);
}

static void drop_unused(Name *name) {
        if (!audience_is_unused(&name->audience) || name->kept)
                return;

        set_owner(name, NULL);
        rule_leave(&name->rule);
        sd_bus_slot_unref(name->question);
        g_hash_table_remove(name->names->names, name->text);
}

static void name_change(Name *name, NameState state, const char *owner) {
        if (name->state == state && g_strcmp0(name->owner, owner) == 0)
                return;

        name->state = state;
        set_owner(name, owner);
        audience_tell(&name->audience);
        drop_unused(name);
}

/* owner: as in the signal; "" is none. */
static void name_change_owner(Name *name, const char *owner) {
        if (*owner)
                name_change(name, NAME_OWNED, owner);
        else
                name_change(name, NAME_ABSENT, NULL);
}

/* A reply before the rule is in place would soon be outdated. */
static int on_answer(sd_bus_message *reply, void *userdata, sd_bus_error *ret_error) {
        Name *name = userdata;
        const char *owner;

        name->question = sd_bus_slot_unref(name->question);
        if (sd_bus_is_open(name->names->bus) <= 0 || !rule_is_confirmed(&name->rule))
                return 1;

        if (sd_bus_message_is_method_error(reply, SD_BUS_ERROR_NAME_HAS_NO_OWNER) > 0)
                name_change_owner(name, "");
        else if (sd_bus_message_is_method_error(reply, NULL) <= 0 && sd_bus_message_read(reply, "s", &owner) >= 0)
                name_change_owner(name, owner);
        return 1;
}

static void name_ask(Name *name) {
        g_autoptr(sd_bus_message) message = NULL;
        sd_bus *bus = name->names->bus;
        int r;

        if (!bus || name->question)
                return;

        r = sd_bus_message_new_method_call(bus, &message, BUS_DRIVER, BUS_DRIVER_PATH, BUS_DRIVER, "GetNameOwner");
        if (r >= 0)
                r = sd_bus_message_append(message, "s", name->text);
        if (r >= 0)
                r = sd_bus_call_async(bus, &name->question, message, on_answer, name, UINT64_MAX);
        if (r < 0 && sd_bus_is_open(bus) > 0)
                log_error("cannot ask for the owner of %s: %s", name->text, g_strerror(-r));
}

static void on_confirmed(void *userdata) {
        Name *name = userdata;

        if (name->state == NAME_UNKNOWN)
                name_ask(name);
}

static void name_free(void *p) {
        Name *name = p;

        g_free(name->owner);
        g_free(name->text);
        g_free(name);
}

Names *names_new(Rules *rules) {
        Names *names = g_new0(Names, 1);

        names->rules = rules;
        names->names = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, name_free);
        names->by_owner = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify) g_ptr_array_unref);
        return names;
}

/* The uses belong to their owners. */
void names_free(Names *names) {
        Name *name;

        if (!names)
                return;

        TABLE_FOREACH(name, names->names) {
                rule_leave(&name->rule);
                sd_bus_slot_unref(name->question);
                for (GList *i = name->audience.followers.head; i; i = i->next)
                        ((NameUse *) ((Follower *) i->data))->name = NULL;
        }

        g_hash_table_unref(names->names);
        g_hash_table_unref(names->by_owner);
        g_free(names);
}

void names_attach(Names *names, sd_bus *bus) {
        void *name;

        names->bus = bus;
        TABLE_FOREACH(name, names->names)
                name_ask(name);
}

/* A callback may leave any of the names. */
void names_detach(Names *names) {
        g_autoptr(GList) all = g_hash_table_get_values(names->names);

        names->bus = NULL;
        for (GList *i = all; i; i = i->next)
                ((Name *) i->data)->kept = true;

        for (GList *i = all; i; i = i->next) {
                Name *name = i->data;

                name->question = sd_bus_slot_unref(name->question);
                name_change(name, NAME_UNKNOWN, NULL);
                name->kept = false;
                drop_unused(name);
        }
}

void names_dispatch(Names *names, sd_bus_message *signal) {
        const char *text, *owner;
        Name *name;

        if (sd_bus_message_is_signal(signal, BUS_DRIVER, "NameOwnerChanged") <= 0 ||
            g_strcmp0(sd_bus_message_get_sender(signal), BUS_DRIVER) != 0 ||
            sd_bus_message_read(signal, "sss", &text, NULL, &owner) < 0)
                return;

        /* Before the reply to the query, followers would only be called twice. */
        name = g_hash_table_lookup(names->names, text);
        if (name && name->state != NAME_UNKNOWN)
                name_change_owner(name, owner);
}

void name_use(Names *names, NameUse *use, const char *text) {
        Name *name = g_hash_table_lookup(names->names, text);

        if (!name) {
                SignalPattern pattern = signal_pattern_owner(text);

                name = g_new0(Name, 1);
                name->names = names;
                name->text = g_strdup(text);
                name->rule = (RuleUse){ .confirmed = on_confirmed, .userdata = name };
                g_hash_table_insert(names->names, name->text, name);
                rule_use(names->rules, &name->rule, &pattern);
                name_ask(name);
        }

        use->name = name;
        audience_join(&name->audience, &use->follower);
}

void name_leave(NameUse *use) {
        Name *name = use->name;

        if (!name)
                return;

        use->name = NULL;
        audience_leave(&name->audience, &use->follower);
        drop_unused(name);
}

NameState name_state(const NameUse *use) {
        return use->name->state;
}

const char *name_owner(const NameUse *use) {
        return use->name->owner;
}

const GPtrArray *names_of_owner(const Names *names, const char *owner) {
        return owner ? g_hash_table_lookup(names->by_owner, owner) : NULL;
}
