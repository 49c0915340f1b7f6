/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Evaluates the script of a leaf to a status, and describes the variables that a false expression read. An error
 * describes itself. */

#include <json-c/linkhash.h>
#include <string.h>

#include "basic/excerpt.h"
#include "script/script-status.h"

json_object *traced_inputs(const Blackboard *scope, const char *const *names) {
        json_object *values = json_object_new_object();

        for (; *names; names++) {
                json_object *value = NULL;

                (void) blackboard_get(scope, *names, &value);
                json_object_object_add(values, *names, json_object_get(value));
        }

        return values;
}

char *traced_inputs_explain(const char *expression, const char *verdict, json_object *values) {
        g_autofree char *told = g_strconcat(expression, " ", verdict, NULL);
        g_autoptr(GString) text = g_string_new(NULL);

        json_object_object_foreach(values, name, value) {
                const char *json = json_object_to_json_string_ext(value, JSON_C_TO_STRING_NOSLASHESCAPE);
                g_autofree char *shown = value ? excerpt(json, strlen(json)) : g_strdup("not set");

                g_string_append_printf(text, "%s%s is %s", text->len > 0 ? ", " : "", name, shown);
        }

        return text->len > 0 && !g_str_equal(text->str, told) ? g_strdup_printf(" (%s)", text->str) : g_strdup("");
}

static Status fail(const Script *script, const char *error, Cause **ret_cause) {
        *ret_cause = cause_new(CAUSE_EXPRESSION, facts_new("expression", fact_text(script_code(script)), NULL), error);
        return STATUS_ERROR;
}

Status script_status_of_test(const Script *script, const Blackboard *scope, const char *const *names,
                             json_object *const *values, json_object *const *shown, Cause **ret_cause) {
        g_autofree char *error = NULL, *explained = NULL, *text = NULL;
        json_object *inputs;
        bool truth;

        if (script_test(script, scope, values, &truth, &error) < 0)
                return fail(script, error, ret_cause);
        if (truth)
                return STATUS_SUCCESS;

        inputs = traced_inputs(scope, script_reads(script));
        for (; names && *names; names++, shown++)
                json_object_object_add(inputs, *names, json_object_get(*shown));

        explained = traced_inputs_explain(script_code(script), "is false", inputs);
        text = g_strdup_printf("%s is false%s", script_code(script), explained);
        *ret_cause = cause_new(
                CAUSE_CONDITION,
                facts_new("expression", fact_text(script_code(script)), "seen", fact_values(inputs), NULL), text);
        return STATUS_FAILURE;
}

Status script_status_of_code(const Script *script, Blackboard *scope, Cause **ret_cause) {
        g_autofree char *error = NULL;

        return script_run(script, scope, NULL, &error) < 0 ? fail(script, error, ret_cause) : STATUS_SUCCESS;
}
