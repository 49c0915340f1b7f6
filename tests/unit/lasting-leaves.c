/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "lasting-leaves.h"
#include "leaves/kinds.h"
#include "leaves/registry.h"
#include "run/leaf-params.h"

typedef struct LastingParams {
        uint64_t timeout;
        int on_recover;
        bool fails;
        json_object *what;
} LastingParams;

typedef struct Lasting {
        Leaf *alive;
        GString *events;
        char *memory, *what;
        Status value, recover;
        bool stubborn;
} Lasting;

static GHashTable *all; /* by name */

static void lasting_free(void *data) {
        Lasting *lasting = data;

        g_string_free(lasting->events, true);
        g_free(lasting->memory);
        g_free(lasting->what);
        g_free(lasting);
}

static Lasting *get(const char *name) {
        Lasting *lasting;

        if (!all)
                all = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, lasting_free);

        lasting = g_hash_table_lookup(all, name);
        if (!lasting) {
                lasting = g_new0(Lasting, 1);
                lasting->events = g_string_new(NULL);
                lasting->value = lasting->recover = STATUS_RUNNING;
                g_hash_table_insert(all, g_strdup(name), lasting);
        }

        return lasting;
}

static Lasting *note(Leaf *leaf, const char *event) {
        const LastingParams *params = leaf->params;
        Lasting *lasting = get(leaf->name);

        g_string_append_printf(lasting->events, "%s ", event);
        g_free(lasting->what);
        lasting->what = g_strdup(params->what ? json_object_to_json_string(params->what) : NULL);
        lasting->alive = leaf;
        return lasting;
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
        const LastingParams *params = leaf->params;

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
        Lasting *lasting = note(leaf, "recover");

        g_free(lasting->memory);
        lasting->memory = g_strdup(leaf->memo ? json_object_to_json_string(leaf->memo) : NULL);
        if (lasting->recover == STATUS_FAILURE)
                leaf_set_cause(leaf, "was over by then");
        return lasting->recover;
}

static bool halt(Leaf *leaf) {
        return !note(leaf, "halt")->stubborn;
}

static void release(Leaf *leaf) {
        Lasting *lasting = get(leaf->name);

        if (lasting->alive != leaf)
                return;

        note(leaf, leaf->abandoned ? "abandon" : "clean");
        lasting->alive = NULL;
}

static const LeafKind lasting_kind = {
        .start = start,
        .halt = halt,
        .release = release,
        .recover = recover,
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
          .offset = offsetof(LastingParams, timeout),
          .fallback = "\"infinity\"",
          .doc = "limit" },
        { .name = "fails", .kind = PARAM_BOOL, .offset = offsetof(LastingParams, fails), .doc = "fails" },
        { .name = "what", .kind = PARAM_JSON, .offset = offsetof(LastingParams, what), .doc = "anything" },
        ON_RECOVER_PARAM(LastingParams),
        {},
};

#define TYPE(n, c, ...)                                                                                                \
        { .name = n, .class = c, .params = params, .params_size = sizeof(LastingParams), .summary = n, ##__VA_ARGS__ }

static const NodeType lasting_type =
        TYPE("Lasting", NODE_ACTION, .has_timeout = true, .timeout_offset = offsetof(LastingParams, timeout));
static const NodeType lossy_type =
        TYPE("Lossy", NODE_ACTION, .has_on_recover = true, .on_recover_offset = offsetof(LastingParams, on_recover));
static const NodeType plain_type = TYPE("Plain", NODE_ACTION);
static const NodeType quick_type = TYPE("Quick", NODE_ACTION);
static const NodeType watch_type = TYPE("Watch", NODE_CONDITION);

static const NodeType *const types[] = { &lasting_type, &lossy_type, &plain_type, &quick_type, &watch_type, NULL };
static const NodeType *const computed_types[] = { &condition_type, &script_type, NULL };
const NodeType *const *const lasting_tables[] = { engine_types, types, computed_types, NULL };

const LeafKind *lasting_kind_of(const NodeType *type) {
        static const struct {
                const NodeType *type;
                const LeafKind *kind;
        } kinds[] = {
                { &lasting_type, &lasting_kind },     { &lossy_type, &lossy_kind }, { &plain_type, &plain_kind },
                { &quick_type, &quick_kind },         { &watch_type, &watch_kind }, { &script_type, &script_kind },
                { &condition_type, &condition_kind },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++)
                if (kinds[i].type == type)
                        return kinds[i].kind;

        g_assert_not_reached();
}

const char *lasting_events(const char *name) {
        return get(name)->events->str;
}

const char *lasting_memory(const char *name) {
        return get(name)->memory;
}

const char *lasting_what(const char *name) {
        return get(name)->what;
}

bool lasting_is_alive(const char *name) {
        return get(name)->alive;
}

void lasting_remember(const char *name, const char *text) {
        json_object *memory = json_object_new_object();

        json_object_object_add(memory, "text", json_object_new_string(text));
        leaf_set_memo(get(name)->alive, memory);
}

void lasting_end(const char *name, Status status) {
        Leaf *leaf = get(name)->alive;

        g_assert_nonnull(leaf);
        if (status == STATUS_FAILURE)
                leaf_set_cause(leaf, "told to");
        leaf_end(leaf, status);
}

void lasting_set_value(const char *name, Status value) {
        g_assert_nonnull(get(name)->alive);
        leaf_set_value(get(name)->alive, value);
}

void lasting_begin_with(const char *name, Status value) {
        get(name)->value = value;
}

void lasting_recover_with(const char *name, Status status) {
        get(name)->recover = status;
}

void lasting_output(const char *name, const char *key, int value) {
        leaf_set_output(get(name)->alive, key, json_object_new_int(value));
}

void lasting_stubborn(const char *name) {
        get(name)->stubborn = true;
}

void lasting_lost(const char *name) {
        leaf_lost(get(name)->alive);
}

void lasting_reset(void) {
        g_clear_pointer(&all, g_hash_table_unref);
}
