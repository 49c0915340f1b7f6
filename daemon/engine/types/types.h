/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Declares the engine's node types for their table (types.c). The comments name their files. */

#include <stdbool.h>

#include "engine/tree.h"

/* The parameter "cause" of a control whose next child handles a failure; member: the field of its struct. */
#define CAUSE_PARAM(type, member)                                                                                      \
        {                                                                                                              \
                .name = "cause", .kind = PARAM_STRING, .offset = offsetof(type, member), .writes = true,               \
                .doc = "The variable that gets the cause when a child fails: an object with node, kind and text"       \
        }

typedef struct FallbackParams {
        const char *cause;
} FallbackParams;

extern const Param fallback_params[];

/* Does it fail only because all children have failed? */
bool type_is_fallback(const NodeType *type);

/* ordered.c */
extern const NodeType sequence_type, async_sequence_type, sequence_with_memory_type;
extern const NodeType fallback_type, async_fallback_type;
/* reactive.c */
extern const NodeType reactive_sequence_type, reactive_fallback_type;
/* parallel.c */
extern const NodeType parallel_type, parallel_all_type;
/* branch.c */
extern const NodeType if_then_else_type, while_do_else_type, switch_type;
/* try-catch.c */
extern const NodeType try_catch_type, finally_type;
/* Is the node in a clean-up, without a Fallback there that has something else if the node fails? */
bool cleanup_depends_on(const Tree *tree, NodeId node);
/* nav2.c */
extern const NodeType recovery_node_type, pipeline_sequence_type, round_robin_type;
/* force.c */
extern const NodeType inverter_type, force_success_type, force_failure_type;
/* repeat.c */
extern const NodeType repeat_type, retry_until_successful_type;
/* loop.c */
extern const NodeType keep_running_until_failure_type, loop_type, for_each_type;
/* once.c */
extern const NodeType run_once_type, precondition_type;
/* time.c */
extern const NodeType delay_type, timeout_type, rate_controller_type;
/* wait.c */
extern const NodeType wait_for_type, on_change_type;
/* inhibit.c */
extern const NodeType inhibit_type;
/* own-connection.c */
extern const NodeType own_connection_type;
/* subtree.c */
extern const NodeType subtree_type;
