/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <inttypes.h>

#include "random-definition.h"

static const Param code_params[] = {
        { .name = "code", .kind = PARAM_CODE, .offset = offsetof(CodeParams, code), .required = true },
        {},
};

const NodeType slow_type = { .name = "Slow", .class = NODE_ACTION };
const NodeType quick_type = { .name = "Quick", .class = NODE_ACTION, .flags = TYPE_IMMEDIATE };
const NodeType code_type = {
        .name = "Code",
        .class = NODE_ACTION,
        .flags = TYPE_IMMEDIATE,
        .params = code_params,
        .params_size = sizeof(CodeParams),
};
const NodeType value_type = { .name = "Value", .class = NODE_CONDITION };

static const NodeType *const leaves[] = { &slow_type, &quick_type, &code_type, &value_type, NULL };
const NodeType *const *const random_definition_tables[] = { engine_types, leaves, NULL };

static const char *const expressions[] = { "a < 2", "b ~= 1", "a == b", "a + b < 5", "true", "a > 100" };
static const char *const codes[] = { "a = a + 1", "b = (a * 7 + b) % 4", "a = 0", "b = nil", "_G.a = 3" };

static const char *pick(GRand *random, const char *const *texts, size_t n) {
        return texts[g_rand_int_range(random, 0, (gint32) n)];
}

#define PICK(random, texts) pick(random, texts, G_N_ELEMENTS(texts))

static bool chance(GRand *random, unsigned percent) {
        return (unsigned) g_rand_int_range(random, 0, 100) < percent;
}

static void add_param(GString *text, GRand *random, const Param *param, unsigned n_children) {
        int64_t number;
        size_t n = 0;

        g_string_append_printf(text, ", \"%s\": ", param->name);
        switch (param->kind) {
        case PARAM_BOOL:
                g_string_append(text, chance(random, 50) ? "true" : "false");
                break;
        case PARAM_INT:
                number = g_rand_int_range(random, -1, 4);
                g_string_append_printf(text, "%" PRIi64, MAX(param->min, number));
                break;
        case PARAM_SPAN:
                g_string_append_printf(text, "\"%ims\"", g_rand_int_range(random, 1, 6));
                break;
        case PARAM_ENUM:
                while (param->values[n])
                        n++;
                g_string_append_printf(text, "\"%s\"", pick(random, param->values, n));
                break;
        case PARAM_EXPRESSION:
                g_string_append_printf(text, "\"%s\"", PICK(random, expressions));
                break;
        case PARAM_STRING:
                g_string_append_printf(text, "\"%s\"",
                                       g_str_equal(param->name, "queue")  ? "list"
                                       : g_str_equal(param->name, "tree") ? "sub"
                                       : g_str_equal(param->name, "as")   ? "element"
                                                                          : "a");
                break;
        case PARAM_STRINGS:
                g_string_append_c(text, '[');
                for (unsigned i = 1; i < n_children; i++)
                        g_string_append_printf(text, "%s\"%u\"", i > 1 ? ", " : "", i);
                g_string_append_c(text, ']');
                break;
        default:
                g_string_append(text, g_str_equal(param->name, "items") ? "\"{list}\"" : "null");
        }
}

/* Not all of a Switch's two ways to say what it is over, and nothing that needs more than a word. */
static bool wants_param(GRand *random, const NodeType *type, const Param *param) {
        static const char *const left_out[] = { "hz", "of", "backoff", "inputs", "outputs", "retry_on", "catch", NULL };

        if (param->required || g_str_equal(param->name, "period") || g_str_equal(param->name, "variable"))
                return true;

        return !g_strv_contains(left_out, param->name) && chance(random, 50);
}

