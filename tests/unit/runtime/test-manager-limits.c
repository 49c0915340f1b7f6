/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tests the limits of the manager, and trees that are passed to it as text. */

#include <errno.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "loading.h"
#include "manager-stage.h"

#define WAITS "{ \"type\": \"FakeAction\", \"name\": \"A\" }"
#define TREE(keys, root) "{ \"btd\": 1, " keys "\"root\": " root " }"

/* expected: the one message that there is, or NULL. */
static void reload(const ManagerStage *stage, const char *expected) {
        g_autoptr(GPtrArray) messages = loading_reload(stage->manager, stage->context);

        g_assert_cmpuint(messages->len, ==, expected ? 1 : 0);
        if (expected)
                g_assert_cmpstr(g_ptr_array_index(messages, 0), ==, expected);
}

static ManagerStage *stage_new(void) {
        Limits limits = limits_default;
        ManagerStage *stage = manager_stage_new();

        limits.max[LIMIT_TREES] = 2;
        limits.max[LIMIT_RUNS] = 4;
        limits.max[LIMIT_RUNS_OF_A_CALLER] = 2;
        manager_stage_open(stage, &limits, NULL);
        manager_stage_put(stage, "a.json", TREE("", WAITS));
        manager_stage_put(stage, "b.json", TREE("", "{ \"type\": \"FakeNow\" }"));
        reload(stage, NULL);
        return stage;
}

/* NULL: it is started. */
static Run *start_for(const ManagerStage *stage, uint32_t uid, const char *instance, const char *expected) {
        Caller who = { .uid = uid, .text = (char *) "a test" };
        const TreeStart start = { .tree = "a", .instance = instance };
        g_auto(RunSummary) outcome = {};
        g_autofree char *error = NULL;
        bool begun;
        int r = manager_start_tree(stage->manager, &start, &who, &begun, &outcome, &error);

        g_assert_cmpint(r, ==, expected ? MANAGER_LIMIT : 0);
        g_assert_cmpstr(error, ==, expected);
        manager_stage_turn(stage);
        return outcome.run ? runs_get(stage->manager->runs, outcome.run) : NULL;
}

#define MINE "the limit 'runs-of-a-caller' (2) is reached; halt one of your runs first"
#define ALL "the limit 'runs' (4) is reached; halt a run first"

static void test_runs_of_a_caller(void) {
        g_autoptr(ManagerStage) stage = stage_new();
        uint32_t other = geteuid() + 1000;
        Run *run = start_for(stage, other, "1", NULL);

        start_for(stage, other, "2", NULL);
        start_for(stage, other, "3", MINE);
        start_for(stage, other + 1, "3", NULL);
        run_halt(run, cause_new(CAUSE_HALTED, NULL, "enough"));
        manager_stage_turn(stage);
        start_for(stage, other, "4", NULL);
        start_for(stage, other, "5", MINE);

        /* Who may do everything is bound by what there can be in all. */
        start_for(stage, 0, "5", NULL);
        start_for(stage, 0, "6", ALL);
        start_for(stage, other + 1, "6", ALL);
}

typedef struct Shares {
        Limits limits;
        Users *users;
        ManagerStage *stage;
} Shares;

static void shares_clear(Shares *shares) {
        manager_stage_free(shares->stage);
        users_free(shares->users);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Shares, shares_clear)

/* A stage on which users have shares, with the tree 'a'. */
static void shares_init(Shares *shares, const char *tree) {
        shares->limits = limits_default;
        shares->limits.max[LIMIT_RUNS_OF_A_CALLER] = 3;
        shares->limits.max[LIMIT_VARIABLES_OF_A_CALLER] = 1;
        shares->users = users_new(&shares->limits);
        shares->stage = manager_stage_new();
        shares->stage->services.users = shares->users;
        manager_stage_open(shares->stage, &shares->limits, NULL);
        manager_stage_put(shares->stage, "a.json", tree);
        reload(shares->stage, NULL);
}

