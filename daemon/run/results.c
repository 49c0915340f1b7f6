/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Implements results.h. In the array, a test is true or false, a match is a number, a change is false or {"value"}, and
 * code is {"set"} with the variables that it has changed. Each of them can be {"error"} with its text, and the last two
 * can be "again": the result was too long.
 */

#include <errno.h>
#include <json-c/linkhash.h>
#include <string.h>

#include "basic/cleanup.h"
#include "run/results.h"

#define AGAIN "again"
/* Bytes of JSON. */
#define RESULT_MAX (64u << 10)

struct Results {
        GString *text; /* without the closing bracket; NULL: no result has come yet */
        bool replaying;
        unsigned n_again;   /* results that were too long */
        json_object *array; /* of a replay, or NULL */
        size_t next;        /* its next element */
        const char *problem;
};

Results *results_new(void) {
        return g_new0(Results, 1);
}

void results_free(Results *results) {
        if (!results)
                return;

        if (results->text)
                g_string_free(results->text, TRUE);
        g_free(results);
}

const char *results_take(Results *results, unsigned *ret_n_again) {
        *ret_n_again = results->n_again;
        results->n_again = 0;
        if (!results->text || results->text->len == 0)
                return NULL;

        g_string_append_c(results->text, ']');
        /* The next result begins anew. */
        results->text->len = 0;
        return results->text->str;
}

void results_replay(Results *results, json_object *array) {
        results->replaying = true;
        results->array = array;
        results->next = 0;
        results->problem = NULL;
}

void results_end_replay(Results *results) {
        results->replaying = false;
        results->array = NULL;
}

static size_t n_recorded(const Results *results) {
        return results->array ? json_object_array_length(results->array) : 0;
}

const char *results_problem(const Results *results) {
        return results->problem;
}

bool results_are_left(const Results *results) {
        return results->replaying && results->next < n_recorded(results);
}

static void add(Results *results, const char *json) {
        if (results->replaying)
                return;

        results->text = results->text ?: g_string_new(NULL);
        g_string_append_c(results->text, results->text->len == 0 ? '[' : ',');
        g_string_append(results->text, json);
}

/* Takes the value. */
static void add_member(Results *results, const char *name, json_object *value) {
        g_autoptr(json_object) object = json_object_new_object();
        const char *text;

        json_object_object_add(object, name, value);
        text = json_object_to_json_string_ext(object, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE);
        results->n_again += strlen(text) > RESULT_MAX;
        add(results, strlen(text) <= RESULT_MAX ? text : "\"" AGAIN "\"");
}

static int add_error(Results *results, int r, const char *error) {
        if (!results->replaying)
                add_member(results, "error", json_object_new_string(error));
        return r;
}

static int fail(Results *results, const char *problem, char **ret_error) {
        results->problem = results->problem ?: problem;
        *ret_error = g_strdup(problem);
        return -EINVAL;
}

/* The next result of a replay. 1; 0: it must be computed; -EINVAL: it is an error. */
static int take(Results *results, json_object **ret_value, char **ret_error) {
        json_object *value, *error = NULL;

        if (!results->replaying)
                return 0;
        if (results->next >= n_recorded(results))
                return fail(results, "the run evaluates more expressions than are recorded", ret_error);

        value = json_object_array_get_idx(results->array, results->next++);
        if (json_object_is_type(value, json_type_string)) {
                results->n_again++;
                return 0;
        }
        if (json_object_is_type(value, json_type_object) && json_object_object_get_ex(value, "error", &error)) {
                *ret_error = g_strdup(json_object_get_string(error) ?: "");
                return -EINVAL;
        }

        *ret_value = value;
        return 1;
}

static int no_such_result(Results *results, char **ret_error) {
        return fail(results, "the result of an expression is not one that it can have", ret_error);
}

void results_test_known(Results *results, bool truth) {
        json_object *value = NULL;
        g_autofree char *error = NULL;

        if (take(results, &value, &error) == 0)
                add(results, truth ? "true" : "false");
}

int results_test(Results *results, const Script *script, const Blackboard *scope, bool *ret_truth, char **ret_error) {
        json_object *value = NULL;
        int r = take(results, &value, ret_error);

        if (r < 0)
                return r;
        if (r > 0 && !json_object_is_type(value, json_type_boolean))
                return no_such_result(results, ret_error);
        if (r > 0) {
                *ret_truth = json_object_get_boolean(value);
                return 0;
        }

        r = script_test(script, scope, NULL, ret_truth, ret_error);
        if (r < 0)
                return add_error(results, r, *ret_error);

        add(results, *ret_truth ? "true" : "false");
        return 0;
}

int results_match(Results *results, const Script *script, const Blackboard *scope, const char *const *cases,
                  uint32_t *ret_case, char **ret_error) {
        g_autoptr(json_object) of = NULL;
        json_object *value = NULL;
        char number[16];
        int r = take(results, &value, ret_error);

        if (r < 0)
                return r;
        if (r > 0) {
                int64_t index = json_object_get_int64(value);

                if (!json_object_is_type(value, json_type_int) || index < 0 ||
                    index > g_strv_length((char **) (void *) cases))
                        return no_such_result(results, ret_error);
                *ret_case = (uint32_t) index;
                return 0;
        }

        r = script_evaluate(script, scope, NULL, &of, ret_error);
        if (r < 0)
                return add_error(results, r, *ret_error);

        *ret_case = blackboard_match_value(of, cases);
        g_snprintf(number, sizeof(number), "%u", *ret_case);
        add(results, number);
        return 0;
}

int results_change(Results *results, const Script *script, const Blackboard *scope, bool known, json_object *before,
                   bool *ret_changed, json_object **ret_value, char **ret_error) {
        json_object *value = NULL, *recorded = NULL;
        int r = take(results, &recorded, ret_error);

        if (r < 0)
                return r;
        if (r > 0) {
                bool changed = json_object_is_type(recorded, json_type_object) &&
                               json_object_object_get_ex(recorded, "value", &value);

                if (!changed && (!known || !json_object_is_type(recorded, json_type_boolean)))
                        return no_such_result(results, ret_error);
                *ret_changed = changed;
                *ret_value = json_object_get(value);
                return 0;
        }

        r = script_evaluate(script, scope, NULL, &value, ret_error);
        if (r < 0)
                return add_error(results, r, *ret_error);

        *ret_changed = !known || !json_object_equal(before, value);
        if (!*ret_changed) {
                json_object_put(value);
                add(results, "false");
                return 0;
        }

        if (!results->replaying)
                add_member(results, "value", json_object_get(value));
        *ret_value = value;
        return 0;
}

int results_run(Results *results, const Script *script, Blackboard *scope, char **ret_error) {
        g_autoptr(json_object) set = NULL;
        json_object *recorded = NULL, *values = NULL;
        int r = take(results, &recorded, ret_error);

        if (r < 0)
                return r;
        if (r > 0) {
                if (!json_object_is_type(recorded, json_type_object) ||
                    !json_object_object_get_ex(recorded, "set", &values) ||
                    !json_object_is_type(values, json_type_object))
                        return no_such_result(results, ret_error);
                json_object_object_foreach(values, name, value) {
                        if (!blackboard_name_valid(name))
                                return no_such_result(results, ret_error);
                        blackboard_set(scope, name, json_object_get(value));
                }
                return 0;
        }

        r = script_run(script, scope, &set, ret_error);
        if (r < 0)
                return add_error(results, r, *ret_error);

        if (!results->replaying)
                add_member(results, "set", g_steal_pointer(&set));
        return 0;
}
