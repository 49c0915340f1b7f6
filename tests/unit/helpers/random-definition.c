/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <inttypes.h>
#include <string.h>

#include "definition/common-attributes.h"
#include "random-definition.h"

static const Param code_params[] = {
        { .name = "code",
          .kind = PARAM_CODE,
          .offset = offsetof(CodeParams, code),
          .required = true,
          .doc = "The code" },
        {},
};

static const Param slow_params[] = {
        { .name = "what", .kind = PARAM_JSON, .offset = offsetof(SlowParams, what), .doc = "Anything" },
        { .name = "queue",
          .kind = PARAM_INT,
          .offset = offsetof(SlowParams, queue),
          .literal = true,
          .fallback = "2",
          .max = 2,
          .doc = "How many signals are kept" },
        {},
};

const NodeType slow_type = {
        .name = "Slow",
        .class = NODE_ACTION,
        .params = slow_params,
        .params_size = sizeof(SlowParams),
        .hears = true,
        .queue_offset = offsetof(SlowParams, queue),
};
const NodeType quick_type = { .name = "Quick", .class = NODE_ACTION, .flags = TYPE_IMMEDIATE };
const NodeType code_type = {
        .name = "Code",
        .class = NODE_ACTION,
        .flags = TYPE_IMMEDIATE,
        .params = code_params,
        .params_size = sizeof(CodeParams),
};
const NodeType value_type = {
        .name = "Value",
        .class = NODE_CONDITION,
        .params = slow_params,
        .params_size = sizeof(SlowParams),
};

static const NodeType *const leaves[] = { &slow_type, &quick_type, &code_type, &value_type, NULL };
const NodeType *const *const random_definition_tables[] = { engine_types, leaves, NULL };

static const char *const expressions[] = { "a < 2", "b ~= 1", "a == b", "a + b < 5", "true", "a > 100" };
static const char *const codes[] = { "a = a + 1", "b = (a * 7 + b) % 4", "a = 0", "b = nil", "_G.a = 3" };

typedef struct Growth {
        GString *text;
        Dice *dice;
        bool inner; /* of what a SubTree runs, which has none itself */
} Growth;

static const char *pick(Growth *growth, const char *const *texts, size_t n) {
        return texts[dice_roll(growth->dice, (uint32_t) n)];
}

#define PICK(growth, texts) pick(growth, texts, G_N_ELEMENTS(texts))

static bool chance(Growth *growth, unsigned percent) {
        return dice_chance(growth->dice, percent);
}

static const char *word_for(const Param *param) {
        if (g_str_equal(param->name, "queue"))
                return "list";
        if (g_str_equal(param->name, "tree"))
                return "sub";
        if (g_str_equal(param->name, "as"))
                return "element";

        return "a";
}

/* The cases of a Switch, one for each child but the last; or kinds of causes. */
static void add_strings(Growth *growth, const Param *param, unsigned n_children) {
        static const char *const causes[] = { "[\"exit-status\"]", "[\"timeout\", \"forced\"]" };

        if (param->causes) {
                g_string_append(growth->text, PICK(growth, causes));
                return;
        }

        g_string_append_c(growth->text, '[');
        for (unsigned i = 1; i < n_children; i++)
                g_string_append_printf(growth->text, "%s\"%u\"", i > 1 ? ", " : "", i);
        g_string_append_c(growth->text, ']');
}

