/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* An expression that is false is told with what it saw; one that fails says that by itself. */

#include "script/script-status.h"
#include "script/seen.h"

static Status fail(const Script *script, const char *error, Cause **ret_cause) {
        *ret_cause = cause_new(CAUSE_EXPRESSION, facts_new("expression", fact_text(script_code(script)), NULL), error);
        return STATUS_ERROR;
}

Status script_status_of_test(const Script *script, const Blackboard *scope, const char *const *names,
                             json_object *const *values, Cause **ret_cause) {
        g_autofree char *error = NULL, *text = NULL;
        json_object *seen;
        bool truth;

        if (script_test(script, scope, values, &truth, &error) < 0)
                return fail(script, error, ret_cause);
        if (truth)
                return STATUS_SUCCESS;

        seen = seen_variables(scope, script_reads(script));
        for (; names && *names; names++, values++)
                json_object_object_add(seen, *names, json_object_get(*values));

        text = seen_falsity(script_code(script), seen);
        *ret_cause = cause_new(CAUSE_CONDITION,
                               facts_new("expression", fact_text(script_code(script)), "seen", seen, NULL), text);
        return STATUS_FAILURE;
}

Status script_status_of_code(const Script *script, Blackboard *scope, Cause **ret_cause) {
        g_autofree char *error = NULL;

        return script_run(script, scope, &error) < 0 ? fail(script, error, ret_cause) : STATUS_SUCCESS;
}
