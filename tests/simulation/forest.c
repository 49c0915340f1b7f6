/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Writes the nodes in the order in which the engine numbers them. */

#include <glib.h>
#include <string.h>

#include "forest.h"
#include "judge.h"
#include "ledger.h"
#include "orders.h"
#include "services.h"
#include "troubles.h"

#define NODES_MOST 40u
#define DEPTH_MOST 5u
#define RESTARTS_MOST 2u
/* The numbers of units that no leaf has as its own. */
#define SHARED_FIRST 120u

typedef struct Forest {
        GString *text;
        Dice *dice;
        unsigned tree, node; /* the number of the next node */
        bool told;           /* a node sends the result of another one */
        bool parted;         /* it includes other files */
        ForestKind kind;
        Dice crowds, limits, shares, kept; /* of troubles */
} Forest;

static void add(Forest *forest, const char *format, ...) G_GNUC_PRINTF(2, 3);

static void add(Forest *forest, const char *format, ...) {
        va_list args;

        va_start(args, format);
        g_string_append_vprintf(forest->text, format, args);
        va_end(args);
}

static unsigned throw(const Forest *forest, unsigned n) {
        return (unsigned) dice_below(forest->dice, n);
}

/* The number of the node that is being written. */
static unsigned number(const Forest *forest) {
        return forest->node - 1;
}

static void promise(const Forest *forest, Promise promise) {
        ledger_promise(forest->tree, number(forest), promise, false);
}

/* Tells the judge what the leaf asks systemd for, see judge.h. */
static void expect(const Forest *forest, Request request) {
        judge_expect(forest->tree, number(forest), request, forest->tree, number(forest));
}

static void add_own_limit(Forest *forest) {
        unsigned msec = 5 + throw(forest, 2000);

        add(forest, ", \"timeout\": \"%ums\"", msec);
        judge_expect_limit(forest->tree, number(forest), number(forest), msec * UINT64_C(1000));
}

static Request request_of(const char *type) {
        return g_str_equal(type, "StartUnit")     ? REQUEST_START
               : g_str_equal(type, "StopUnit")    ? REQUEST_STOP
               : g_str_equal(type, "RestartUnit") ? REQUEST_RESTART
                                                  : REQUEST_RELOAD;
}

static void add_unit(Forest *forest, const char *type, char kind) {
        expect(forest, request_of(type));
        add(forest, "\"type\": \"%s\", \"unit\": \"sim-%c-%u-%u.service\"", type, kind, forest->tree, number(forest));
        if (forest->kind == FOREST_ANY && throw(forest, 10) == 0)
                add_own_limit(forest);
}

/* A job of a unit that is always loaded has an effect each time, unless it is halted. */
static void add_unit_job(Forest *forest) {
        static const char kinds[] = "ooofsscu";
        char kind = kinds[throw(forest, sizeof(kinds) - 1)];

        /* systemd forgets the result of a condition with the unit, and a simple service must stay active for a while
         * after the recovery. */
        if (forest->kind == FOREST_RECOVERABLE && strchr("csu", kind))
                kind = 'o';
        promise(forest, kind == 'o' ? PROMISE_EXACTLY : PROMISE_ONCE);
        add_unit(forest, "StartUnit", kind);
}

static void add_unit_change(Forest *forest) {
        static const char *const types[] = { "StopUnit", "RestartUnit", "ReloadUnit" };
        unsigned type = throw(forest, G_N_ELEMENTS(types));

        if (forest->kind == FOREST_RECOVERABLE && type == 1)
                type = 2;
        promise(forest, type == 0 ? PROMISE_ONCE : PROMISE_EXACTLY);
        add_unit(forest, types[type], 'p');
}

static void add_spawn(Forest *forest) {
        promise(forest, PROMISE_EXACTLY);
        expect(forest, REQUEST_PROCESS);
        add(forest, "\"type\": \"Spawn\", \"as\": \"unit\", \"argv\": [\"/bin/true\"]");
        if (throw(forest, 3) == 0)
                add(forest, ", \"stdout\": \"out\"");
        if (troubles_have(TROUBLE_FORGET) && number(forest) % 3 == 0)
                add(forest, ", \"properties\": { \"CollectMode\": \"inactive-or-failed\" }");
        if (forest->kind == FOREST_ANY && throw(forest, 8) == 0)
                add_own_limit(forest);
}

