/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Evaluates the expression of a condition. It is evaluated again only when one of its inputs has changed: a variable,
 * which the test watches, or a value from the condition, which reports the change.
 */

#include "run/leaf.h"
#include "script/scripts.h"

typedef struct LiveTest LiveTest;

/* Calls leaf_value_changed() when one of its variables has changed. */
LiveTest *live_test_new(Leaf *leaf, const Script *script);
void live_test_free(LiveTest *test);

/* Has a variable changed since the last evaluation? */
bool live_test_is_stale(const LiveTest *test);
/* SUCCESS; FAILURE or ERROR, after setting the leaf's cause. names, values: inputs of the script besides variables,
 * NULL-terminated, or NULL; borrowed. */
Status live_test_evaluate(LiveTest *test, const char *const *names, json_object *const *values);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(LiveTest, live_test_free)
