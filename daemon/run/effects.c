/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Implements the effects of an input: they are collected while the run computes, and carried out when it is written. */

#include <assert.h>

#include "basic/foreach.h"
#include "run/run-state.h"

static void effect_clear(void *data) {
        Effect *effect = data;

        cause_unref(effect->cause);
        g_free(effect->text);
        g_free(effect->label);
}

RunInput *run_get_input(Run *run) {
        run->input = run->input ?: g_new0(RunInput, 1);
        return run->input;
}

void run_add_effect(Run *run, const Effect *effect) {
        RunInput *input;

        assert(run->computing && !run->acting && run->host);

        input = run_get_input(run);
        if (!input->effects) {
                input->effects = g_array_new(FALSE, FALSE, sizeof(Effect));
                g_array_set_clear_func(input->effects, effect_clear);
        }
        g_array_append_vals(input->effects, effect, 1);
        if (effect->kind == EFFECT_START)
                run_leaf(run, effect->node)->starting = true;
}

bool run_has_lock_effect(const Run *run, NodeId node) {
        const char *lock = definition_lock(run->definition, node);
        const GArray *effects = run->input ? run->input->effects : NULL;

        if (!lock)
                return false;

        for (unsigned i = 0; effects && i < effects->len; i++) {
                const Effect *effect = &g_array_index(effects, Effect, i);

                if ((effect->kind == EFFECT_LOCK || effect->kind == EFFECT_UNLOCK) &&
                    g_strcmp0(definition_lock(run->definition, effect->node), lock) == 0)
                        return true;
        }

        return false;
}

void run_act(Run *run) {
        g_autofree RunInput *input = g_steal_pointer(&run->input);
        g_autoptr(GArray) effects = NULL;

        if (!input)
                return;

        assert(!input->held_back && !input->outputs && !input->message);
        if (!input->effects)
                return;

        assert(!run->computing && !run->acting);
        effects = input->effects;
        run->acting = true;
        ARRAY_FOREACH(const Effect, effect, effects) {
                RunLeaf *leaf = effect->kind == EFFECT_START ? run_leaf(run, effect->node) : NULL;

                if (effect->kind == EFFECT_START && !(leaf && leaf->starting))
                        continue;
                if (leaf)
                        leaf->starting = false;
                run->host->act(effect, run->host_userdata);
        }
        run->acting = false;
}
