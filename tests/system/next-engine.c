/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The engine of a later btd, as the linker puts it in place of the one that is there: its timers expire a second later,
 * so a record of the first one does not fit it. */

#include "engine/machine.h"
#include "engine/node.h"

uint32_t __real_engine_version(void);
uint32_t __wrap_engine_version(void);
void __real_node_arm_timer(Machine *machine, NodeId node, uint64_t usec);
void __wrap_node_arm_timer(Machine *machine, NodeId node, uint64_t usec);

uint32_t __wrap_engine_version(void) {
        return __real_engine_version() + 1;
}

void __wrap_node_arm_timer(Machine *machine, NodeId node, uint64_t usec) {
        __real_node_arm_timer(machine, node, usec + 1000000);
}