/* A child process ends with the daemon. */
static void add_child(Forest *forest) {
        bool again = throw(forest, 3) == 0;

        promise(forest, again ? PROMISE_AGAIN : PROMISE_EXACTLY);
        add(forest, "\"type\": \"Spawn\", \"as\": \"child\", \"argv\": [\"/bin/true\", \"%u\", \"%u\"]%s", forest->tree,
            number(forest), again ? ", \"on_recover\": \"rerun\"" : "");
}

static void add_call(Forest *forest) {
        bool again = forest->kind == FOREST_RECOVERABLE || throw(forest, 3) == 0;

        promise(forest, again ? PROMISE_AGAIN : PROMISE_EXACTLY);
        add(forest,
            "\"type\": \"DBusCall\", \"destination\": \"sim.Service%u\", \"path\": \"/sim\", \"interface\": "
            "\"sim.Sim\","
            " \"member\": \"Do\", \"signature\": \"uu\", \"args\": [%u, %u]",
            throw(forest, SERVICES_N), forest->tree, number(forest));
        if (again)
                add(forest, ", \"on_recover\": \"rerun\"");
}

static void add_emit(Forest *forest) {
        promise(forest, PROMISE_ONCE);
        add(forest,
            "\"type\": \"DBusEmit\", \"path\": \"/sim\", \"interface\": \"sim.Sim\", \"member\": \"Told\","
            " \"signature\": \"uu\", \"args\": [%u, %u]",
            forest->tree, number(forest));
}

static void add_signal(Forest *forest) {
        add(forest,
            "\"type\": \"DBusSignal\", \"sender\": \"sim.Service%u\", \"interface\": \"sim.Sim\","
            " \"member\": \"Changed\", \"timeout\": \"%ums\"",
            throw(forest, SERVICES_N), 1 + throw(forest, 500));
}

static void add_property(Forest *forest) {
        add(forest,
            "\"type\": \"DBusProperty\", \"destination\": \"sim.Service%u\", \"path\": \"/sim\","
            " \"interface\": \"sim.Sim\", \"property\": \"Level\", \"equals\": %u",
            throw(forest, SERVICES_N), throw(forest, 2));
}

static void add_name(Forest *forest) {
        add(forest, "\"type\": \"DBusName\", \"name\": \"sim.Service%u\"", throw(forest, SERVICES_N));
}

/* Chooses any unit, often one that other leaves use. */
static void add_state(Forest *forest) {
        add(forest, "\"type\": \"UnitState\", \"unit\": \"sim-%c-%u-%u.service\"", "ops"[throw(forest, 3)],
            forest -> tree, throw(forest, NODES_MOST));
}

/* Throws no dice, so that a seed keeps its trees. */
static bool add_clock(Forest *forest) {
        bool continues = forest->kind == FOREST_ANY && number(forest) % 4 != 0;

        if (continues)
                add(forest, ", \"clock\": \"boottime\"");
        return continues;
}

static void add_long_sleep(Forest *forest, unsigned msec) {
        add(forest, "\"type\": \"Sleep\", \"duration\": \"%ums\"", msec);
        judge_expect_sleep(forest->tree, number(forest), msec * UINT64_C(1000), add_clock(forest));
}

static void add_sleep(Forest *forest) {
        add_long_sleep(forest, 1 + throw(forest, 200));
}

static void add_script(Forest *forest) {
        static const char *const codes[] = { "a = a + 1", "a = (a * 7 + 3) % 5", "b = a", "a = 0" };

        add(forest, "\"type\": \"Script\", \"code\": \"%s\"", codes[throw(forest, G_N_ELEMENTS(codes))]);
}

static void add_kept(Forest *forest) {
        add(forest, "\"type\": \"Script\", \"code\": \"k = k + 1\"");
}

static void add_condition(Forest *forest) {
        static const char *const tests[] = { "a < 2", "a == b", "a ~= 1", "true", "a > 3" };

        add(forest, "\"type\": \"Condition\", \"test\": \"%s\"", tests[throw(forest, G_N_ELEMENTS(tests))]);
}

static void add_constant(Forest *forest) {
        add(forest, "\"type\": \"%s\"", throw(forest, 2) == 0 ? "AlwaysSuccess" : "AlwaysFailure");
}