/* Of any node. */
static void add_extras(GString *text, GRand *random, const NodeType *type) {
        static const char *const guards[] = { "skip_if", "fail_if", "success_if", "while" };
        static const char *const hooks[] = { "on_success", "on_failure", "on_halted", "always" };
        static const char *const locks[] = { "disk", "net" };

        if (chance(random, 8))
                g_string_append_printf(text, ", \"%s\": \"%s\"", PICK(random, guards), PICK(random, expressions));
        if (chance(random, 8))
                g_string_append_printf(text, ", \"%s\": \"%s\"", PICK(random, hooks), PICK(random, codes));
        if (type->class != NODE_CONDITION && chance(random, 5))
                g_string_append_printf(text, ", \"lock\": \"%s\"", PICK(random, locks));
        if (type->class != NODE_CONDITION && chance(random, 5))
                g_string_append(text, ", \"uninterruptible\": true");
}

static const NodeType *random_type(GRand *random, unsigned depth) {
        size_t n = 0;

        if (depth == 0 || chance(random, 20))
                return leaves[g_rand_int_range(random, 0, G_N_ELEMENTS(leaves) - 1)];

        while (engine_types[n])
                n++;

        return engine_types[g_rand_int_range(random, 0, (gint32) n)];
}

static void add_node(GString *text, GRand *random, const NodeType *type, unsigned depth);

static void add_children(GString *text, GRand *random, const NodeType *type, unsigned n, unsigned depth) {
        bool waits = g_str_equal(type->name, "WaitFor");

        if (type->class == NODE_DECORATOR && !(type->flags & TYPE_SUBTREE)) {
                g_string_append(text, ", \"child\": ");
                if (waits)
                        add_node(text, random, &value_type, 0);
                else
                        add_node(text, random, random_type(random, depth - 1), depth - 1);
        } else if (type->class == NODE_CONTROL) {
                g_string_append(text, ", \"children\": [");
                for (unsigned i = 0; i < n; i++) {
                        if (i > 0)
                                g_string_append(text, ", ");
                        add_node(text, random, random_type(random, depth - 1), depth - 1);
                }
                g_string_append_c(text, ']');
        }
}

static void add_node(GString *text, GRand *random, const NodeType *type, unsigned depth) {
        unsigned n = 0;

        if (type->class == NODE_CONTROL)
                n = (unsigned) g_rand_int_range(random, (gint32) type->min_children,
                                                (gint32) MAX(MIN(type->max_children, 4), type->min_children) + 1);

        g_string_append_printf(text, "{ \"type\": \"%s\"", type->name);
        if (type == &code_type)
                g_string_append_printf(text, ", \"code\": \"%s\"", PICK(random, codes));
        else
                for (const Param *param = type->params; param && param->name; param++)
                        if (wants_param(random, type, param))
                                add_param(text, random, param, n);
        if (depth > 0)
                add_extras(text, random, type);
        add_children(text, random, type, n, depth);
        g_string_append(text, " }");
}

Definition *random_definition_new(GRand *random, unsigned depth) {
        g_autoptr(GString) text =
                g_string_new("{ \"btd\": 1, \"interval\": \"3ms\", \"blackboard\": { \"a\": 0, \"b\": 1, "
                             "\"list\": [1, 2, 3] }, \"trees\": { \"sub\": { \"blackboard\": "
                             "{ \"a\": 1, \"b\": 1, \"list\": [4, 5] }, \"root\": ");
        g_autoptr(Diagnostics) diagnostics = diagnostics_new("random");
        Definition *definition = NULL;

        /* What a SubTree runs has none itself. */
        add_node(text, random, &code_type, 0);
        g_string_append(text, " } }, \"root\": ");
        add_node(text, random, random_type(random, depth), depth);
        g_string_append(text, " }");

        (void) definition_load_text(text->str, text->len, random_definition_tables, NULL, diagnostics, &definition);
        if (!definition && g_test_verbose())
                for (size_t i = 0; i < diagnostics_count(diagnostics); i++) {
                        g_autofree char *problem = diagnostics_format(diagnostics, i);

                        if (!diagnostics_get(diagnostics, i)->warning)
                                g_test_message("%s", problem);
                }

        return definition;
}