/* As start_for(), with bytes in the input 'x'. */
static Run *start_with(const Shares *shares, uint32_t uid, const char *instance, size_t bytes, const char *expected) {
        g_autofree char *text = g_strnfill(bytes, 'x'), *error = NULL;
        g_autoptr(json_object) variables = json_object_new_object();
        Caller who = { .uid = uid, .text = (char *) "a test" };
        const TreeStart start = { .tree = "a", .instance = instance, .variables = variables };
        g_auto(RunSummary) outcome = {};
        bool begun;
        int r;

        json_object_object_add(variables, "x", json_object_new_string(text));
        r = manager_start_tree(shares->stage->manager, &start, &who, &begun, &outcome, &error);
        g_assert_cmpstr(error, ==, expected);
        g_assert_cmpint(r, ==, expected ? MANAGER_LIMIT : 0);
        manager_stage_turn(shares->stage);
        return outcome.run ? runs_get(shares->stage->manager->runs, outcome.run) : NULL;
}

static void end(const Shares *shares, Status status) {
        fake_end("A", status, "told to");
        manager_stage_turn(shares->stage);
}

#define INPUT(keys) "\"inputs\": { \"x\": { \"type\": \"string\", \"default\": \"\"" keys " } }, "
#define RESTARTS "\"restart\": \"on-failure\", \"restart_backoff\": { \"initial\": \"1h\", \"max\": \"1h\" }, "
#define BYTES "the limit 'variables-of-a-caller-mib' (1 MiB) is reached; halt one of your runs first"

/* They come back, so they take a place, and their variables take room. */
static void test_pending_restarts(void) {
        uint32_t other = geteuid() + 1000;
        g_auto(Shares) shares = {};

        shares_init(&shares, TREE(RESTARTS INPUT(""), WAITS));
        start_with(&shares, other, "1", 600000, NULL);
        end(&shares, STATUS_FAILURE);
        start_with(&shares, other, "2", 600000, BYTES);
        start_with(&shares, other + 1, "2", 600000, NULL);
        end(&shares, STATUS_FAILURE);
        start_with(&shares, other, "3", 1, NULL);
        end(&shares, STATUS_FAILURE);
        start_with(&shares, other, "4", 1, NULL);
        start_with(&shares, other, "5", 1,
                   "the limit 'runs-of-a-caller' (3) is reached, with 2 pending restarts; halt one of your runs first");
        end(&shares, STATUS_SUCCESS);

        /* A start that takes the place of a restart. */
        start_with(&shares, other, "1", 600000, NULL);
        start_with(&shares, 0, "6", 2000000, NULL);
}

/* The user who has the most loses the oldest. */
static void test_finished_runs(void) {
        const GPtrArray *runs;
        g_auto(Shares) shares = {};
        unsigned n = 0;

        shares_init(&shares, TREE(INPUT(""), "{ \"type\": \"FakeNow\" }"));
        start_with(&shares, 0, "first", 1, NULL);
        for (unsigned i = 0; i < 100; i++) {
                g_autofree char *instance = g_strdup_printf("%u", i);

                start_with(&shares, geteuid() + 1000, instance, 1, NULL);
        }
        runs = runs_list(shares.stage->manager->runs);
        g_assert_cmpuint(runs->len, ==, 64);
        for (unsigned i = 0; i < runs->len; i++)
                n += g_str_equal(run_instance(runs->pdata[i]), "first") ||
                     g_str_equal(run_instance(runs->pdata[i]), "99");
        g_assert_cmpuint(n, ==, 2);
}

static bool is_kept(const Shares *shares, const char *instance) {
        g_autoptr(json_object) values = NULL;
        g_autofree char *error = NULL;

        g_assert_cmpint(manager_get_kept(shares->stage->manager, "a", instance, &values, &error), ==, 0);
        return json_object_object_length(values) > 0;
}

