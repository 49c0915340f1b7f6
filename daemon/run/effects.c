/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Implements the effects of an input: collected while the run computes, and carried out in this order when its run
 * record has them. */

#include <assert.h>

#include "run/run-state.h"

static void effect_clear(void *data) {
        Effect *effect = data;

        cause_unref(effect->cause);
        g_free(effect->text);
}

/* A replay carries out nothing. */
void run_add_effect(Run *run, const Effect *effect) {
        assert(run->computing && !run->acting && run->host);

        if (!run->effects) {
                run->effects = g_array_new(FALSE, FALSE, sizeof(Effect));
                g_array_set_clear_func(run->effects, effect_clear);
        }
        g_array_append_vals(run->effects, effect, 1);
}

bool run_cancel_start(Run *run, NodeId node) {
        for (unsigned i = run->effects ? run->effects->len : 0; i > 0; i--) {
                const Effect *effect = &g_array_index(run->effects, Effect, i - 1);

                if (effect->kind == EFFECT_START && effect->node == node) {
                        g_array_remove_index(run->effects, i - 1);
                        return true;
                }
        }

        return false;
}

bool run_has_lock_effect(const Run *run, NodeId node) {
        const char *lock = definition_lock(run->definition, node);

        for (unsigned i = 0; run->effects && i < run->effects->len; i++) {
                const Effect *effect = &g_array_index(run->effects, Effect, i);

                if ((effect->kind == EFFECT_LOCK || effect->kind == EFFECT_UNLOCK) &&
                    g_str_equal(definition_lock(run->definition, effect->node), lock))
                        return true;
        }

        return false;
}

void run_act(Run *run) {
        g_autoptr(GArray) effects = g_steal_pointer(&run->effects);

        assert(!run->computing && !run->acting);

        run->acting = true;
        for (unsigned i = 0; effects && i < effects->len; i++)
                run->host->act(&g_array_index(effects, Effect, i), run->host_userdata);
        run->acting = false;
}