/* Leaves that end at once come last. If the daemon is killed in the tick, their end is known only later, and their
 * siblings in a Parallel have started by then. */
#define N_SLOW 8u
static void (*const leaf_makers[])(Forest *forest) = {
        add_unit_job, add_unit_job, add_unit_change, add_spawn,     add_spawn,    add_call,
        add_call,     add_sleep,    add_script,      add_condition, add_constant, add_emit,
        add_signal,   add_property, add_name,        add_state,     add_child,
};

static void (*const condition_makers[])(Forest *forest) = { add_condition, add_property, add_name, add_state };

static void add_lock(Forest *forest) {
        static const char *const locks[] = { "disk", "net" };
        unsigned lock = throw(forest, G_N_ELEMENTS(locks));

        add(forest, ", \"lock\": \"%s\"", locks[lock]);
        ledger_lock(forest->tree, number(forest), lock + 1);
}

static bool is_condition(void (*maker)(Forest *forest)) {
        for (unsigned i = 0; i < G_N_ELEMENTS(condition_makers); i++)
                if (condition_makers[i] == maker)
                        return true;

        return false;
}

static void add_leaf(Forest *forest) {
        unsigned maker = throw(forest, forest->kind == FOREST_RECOVERABLE ? N_SLOW : G_N_ELEMENTS(leaf_makers));

        leaf_makers[maker](forest);
        if (!is_condition(leaf_makers[maker]) && throw(forest, 12) == 0)
                add_lock(forest);
}

typedef struct Shape {
        const char *type;
        unsigned least, most; /* the number of children; 0: one, as "child" */
        const char *(*params)(const Forest *forest);
} Shape;

static const char *params_retry(const Forest *forest) {
        static const char *const params[] = {
                ", \"num_attempts\": 2",
                ", \"num_attempts\": 3, \"backoff\": { \"initial\": \"3ms\", \"factor\": 2 }",
                ", \"num_attempts\": 3, \"backoff\": { \"initial\": \"3ms\", \"factor\": 2, \"jitter\": 0.5 }",
        };
        return params[throw(forest, forest->kind == FOREST_RECOVERABLE ? 2 : 3)];
}

static const char *params_repeat(const Forest *forest) {
        return ", \"num_cycles\": 2";
}

static const char *params_timeout(const Forest *forest) {
        static const char *const params[] = { ", \"timeout\": \"5ms\"", ", \"timeout\": \"100ms\"",
                                              ", \"timeout\": \"1s\"" };

        return params[throw(forest, 3)];
}

static const char *params_precondition(const Forest *forest) {
        return ", \"if\": \"a < 3\"";
}

static const char *params_switch(const Forest *forest) {
        return ", \"variable\": \"a\", \"cases\": [\"0\", \"1\"]";
}

static const char *params_delay(const Forest *forest) {
        return ", \"delay\": \"7ms\"";
}

static const char *params_parallel(const Forest *forest) {
        static const char *const params[] = { "", ", \"success_count\": 1", ", \"failure_count\": 2" };

        return params[throw(forest, 3)];
}

/* Types with timers race with their children, and the death of a daemon takes time. */
static const Shape timed[] = {
        { "Timeout", 0, 0, params_timeout },
        { "Parallel", 2, 3, params_parallel },
};

static const Shape shapes[] = {
        { "Sequence", 2, 4, NULL },
        { "Sequence", 2, 4, NULL },
        { "Fallback", 2, 4, NULL },
        { "AsyncSequence", 2, 3, NULL },
        { "SequenceWithMemory", 2, 3, NULL },
        { "AsyncFallback", 2, 3, NULL },
        { "Parallel", 2, 4, NULL },
        { "ParallelAll", 2, 4, NULL },
        { "IfThenElse", 3, 3, NULL },
        { "TryCatch", 2, 2, NULL },
        { "Finally", 2, 2, NULL },
        { "RecoveryNode", 2, 2, NULL },
        { "Inverter", 0, 0, NULL },
        { "ForceSuccess", 0, 0, NULL },
        { "ForceFailure", 0, 0, NULL },
        { "Repeat", 0, 0, params_repeat },
        { "RetryUntilSuccessful", 0, 0, params_retry },
        { "Delay", 0, 0, params_delay },
        { "RunOnce", 0, 0, NULL },
        { "RoundRobin", 2, 3, NULL },
        { "Precondition", 0, 0, params_precondition },
        { "Switch", 3, 3, params_switch },
};