/* Each user can fill a quarter of the 16 MiB. The owner is the user of the run that has changed them last. */
static void test_kept(void) {
        uint32_t other = geteuid() + 1000;
        g_auto(Shares) shares = {};
        struct {
                uint32_t uid;
                const char *instance;
                bool kept;
        } steps[] = {
                { other, "1", true }, { other, "2", true },  { other, "3", true },     { other, "4", false },
                { 0, "3", true },     { other, "4", true },  { other + 1, "5", true }, { other + 1, "4", true },
                { other, "6", true }, { other, "7", false },
        };

        shares_init(&shares, TREE(INPUT(", \"kept\": true"), "{ \"type\": \"FakeNow\" }"));
        shares.limits.max[LIMIT_VARIABLES_OF_A_CALLER] = 64;
        for (size_t i = 0; i < G_N_ELEMENTS(steps); i++) {
                start_with(&shares, steps[i].uid, steps[i].instance, 1200000 + i, NULL);
                g_assert_cmpint(is_kept(&shares, steps[i].instance), ==, steps[i].kept);
        }
        g_assert_cmpuint(users_get(shares.users, other)->used[USE_KEPT], <, 4 << 20);
}

static void test_variables(void) {
        g_autoptr(ManagerStage) stage = stage_new();
        g_autofree char *text = g_strnfill(blackboard_bytes_max(&limits_default), 'x'), *error = NULL;
        g_autoptr(json_object) variables = json_object_new_object();
        Run *run;

        json_object_object_add(variables, "a", json_object_new_string(text));
        g_assert_cmpint(manager_start(stage->manager, "a", "", variables, "a test", &run, &error), ==, MANAGER_LIMIT);
        g_assert_cmpstr(error, ==, "the variables of the run would exceed 8 MiB");
}

static void set_text(const ManagerStage *stage, Run *run, int r, const char *expected) {
        Caller who = { .text = (char *) "a test" };
        g_autofree char *text = g_strnfill(2000, 'x'), *error = NULL;
        g_autoptr(json_object) values = json_object_new_object();

        json_object_object_add(values, "a", json_object_new_string(text));
        g_assert_cmpint(manager_set_variables(stage->manager, run_id(run), values, &who, &error), ==, r);
        g_assert_cmpstr(error, ==, expected);
}

/* Each manager has its own limits. */
static void test_two_managers(void) {
        g_autoptr(ManagerStage) small = manager_stage_new(), other = manager_stage_new();
        g_autofree char *refused = g_strdup_printf("%s/b.json:1:52: error: a tree has at most 1 nodes (in Inverter)",
                                                   small->directories[0]);
        const ManagerStage *const stages[] = { small, other };
        Limits limits = limits_default;

        limits.max[LIMIT_NODES] = 1;
        limits.max[LIMIT_VARIABLES] = 1;
        manager_stage_open(small, &limits, NULL);
        manager_stage_open(other, NULL, NULL);
        for (size_t i = 0; i < G_N_ELEMENTS(stages); i++) {
                const ManagerStage *stage = stages[i];

                manager_stage_put(stage, "a.json", TREE("\"blackboard\": { \"a\": 0 }, ", WAITS));
                manager_stage_put(stage, "b.json", TREE("", "{ \"type\": \"Inverter\", \"child\": " WAITS " }"));
                reload(stage, stage == small ? refused : NULL);
                set_text(stage, start_for(stage, 0, "", NULL), stage == small ? MANAGER_LIMIT : 0,
                         stage == small ? "the variables of the run would exceed 1 KiB" : NULL);
        }
}

static void test_trees(void) {
        g_autoptr(ManagerStage) stage = stage_new();
        g_autofree char *message = g_strdup_printf("%s/c.json: error: not loaded, because the limit 'trees' (2) is "
                                                   "reached; see LIMITS in btd(8)",
                                                   stage->directories[0]);

        manager_stage_put(stage, "c.json", TREE("", WAITS));
        reload(stage, message);
        g_assert_null(manager_tree(stage->manager, "c"));
        g_assert_nonnull(manager_tree(stage->manager, "b"));
}

