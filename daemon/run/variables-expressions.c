/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Evaluates expressions in the scope of their node: guards, hooks, and the conditions of inner nodes. */

#include "basic/cleanup.h"
#include "run/variables-state.h"
#include "script/blackboard.h"
#include "script/script-status.h"
#include "script/scripts.h"

static void on_value_dropped(void *value) {
        json_object_put(value);
}

static Verdict script_failed(Variables *variables, const Script *script, char *error) {
        variables_set_error(variables, CAUSE_EXPRESSION, facts_new("expression", fact_text(script_code(script)), NULL),
                            error);
        return VERDICT_ERROR;
}

static Verdict test_script(Variables *variables, const Blackboard *scope, const Script *script) {
        char *error;
        bool truth;

        if (script_test(script, scope, NULL, &truth, &error) < 0)
                return script_failed(variables, script, error);

        return truth ? VERDICT_YES : VERDICT_NO;
}

void variables_note_seen(Variables *variables, NodeId node, json_object *values) {
        if (!variables->seen)
                variables->seen = g_hash_table_new_full(NULL, NULL, NULL, on_value_dropped);

        g_hash_table_replace(variables->seen, GUINT_TO_POINTER(node), values);
}

/* Stores the values now, because halts and hooks run before the outcome is reported, and may set these variables. */
static void note_seen(Variables *variables, NodeId node, const Script *script) {
        variables_note_seen(variables, node, traced_inputs(variables_scope(variables, node), script_reads(script)));
}

json_object *variables_seen(const Variables *variables, NodeId node) {
        void *seen = variables->seen ? g_hash_table_lookup(variables->seen, GUINT_TO_POINTER(node)) : NULL;

        return json_object_get(seen);
}

/* A while is tested at every tick while the node runs, so its verdict is kept until a variable changes. */
static Verdict test_while(Variables *variables, NodeId node, const Script *script) {
        const Blackboard *scope = variables_scope(variables, node);
        uint64_t version = blackboard_version(scope);
        While *last;

        if (!variables->whiles)
                variables->whiles = g_hash_table_new_full(NULL, NULL, NULL, g_free);

        last = g_hash_table_lookup(variables->whiles, GUINT_TO_POINTER(node));
        if (!last) {
                last = g_new(While, 1);
                g_hash_table_insert(variables->whiles, GUINT_TO_POINTER(node), last);
        } else if (last->version == version)
                return last->verdict;

        *last = (While){ .version = version, .verdict = test_script(variables, scope, script) };
        return last->verdict;
}

/* A guard that is not given lets the node pass: a while is true then, all others are false. */
Verdict variables_guard(Variables *variables, NodeId node, Guard guard) {
        const Script *script = definition_guard(variables->definition, node, guard);
        Verdict passes = guard == GUARD_WHILE ? VERDICT_YES : VERDICT_NO, verdict;

        if (!script)
                return passes;

        verdict = guard == GUARD_WHILE ? test_while(variables, node, script)
                                       : test_script(variables, variables_scope(variables, node), script);
        if (verdict != passes && verdict != VERDICT_ERROR)
                note_seen(variables, node, script);

        return verdict;
}

Verdict variables_hook(Variables *variables, NodeId node, Hook hook) {
        const Script *script = definition_hook(variables->definition, node, hook);
        char *error;

        if (!script || script_run(script, variables_scope(variables, node), &error) >= 0)
                return VERDICT_YES;

        return script_failed(variables, script, error);
}

Verdict variables_test(Variables *variables, NodeId node, const Script *condition) {
        Verdict verdict = test_script(variables, variables_scope(variables, node), condition);

        if (verdict == VERDICT_NO)
                note_seen(variables, node, condition);

        return verdict;
}

uint32_t variables_match(Variables *variables, NodeId node, const char *variable, const Script *of,
                         const char *const *cases) {
        const Blackboard *scope = variables_scope(variables, node);
        g_autoptr(json_object) value = NULL;
        char *error;

        if (!of)
                return blackboard_match(scope, variable, cases);

        if (script_evaluate(of, scope, NULL, &value, &error) < 0) {
                script_failed(variables, of, error);
                return UINT32_MAX;
        }

        return blackboard_match_value(value, cases);
}

Verdict variables_has_changed(Variables *variables, NodeId node, const Script *of) {
        json_object *value, *before;
        char *error;

        if (script_evaluate(of, variables_scope(variables, node), NULL, &value, &error) < 0)
                return script_failed(variables, of, error);

        if (variables_get_kept(variables, node, &before) && json_object_equal(before, value)) {
                json_object_put(value);
                note_seen(variables, node, of);
                return VERDICT_NO;
        }

        variables_keep(variables, node, value);
        return VERDICT_YES;
}