static void add_node(Forest *forest, unsigned depth);

static void add_children(Forest *forest, unsigned n, unsigned depth) {
        add(forest, ", \"children\": [");
        for (unsigned i = 0; i < n; i++) {
                add(forest, i > 0 ? ", " : " ");
                add_node(forest, depth);
        }
        add(forest, " ]");
}

static const Shape *pick_shape(const Forest *forest) {
        if (forest->kind == FOREST_ANY && throw(forest, 6) == 0)
                return &timed[throw(forest, G_N_ELEMENTS(timed))];

        return &shapes[throw(forest, G_N_ELEMENTS(shapes))];
}

static void add_control(Forest *forest, unsigned depth) {
        const Shape *shape = pick_shape(forest);

        add(forest, "\"type\": \"%s\"%s", shape->type, shape->params ? shape->params(forest) : "");
        if (shape->params == params_timeout || shape->params == params_delay || shape->params == params_retry)
                (void) add_clock(forest);
        if (shape->least > 0) {
                add_children(forest, shape->least + throw(forest, shape->most - shape->least + 1), depth - 1);
        } else {
                add(forest, ", \"child\": ");
                add_node(forest, depth - 1);
        }
}

/* A condition that the tree itself can change. */
static void add_reactive(Forest *forest) {
        add(forest, "\"type\": \"%s\", \"children\": [ { ",
            throw(forest, 3) == 0 ? "ReactiveFallback" : "ReactiveSequence");
        forest->node++;
        condition_makers[throw(forest, G_N_ELEMENTS(condition_makers))](forest);
        add(forest, " }, ");
        add_node(forest, 0);
        add(forest, " ]");
}

/* A condition on a unit that is never stopped. */
static void add_watched(Forest *forest, unsigned depth) {
        add(forest,
            "\"type\": \"WhileDoElse\", \"children\": [ { \"type\": \"UnitState\", \"unit\": \"sim-p-%u-%u.service\", "
            "\"unknown\": \"success\" }, ",
            forest->tree, 1000 + number(forest));
        forest->node++;
        add_node(forest, depth - 1);
        forest->node++;
        add(forest, ", { \"type\": \"StartUnit\", \"unit\": \"sim-n-%u-%u.service\" } ]", forest->tree, number(forest));
}

static void add_wait(Forest *forest) {
        add(forest, "\"type\": \"WaitFor\"%s, \"child\": { ", params_timeout(forest));
        forest->node++;
        condition_makers[throw(forest, G_N_ELEMENTS(condition_makers))](forest);
        add(forest, " }");
}

/* The output of a process goes through a variable to a service, which knows the right value. */
static void add_told(Forest *forest) {
        forest->told = true;
        add(forest, "\"type\": \"Sequence\", \"children\": [ { \"type\": \"Spawn\", \"as\": \"unit\","
                    " \"argv\": [\"/bin/true\"], \"stdout\": \"told\" }, { ");
        forest->node++;
        promise(forest, PROMISE_EXACTLY);
        forest->node++;
        promise(forest, PROMISE_AGAIN);
        add(forest,
            "\"type\": \"DBusCall\", \"destination\": \"sim.Service0\", \"path\": \"/sim\","
            " \"interface\": \"sim.Sim\", \"member\": \"Do\", \"signature\": \"uus\","
            " \"args\": [%u, %u, \"{told}\"], \"on_recover\": \"rerun\" } ]",
            forest->tree, number(forest));
}

static void add_shifting_unit(Forest *forest) {
        promise(forest, PROMISE_EXACTLY);
        expect(forest, REQUEST_START);
        add(forest, "\"type\": \"StartUnit\", \"unit\": \"sim-o-%u-{shift%u}.service\"", forest->tree, number(forest));
}

#define SHIFTING_MSEC 150u

static void add_shifting_sleep(Forest *forest) {
        add(forest, "\"type\": \"Sleep\", \"duration\": \"{shift%u}ms\"", number(forest));
        ledger_promise_span(forest->tree, number(forest), SHIFTING_MSEC * 1000, add_clock(forest));
}