static Run *start_text(const ManagerStage *stage, const char *name, const char *text, int r, const char *expected) {
        Caller who = { .text = (char *) "a test" };
        g_autofree char *error = NULL;
        Run *run = NULL;

        g_assert_cmpint(loading_start_text(stage->manager, stage->context, name, text, &who, &run, &error), ==, r);
        g_assert_cmpstr(error, ==, expected);
        manager_stage_turn(stage);
        return run;
}

/* A run like any other, of a tree that is not listed. */
static void test_text(void) {
        g_autoptr(ManagerStage) stage = stage_new();
        g_autoptr(GPtrArray) trees = NULL;
        Run *run = start_text(stage, "mine", TREE("", WAITS), 0, NULL);

        g_assert_cmpstr(run_id(run), ==, "mine.1");
        g_assert_cmpint(run_status(run), ==, STATUS_RUNNING);
        g_assert_true(runs_get(stage->manager->runs, "mine.1") == run);
        g_assert_null(manager_tree(stage->manager, "mine"));
        trees = library_list(stage->manager->library);
        g_assert_cmpuint(trees->len, ==, 2);
        start_text(stage, "mine", TREE("", WAITS), MANAGER_ALREADY_RUNNING,
                   "tree 'mine' is already running as mine.1; give another name to run it twice");
        fake_end("A", STATUS_SUCCESS, NULL);
        manager_stage_turn(stage);
        g_assert_cmpint(run_status(run), ==, STATUS_SUCCESS);
        start_text(stage, "mine", TREE("", "{ \"type\": \"SubTree\", \"tree\": \"b\" }"), 0, NULL);
        g_assert_cmpint(run_status(runs_get(stage->manager->runs, "mine.2")), ==, STATUS_SUCCESS);
}

static void test_text_refused(void) {
        g_autoptr(ManagerStage) stage = stage_new();

        start_text(stage, "../x", TREE("", WAITS), -EINVAL,
                   "the name of a tree consists of letters, digits, '_' and '-', 100 at most");
        start_text(stage, "a", TREE("", WAITS), -EINVAL,
                   "there is a tree 'a' already; start that one, or give this another name");
        start_text(stage, "x", "{ \"btd\": 1,\n\"root\": 5 }", MANAGER_TREE_BROKEN,
                   "tree 'x' has errors: x.json:2:9: error: expected a node, such as {\"type\": \"Sequence\", ...}, "
                   "not 5");
        start_text(stage, "x", "{ \"btd\": 1, \"trees\": { \"y\": { \"root\": " WAITS " } } }", MANAGER_TREE_BROKEN,
                   "tree 'x' has no 'root'");
        start_text(stage, "x", TREE("\"restart\": \"always\", ", WAITS), MANAGER_TREE_BROKEN,
                   "tree 'x' cannot be started again, because it is in no file; leave out 'restart'");

        start_text(stage, "x", TREE("\"autostart\": 5, ", "5"), MANAGER_TREE_BROKEN,
                   "tree 'x' has 2 errors, which 'btctl validate' shows; the first one: x.json:1:26: error: autostart: "
                   "expected true or false, not 5");
        manager_stop(stage->manager);
        start_text(stage, "x", TREE("", WAITS), MANAGER_STOPPING, "btd is stopping and starts nothing any more");
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/manager-limits/runs-of-a-caller", test_runs_of_a_caller);
        g_test_add_func("/manager-limits/pending-restarts", test_pending_restarts);
        g_test_add_func("/manager-limits/finished-runs", test_finished_runs);
        g_test_add_func("/manager-limits/kept", test_kept);
        g_test_add_func("/manager-limits/variables", test_variables);
        g_test_add_func("/manager-limits/two-managers", test_two_managers);
        g_test_add_func("/manager-limits/trees", test_trees);
        g_test_add_func("/manager-limits/text", test_text);
        g_test_add_func("/manager-limits/text-refused", test_text_refused);
        return g_test_run();
}
