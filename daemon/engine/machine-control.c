/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What others have a say in: locks that a run shares with other runs, and what people do to single nodes. */

#include <assert.h>

#include "engine/node-attributes.h"

void machine_lock_granted(Machine *machine, NodeId node) {
        Attributes *attributes = &machine->attributes[node];

        assert(attributes->flags & ATTRIBUTE_WAITS);

        attributes->flags &= ~ATTRIBUTE_WAITS;
        attributes->flags |= ATTRIBUTE_HOLDS;
        machine_input(machine, node);
}

static Attributes *control(Machine *machine, NodeId node) {
        attributes_make(machine);
        machine->attention |= ATTENTION_CONTROLLED;
        return &machine->attributes[node];
}

bool machine_force(Machine *machine, NodeId node, Status status) {
        assert(status_is_outcome(status));

        control(machine, node)->forced = status;
        machine_input(machine, node);
        return node_state(machine, node)->status == STATUS_RUNNING;
}

void machine_set_breakpoint(Machine *machine, NodeId node, bool set) {
        Attributes *attributes = control(machine, node);

        attributes->flags &= ~ATTRIBUTE_BREAKPOINT;
        attributes->flags |= set ? ATTRIBUTE_BREAKPOINT : 0;
}

bool machine_pass_breakpoint(Machine *machine, NodeId node) {
        if (!machine->attributes || !(machine->attributes[node].flags & ATTRIBUTE_AT_BREAKPOINT))
                return false;

        machine->attributes[node].flags |= ATTRIBUTE_PASSED;
        machine_input(machine, node);
        return true;
}
