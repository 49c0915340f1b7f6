/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Writes causes that share parts of their chains as one JSON array, and reads them again. Snapshots use it. Each cause
 * is written once, after the cause that it goes back to, and is identified by its index in the array. Shared causes
 * are shared again after reading.
 */

#include "basic/cause.h"

typedef struct CausePool CausePool;

CausePool *cause_pool_new(void);
void cause_pool_free(CausePool *pool);

/* Returns the index of the cause, and adds the cause first if necessary. Borrowed, valid as long as the pool. JSON null
 * for NULL. */
json_object *cause_pool_add(CausePool *pool, const Cause *cause);
/* A new reference. */
json_object *cause_pool_to_json(const CausePool *pool);

/* NULL: the JSON is not a pool. */
CausePool *cause_pool_from_json(json_object *json);
/* All causes, borrowed. The reader of an untrusted file must validate them. */
const GPtrArray *cause_pool_causes(const CausePool *pool);
/* The cause is borrowed, and NULL for JSON null. False: there is no such index. */
bool cause_pool_get(const CausePool *pool, json_object *place, Cause **ret_cause);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(CausePool, cause_pool_free)
