/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "large-trees.h"

static const NodeType good_type = { .name = "Good", .class = NODE_ACTION, .flags = TYPE_IMMEDIATE, .summary = "good" };
static const NodeType act_type = { .name = "Act", .class = NODE_ACTION, .summary = "takes time" };
static const NodeType check_type = { .name = "Check", .class = NODE_CONDITION, .summary = "has a value" };

const NodeType *const large_tree_leaves[] = { &good_type, &act_type, &check_type, NULL };

static Status on_leaf_start(Machine *machine, NodeId leaf) {
        return machine_tree(machine)->nodes[leaf].type == &good_type ? STATUS_SUCCESS : STATUS_RUNNING;
}

static bool on_leaf_halt(Machine *machine, NodeId leaf) {
        return true;
}

static Status on_condition_evaluate(Machine *machine, NodeId leaf) {
        return STATUS_FAILURE;
}

static void on_condition_release(Machine *machine, NodeId leaf) {}

static void on_timer_arm(Machine *machine, NodeId node, uint64_t usec) {}

static void on_timer_disarm(Machine *machine, NodeId node) {}

const MachineHost large_tree_host = {
        .leaf_start = on_leaf_start,
        .leaf_halt = on_leaf_halt,
        .condition_evaluate = on_condition_evaluate,
        .condition_release = on_condition_release,
        .timer_arm = on_timer_arm,
        .timer_disarm = on_timer_disarm,
};

void large_tree_append(GString *text, const char *what, uint32_t n) {
        for (uint32_t i = 0; i < n; i++)
                g_string_append(text, what);
}

GString *large_tree_wide(const char *type, const char *child, uint32_t n, const char *last) {
        GString *text = g_string_new(NULL);

        g_string_append_printf(text, "{\"btd\":1,\"root\":{\"type\":\"%s\",\"children\":[", type);
        for (uint32_t i = 0; i < n; i++)
                g_string_append_printf(text, "%s{\"type\":\"%s\"}", i > 0 ? "," : "", child);
        if (last)
                g_string_append_printf(text, ",{\"type\":\"%s\"}", last);

        g_string_append(text, "]}}");
        return text;
}

GString *large_tree_deep(uint32_t n) {
        GString *text = g_string_new("{\"btd\":1,\"root\":");

        large_tree_append(text, "{\"type\":\"Inverter\",\"child\":", n);
        g_string_append(text, "{\"type\":\"Good\"}");
        large_tree_append(text, "}", n + 1);
        return text;
}
