/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <ctype.h>
#include <string.h>

#include "stage.h"

static const NodeType action_type = { .name = "action", .class = NODE_ACTION };
static const NodeType immediate_type = { .name = "immediate", .class = NODE_ACTION, .flags = TYPE_IMMEDIATE };
static const NodeType condition_type = { .name = "condition", .class = NODE_CONDITION };

typedef struct Stage {
        Tree *tree;
        Machine *machine;
        GStringChunk *names;
        GPtrArray *params;
        GString *effects;
        const char *traits;  /* of each node: '\0', '!', '+', '-', '?' */
        Status *values;      /* of conditions: RUNNING while unknown */
        uint64_t *deadlines; /* by node, the last is the machine's; 0: not armed */
        uint64_t now;
} Stage;

typedef struct Writer {
        Stage *stage;
        TreeBuilder *builder;
        GString *traits;
        const char *text;
} Writer;

static const NodeType *find_type(const char *name) {
        for (const NodeType *const *type = engine_types; *type; type++)
                if (g_str_equal((*type)->name, name))
                        return *type;

        g_error("no type %s", name);
}

static const char *read_word(Writer *writer) {
        const char *start = writer->text;

        while (isalnum((unsigned char) *writer->text) || *writer->text == '_')
                writer->text++;

        return g_string_chunk_insert_len(writer->stage->names, start, writer->text - start);
}

static bool accept(Writer *writer, char c) {
        while (*writer->text == ' ')
                writer->text++;

        if (*writer->text != c)
                return false;

        writer->text++;
        return true;
}

static void *zeroed(Stage *stage, size_t size) {
        g_ptr_array_add(stage->params, g_malloc0(size));
        return stage->params->pdata[stage->params->len - 1];
}

static bool set_param(Stage *stage, const Param *param, char *params, const char *name, double value) {
        for (; param && param->name; param++) {
                char *field = params + param->offset;

                if (param->kind == PARAM_OBJECT) {
                        void **inner = (void **) (void *) field;

                        if (!*inner && strchr("ifmj", name[0]) && param->members)
                                *inner = zeroed(stage, param->members_size);
                        if (*inner && set_param(stage, param->members, *inner, name, value))
                                return true;
                } else if (!g_str_equal(param->name, name))
                        continue;
                else if (param->kind == PARAM_INT)
                        *(int64_t *) (void *) field = (int64_t) value;
                else if (param->kind == PARAM_SPAN)
                        *(uint64_t *) (void *) field = (uint64_t) value;
                else if (param->kind == PARAM_NUMBER)
                        *(double *) (void *) field = value;
                else if (param->kind == PARAM_BOOL)
                        *(bool *) field = value != 0;
                else
                        continue;

                if (param->kind != PARAM_OBJECT)
                        return true;
        }

        return false;
}

static void *read_params(Writer *writer, const NodeType *type) {
        char *params;

        if (type->params_size == 0)
                return NULL;

        params = zeroed(writer->stage, type->params_size);
        for (const Param *param = type->params; param->name; param++)
                if (param->fallback && param->kind != PARAM_OBJECT)
                        set_param(writer->stage, type->params, params, param->name,
                                  g_str_equal(param->fallback, "true") ? 1 : g_ascii_strtod(param->fallback, NULL));

        if (accept(writer, '{'))
                do {
                        const char *name;
                        char *end;

                        accept(writer, ' ');
                        name = read_word(writer);
                        g_assert_true(accept(writer, '='));
                        g_assert_true(set_param(writer->stage, type->params, params, name,
                                                g_ascii_strtod(writer->text, &end)));
                        writer->text = end;
                } while (!accept(writer, '}') && accept(writer, ','));

        return params;
}

static void read_node(Writer *writer) {
        const char *name;

        accept(writer, ' ');
        name = read_word(writer);
        if (isupper((unsigned char) name[0])) {
                const NodeType *type = find_type(name);
                void *params = read_params(writer, type);

                tree_builder_open(writer->builder, type, NULL, params);
                g_string_append_c(writer->traits, ' ');
                if (accept(writer, '('))
                        do
                                read_node(writer);
                        while (!accept(writer, ')') && accept(writer, ','));
        } else {
                char trait = *writer->text && strchr("!+-?", *writer->text) ? *writer->text++ : ' ';

                tree_builder_open(writer->builder,
                                  trait == '?'                   ? &condition_type
                                  : trait == '+' || trait == '-' ? &immediate_type
                                                                 : &action_type,
                                  name, NULL);
                g_string_append_c(writer->traits, trait);
        }

        tree_builder_close(writer->builder);
}

static void G_GNUC_PRINTF(2, 3) say(Stage *stage, const char *format, ...) {
        va_list args;

        if (stage->effects->len > 0)
                g_string_append(stage->effects, ", ");

        va_start(args, format);
        g_string_append_vprintf(stage->effects, format, args);
        va_end(args);
}

static Status on_leaf_start(Machine *machine, NodeId node) {
        Stage *stage = machine_userdata(machine);

        say(stage, "start %s", tree_node_name(stage->tree, node));
        switch (stage->traits[node]) {
        case '+':
                return STATUS_SUCCESS;
        case '-':
                return STATUS_FAILURE;
        default:
                return STATUS_RUNNING;
        }
}

static bool on_leaf_halt(Machine *machine, NodeId node) {
        Stage *stage = machine_userdata(machine);

        say(stage, "halt %s", tree_node_name(stage->tree, node));
        return stage->traits[node] != '!';
}