/* The service knows the right value; see services.c. */
static void add_shifting_call(Forest *forest) {
        promise(forest, PROMISE_AGAIN);
        add(forest,
            "\"type\": \"DBusCall\", \"destination\": \"sim.Service0\", \"path\": \"/sim\","
            " \"interface\": \"sim.Sim\", \"member\": \"Do\", \"signature\": \"uus\","
            " \"args\": [%u, %u, \"output of {shift%u}\"], \"on_recover\": \"rerun\"",
            forest->tree, number(forest), number(forest));
}

/* A condition on the owner of a name. */
static void add_shifting_name(Forest *forest) {
        ledger_promise(forest->tree, forest->node, PROMISE_LIVE, false);
        add(forest,
            "\"type\": \"ReactiveSequence\", \"children\": [ { \"type\": \"DBusName\","
            " \"name\": \"sim.Service{shift%u}\" }, { \"type\": \"Sleep\", \"duration\": \"30ms\" } ]",
            number(forest));
        forest->node += 2;
}

/* A leaf whose variable changes as soon as it has started. */
static void add_shifting(Forest *forest) {
        static const struct {
                void (*add)(Forest *forest);
                unsigned value; /* 0: the number of its node; 1: of the previous node */
        } leaves[] = {
                { add_shifting_unit, 0 },
                { add_shifting_sleep, SHIFTING_MSEC },
                { add_shifting_call, 1 },
                { add_shifting_name, 2 },
        };
        unsigned leaf = forest->node + 2, which = throw(forest, G_N_ELEMENTS(leaves)), value = leaves[which].value;

        add(forest,
            "\"type\": \"Sequence\", \"children\": [ { \"type\": \"Script\", \"code\": \"shift%u = %u\" },"
            " { \"type\": \"Parallel\", \"children\": [ { ",
            leaf, value < 2 ? leaf - value : value);
        forest->node += 3;
        leaves[which].add(forest);
        add(forest, " }, { \"type\": \"Script\", \"code\": \"shift%u = 0\" } ] } ]", leaf);
        forest->node++;
}

/* Subtrees in files with the same name; see forest_parts(). */
static void add_part(Forest *forest) {
        bool shelf = throw(forest, 2) == 0;

        add(forest, "\"type\": \"SubTree\", \"tree\": \"%s\"", shelf ? "shelf" : "part");
        forest->node += shelf ? 2 : 1;
}

/* Many calls at a time, some of which time out and are made again while others wait in the queue: often several in one
 * tick. */
static void add_crowd(Forest *forest) {
        unsigned n = 2 + (unsigned) dice_below(&forest->crowds, 6);
        unsigned timeout = 20 + (unsigned) dice_below(&forest->crowds, 400);
        bool together = dice_chance(&forest->crowds, 75);

        add(forest, "\"type\": \"ParallelAll\", \"max_failures\": %u, \"children\": [ ", n);
        for (unsigned i = 0; i < n; i++) {
                add(forest,
                    "%s{ \"type\": \"RetryUntilSuccessful\", \"num_attempts\": 4, \"child\": { \"type\": \"Timeout\","
                    " \"timeout\": \"%ums\", \"child\": { ",
                    i > 0 ? ", " : "", together ? timeout : timeout + i);
                forest->node += 3;
                add_call(forest);
                add(forest, " } } }");
        }
        add(forest, " ]");
}

static bool is_crowd(Forest *forest, unsigned depth) {
        return troubles_have(TROUBLE_WINDOW) && depth > 0 && forest->node < NODES_MOST &&
               dice_chance(&forest->crowds, 25);
}

/* A Timeout around something that often ends in time, but later than a daemon dies. */
static void add_limited(Forest *forest) {
        unsigned limiter = number(forest), msec = 500 + (unsigned) dice_below(&forest->limits, 4000);
        unsigned leaf = (unsigned) dice_below(&forest->limits, 3);

        add(forest, "\"type\": \"Timeout\", \"timeout\": \"%ums\"", msec);
        (void) add_clock(forest);
        add(forest, ", \"child\": { ");
        forest->node++;
        if (leaf == 0)
                add_spawn(forest);
        else if (leaf == 1)
                add_unit_job(forest);
        else
                add_long_sleep(forest, 100 + (unsigned) dice_below(&forest->limits, 2000));
        judge_expect_limit(forest->tree, number(forest), limiter, msec * UINT64_C(1000));
        add(forest, " }");
}

