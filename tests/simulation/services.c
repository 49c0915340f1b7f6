/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "services.h"
#include "agenda.h"
#include "basic/cleanup.h"
#include "bus.h"
#include "dice.h"
#include "ledger.h"
#include "trace.h"

static void on_called(Link *from, sd_bus_message *call);

static const Peer peers[SERVICES_N] = {
        { .name = "sim.Service0", .unique = ":1.3", .called = on_called },
        { .name = "sim.Service1", .unique = ":1.4", .called = on_called },
        { .name = "sim.Service2", .unique = ":1.5", .called = on_called },
};

static struct {
        uint64_t seed;
        bool silent;
} services;

typedef struct Answer {
        Link *link;
        sd_bus_message *call;
        bool fails;
} Answer;

static void answer_free(void *data) {
        Answer *answer = data;

        sd_bus_message_unref(answer->call);
        link_unref(answer->link);
        g_free(answer);
}

static void on_answer(void *userdata) {
        const Answer *answer = userdata;

        if (answer->fails)
                bus_reply_error(answer->link, answer->call, "sim.Error.Failed", "It went wrong");
        else
                bus_reply(answer->link, bus_reply_new(answer->call));
}

static void on_called(Link *from, sd_bus_message *call) {
        Answer *answer;
        uint32_t tree, node;
        Dice dice;

        if (sd_bus_message_read(call, "uu", &tree, &node) < 0)
                return;

        ledger_effect(tree, node, sd_bus_message_get_destination(call));
        dice = dice_of(services.seed, (uint64_t) tree << 32 | node, 10, ledger_n_begun(tree, node));
        if (services.silent && dice_chance(&dice, 5))
                return;

        answer = g_new(Answer, 1);
        *answer = (Answer){
                .link = link_ref(from),
                .call = sd_bus_message_ref(call),
                .fails = dice_chance(&dice, 25),
        };
        agenda_add(50 + dice_below(&dice, dice_chance(&dice, 20) ? 2000000 : 20000), on_answer, answer, answer_free);
}

void services_open(uint64_t seed, bool silent) {
        services.seed = seed;
        services.silent = silent;
        services_all_join();
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
