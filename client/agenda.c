/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Entries are kept in the order in which they will come. */

#include <assert.h>

#include "agenda.h"

struct Agenda {
        GSequence *entries; /* of AgendaEntry */
        uint64_t now, next_serial;
};

struct AgendaEntry {
        GSequenceIter *place;
        uint64_t time, serial;
        AgendaCallback callback;
        NodeId node;
        void *userdata;
};

Agenda *agenda_new(void) {
        Agenda *agenda = g_new0(Agenda, 1);

        agenda->entries = g_sequence_new(g_free);
        return agenda;
}

void agenda_free(Agenda *agenda) {
        if (!agenda)
                return;

        g_sequence_free(agenda->entries);
        g_free(agenda);
}

uint64_t agenda_now(const Agenda *agenda) {
        return agenda->now;
}

static AgendaEntry *first_entry(const Agenda *agenda) {
        return g_sequence_is_empty(agenda->entries) ? NULL : g_sequence_get(g_sequence_get_begin_iter(agenda->entries));
}

bool agenda_next(const Agenda *agenda, uint64_t *ret_time) {
        const AgendaEntry *first = first_entry(agenda);

        if (first)
                *ret_time = first->time;

        return first;
}

static int compare_entries(const void *a, const void *b, void *userdata) {
        const AgendaEntry *first = a, *second = b;

        if (first->time != second->time)
                return first->time < second->time ? -1 : 1;

        return first->serial < second->serial ? -1 : first->serial > second->serial;
}

AgendaEntry *agenda_add(Agenda *agenda, uint64_t delay, AgendaCallback callback, NodeId node, void *userdata) {
        AgendaEntry *entry;

        if (delay >= SPAN_INFINITY - agenda->now)
                return NULL;

        entry = g_new(AgendaEntry, 1);
        *entry = (AgendaEntry){
                .time = agenda->now + delay,
                .serial = agenda->next_serial++,
                .callback = callback,
                .node = node,
                .userdata = userdata,
        };
        entry->place = g_sequence_insert_sorted(agenda->entries, entry, compare_entries, NULL);
        return entry;
}

void agenda_drop(AgendaEntry *entry) {
        if (entry)
                g_sequence_remove(entry->place);
}

void agenda_advance(Agenda *agenda) {
        AgendaEntry *entry = first_entry(agenda);
        uint64_t end = agenda->next_serial;

        assert(entry);

        agenda->now = entry->time;
        for (; entry && entry->time == agenda->now && entry->serial < end; entry = first_entry(agenda)) {
                AgendaEntry due = *entry;

                agenda_drop(entry);
                due.callback(due.node, due.userdata);
        }
}

void agenda_skip_to(Agenda *agenda, uint64_t time) {
        const AgendaEntry *first = first_entry(agenda);

        assert(time >= agenda->now && (!first || time <= first->time));

        agenda->now = time;
}