/* A unit that leaves of all trees use. */
static void add_shared(Forest *forest) {
        unsigned unit = SHARED_FIRST + dice_chance(&forest->shares, 25);
        bool limited = dice_chance(&forest->shares, 40);

        if (limited) {
                add(forest, "\"type\": \"Timeout\", \"timeout\": \"%ums\", \"child\": { ",
                    10 + (unsigned) dice_below(&forest->shares, 1000));
                forest->node++;
        }
        judge_expect(forest->tree, number(forest), REQUEST_START, 0, unit);
        add(forest, "\"type\": \"StartUnit\", \"unit\": \"sim-w-0-%u.service\"%s", unit, limited ? " }" : "");
}

static bool wants(TroubleKind kind, Dice *dice, unsigned percent) {
        return troubles_have(kind) && dice_chance(dice, percent);
}

static void add_node(Forest *forest, unsigned depth) {
        unsigned choice = throw(forest, 10);

        add(forest, "{ ");
        forest->node++;
        if (is_crowd(forest, depth))
                add_crowd(forest);
        else if (wants(TROUBLE_SHARED, &forest->shares, 25))
                add_shared(forest);
        else if (wants(TROUBLE_ABSENCE, &forest->limits, 25))
                add_limited(forest);
        else if (wants(TROUBLE_KEPT, &forest->kept, 20))
                add_kept(forest);
        else if (depth == 0 || forest->node > NODES_MOST || choice < 3)
                add_leaf(forest);
        else if (choice == 4 && !forest->told)
                add_told(forest);
        else if (choice == 5 && throw(forest, 2) == 0)
                add_shifting(forest);
        else if (choice == 6 && forest->parted)
                add_part(forest);
        else if (choice == 7 && forest->kind == FOREST_ANY)
                add_watched(forest, depth);
        else if (choice == 3 && forest->kind == FOREST_ANY && throw(forest, 3) == 0)
                add_wait(forest);
        else if (choice == 3 && forest->kind == FOREST_ANY)
                add_reactive(forest);
        else
                add_control(forest, depth);
        add(forest, " }");
}

/* A Finally as the root; its clean-up has one effect in each run. */
static void add_root(Forest *forest) {
        add(forest, "{ \"type\": \"Finally\", \"children\": [ ");
        forest->node++;
        add_node(forest, DEPTH_MOST);
        add(forest, ", { ");
        forest->node++;
        if (throw(forest, 2) == 0)
                add_spawn(forest);
        else
                add_unit(forest, "StartUnit", 'o');
        ledger_promise(forest->tree, number(forest), PROMISE_ONCE, true);
        add(forest, " } ] }");
}

/* All runs wait for the same unit from the beginning. */
static void add_company(Forest *forest) {
        add(forest, "{ \"type\": \"ParallelAll\", \"children\": [ { ");
        forest->node += 2;
        add_shared(forest);
        add(forest, " }, ");
        add_node(forest, DEPTH_MOST - 1);
        add(forest, " ] }");
}

/* Variables that do not fit into the limit of another daemon, and code that takes longer than the others. */
static void add_scripts(Forest *forest) {
        add(forest, "{ \"type\": \"Sequence\", \"children\": [ { \"type\": \"Script\", \"code\": \"");
        forest->node += 2;
        if (troubles_have(TROUBLE_LIMITS))
                add(forest, "pad = ('x'):rep(3000) ");
        if (troubles_have(TROUBLE_PROCESSOR))
                add(forest, "local s = 0 for i = 1, 20000 do s = (s + i) %% 7 end a = s");
        add(forest, "\" }, ");
        add_node(forest, DEPTH_MOST);
        add(forest, ", { \"type\": \"Sleep\", \"duration\": \"20ms\" } ] }");
        forest->node++;
}

