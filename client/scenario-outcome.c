/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What becomes of a leaf: the word for it, an object with more about it, or a list of such, one for each start. */

#include <string.h>

#include "basic/cause.h"
#include "basic/excerpt.h"
#include "basic/span.h"
#include "scenario-reader.h"
#include "script/blackboard.h"

/* An object as it stands in the file. */
typedef struct Given {
        int result;
        uint64_t after, halt;
        const char *cause, *cause_kind;
} Given;

G_STATIC_ASSERT(STATUS_FAILURE == STATUS_SUCCESS + 1 && STATUS_SKIPPED == STATUS_SUCCESS + 2);

static const char *const action_results[] = { "success", "failure", "skipped", NULL };
static const char *const condition_results[] = { "success", "failure", NULL };

#define FIELD(field, field_kind, ...) .name = #field, .kind = field_kind, .offset = offsetof(Given, field), __VA_ARGS__

static const Param action_params[] = {
        { FIELD(result, PARAM_ENUM, .values = action_results) },
        { FIELD(after, PARAM_SPAN) },
        { FIELD(halt, PARAM_SPAN) },
        { .name = "outputs", .kind = PARAM_JSON },
        { FIELD(cause, PARAM_STRING) },
        { FIELD(cause_kind, PARAM_STRING) },
        {},
};

static const Param condition_params[] = {
        { FIELD(result, PARAM_ENUM, .values = condition_results) },
        { FIELD(after, PARAM_SPAN) },
        { FIELD(cause, PARAM_STRING) },
        { FIELD(cause_kind, PARAM_STRING) },
        { .name = "changes", .kind = PARAM_JSON },
        {},
};

/* For leaves of either class. */
static const Param any_params[] = {
        { FIELD(result, PARAM_ENUM, .values = condition_results) },
        { FIELD(after, PARAM_SPAN) },
        { FIELD(halt, PARAM_SPAN) },
        { FIELD(cause, PARAM_STRING) },
        { FIELD(cause_kind, PARAM_STRING) },
        {},
};

static const Fields action_fields = { "an action", action_params };
static const Fields condition_fields = { "a condition", condition_params };
static const Fields any_fields = { "the default", any_params };

static const Param change_params[] = {
        { .name = "at",
          .kind = PARAM_SPAN,
          .offset = offsetof(Change, at),
          .required = true,
          .doc = "when it happens, from the start of the run on" },
        { .name = "result",
          .kind = PARAM_ENUM,
          .offset = offsetof(Change, result),
          .values = condition_results,
          .required = true,
          .doc = "what the condition is from then on, \"success\" or \"failure\"" },
        { .name = "cause", .kind = PARAM_STRING, .offset = offsetof(Change, cause) },
        { .name = "cause_kind", .kind = PARAM_STRING, .offset = offsetof(Change, cause_kind) },
        {},
};

static const Fields change_fields = { "a change", change_params };

/* Which of the items belongs to the member of that name. */
static uint32_t item_of(const Fields *fields, const uint32_t items[static FIELDS_MAX], const char *name) {
        for (const Param *param = fields->params; param->name; param++)
                if (g_str_equal(param->name, name))
                        return items[param - fields->params];

        return 0;
}

/* For a single cause, and so without "*". */
static void check_cause_kind(Reader *reader, uint32_t item, const char *pattern) {
        char *problem = pattern ? cause_pattern_problem(pattern) : NULL;

        if (pattern && !problem && strchr(pattern, '*'))
                problem = g_strdup("there is a single cause, so '*' has no meaning");
        if (problem)
                reader_error(reader, item, g_strconcat("cause_kind: ", problem, NULL));
        g_free(problem);
}

static void read_change(Reader *reader, uint32_t item, uint64_t earliest, Change *ret_change) {
        uint32_t items[FIELDS_MAX] = {};

        if (text_kind(&reader->text, item) != TEXT_OBJECT) {
                reader_error(reader, item,
                             g_strdup_printf("changes: expected objects with 'at' and 'result', not %s",
                                             reader_describe(reader, item)));
                return;
        }

        reader_read_fields(reader, item, &change_fields, ret_change, items);
        ret_change->result += STATUS_SUCCESS;
        check_cause_kind(reader, item_of(&change_fields, items, "cause_kind"), ret_change->cause_kind);
        if (items[0] > 0 && ret_change->at < earliest) {
                g_autofree char *at = span_format(ret_change->at);

                reader_error(reader, items[0],
                             g_strdup_printf("at: %s is not later than the change before; put them in order", at));
        }
}

static void read_changes(Reader *reader, uint32_t item, Outcome *outcome) {
        uint32_t n = text_item(&reader->text, item)->count, element = item + 1;
        uint64_t earliest = 0;
        Change *changes;

        if (text_kind(&reader->text, item) != TEXT_ARRAY) {
                reader_error(reader, item,
                             g_strdup_printf("changes: expected a list, [{\"at\": \"1s\", \"result\": \"failure\"}], "
                                             "not %s",
                                             reader_describe(reader, item)));
                return;
        }

        changes = arena_alloc(reader->scenario->arena, (n + 1) * sizeof(Change));
        for (uint32_t i = 0; i < n; i++, element = text_next(&reader->text, element)) {
                read_change(reader, element, earliest, &changes[i]);
                earliest = changes[i].at + 1;
        }

        outcome->changes = changes;
        outcome->n_changes = n;
}

