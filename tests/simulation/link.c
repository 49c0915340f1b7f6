/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Keeps one connection to the simulated bus, with its match rules. */

#include <glib.h>
#include <stdbool.h>
#include <stdio.h>
#include <systemd/sd-bus.h>

#include "basic/cleanup.h"
#include "link.h"

/* A match rule as the daemon sent it. */
typedef struct BusRule {
        char *text;
        char **parts; /* key, value, key, value, ... */
} BusRule;

static BusRule *bus_rule_new(const char *text) {
        g_autoptr(GPtrArray) parts = g_ptr_array_new_with_free_func(g_free);
        g_auto(GStrv) pairs = g_strsplit(text, ",", -1);
        BusRule *rule = g_new(BusRule, 1);

        for (char **pair = pairs; *pair; pair++) {
                const char *equals = strchr(*pair, '=');
                size_t length = strlen(equals + 1);

                g_ptr_array_add(parts, g_strndup(*pair, (size_t) (equals - *pair)));
                g_ptr_array_add(parts, g_strndup(equals + 2, length - 2));
        }
        g_ptr_array_add(parts, NULL);

        rule->text = g_strdup(text);
        rule->parts = (char **) g_ptr_array_steal(parts, NULL);
        return rule;
}

static void bus_rule_free(BusRule *rule) {
        g_strfreev(rule->parts);
        g_free(rule->text);
        g_free(rule);
}

/* sender: its well-known name; arg0: or NULL. */
static bool bus_rule_fits(const BusRule *rule, const char *sender, const char *unique, const char *path,
                          const char *interface, const char *member, const char *arg0) {
        for (char **part = rule->parts; *part; part += 2) {
                const char *key = part[0], *value = part[1];

                if ((g_str_equal(key, "sender") && !g_str_equal(value, sender) && !g_str_equal(value, unique)) ||
                    (g_str_equal(key, "path") && !g_str_equal(value, path)) ||
                    (g_str_equal(key, "interface") && !g_str_equal(value, interface)) ||
                    (g_str_equal(key, "member") && !g_str_equal(value, member)) ||
                    (g_str_equal(key, "arg0") && g_strcmp0(value, arg0) != 0))
                        return false;
        }

        return true;
}

typedef struct Pending {
        uint64_t cookie;
        sd_bus_message *call;
        const Peer *peer;
} Pending;

static void pending_clear(void *data) {
        Pending *pending = data;

        sd_bus_message_unref(pending->call);
}

static void held_drop(void *message) {
        sd_bus_message_unref(message);
}

Link *link_new(unsigned number) {
        Link *link = g_new0(Link, 1);

        link->n_refs = 1;
        link->open = true;
        link->rules = g_ptr_array_new_with_free_func((GDestroyNotify) bus_rule_free);
        link->names = g_ptr_array_new_with_free_func(g_free);
        link->pending = g_array_new(FALSE, FALSE, sizeof(Pending));
        g_array_set_clear_func(link->pending, pending_clear);
        (void) snprintf(link->unique, sizeof(link->unique), ":1.%u", number);
        return link;
}

Link *link_ref(Link *link) {
        link->n_refs++;
        return link;
}

void link_unref(Link *link) {
        if (--link->n_refs > 0)
                return;

        g_queue_clear_full(&link->held, held_drop);
        g_array_unref(link->pending);
        g_ptr_array_unref(link->names);
        g_ptr_array_unref(link->rules);
        sd_bus_close_unref(link->peer);
        g_free(link);
}

bool link_is_open(const Link *link) {
        return link->open;
}

const char *link_unique(const Link *link) {
        return link->unique;
}

void link_add_rule(Link *link, const char *text) {
        g_ptr_array_add(link->rules, bus_rule_new(text));
}

void link_remove_rule(Link *link, const char *text) {
        for (unsigned i = 0; i < link->rules->len; i++)
                if (g_str_equal(((BusRule *) link->rules->pdata[i])->text, text)) {
                        g_ptr_array_remove_index(link->rules, i);
                        return;
                }
}

static const char *first_argument(sd_bus_message *signal) {
        const char *text = NULL;

        if (sd_bus_message_rewind(signal, true) >= 0 && sd_bus_message_has_signature(signal, "sss") > 0)
                (void) sd_bus_message_read_basic(signal, 's', &text);
        return text;
}

bool link_wants(Link *link, const char *sender, const char *unique, sd_bus_message *signal) {
        const char *arg0;

        /* Only a sealed message can be read. */
        if (sd_bus_message_seal(signal, 1, 0) < 0)
                return false;

        arg0 = first_argument(signal);
        for (unsigned i = 0; i < link->rules->len; i++)
                if (bus_rule_fits(link->rules->pdata[i], sender, unique, sd_bus_message_get_path(signal),
                                  sd_bus_message_get_interface(signal), sd_bus_message_get_member(signal), arg0))
                        return true;

        return false;
}

void link_add_pending(Link *link, sd_bus_message *call, const Peer *peer) {
        Pending pending = { .call = sd_bus_message_ref(call), .peer = peer };

        (void) sd_bus_message_get_cookie(call, &pending.cookie);
        g_array_append_val(link->pending, pending);
}

unsigned link_n_pending(const Link *link) {
        unsigned n = 0;

        for (unsigned i = 0; i < link->pending->len; i++)
                n += g_array_index(link->pending, Pending, i).peer != NULL;

        return n;
}

bool link_take_pending(Link *link, uint64_t cookie) {
        for (unsigned i = 0; i < link->pending->len; i++)
                if (g_array_index(link->pending, Pending, i).cookie == cookie) {
                        g_array_remove_index(link->pending, i);
                        return true;
                }

        return false;
}

void link_fail_pending(Link *link, const Peer *peer) {
        for (unsigned i = 0; i < link->pending->len;) {
                const Pending *pending = &g_array_index(link->pending, Pending, i);
                g_autoptr(sd_bus_message) call = NULL;

                if (pending->peer != peer) {
                        i++;
                        continue;
                }

                call = sd_bus_message_ref(pending->call);
                bus_reply_own_error(link, call, SD_BUS_ERROR_NO_REPLY,
                                    "Message recipient disconnected from message bus without replying");
        }
}

Link *link_named(const GPtrArray *links, const char *name) {
        for (unsigned i = 0; i < links->len; i++) {
                Link *link = links->pdata[i];

                if (g_str_equal(link->unique, name) ||
                    g_ptr_array_find_with_equal_func(link->names, name, g_str_equal, NULL))
                        return link;
        }

        return NULL;
}

const char *link_owner_of(const GPtrArray *links, const char *name) {
        const Link *link = link_named(links, name);

        return link ? link->unique : NULL;
}