/* Of the kinds that only one parameter has. */
static const char *other_value(const Param *param) {
        static const char *const values[][2] = {
                { "items", "\"{list}\"" },
                { "inputs", "{ \"a\": \"{b}\" }" },
                { "outputs", "{ \"b\": \"a\" }" },
                { "what", "[ \"{a}\", \"{@b} {{ {a}\", 7 ]" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(values); i++)
                if (g_str_equal(param->name, values[i][0]))
                        return values[i][1];

        return "null";
}

static void add_param(Growth *growth, const Param *param, unsigned n_children) {
        GString *text = growth->text;
        int64_t number;
        size_t n = 0;

        g_string_append_printf(text, ", \"%s\": ", param->name);
        /* Many copies of the child of a ForEach make large trees. */
        if (param->late && (param->kind == PARAM_INT || param->kind == PARAM_SPAN) &&
            !g_str_equal(param->name, "concurrency") && chance(growth, 25)) {
                g_string_append(text, param->kind == PARAM_INT ? "\"{a}\"" : "\"{a}ms\"");
                return;
        }

        switch (param->kind) {
        case PARAM_BOOL:
                g_string_append(text, chance(growth, 50) ? "true" : "false");
                break;
        case PARAM_INT:
                number = (int64_t) dice_roll(growth->dice, 5) - 1;
                g_string_append_printf(text, "%" PRIi64, MAX(param->min, number));
                break;
        case PARAM_SPAN:
                g_string_append_printf(text, "\"%ums\"", 1 + dice_roll(growth->dice, 5));
                break;
        case PARAM_ENUM:
                while (param->values[n])
                        n++;
                g_string_append_printf(text, "\"%s\"", pick(growth, param->values, n));
                break;
        case PARAM_EXPRESSION:
                g_string_append_printf(text, "\"%s\"", PICK(growth, expressions));
                break;
        case PARAM_STRING:
                g_string_append_printf(text, "\"%s\"", word_for(param));
                break;
        case PARAM_STRINGS:
                add_strings(growth, param, n_children);
                break;
        default:
                g_string_append(text, other_value(param));
        }
}

/* The text ends with the parameters of the node so far. */
static bool is_excluded(const Growth *growth, const NodeType *type, const Param *param) {
        const char *node = g_strrstr(growth->text->str, "{ \"type\"");

        for (const ParamRule *rule = type->rules; rule && rule->kind; rule++) {
                g_autofree char *given = g_strdup_printf("\"%s\": \"%s\"", rule->params[1], rule->word);

                if (rule->kind == RULE_NOT_WITH && g_str_equal(rule->params[0], param->name) && strstr(node, given))
                        return true;
        }

        return false;
}

/* Of a Switch's two ways to say what it is over one, and nothing that needs more than a word. */
static bool wants_param(Growth *growth, const NodeType *type, const Param *param) {
        if (param->required || g_str_equal(param->name, "period") || g_str_equal(param->name, "variable"))
                return true;
        if (param->kind == PARAM_INT && g_str_equal(param->name, "queue"))
                return false;
        if (is_excluded(growth, type, param))
                return false;
        if (g_str_equal(param->name, "hz") || g_str_equal(param->name, "of") || g_str_equal(param->name, "backoff"))
                return false;

        return chance(growth, 50);
}

/* Of any node. */
static void add_attributes(Growth *growth, const NodeType *type) {
        static const char *const guards[] = { "skip_if", "fail_if", "success_if", "while" };
        static const char *const hooks[] = { "on_success", "on_failure", "on_halted", "always" };
        static const char *const locks[] = { "disk", "net" };
        GString *text = growth->text;

        if (chance(growth, 8)) {
                g_string_append_printf(text, ", \"%s\": ", PICK(growth, guards));
                g_string_append_printf(text, "\"%s\"", PICK(growth, expressions));
        }
        if (chance(growth, 8)) {
                g_string_append_printf(text, ", \"%s\": ", PICK(growth, hooks));
                g_string_append_printf(text, "\"%s\"", PICK(growth, codes));
        }
        if (type->class != NODE_CONDITION && chance(growth, 5))
                g_string_append_printf(text, ", \"lock\": \"%s\"", PICK(growth, locks));
        if (type->class != NODE_CONDITION && chance(growth, 5))
                g_string_append(text, ", \"uninterruptible\": true");
}

static const NodeType *random_type(Growth *growth, unsigned depth) {
        const NodeType *type;
        size_t n = 0, i;

        if (depth == 0 || chance(growth, 20))
                return leaves[dice_roll(growth->dice, G_N_ELEMENTS(leaves) - 1)];

        while (engine_types[n])
                n++;
        /* To a run, an Inhibit or OwnConnection is a node with a lock, and it has no lock of its own besides. */
        i = dice_roll(growth->dice, (uint32_t) n - 1);
        if (engine_types[i]->flags & TYPE_HAS_LOCK)
                i = n - 1;
        type = engine_types[i];
        return growth->inner && type->flags & TYPE_SUBTREE ? &slow_type : type;
}

static void add_node(Growth *growth, const NodeType *type, unsigned depth);

static void add_children(Growth *growth, const NodeType *type, unsigned n, unsigned depth) {
        bool waits = g_str_equal(type->name, "WaitFor");

        if (type->class == NODE_DECORATOR && !(type->flags & TYPE_SUBTREE)) {
                g_string_append(growth->text, ", \"child\": ");
                if (waits)
                        add_node(growth, &value_type, 0);
                else
                        add_node(growth, random_type(growth, depth - 1), depth - 1);
        } else if (type->class == NODE_CONTROL) {
                g_string_append(growth->text, ", \"children\": [");
                for (unsigned i = 0; i < n; i++) {
                        if (i > 0)
                                g_string_append(growth->text, ", ");
                        add_node(growth, random_type(growth, depth - 1), depth - 1);
                }
                g_string_append_c(growth->text, ']');
        }
}

static unsigned random_n_children(Growth *growth, const NodeType *type) {
        uint32_t most = MAX(MIN(type->max_children, 4), type->min_children);

        return type->class == NODE_CONTROL ? type->min_children + dice_roll(growth->dice, most - type->min_children + 1)
                                           : 0;
}

static void add_node(Growth *growth, const NodeType *type, unsigned depth) {
        unsigned n = random_n_children(growth, type);

        g_string_append_printf(growth->text, "{ \"type\": \"%s\"", type->name);
        if (type == &code_type)
                g_string_append_printf(growth->text, ", \"code\": \"%s\"", PICK(growth, codes));
        else
                for (const Param *param = type->params; param && param->name; param++)
                        if (wants_param(growth, type, param))
                                add_param(growth, param, n);
        if (depth > 0)
                add_attributes(growth, type);
        if (type->class == NODE_ACTION && chance(growth, 5))
                g_string_append(growth->text, ", \"halt_timeout\": \"2ms\"");
        /* Asks no dice, so that the stored cases stay what they are. */
        if (growth->text->len % 4 == 0)
                g_string_append(growth->text, ", \"ready\": true");
        if (growth->text->len % 8 == 3 && type_has_time(type))
                g_string_append(growth->text, ", \"clock\": \"boottime\"");
        if (growth->text->len % 32 == 5)
                g_string_append(growth->text, ", \"while\": \"b ~= 2 or b.x.y\"");
        add_children(growth, type, n, depth);
        g_string_append(growth->text, " }");
}

static char *random_text(Dice *dice, unsigned depth) {
        static const char retries[] = "{ \"type\": \"RetryUntilSuccessful\", \"num_attempts\": 3, \"backoff\": "
                                      "{ \"initial\": \"1ms\", \"max\": \"3ms\" }, \"child\": ";
        GString *text = g_string_new("{ \"btd\": 1, \"interval\": \"3ms\", \"blackboard\": { \"a\": 0, \"b\": 1, "
                                     "\"list\": [1, 2, 3] }, \"trees\": { \"sub\": { \"inputs\": { \"a\": "
                                     "{ \"type\": \"any\", \"default\": 1 } }, \"outputs\": { \"b\": \"any\" }, "
                                     "\"blackboard\": { \"list\": [4, 5] }, \"root\": { \"type\": \"Sequence\", "
                                     "\"children\": [ { \"type\": \"Code\", \"code\": \"b = 1\" }, ");
        Growth growth = { .text = text, .dice = dice, .inner = true };
        size_t root;

        add_node(&growth, random_type(&growth, depth / 2), depth / 2);
        g_string_append(text, " ] } } }, \"root\": ");
        growth.inner = false;
        root = text->len;
        add_node(&growth, random_type(&growth, depth), depth);
        if (dice_roll(dice, 4) == 1) {
                g_string_insert(text, (gssize) root, retries);
                g_string_append(text, " }");
        }
        g_string_append(text, " }");
        return g_string_free(text, false);
}

Definition *random_definition_new(Dice *dice, unsigned depth) {
        g_autofree char *text = random_text(dice, depth);
        g_autoptr(Diagnostics) diagnostics = diagnostics_new("random");
        Definition *definition = NULL;

        (void) definition_load_text(text, strlen(text), random_definition_tables, NULL, diagnostics, &definition);
        if (!definition && g_test_verbose())
                for (size_t i = 0; i < diagnostics_count(diagnostics); i++) {
                        g_autofree char *problem = diagnostics_format(diagnostics, i);

                        if (!diagnostics_get(diagnostics, i)->warning)
                                g_test_message("%s", problem);
                }

        return definition;
}
