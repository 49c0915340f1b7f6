/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "stage.h"
#include "stage-tree.h"

/* What the host says of a node. */
typedef struct Answers {
        Status value; /* of a condition: RUNNING while unknown */
        Verdict guards[4];
        Verdict test;
        bool busy, unchanged, raises, matches, refuses, spoils;
        uint32_t elements;
        uint64_t deadline; /* of its timer; 0: not armed */
} Answers;

typedef struct Stage {
        const StageTree *cast;
        const Tree *tree;
        Machine *machine;
        GString *effects;
        Answers *answers; /* one a node, and one for the machine itself */
        uint64_t now;
} Stage;

static const char *const guard_names[] = { "fail_if", "success_if", "skip_if", "while" };
static const char *const hook_names[] = { "on_success", "on_failure", "on_halted", "always" };

static Answers *answers_of(Machine *machine, NodeId node) {
        Stage *stage = machine_userdata(machine);

        return &stage->answers[node == NODE_NONE ? stage->tree->n_nodes : node];
}

static const char *name_of(const Stage *stage, NodeId node) {
        return node == NODE_NONE ? "interval" : tree_node_name(stage->tree, node);
}

static void G_GNUC_PRINTF(2, 3) say(Stage *stage, const char *format, ...) {
        va_list args;

        if (stage->effects->len > 0)
                g_string_append(stage->effects, ", ");

        va_start(args, format);
        g_string_append_vprintf(stage->effects, format, args);
        va_end(args);
}

static void say_node(Machine *machine, const char *what, NodeId node) {
        Stage *stage = machine_userdata(machine);

        say(stage, "%s %s", what, name_of(stage, node));
}

static Status on_leaf_start(Machine *machine, NodeId node) {
        const Stage *stage = machine_userdata(machine);

        say_node(machine, "start", node);
        switch (stage->cast->traits->str[node]) {
        case '+':
                return STATUS_SUCCESS;
        case '-':
                return STATUS_FAILURE;
        case '*':
                return STATUS_ERROR;
        default:
                return STATUS_RUNNING;
        }
}

static bool on_leaf_halt(Machine *machine, NodeId node) {
        const Stage *stage = machine_userdata(machine);

        say_node(machine, "halt", node);
        return stage->cast->traits->str[node] != '!';
}

static Status on_condition_evaluate(Machine *machine, NodeId node) {
        return answers_of(machine, node)->value;
}

static void on_condition_release(Machine *machine, NodeId node) {
        say_node(machine, "release", node);
}

static void on_timer_arm(Machine *machine, NodeId node, uint64_t usec) {
        Stage *stage = machine_userdata(machine);
        uint64_t *deadline = &answers_of(machine, node)->deadline;

        g_assert_cmpuint(*deadline, ==, 0);
        *deadline = stage->now + usec;
        say(stage, "arm %" G_GUINT64_FORMAT " %s", usec, name_of(stage, node));
}

static void on_timer_disarm(Machine *machine, NodeId node) {
        uint64_t *deadline = &answers_of(machine, node)->deadline;

        g_assert_cmpuint(*deadline, !=, 0);
        *deadline = 0;
        say_node(machine, "disarm", node);
}

static void on_changed(Machine *machine, NodeId node, Status status, Reason reason) {
        g_autofree char *what = g_ascii_strup(status_to_string(status), -1);

        say_node(machine, what, node);
}

static Verdict on_guard(Machine *machine, NodeId node, Guard guard) {
        return answers_of(machine, node)->guards[guard];
}

static Verdict on_hook(Machine *machine, NodeId node, Hook hook) {
        say_node(machine, hook_names[hook], node);
        return answers_of(machine, node)->raises ? VERDICT_ERROR : VERDICT_YES;
}

static bool on_lock(Machine *machine, NodeId node) {
        say_node(machine, "lock", node);
        return !answers_of(machine, node)->busy;
}

static void on_unlock(Machine *machine, NodeId node) {
        say_node(machine, "unlock", node);
}