static void read_outputs(Reader *reader, uint32_t item, Outcome *outcome) {
        g_autofree char *error = NULL;
        uint32_t key = item + 1, fault;

        if (text_kind(&reader->text, item) != TEXT_OBJECT) {
                reader_error(reader, item,
                             g_strdup_printf("outputs: expected an object of variables, not %s",
                                             reader_describe(reader, item)));
                return;
        }

        if (text_to_json(&reader->text, item, reader->scratch, &outcome->outputs, &fault, &error) < 0) {
                reader_error(reader, fault, g_strdup_printf("outputs: %s", error));
                return;
        }
        arena_own(reader->scenario->arena, outcome->outputs);

        for (uint32_t i = 0; i < text_item(&reader->text, item)->count; i++, key = text_next(&reader->text, key + 1)) {
                g_autofree char *word = reader_string(reader, key), *shown = excerpt(word, strlen(word));

                if (!blackboard_key_valid(word))
                        reader_error(reader, key,
                                     g_strdup_printf("outputs: '%s' cannot be the name of a variable: a letter or '_', "
                                                     "then letters, digits, '_', '-' and '.'",
                                                     shown));
        }
}

static void read_object(Reader *reader, uint32_t item, const Fields *fields, Outcome *ret_outcome) {
        uint32_t items[FIELDS_MAX] = {}, changes, outputs;
        Given given = {};

        reader_read_fields(reader, item, fields, &given, items);
        *ret_outcome = (Outcome){
                .result = item_of(fields, items, "result") > 0 ? given.result + STATUS_SUCCESS : STATUS_IDLE,
                .timed = item_of(fields, items, "after") > 0,
                .after = given.after,
                .halt = given.halt,
                .cause = given.cause,
                .cause_kind = given.cause_kind,
        };
        check_cause_kind(reader, item_of(fields, items, "cause_kind"), given.cause_kind);

        outputs = item_of(fields, items, "outputs");
        if (outputs > 0)
                read_outputs(reader, outputs, ret_outcome);

        changes = item_of(fields, items, "changes");
        if (changes > 0)
                read_changes(reader, changes, ret_outcome);
}

/* What the file says, whichever leaf it is about. */
static void read_outcome(Reader *reader, uint32_t item, const Fields *fields, const char *expected,
                         Outcome *ret_outcome) {
        Given given = { .result = -1 };

        switch (text_kind(&reader->text, item)) {
        case TEXT_STRING:
                reader_set(reader, item, &fields->params[0], &given);
                ret_outcome->result = given.result + STATUS_SUCCESS;
                break;
        case TEXT_OBJECT:
                read_object(reader, item, fields, ret_outcome);
                break;
        default:
                reader_error(reader, item,
                             g_strdup_printf("expected %s, not %s", expected, reader_describe(reader, item)));
        }
}

/* Can the leaf do that? */
static void check_outcome(Reader *reader, uint32_t item, NodeId leaf, const Outcome *outcome) {
        const NodeType *type = reader->tree->nodes[leaf].type;

        if (type->flags & TYPE_NEVER_FAILS && outcome->result == STATUS_FAILURE)
                reader_error(reader, item, g_strdup_printf("result: the type %s never fails", type->name));
        if (type->flags & TYPE_NEVER_SUCCEEDS && outcome->result == STATUS_SUCCESS)
                reader_error(reader, item, g_strdup_printf("result: the type %s never succeeds", type->name));
        if (type->flags & TYPE_IMMEDIATE && (outcome->after > 0 || outcome->halt > 0))
                reader_error(reader, item,
                             g_strdup_printf("%s: the type %s always completes at once",
                                             outcome->after > 0 ? "after" : "halt", type->name));
}

const Role *reader_read_role(Reader *reader, uint32_t item, const NodeId *leaves, uint32_t n_leaves) {
        static const char *const expected = "\"success\", \"failure\", an object such as {\"after\": \"150ms\"}";
        bool list = text_kind(&reader->text, item) == TEXT_ARRAY,
             condition = reader->tree->nodes[leaves[0]].type->class == NODE_CONDITION;
        g_autofree char *or_list = g_strdup_printf("%s or a list of such", expected);
        uint32_t n = list ? text_item(&reader->text, item)->count : 1, element = list ? item + 1 : item;
        Role *role = arena_alloc(reader->scenario->arena, sizeof(Role));
        Outcome *outcomes = arena_alloc(reader->scenario->arena, (n + 1) * sizeof(Outcome));

        if (n == 0)
                reader_error(reader, item, g_strdup("this list is empty; it has an outcome for each start"));

        for (uint32_t i = 0; i < n; i++, element = text_next(&reader->text, element)) {
                read_outcome(reader, element, condition ? &condition_fields : &action_fields, list ? expected : or_list,
                             &outcomes[i]);
                for (uint32_t j = 0; j < n_leaves; j++)
                        check_outcome(reader, element, leaves[j], &outcomes[i]);
        }

        *role = (Role){ .outcomes = outcomes, .n_outcomes = n };
        return role;
}

void reader_read_fallback(Reader *reader, uint32_t item) {
        read_outcome(reader, item, &any_fields, "\"success\", \"failure\" or an object such as {\"after\": \"150ms\"}",
                     &reader->scenario->fallback);
}
