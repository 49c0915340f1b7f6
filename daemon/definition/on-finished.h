/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Reads the key "on_finished" of a tree file: what btd starts when a run has finished. The loader checks it, and the
 * runtime carries it out.
 */

#include <glib.h>
#include <json-c/json_object.h>

#include "engine/type.h"

/* The texts of a rule can refer to these values of the run that has finished. */
typedef struct FinishedRun {
        const char *run, *tree, *instance, *result, *cause;
} FinishedRun;

/* A unit, or a tree with its instance and its inputs. */
typedef struct Follower {
        char *unit; /* NULL: a tree */
        char *tree, *instance;
        json_object *inputs; /* an object, or NULL */
} Follower;

extern const Param on_finished_rule;

/* Does the rule apply to this result ("failure")? */
bool on_finished_applies(json_object *rule, const char *result);
/* -EINVAL with an error message: the rule is wrong. */
int on_finished_expand(json_object *rule, const FinishedRun *run, Follower *ret_follower, char **ret_error);
void follower_clear(Follower *follower);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Follower, follower_clear)