static void on_breakpoint(Machine *machine, NodeId node) {
        say_node(machine, "stop", node);
}

static Verdict on_test(Machine *machine, NodeId node, const Script *condition) {
        return answers_of(machine, node)->test;
}

static Verdict on_has_changed(Machine *machine, NodeId node, const Script *of) {
        Answers *answers = answers_of(machine, node);
        bool changed = !answers->unchanged;

        answers->unchanged = true;
        return answers->raises ? VERDICT_ERROR : changed ? VERDICT_YES : VERDICT_NO;
}

static bool on_cause_matches(Machine *machine, NodeId child, const char *const *patterns) {
        return answers_of(machine, child)->matches;
}

static uint32_t on_elements(Machine *machine, NodeId node) {
        say_node(machine, "list", node);
        return answers_of(machine, node)->elements;
}

static bool on_next_element(Machine *machine, NodeId node, const char *list, const char *variable, uint32_t index) {
        return index < answers_of(machine, node)->elements;
}

static void on_assign_element(Machine *machine, NodeId for_each, NodeId child, uint32_t index) {
        Stage *stage = machine_userdata(machine);

        say(stage, "give %s %u", name_of(stage, child), index);
}

static bool on_enter(Machine *machine, NodeId node) {
        say_node(machine, "enter", node);
        return !answers_of(machine, node)->refuses;
}

static bool on_leave(Machine *machine, NodeId node, Status status) {
        Stage *stage = machine_userdata(machine);

        say(stage, "leave %s %s", name_of(stage, node), status_to_string(status));
        return !answers_of(machine, node)->spoils;
}

static MachineHost make_host(bool told) {
        return (MachineHost){
                .leaf_start = on_leaf_start,
                .leaf_halt = on_leaf_halt,
                .condition_evaluate = on_condition_evaluate,
                .condition_release = on_condition_release,
                .timer_arm = on_timer_arm,
                .timer_disarm = on_timer_disarm,
                .changed = told ? on_changed : NULL,
                .guard = on_guard,
                .hook = on_hook,
                .lock = on_lock,
                .unlock = on_unlock,
                .breakpoint = on_breakpoint,
                .test = on_test,
                .has_changed = on_has_changed,
                .cause_matches = on_cause_matches,
                .elements = on_elements,
                .next_element = on_next_element,
                .assign_element = on_assign_element,
                .enter = on_enter,
                .leave = on_leave,
        };
}

static void expire_earliest(Stage *stage) {
        uint32_t n = stage->tree->n_nodes, first = n + 1;

        for (uint32_t i = 0; i <= n; i++) {
                uint64_t deadline = stage->answers[i].deadline;

                if (deadline != 0 && (first > n || deadline < stage->answers[first].deadline))
                        first = i;
        }

        g_assert_cmpuint(first, <=, n);
        stage->now = stage->answers[first].deadline;
        stage->answers[first].deadline = 0;
        machine_timer_expired(stage->machine, first == n ? NODE_NONE : first);
}

static Status read_status(const char *text) {
        for (Status status = STATUS_IDLE; status < STATUS_MAX_; status++)
                if (g_strcmp0(status_to_string(status), text) == 0)
                        return status;

        g_error("no status %s", text);
}

static Verdict read_verdict(const char *text) {
        return g_str_equal(text, "no") ? VERDICT_NO : g_str_equal(text, "yes") ? VERDICT_YES : VERDICT_ERROR;
}

static bool give_guard(Answers *answers, const char *guard, const char *verdict) {
        for (size_t i = 0; i < G_N_ELEMENTS(guard_names); i++)
                if (g_str_equal(guard_names[i], guard)) {
                        answers->guards[i] = read_verdict(verdict);
                        return true;
                }

        return false;
}

