/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <stddef.h>

#include "fake-leaves.h"
#include "leaf-types/leaf-types.h"
#include "leaves/kinds.h"

typedef struct FakeParams {
        bool stubborn, fails;
        uint64_t timeout;
        const char *text;
} FakeParams;

typedef struct Fake {
        Leaf *alive; /* the last one, where there are several runs */
        unsigned starts, halts;
        uint32_t attempt;
} Fake;

static GHashTable *fakes; /* of name */

static Fake *fake_of(const char *name) {
        Fake *fake;

        if (!fakes)
                fakes = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);

        fake = g_hash_table_lookup(fakes, name);
        if (!fake) {
                fake = g_new0(Fake, 1);
                g_hash_table_insert(fakes, g_strdup(name), fake);
        }

        return fake;
}

static Status fake_start(Leaf *leaf) {
        Fake *fake = fake_of(leaf->name);

        fake->alive = leaf;
        fake->starts++;
        fake->attempt = leaf->attempt;
        return STATUS_RUNNING;
}

static Status fake_start_now(Leaf *leaf) {
        const FakeParams *params = leaf->params;

        fake_start(leaf);
        if (params->fails)
                leaf_set_cause(leaf, "%s", params->text ? params->text : "told to fail");
        return params->fails ? STATUS_FAILURE : STATUS_SUCCESS;
}

static bool fake_halt(Leaf *leaf) {
        const FakeParams *params = leaf->params;

        fake_of(leaf->name)->halts++;
        return !params->stubborn;
}

static bool fake_halts_at_once(const Leaf *leaf) {
        const FakeParams *params = leaf->params;

        return !params->stubborn;
}

static void fake_release(Leaf *leaf) {
        Fake *fake = fake_of(leaf->name);

        if (fake->alive == leaf)
                fake->alive = NULL;
}

static void fake_describe(Leaf *leaf, GString *text) {
        const FakeParams *params = leaf->params;

        g_string_append(text, params->text ? params->text : "the test to go on");
}

static const LeafKind fake_kind = {
        .start = fake_start,
        .halt = fake_halt,
        .halts_at_once = fake_halts_at_once,
        .release = fake_release,
        .describe = fake_describe,
};

static Status fake_start_deed(Leaf *leaf) {
        const FakeParams *params = leaf->params;

        return params->fails ? fake_start_now(leaf) : fake_start(leaf);
}

static char *fake_obstacle(const Leaf *leaf) {
        const FakeParams *params = leaf->params;

        return g_strdup(params->text);
}

static const LeafKind fake_deed_kind = {
        .start = fake_start_deed,
        .acts = true,
        .release = fake_release,
        .obstacle = fake_obstacle,
};

static const LeafKind fake_now_kind = {
        .start = fake_start_now,
        .release = fake_release,
};

static const Param fake_params[] = {
        { .name = "stubborn", .kind = PARAM_BOOL, .offset = offsetof(FakeParams, stubborn), .doc = "halts slowly" },
        { .name = "fails", .kind = PARAM_BOOL, .offset = offsetof(FakeParams, fails), .doc = "fails" },
        { .name = "timeout",
          .kind = PARAM_SPAN,
          .offset = offsetof(FakeParams, timeout),
          .fallback = "\"infinity\"",
          .doc = "limit" },
        { .name = "text", .kind = PARAM_STRING, .offset = offsetof(FakeParams, text), .doc = "what it says" },
        {},
};

static const NodeType fake_action_type = {
        .name = "FakeAction",
        .class = NODE_ACTION,
        .params = fake_params,
        .params_size = sizeof(FakeParams),
        .summary = "ends when told",
        .has_timeout = true,
        .timeout_offset = offsetof(FakeParams, timeout),
};

static const NodeType fake_condition_type = {
        .name = "FakeCondition",
        .class = NODE_CONDITION,
        .params = fake_params,
        .params_size = sizeof(FakeParams),
        .summary = "is what it is told",
        .has_timeout = true,
        .timeout_offset = offsetof(FakeParams, timeout),
};

static const NodeType fake_deed_type = {
        .name = "FakeDeed",
        .class = NODE_CONDITION,
        .params = fake_params,
        .params_size = sizeof(FakeParams),
        .summary = "is what it is told, and acts when it starts",
        .has_timeout = true,
        .timeout_offset = offsetof(FakeParams, timeout),
};

static const NodeType fake_now_type = {
        .name = "FakeNow",
        .class = NODE_ACTION,
        .flags = TYPE_IMMEDIATE,
        .params = fake_params,
        .params_size = sizeof(FakeParams),
        .summary = "completes at once",
};

static const NodeType *const fake_types[] = { &fake_action_type, &fake_condition_type, &fake_deed_type, &fake_now_type,
                                              NULL };
static const NodeType *const *const tables[] = { engine_types, fake_types, NULL };

const NodeType *const *const *const fake_tables = tables;

const LeafKind *fake_kind_of(const NodeType *type) {
        if (type == &fake_now_type)
                return &fake_now_kind;
        if (type == &fake_deed_type)
                return &fake_deed_kind;
        if (type == &script_type)
                return &script_kind;

        return type == &condition_type ? &condition_kind : &fake_kind;
}

bool fake_is_alive(const char *name) {
        return fake_of(name)->alive;
}

unsigned fake_starts(const char *name) {
        return fake_of(name)->starts;
}

unsigned fake_halts(const char *name) {
        return fake_of(name)->halts;
}

uint32_t fake_attempt(const char *name) {
        return fake_of(name)->attempt;
}

void fake_end(const char *name, Status status, const char *cause) {
        Leaf *leaf = fake_of(name)->alive;

        g_assert_nonnull(leaf);
        if (cause)
                leaf_set_cause(leaf, "%s", cause);
        leaf_end(leaf, status);
}

void fake_fail(const char *name, const char *kind, json_object *facts, const char *cause) {
        Leaf *leaf = fake_of(name)->alive;

        leaf_set_cause_of(leaf, kind, facts, "%s", cause);
        leaf_end(leaf, STATUS_FAILURE);
}

void fake_break(const char *name, const char *cause) {
        Leaf *leaf = fake_of(name)->alive;

        leaf_set_cause_of(leaf, CAUSE_EXPRESSION, NULL, "%s", cause);
        leaf_end(leaf, STATUS_ERROR);
}

void fake_set_value(const char *name, Status value, const char *cause) {
        Leaf *leaf = fake_of(name)->alive;

        g_assert_nonnull(leaf);
        if (cause)
                leaf_set_cause(leaf, "%s", cause);
        leaf_set_value(leaf, value);
}

void fake_set_output(const char *name, const char *key, json_object *value) {
        leaf_set_output(fake_of(name)->alive, key, value);
}

void fake_reset(void) {
        g_clear_pointer(&fakes, g_hash_table_unref);
}
