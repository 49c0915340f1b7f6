/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The expression that a condition holds by. It is evaluated again only when something that it reads has changed: a
 * variable, which the test watches, or what the condition gives it, of which it is told.
 */

#include "leaves/leaf.h"
#include "script/scripts.h"

typedef struct LiveTest LiveTest;

/* When a variable has changed, the leaf's value is said to have, see leaf_value_changed(). */
LiveTest *live_test_new(Leaf *leaf, const Script *script);
void live_test_free(LiveTest *test);

/* Has any variable changed since it was evaluated last? */
bool live_test_is_stale(const LiveTest *test);
/* SUCCESS; FAILURE or ERROR, and the leaf has its cause. names, values: those that the script takes besides variables,
 * NULL-terminated, or NULL; borrowed. */
Status live_test_evaluate(LiveTest *test, const char *const *names, json_object *const *values);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(LiveTest, live_test_free)
