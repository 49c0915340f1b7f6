/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* An expression over something besides the variables ("value") is none that could be evaluated here. */

#include "computation.h"
#include "script/script-status.h"

struct Computation {
        const Script *script;
        ParamKind kind;
        Blackboard *scope;
        BlackboardWatch *watch;
        void (*changed)(void *userdata);
        void *userdata;
        bool stale;
        Status result;
        Cause *cause;
};

static const Param *find_script(const NodeType *type) {
        for (const Param *param = type->params; param && param->name; param++)
                if ((param->kind == PARAM_CODE || param->kind == PARAM_EXPRESSION) && !param->extra)
                        return param;

        return NULL;
}

static void on_variables_changed(void *userdata) {
        Computation *computation = userdata;

        if (computation->stale)
                return;

        computation->stale = true;
        computation->changed(computation->userdata);
}

Computation *computation_new(const NodeType *type, const void *params, Blackboard *scope,
                             void (*changed)(void *userdata), void *userdata) {
        const Param *param = find_script(type);
        Computation *computation;

        if (!param)
                return NULL;

        computation = g_new(Computation, 1);
        *computation = (Computation){
                .script = *(const Script *const *) (const void *) ((const char *) params + param->offset),
                .kind = param->kind,
                .scope = scope,
                .changed = changed,
                .userdata = userdata,
                .stale = true,
        };
        if (param->kind == PARAM_EXPRESSION)
                computation->watch =
                        blackboard_watch(scope, script_reads(computation->script), on_variables_changed, computation);
        return computation;
}

void computation_free(Computation *computation) {
        if (!computation)
                return;

        blackboard_watch_free(computation->watch);
        cause_unref(computation->cause);
        g_free(computation);
}

Status computation_result(Computation *computation) {
        if (!computation->stale)
                return computation->result;

        computation->stale = false;
        g_clear_pointer(&computation->cause, cause_unref);
        computation->result =
                computation->kind == PARAM_CODE
                        ? script_status_of_code(computation->script, computation->scope, &computation->cause)
                        : script_status_of_test(computation->script, computation->scope, NULL, NULL,
                                                &computation->cause);
        return computation->result;
}

Cause *computation_cause(const Computation *computation) {
        return computation->cause ? cause_ref(computation->cause) : NULL;
}
