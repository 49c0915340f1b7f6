/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The engine's node types, each in the file that its comment names. */

#include "engine/type.h"

/* ordered.c */
extern const NodeType sequence_type, async_sequence_type, sequence_with_memory_type;
extern const NodeType fallback_type, async_fallback_type;
/* parallel.c */
extern const NodeType parallel_type;
/* outcome.c */
extern const NodeType inverter_type, force_success_type, force_failure_type;
/* repeat.c */
extern const NodeType repeat_type, retry_until_successful_type;
/* time.c */
extern const NodeType delay_type, timeout_type;
