/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "systemd-plan.h"
#include "event-queue.h"
#include "ledger.h"
#include "systemd-state.h"

#define ABSENT_USEC 1000u

typedef struct Plan {
        PlanDo what;
        char *unit;
        bool of_job;
        unsigned job, process;
} Plan;

static uint64_t the_seed;

void plan_open(uint64_t seed) {
        the_seed = seed;
}

static void plan_free(void *data) {
        Plan *plan = data;

        g_free(plan->unit);
        g_free(plan);
}

static bool is_up_to_date(const Plan *plan, const LoadedUnit *unit) {
        return plan->of_job ? unit->job && unit->job->id == plan->job : unit->process == plan->process;
}

static void on_due(void *userdata) {
        Plan *plan = userdata;
        LoadedUnit *unit = systemd_find(plan->unit);

        if (!systemd_is_at_work()) {
                event_queue_add(ABSENT_USEC, on_due, plan, plan_free);
                return;
        }

        if (unit && is_up_to_date(plan, unit))
                plan->what(unit);
        plan_free(plan);
}

Dice plan_dice(const LoadedUnit *unit, Step step) {
        return dice_of(the_seed, (uint64_t) unit->tree << 32 | unit->node, step,
                       ledger_n_begun(unit->tree, unit->node));
}

/* Most steps are quick, some take long. */
static uint64_t span_of(const LoadedUnit *unit, Step step) {
        Dice dice = plan_dice(unit, step);
        uint64_t most = dice_chance(&dice, 20) ? 3000000 : 30000;

        return 100 + dice_below(&dice, most);
}

static void plan_step(const LoadedUnit *unit, Step step, bool of_job, PlanDo what) {
        Plan *plan = g_new(Plan, 1);

        *plan = (Plan){
                .what = what,
                .unit = g_strdup(unit->name),
                .of_job = of_job,
                .job = unit->job ? unit->job->id : 0,
                .process = unit->process,
        };
        event_queue_add(span_of(unit, step), on_due, plan, plan_free);
}

void plan_for_job(const LoadedUnit *unit, Step step, PlanDo what) {
        plan_step(unit, step, true, what);
}

void plan_for_process(const LoadedUnit *unit, Step step, PlanDo what) {
        plan_step(unit, step, false, what);
}
