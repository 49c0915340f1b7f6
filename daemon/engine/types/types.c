/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Owns the table of the engine's node types, one line each, in the order of the reference. */

#include <stddef.h>

#include "engine/types/types.h"

const NodeType *const engine_types[] = {
        &sequence_type,
        &async_sequence_type,
        &reactive_sequence_type,
        &sequence_with_memory_type,
        &fallback_type,
        &async_fallback_type,
        &reactive_fallback_type,
        &parallel_type,
        &parallel_all_type,
        &if_then_else_type,
        &while_do_else_type,
        &switch_type,
        &try_catch_type,
        &finally_type,
        &recovery_node_type,
        &pipeline_sequence_type,
        &round_robin_type,
        &inverter_type,
        &force_success_type,
        &force_failure_type,
        &repeat_type,
        &retry_until_successful_type,
        &keep_running_until_failure_type,
        &loop_type,
        &for_each_type,
        &delay_type,
        &timeout_type,
        &rate_controller_type,
        &run_once_type,
        &precondition_type,
        &wait_for_type,
        &on_change_type,
        &inhibit_type,
        &own_connection_type,
        &subtree_type,
        NULL,
};

bool type_is_fallback(const NodeType *type) {
        return type == &fallback_type || type == &async_fallback_type || type == &reactive_fallback_type;
}
