/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "recoverable-leaves.h"
#include "leaf-types/leaf-types.h"
#include "leaves/kinds.h"

typedef struct RecoverableParams {
        uint64_t timeout;
        int on_recover;
        bool fails;
        json_object *what;
} RecoverableParams;

typedef struct Recoverable {
        Leaf *alive;
        GString *events;
        char *memory, *what;
        Status value, recover;
        bool stubborn;
} Recoverable;

static GHashTable *all; /* by name */

static void recoverable_free(void *data) {
        Recoverable *recoverable = data;

        g_string_free(recoverable->events, true);
        g_free(recoverable->memory);
        g_free(recoverable->what);
        g_free(recoverable);
}

static Recoverable *get(const char *name) {
        Recoverable *recoverable;

        if (!all)
                all = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, recoverable_free);

        recoverable = g_hash_table_lookup(all, name);
        if (!recoverable) {
                recoverable = g_new0(Recoverable, 1);
                recoverable->events = g_string_new(NULL);
                recoverable->value = recoverable->recover = STATUS_RUNNING;
                g_hash_table_insert(all, g_strdup(name), recoverable);
        }

        return recoverable;
}

static Recoverable *note(Leaf *leaf, const char *event) {
        const RecoverableParams *params = leaf->params;
        Recoverable *recoverable = get(leaf->name);

        g_string_append_printf(recoverable->events, "%s ", event);
        g_free(recoverable->what);
        recoverable->what = g_strdup(params->what ? json_object_to_json_string(params->what) : NULL);
        recoverable->alive = leaf;
        return recoverable;
}

static Status start(Leaf *leaf) {
        note(leaf, "start");
        return STATUS_RUNNING;
}

static Status start_lossy(Leaf *leaf) {
        leaf_set_memo(leaf, NULL);
        return start(leaf);
}

static Status start_quick(Leaf *leaf) {
        const RecoverableParams *params = leaf->params;

        note(leaf, "start");
        leaf_set_output(leaf, "quick", json_object_new_int(1));
        if (params->fails)
                leaf_set_cause(leaf, "told to");
        return params->fails ? STATUS_FAILURE : STATUS_SUCCESS;
}

static Status start_watch(Leaf *leaf) {
        return note(leaf, "start")->value;
}

static Status recover(Leaf *leaf) {
        Recoverable *recoverable = note(leaf, "recover");

        g_free(recoverable->memory);
        recoverable->memory = g_strdup(leaf->memo ? json_object_to_json_string(leaf->memo) : NULL);
        if (recoverable->recover == STATUS_FAILURE)
                leaf_set_cause(leaf, "was over by then");
        return recoverable->recover;
}

static bool halt(Leaf *leaf) {
        return !note(leaf, "halt")->stubborn;
}

static bool halts_at_once(const Leaf *leaf) {
        return !get(leaf->name)->stubborn;
}

static void release(Leaf *leaf) {
        Recoverable *recoverable = get(leaf->name);

        if (recoverable->alive != leaf)
                return;

        note(leaf, leaf->abandoned ? "abandon" : "clean");
        recoverable->alive = NULL;
}

static const LeafKind recoverable_kind = {
        .start = start,
        .halt = halt,
        .halts_at_once = halts_at_once,
        .release = release,
        .recover = recover,
};

static const LeafKind reader_kind = {
        .start = start,
        .halt = halt,
        .halts_at_once = halts_at_once,
        .release = release,
        .recover = recover,
        .reads = true,
};

static const LeafKind lossy_kind = {
        .start = start_lossy,
        .release = release,
};

static const LeafKind plain_kind = { .start = start, .release = release };
static const LeafKind quick_kind = { .start = start_quick, .release = release };
static const LeafKind watch_kind = { .start = start_watch, .release = release };

static const Param params[] = {
        { .name = "timeout",
          .kind = PARAM_SPAN,
          .offset = offsetof(RecoverableParams, timeout),
          .fallback = "\"infinity\"",
          .doc = "limit" },
        { .name = "fails", .kind = PARAM_BOOL, .offset = offsetof(RecoverableParams, fails), .doc = "fails" },
        { .name = "what", .kind = PARAM_JSON, .offset = offsetof(RecoverableParams, what), .doc = "anything" },
        ON_RECOVER_PARAM(RecoverableParams),
        {},
};