/* Only trees before it, so that no tree leads to itself. */
static void add_followers(Forest *forest) {
        static const char *const results[] = { "success", "failure error", "success failure skipped error" };
        Dice dice = troubles_dice(TROUBLE_FOLLOW, forest->tree);

        if (!troubles_have(TROUBLE_FOLLOW) || forest->tree == 0)
                return;

        add(forest, "\"on_finished\": [ ");
        for (unsigned rule = 0, n = 1 + dice_chance(&dice, 40); rule < n; rule++) {
                unsigned target = (unsigned) dice_below(&dice, forest->tree);
                const char *which = results[dice_below(&dice, G_N_ELEMENTS(results))];
                g_auto(GStrv) words = g_strsplit(which, " ", -1);
                g_autofree char *list = g_strjoinv("\", \"", words);

                add(forest, "%s{ \"result\": [ \"%s\" ], \"tree\": \"t%u@{run}-%u\" }", rule > 0 ? ", " : "", list,
                    target, rule);
                orders_expect_follower(forest->tree, rule, target, which);
                ledger_share(target);
        }
        add(forest, " ], ");
}

char *forest_tree(Dice *dice, unsigned tree, ForestKind kind) {
        Forest forest = { .text = g_string_new(NULL), .dice = dice, .tree = tree, .kind = kind };
        bool autostart = dice_chance(dice, 60) || kind == FOREST_RECOVERABLE;

        forest.crowds = troubles_dice(TROUBLE_WINDOW, 1 + tree);
        forest.limits = troubles_dice(TROUBLE_ABSENCE, tree);
        forest.shares = troubles_dice(TROUBLE_SHARED, tree);
        forest.kept = troubles_dice(TROUBLE_KEPT, tree);

        add(&forest, "{ \"btd\": 1, \"autostart\": %s, ", autostart ? "true" : "false");
        if (autostart)
                ledger_expect_run(tree);
        if (kind == FOREST_ANY && throw(&forest, 4) == 0) {
                add(&forest, "\"restart\": \"on-failure\", \"restart_limit\": { \"burst\": %u }, ", RESTARTS_MOST);
                orders_expect_restarts(tree, RESTARTS_MOST);
        }
        if ((kind == FOREST_ANY && throw(&forest, 4) == 0) || troubles_have(TROUBLE_CUT))
                add(&forest, "\"on_stop\": \"halt\", ");
        add_followers(&forest);
        if (troubles_have(TROUBLE_KEPT))
                add(&forest, "\"inputs\": { \"k\": { \"type\": \"int\", \"default\": 0, \"kept\": true } }, ");
        forest.parted = throw(&forest, 3) == 0;
        if (forest.parted)
                add(&forest, "\"include\": [\"lib/part.json\"], ");
        add(&forest,
            "\"blackboard\": { \"a\": 0, \"b\": 1, \"out\": \"\", \"told\": \"\", \"pad\": \"\" }, \"root\": ");
        if (wants(TROUBLE_SHARED, &forest.shares, 60))
                add_company(&forest);
        else if (throw(&forest, 2) == 0)
                add_root(&forest);
        else if (troubles_have(TROUBLE_LIMITS) || troubles_have(TROUBLE_PROCESSOR))
                add_scripts(&forest);
        else
                add_node(&forest, DEPTH_MOST);
        add(&forest, " }\n");
        return g_string_free(forest.text, FALSE);
}

void forest_parts(unsigned edition, void (*put)(const char *file, const char *text, void *userdata), void *userdata) {
        static const char *const parts[][2] = {
                { "part.json", "\"root\": { \"type\": \"Sleep\", \"duration\": \"4ms\" }" },
                { "base.json",
                  "\"trees\": { \"floor\": { \"root\": { \"type\": \"Sleep\", \"duration\": \"3ms\" } } }" },
                { "lib/part.json", "\"include\": [\"base.json\"], \"trees\": { \"shelf\": { \"root\": { \"type\": "
                                   "\"SubTree\", \"tree\": \"floor\" } } }" },
                { "lib/base.json",
                  "\"trees\": { \"floor\": { \"root\": { \"type\": \"Sleep\", \"duration\": \"3ms\" } } }" },
        };

        for (unsigned i = 0; i < G_N_ELEMENTS(parts) - (edition == 0); i++) {
                g_autofree char *text =
                        g_strdup_printf("{ \"btd\": 1, \"description\": \"edition %u\", %s }\n", edition, parts[i][1]);

                put(parts[i][0], text, userdata);
        }
}