static Status on_condition_look(Machine *machine, NodeId node) {
        Stage *stage = machine_userdata(machine);

        return stage->values[node];
}

static void on_condition_release(Machine *machine, NodeId node) {
        Stage *stage = machine_userdata(machine);

        say(stage, "release %s", tree_node_name(stage->tree, node));
}

static const char *timer_name(const Stage *stage, NodeId node) {
        return node == NODE_NONE ? "interval" : tree_node_name(stage->tree, node);
}

static uint64_t *timer_of(Stage *stage, NodeId node) {
        return &stage->deadlines[node == NODE_NONE ? stage->tree->n_nodes : node];
}

static void on_timer_arm(Machine *machine, NodeId node, uint64_t usec) {
        Stage *stage = machine_userdata(machine);

        g_assert_cmpuint(*timer_of(stage, node), ==, 0);
        *timer_of(stage, node) = stage->now + usec;
        say(stage, "arm %" G_GUINT64_FORMAT " %s", usec, timer_name(stage, node));
}

static void on_timer_disarm(Machine *machine, NodeId node) {
        Stage *stage = machine_userdata(machine);

        g_assert_cmpuint(*timer_of(stage, node), !=, 0);
        *timer_of(stage, node) = 0;
        say(stage, "disarm %s", timer_name(stage, node));
}

static const MachineHost host = {
        .leaf_start = on_leaf_start,
        .leaf_halt = on_leaf_halt,
        .condition_look = on_condition_look,
        .condition_release = on_condition_release,
        .timer_arm = on_timer_arm,
        .timer_disarm = on_timer_disarm,
};

static void expire_earliest(Stage *stage) {
        uint32_t n = stage->tree->n_nodes, first = n + 1;

        for (uint32_t i = 0; i <= n; i++)
                if (stage->deadlines[i] != 0 && (first > n || stage->deadlines[i] < stage->deadlines[first]))
                        first = i;

        g_assert_cmpuint(first, <=, n);
        stage->now = stage->deadlines[first];
        stage->deadlines[first] = 0;
        machine_timer_expired(stage->machine, first == n ? NODE_NONE : first);
}

static NodeId find_leaf(const Stage *stage, const char *name) {
        for (NodeId node = 0; node < stage->tree->n_nodes; node++)
                if (g_str_equal(tree_node_name(stage->tree, node), name))
                        return node;

        g_error("no leaf %s", name);
}

static Status read_status(const char *text) {
        for (Status status = STATUS_IDLE; status < STATUS_MAX_; status++)
                if (g_str_equal(status_to_string(status), text))
                        return status;

        g_error("no status %s", text);
}

static void give_input(Stage *stage, const char *input) {
        g_auto(GStrv) words = g_strsplit(input, " ", 2);

        if (g_str_equal(input, "start"))
                machine_start(stage->machine);
        else if (g_str_equal(input, "halt"))
                machine_halt(stage->machine);
        else if (g_str_equal(input, "time"))
                expire_earliest(stage);
        else if (!g_str_equal(input, "nothing")) {
                NodeId leaf = find_leaf(stage, words[0]);

                if (stage->traits[leaf] == '?') {
                        stage->values[leaf] = read_status(words[1]);
                        machine_condition_changed(stage->machine, leaf);
                } else
                        machine_leaf_ended(stage->machine, leaf, read_status(words[1]));
        }
}

static void play_step(Stage *stage, const Step *step) {
        g_auto(GStrv) inputs = g_strsplit(step->inputs, ", ", -1);
        Status result = STATUS_RUNNING;

        g_string_truncate(stage->effects, 0);
        for (char **input = inputs; *input; input++)
                give_input(stage, *input);

        if (machine_wants_tick(stage->machine))
                result = machine_tick(stage->machine);

        if (g_strcmp0(stage->effects->str, step->effects) != 0 || result != step->result)
                g_test_message("after \"%s\": \"%s\", %s", step->inputs, stage->effects->str, status_to_string(result));

        g_assert_cmpstr(stage->effects->str, ==, step->effects);
        g_assert_cmpstr(status_to_string(result), ==, status_to_string(step->result));
}

void stage_play(const char *text, const Step *steps) {
        Stage stage = {
                .names = g_string_chunk_new(256),
                .params = g_ptr_array_new_with_free_func(g_free),
                .effects = g_string_new(NULL),
                .now = 1,
        };
        Writer writer = {
                .stage = &stage,
                .builder = tree_builder_new(),
                .traits = g_string_new(NULL),
                .text = text,
        };

        read_node(&writer);
        stage.tree = tree_builder_finish(writer.builder);
        stage.traits = writer.traits->str;
        stage.values = g_new(Status, stage.tree->n_nodes);
        for (NodeId node = 0; node < stage.tree->n_nodes; node++)
                stage.values[node] = STATUS_RUNNING;
        stage.deadlines = g_new0(uint64_t, stage.tree->n_nodes + 1);
        stage.machine = machine_new(stage.tree, &host, &stage, 1);

        for (; steps->inputs; steps++)
                play_step(&stage, steps);

        machine_free(stage.machine);
        tree_free(stage.tree);
        tree_builder_free(writer.builder);
        g_string_free(writer.traits, true);
        g_string_free(stage.effects, true);
        g_string_chunk_free(stage.names);
        g_ptr_array_unref(stage.params);
        g_free(stage.values);
        g_free(stage.deadlines);
}