#define TYPE(n, c, ...)                                                                                                \
        {                                                                                                              \
                .name = n, .class = c, .params = params, .params_size = sizeof(RecoverableParams), .summary = n,       \
                ##__VA_ARGS__                                                                                          \
        }

static const NodeType recoverable_type =
        TYPE("Recoverable", NODE_ACTION, .has_timeout = true, .timeout_offset = offsetof(RecoverableParams, timeout));
static const NodeType reader_type =
        TYPE("Reader", NODE_ACTION, .has_timeout = true, .timeout_offset = offsetof(RecoverableParams, timeout),
             .has_on_recover = true, .on_recover_offset = offsetof(RecoverableParams, on_recover));
static const NodeType lossy_type = TYPE("Lossy", NODE_ACTION, .has_on_recover = true,
                                        .on_recover_offset = offsetof(RecoverableParams, on_recover));
static const NodeType plain_type = TYPE("Plain", NODE_ACTION);
static const NodeType quick_type = TYPE("Quick", NODE_ACTION);
static const NodeType watch_type = TYPE("Watch", NODE_CONDITION);

static const NodeType *const types[] = { &recoverable_type, &reader_type, &lossy_type, &plain_type,
                                         &quick_type,       &watch_type,  NULL };
static const NodeType *const computed_types[] = { &condition_type, &script_type, NULL };
const NodeType *const *const recoverable_tables[] = { engine_types, types, computed_types, NULL };

const LeafKind *recoverable_kind_of(const NodeType *type) {
        static const struct {
                const NodeType *type;
                const LeafKind *kind;
        } kinds[] = {
                { &recoverable_type, &recoverable_kind },
                { &reader_type, &reader_kind },
                { &lossy_type, &lossy_kind },
                { &plain_type, &plain_kind },
                { &quick_type, &quick_kind },
                { &watch_type, &watch_kind },
                { &script_type, &script_kind },
                { &condition_type, &condition_kind },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++)
                if (kinds[i].type == type)
                        return kinds[i].kind;

        g_assert_not_reached();
}

const char *recoverable_events(const char *name) {
        return get(name)->events->str;
}

const char *recoverable_memo(const char *name) {
        return get(name)->memory;
}

const char *recoverable_what(const char *name) {
        return get(name)->what;
}

bool recoverable_is_alive(const char *name) {
        return get(name)->alive;
}

void recoverable_set_memo(const char *name, const char *text) {
        json_object *memory = json_object_new_object();

        json_object_object_add(memory, "text", json_object_new_string(text));
        leaf_set_memo(get(name)->alive, memory);
}

void recoverable_end(const char *name, Status status) {
        Leaf *leaf = get(name)->alive;

        g_assert_nonnull(leaf);
        if (status == STATUS_FAILURE)
                leaf_set_cause(leaf, "told to");
        leaf_end(leaf, status);
}

void recoverable_set_value(const char *name, Status value) {
        g_assert_nonnull(get(name)->alive);
        leaf_set_value(get(name)->alive, value);
}

void recoverable_set_reason(const char *name, const char *reason) {
        leaf_set_cause(get(name)->alive, "%s", reason);
}

void recoverable_begin_with(const char *name, Status value) {
        get(name)->value = value;
}

void recoverable_recover_with(const char *name, Status status) {
        get(name)->recover = status;
}

void recoverable_output(const char *name, const char *key, int value) {
        leaf_set_output(get(name)->alive, key, json_object_new_int(value));
}

void recoverable_stubborn(const char *name) {
        get(name)->stubborn = true;
}

void recoverable_lost(const char *name) {
        leaf_lost(get(name)->alive);
}

void recoverable_read(const char *name, uint64_t ended) {
        leaf_read(get(name)->alive, ended);
}

void recoverable_reset(void) {
        g_clear_pointer(&all, g_hash_table_unref);
}