/* False: it is about how the node ends. */
static bool give_answer(Answers *answers, const char *what, const char *more) {
        if (g_str_equal(what, "busy"))
                answers->busy = true;
        else if (g_str_equal(what, "new"))
                answers->unchanged = false;
        else if (g_str_equal(what, "raises"))
                answers->raises = true;
        else if (g_str_equal(what, "matches"))
                answers->matches = true;
        else if (g_str_equal(what, "refuses"))
                answers->refuses = true;
        else if (g_str_equal(what, "spoils"))
                answers->spoils = true;
        else if (g_str_equal(what, "test"))
                answers->test = read_verdict(more);
        else if (g_str_equal(what, "elements"))
                answers->elements = (uint32_t) g_ascii_strtoll(more, NULL, 10);
        else
                return give_guard(answers, what, more);

        return true;
}

static bool give_control(Stage *stage, NodeId node, const char *what, const char *more) {
        if (g_str_equal(what, "granted"))
                machine_lock_granted(stage->machine, node);
        else if (g_str_equal(what, "forced"))
                machine_force(stage->machine, node, read_status(more));
        else if (g_str_equal(what, "break") || g_str_equal(what, "unbreak"))
                machine_set_breakpoint(stage->machine, node, what[0] == 'b');
        else if (g_str_equal(what, "pass"))
                g_assert_true(machine_pass_breakpoint(stage->machine, node));
        else
                return false;

        return true;
}

static void give_node_input(Stage *stage, NodeId node, const char *what, const char *more) {
        if (give_control(stage, node, what, more) || give_answer(&stage->answers[node], what, more))
                return;

        if (stage->cast->traits->str[node] == '?') {
                stage->answers[node].value = read_status(what);
                machine_condition_changed(stage->machine, node);
        } else
                machine_leaf_ended(stage->machine, node, read_status(what));
}

static void give_input(Stage *stage, const char *input) {
        g_auto(GStrv) words = g_strsplit(input, " ", 3);

        if (g_str_equal(input, "start"))
                machine_start(stage->machine);
        else if (g_str_equal(input, "halt"))
                machine_halt(stage->machine);
        else if (g_str_equal(input, "time"))
                expire_earliest(stage);
        else if (g_str_equal(input, "variable"))
                machine_variable_changed(stage->machine);
        else if (!g_str_equal(input, "nothing") && !g_str_equal(input, "tick"))
                give_node_input(stage, stage_tree_find(stage->cast, words[0]), words[1], words[2]);
}

static void play_step(Stage *stage, const Step *step) {
        g_auto(GStrv) inputs = g_strsplit(step->inputs, ", ", -1);
        Status result = STATUS_RUNNING;

        g_string_truncate(stage->effects, 0);
        for (char **input = inputs; *input; input++)
                give_input(stage, *input);

        if (machine_wants_tick(stage->machine) || g_str_equal(step->inputs, "tick"))
                result = machine_tick(stage->machine);

        if (g_strcmp0(stage->effects->str, step->effects) != 0 || result != step->result)
                g_test_message("after \"%s\": \"%s\", %s", step->inputs, stage->effects->str, status_to_string(result));

        g_assert_cmpstr(stage->effects->str, ==, step->effects);
        g_assert_cmpstr(status_to_string(result), ==, status_to_string(step->result));
}

static void play(const char *text, const Step *steps, bool told) {
        g_autoptr(StageTree) cast = stage_tree_new(text);
        MachineHost host = make_host(told);
        Stage stage = {
                .cast = cast,
                .tree = cast->tree,
                .effects = g_string_new(NULL),
                .answers = g_new0(Answers, cast->tree->n_nodes + 1),
                .now = 1,
        };

        for (NodeId node = 0; node < cast->tree->n_nodes; node++) {
                stage.answers[node].value = STATUS_RUNNING;
                stage.answers[node].guards[GUARD_WHILE] = VERDICT_YES;
        }

        stage.machine = machine_new(cast->tree, &host, &stage, 1);
        for (; steps->inputs; steps++)
                play_step(&stage, steps);

        machine_free(stage.machine);
        g_string_free(stage.effects, true);
        g_free(stage.answers);
}

void stage_play(const char *tree, const Step *steps) {
        play(tree, steps, false);
}

void stage_play_told(const char *tree, const Step *steps) {
        play(tree, steps, true);
}
