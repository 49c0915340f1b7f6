/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <string.h>

#include "basic/cleanup.h"
#include "bus.h"
#include "clock.h"
#include "dice.h"
#include "event-queue.h"
#include "ledger.h"
#include "services.h"
#include "trace.h"

static void on_called(Link *from, sd_bus_message *call);

static const Peer peers[SERVICES_N] = {
        { .name = "sim.Service0", .unique = ":1.3", .called = on_called },
        { .name = "sim.Service1", .unique = ":1.4", .called = on_called },
        { .name = "sim.Service2", .unique = ":1.5", .called = on_called },
};

static struct {
        uint64_t seed;
        ServicesManner manner;
        uint64_t thaws[SERVICES_N];  /* a service answers nothing before this time */
        uint32_t levels[SERVICES_N]; /* the property of each; each call changes it */
        GHashTable *due;             /* the time of each reply, by the leaf and the number of its start */
} services;

typedef struct Answer {
        Link *link;
        sd_bus_message *call;
        bool fails;
} Answer;

static void answer_free(Answer *answer) {
        sd_bus_message_unref(answer->call);
        link_unref(answer->link);
        g_free(answer);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Answer, answer_free)

static void on_answer_dropped(void *answer) {
        answer_free(answer);
}

static void on_answer(void *userdata) {
        g_autoptr(Answer) answer = userdata;

        if (answer->fails)
                bus_reply_error(answer->link, answer->call, "sim.Error.Failed", "It went wrong");
        else
                bus_reply(answer->link, bus_reply_new(answer->call));
}

/* From time to time, a service hangs. */
#define FREEZE_PERCENT 3u
#define FROZEN_USEC 4000000u

static uint64_t thaw_of(const Peer *peer, Dice *dice) {
        uint64_t *thaw = &services.thaws[peer - peers];

        if (services.manner == SERVICES_SLOW && dice_chance(dice, FREEZE_PERCENT)) {
                *thaw = MAX(*thaw, clock_now() + dice_below(dice, FROZEN_USEC));
                trace("%s hangs", peer->name);
        }
        return *thaw;
}

/* A repeated call gets the same reply at the same time. */
static uint64_t answer_due(uint32_t tree, uint32_t node, uint64_t span) {
        char *key = g_strdup_printf("%u %u %u", tree, node, ledger_n_begun(tree, node));
        uint64_t *due = g_hash_table_lookup(services.due, key);

        if (due) {
                g_free(key);
                return *due;
        }

        due = g_new(uint64_t, 1);
        *due = clock_now() + span;
        g_hash_table_insert(services.due, key, due);
        return *due;
}

static const Peer *peer_of(sd_bus_message *call) {
        const char *name = sd_bus_message_get_destination(call);

        for (unsigned i = 0; i < SERVICES_N; i++)
                if (g_str_equal(name, peers[i].name) || g_str_equal(name, peers[i].unique))
                        return &peers[i];

        return NULL;
}

static void on_get(Link *from, sd_bus_message *call) {
        sd_bus_message *reply = bus_reply_new(call);

        (void) sd_bus_message_append(reply, "v", "u", services.levels[peer_of(call) - peers]);
        bus_reply(from, reply);
}

static void fill_level(sd_bus_message *signal, const void *userdata) {
        const Peer *peer = userdata;

        (void) sd_bus_message_append(signal, "sa{sv}as", "sim.Sim", 1, "Level", "u", services.levels[peer - peers], 0);
}

static void fill_nothing(sd_bus_message *signal, const void *userdata) {}

static void change_level(const Peer *peer) {
        services.levels[peer - peers] ^= 1;
        bus_signal(peer, NULL, "/sim", "org.freedesktop.DBus.Properties", "PropertiesChanged", fill_level, peer);
        bus_signal(peer, NULL, "/sim", "sim.Sim", "Changed", fill_nothing, NULL);
}

/* See add_told() in forest.c. */
static void check_told(sd_bus_message *call, uint32_t tree, uint32_t node) {
        g_autofree char *expected = g_strdup_printf("output of %u", node - 1);
        const char *told;

        if (sd_bus_message_has_signature(call, "uus") > 0 && sd_bus_message_read(call, "s", &told) >= 0 &&
            !g_str_equal(told, expected) && ledger_is_strict(tree))
                violation("t%u #%u is told '%s', not '%s'", tree, node, told, expected);
}

void services_heard(sd_bus_message *signal) {
        uint32_t tree, node;

        if (sd_bus_message_is_signal(signal, "sim.Sim", "Told") > 0 &&
            sd_bus_message_read(signal, "uu", &tree, &node) >= 0)
                ledger_effect(tree, node, "signal");
}

static void on_called(Link *from, sd_bus_message *call) {
        Answer *answer;
        unsigned slow = services.manner == SERVICES_SLOW ? 60 : 20;
        uint32_t tree, node;
        uint64_t due;
        Dice dice;

        if (sd_bus_message_is_method_call(call, "org.freedesktop.DBus.Properties", "Get") > 0) {
                on_get(from, call);
                return;
        }
        if (sd_bus_message_is_method_call(call, "org.freedesktop.DBus.Introspectable", "Introspect") > 0) {
                sd_bus_message *reply = bus_reply_new(call);

                (void) sd_bus_message_append(reply, "s", "<node/>");
                bus_reply(from, reply);
                return;
        }
        if (sd_bus_message_read(call, "uu", &tree, &node) < 0)
                return;

        ledger_effect(tree, node, sd_bus_message_get_destination(call));
        dice = dice_of(services.seed, (uint64_t) tree << 32 | node, 10, ledger_n_begun(tree, node));
        if (services.manner == SERVICES_SILENT && dice_chance(&dice, 5))
                return;

        answer = g_new(Answer, 1);
        *answer = (Answer){
                .link = link_ref(from),
                .call = sd_bus_message_ref(call),
                .fails = dice_chance(&dice, 25),
        };
        check_told(call, tree, node);
        change_level(peer_of(call));
        due = answer_due(tree, node, 50 + dice_below(&dice, dice_chance(&dice, slow) ? 2000000 : 20000));
        due = MAX(due, thaw_of(peer_of(call), &dice));
        event_queue_add(due - MIN(due, clock_now()), on_answer, answer, on_answer_dropped);
}

void services_open(uint64_t seed, ServicesManner manner) {
        services.seed = seed;
        services.manner = manner;
        memset(services.thaws, 0, sizeof(services.thaws));
        services.due = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
        services_all_join();
}

void services_close(void) {
        g_clear_pointer(&services.due, g_hash_table_unref);
}

void services_toggle(unsigned number) {
        if (bus_has(&peers[number]))
                bus_leave(&peers[number]);
        else
                bus_join(&peers[number]);
}

void services_all_join(void) {
        for (unsigned i = 0; i < SERVICES_N; i++)
                if (!bus_has(&peers[i]))
                        bus_join(&peers[i]);
}
