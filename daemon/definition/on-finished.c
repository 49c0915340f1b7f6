/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Implements on-finished.h. A rule stays JSON, because its references get their values only when a run finishes. */

#include <errno.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/json-parse.h"
#include "definition/on-finished.h"
#include "definition/sources.h"
#include "script/reference.h"

typedef struct Rule {
        const char *const *result;
        const char *unit, *tree;
        json_object *inputs;
} Rule;

/* A run that is halted because btd stops, or that has not finished when the machine goes down, starts nothing. */
static const char *const results[] = { "success", "failure", "skipped", "halted", "error", "lost", NULL };

static const Param rule_members[] = {
        { .name = "result",
          .kind = PARAM_STRINGS,
          .offset = offsetof(Rule, result),
          .required = true,
          .single = true,
          .not_empty = true,
          .values = results,
          .doc = "The results of a run after which this is started" },
        { .name = "unit",
          .kind = PARAM_STRING,
          .offset = offsetof(Rule, unit),
          .doc = "The unit to start, such as notify@{run}.service" },
        { .name = "tree",
          .kind = PARAM_STRING,
          .offset = offsetof(Rule, tree),
          .doc = "The tree to start, perhaps with an instance, such as pager@{run}" },
        { .name = "inputs", .kind = PARAM_JSON, .offset = offsetof(Rule, inputs), .doc = "The inputs of this tree" },
        {},
};

const Param on_finished_rule = {
        .kind = PARAM_OBJECT,
        .members = rule_members,
        .members_size = sizeof(Rule),
};

bool on_finished_applies(json_object *rule, const char *result) {
        json_object *wanted = json_object_object_get(rule, "result");

        if (json_object_is_type(wanted, json_type_string))
                return g_str_equal(json_object_get_string(wanted), result);

        for (size_t i = 0; i < json_object_array_length(wanted); i++)
                if (g_str_equal(json_object_get_string(json_object_array_get_idx(wanted, i)), result))
                        return true;

        return false;
}

/* A member of the rule with the values of its references; NULL: it is not given. */
static int expand(const Blackboard *facts, json_object *rule, const char *member, json_object **ret_value,
                  char **ret_error) {
        json_object *value = json_object_object_get(rule, member);
        g_autofree char *error = NULL;

        *ret_value = NULL;
        if (!value || reference_expand(facts, value, ret_value, &error) >= 0)
                return 0;

        *ret_error = g_strdup_printf("%s: %s (here: run, tree, instance, result, cause)", member, error);
        return -EINVAL;
}

int on_finished_expand(json_object *rule, const FinishedRun *run, Follower *ret_follower, char **ret_error) {
        g_autoptr(Blackboard) facts = blackboard_new(&limits_default);
        g_autoptr(json_object) unit = NULL, tree = NULL;
        Follower follower = {};
        int r;

        blackboard_set(facts, "run", json_object_new_string(run->run));
        blackboard_set(facts, "tree", json_object_new_string(run->tree));
        blackboard_set(facts, "instance", json_object_new_string(run->instance));
        blackboard_set(facts, "result", json_object_new_string(run->result));
        blackboard_set(facts, "cause", json_object_new_string(run->cause ?: ""));
        r = expand(facts, rule, "unit", &unit, ret_error);
        if (r >= 0)
                r = expand(facts, rule, "tree", &tree, ret_error);
        if (r >= 0)
                r = expand(facts, rule, "inputs", &follower.inputs, ret_error);
        if (r >= 0 && (unit != NULL) == (tree != NULL)) {
                *ret_error = g_strdup("give either 'unit' or 'tree': what is started");
                r = -EINVAL;
        } else if (r >= 0 && unit && follower.inputs) {
                *ret_error = g_strdup("inputs: only a tree has inputs; use 'tree' instead of 'unit'");
                r = -EINVAL;
        } else if (r >= 0 && follower.inputs && !json_object_is_type(follower.inputs, json_type_object)) {
                *ret_error = g_strdup("inputs: expected an object, { \"name\": value, ... }");
                r = -EINVAL;
        } else if (r >= 0 && unit) {
                follower.unit = g_strdup(json_object_get_string(unit));
                r = strrchr(follower.unit, '.') && !strpbrk(follower.unit, "%$ /") ? 0 : -EINVAL;
                if (r < 0 && strrchr(follower.unit, '.'))
                        *ret_error = g_strdup_printf("unit: '%s' is not the name of a unit; a reference is '{run}'",
                                                     follower.unit);
                else if (r < 0)
                        *ret_error = g_strdup_printf("unit: '%s' has no suffix, such as .service", follower.unit);
        } else if (r >= 0) {
                const char *operand = json_object_get_string(tree), *at = strchrnul(operand, '@');

                follower.tree = g_strndup(operand, (size_t) (at - operand));
                follower.instance = g_strdup(*at ? at + 1 : "");
                if (!tree_name_valid(follower.tree)) {
                        *ret_error = g_strdup_printf("tree: '%s' is not the name of a tree", follower.tree);
                        r = -EINVAL;
                }
        }

        if (r < 0)
                follower_clear(&follower);
        else
                *ret_follower = follower;
        return r;
}

void follower_clear(Follower *follower) {
        g_free(follower->unit);
        g_free(follower->tree);
        g_free(follower->instance);
        json_object_put(follower->inputs);
        *follower = (Follower){};
}
