/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Causes that go back to one another, as one JSON array: each is written once, behind what it goes back to, and known
 * by its place. Read again, they are as many as they were.
 */

#include "basic/cause.h"

typedef struct CausePool CausePool;

CausePool *cause_pool_new(void);
void cause_pool_free(CausePool *pool);

/* The place of the cause, which is added if it is not there yet; borrowed as long as the pool. NULL: JSON null. */
json_object *cause_pool_add(CausePool *pool, const Cause *cause);
/* A new reference. */
json_object *cause_pool_to_json(const CausePool *pool);

/* NULL: it is none. */
CausePool *cause_pool_from_json(json_object *json);
/* All of them, borrowed: whoever has read them has to see whether they make sense. */
const GPtrArray *cause_pool_causes(const CausePool *pool);
/* Borrowed. False: there is no such place. NULL for null. */
bool cause_pool_get(const CausePool *pool, json_object *place, Cause **ret_cause);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(CausePool, cause_pool_free)
