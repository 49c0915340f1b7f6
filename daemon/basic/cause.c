/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Makes, chains and matches causes. A pattern matches by any fact that it names, whatever the kind of the cause: if a
 * process exits with 75, the cause of its unit has both a result and an exit status, and either pattern matches it. */

#include <json-c/linkhash.h>
#include <signal.h>
#include <string.h>

#include "basic/cause.h"
#include "basic/cleanup.h"
#include "basic/dbus-value.h"
#include "basic/excerpt.h"
#include "basic/json-parse.h"
#include "basic/nearest.h"

/* Bytes of a value in a fact; each number of an array takes nine. */
#define VALUE_ROOM (9u * 1024)

typedef struct Kind {
        const char *name;
        const char *fact; /* the main fact, which patterns match; or NULL */
        /* For a fact with few values: whether one of them matches; and what they are. */
        bool (*is_possible)(const char *pattern);
        const char *values;
} Kind;

static bool is_exit_status(const char *pattern) {
        for (unsigned status = 0; status <= 255; status++) {
                char text[4];

                g_snprintf(text, sizeof(text), "%u", status);
                if (g_pattern_match_simple(pattern, text))
                        return true;
        }

        return false;
}

/* Realtime signals have numbers only: "signal 35". */
static bool is_signal(const char *pattern) {
        for (int number = 1; number < NSIG; number++) {
                const char *name = sigabbrev_np(number);
                g_autofree char *text = name ? g_strconcat("SIG", name, NULL) : g_strdup_printf("signal %i", number);

                if (g_pattern_match_simple(pattern, text))
                        return true;
        }

        return false;
}

static bool is_guard(const char *pattern) {
        static const char *const guards[] = { "fail_if", "success_if", "skip_if", "while" };

        for (size_t i = 0; i < G_N_ELEMENTS(guards); i++)
                if (g_pattern_match_simple(pattern, guards[i]))
                        return true;

        return false;
}

static const Kind kinds[] = {
        { CAUSE_FAILED },
        { CAUSE_DBUS_ERROR, "name" },
        { CAUSE_CONNECTION_LOST },
        { CAUSE_EXIT_STATUS, "status", is_exit_status, "an exit status, 0 to 255" },
        { CAUSE_SIGNAL, "signal", is_signal, "a signal, such as SIGTERM" },
        { CAUSE_UNIT_RESULT, "result" },
        { CAUSE_TIMEOUT },
        { CAUSE_CONDITION },
        { CAUSE_GUARD, "guard", is_guard, "a guard: fail_if, success_if, skip_if or while" },
        { CAUSE_EXPRESSION },
        { CAUSE_PARAMETER },
        { CAUSE_ATTEMPTS },
        { CAUSE_THRESHOLD },
        { CAUSE_ELEMENT, "element" },
        { CAUSE_ALL_FAILED },
        { CAUSE_ALLOWED },
        { CAUSE_FORCED },
        { CAUSE_HALTED },
        { CAUSE_LOST },
        { CAUSE_TREE },
};

Cause *cause_new(const char *kind, json_object *facts, const char *text) {
        g_autofree char *cut = text ? text_cut(text, CAUSE_TEXT_MAX) : NULL;
        Cause *cause = g_new(Cause, 1);

        *cause = (Cause){
                .kind = kind, .text = cut ? g_utf8_make_valid(cut, -1) : NULL, .facts = facts, .node = UINT32_MAX
        };
        g_ref_count_init(&cause->references);
        return cause;
}

Cause *cause_ref(Cause *cause) {
        if (cause)
                g_ref_count_inc(&cause->references);
        return cause;
}

/* A chain can be as long as the tree is deep: iterate, do not recurse. */
void cause_unref(Cause *cause) {
        while (cause && g_ref_count_dec(&cause->references)) {
                Cause *because = cause->because;

                json_object_put(cause->facts);
                g_free(cause->text);
                g_free(cause);
                cause = because;
        }
}

void cause_renew(Cause *cause, const Cause *now) {
        Cause *before = cause->because;

        if (cause == now)
                return;

        g_free(cause->text);
        json_object_put(cause->facts);
        cause->kind = now->kind;
        cause->text = g_strdup(now->text);
        cause->facts = json_object_get(now->facts);
        cause->because = cause_ref(now->because);
        cause_unref(before);
}

bool cause_is_same(const Cause *a, const Cause *b) {
        if (!a || !b)
                return a == b;

        return g_str_equal(a->kind, b->kind) && g_strcmp0(a->text, b->text) == 0 &&
               json_object_equal(a->facts, b->facts);
}

const Cause *cause_origin(const Cause *cause) {
        while (cause->because)
                cause = cause->because;

        return cause;
}

json_object *facts_new(const char *name, ...) {
        json_object *facts = json_object_new_object();
        va_list args;

        va_start(args, name);
        for (; name; name = va_arg(args, const char *)) {
                json_object *value = va_arg(args, json_object *);

                if (value)
                        json_object_object_add(facts, name, value);
        }
        va_end(args);

        return facts;
}

json_object *fact_text(const char *text) {
        g_autofree char *cut = NULL, *valid = NULL;

        if (!text)
                return NULL;

        cut = text_cut(text, CAUSE_TEXT_MAX);
        valid = g_utf8_make_valid(cut, -1);
        return json_object_new_string(valid);
}

json_object *fact_values(json_object *values) {
        json_object *shown = json_object_new_object();

        json_object_object_foreach(values, name, value) {
                g_autofree char *text = value_room(value) > VALUE_ROOM ? value_to_text(value) : NULL;

                json_object_object_add(shown, name, text ? fact_text(text) : json_object_get(value));
        }
        json_object_put(values);
        return shown;
}

static const Kind *kind_find(const char *name, size_t length) {
        for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++)
                if (strlen(kinds[i].name) == length && memcmp(kinds[i].name, name, length) == 0)
                        return &kinds[i];

        return NULL;
}

Cause *cause_of_pattern(const char *pattern, const char *text) {
        size_t length = pattern ? strcspn(pattern, ":") : 0;
        const Kind *kind;

        if (!pattern)
                return cause_new(CAUSE_FAILED, NULL, text);

        kind = kind_find(pattern, length);
        if (!kind)
                return cause_new(CAUSE_DBUS_ERROR, facts_new("name", fact_text(pattern), NULL), text ?: pattern);
        if (pattern[length] == '\0')
                return cause_new(kind->name, NULL, text ?: pattern);

        return cause_new(kind->name, facts_new(kind->fact, fact_text(pattern + length + 1), NULL), text ?: pattern);
}

static const char *fact_of(const Cause *cause, const char *name) {
        json_object *value;

        if (!cause->facts || !json_object_object_get_ex(cause->facts, name, &value))
                return NULL;

        return json_object_get_string(value);
}

static bool fact_matches(const Cause *cause, const char *name, const char *pattern) {
        const char *fact = fact_of(cause, name);

        return fact && g_pattern_match_simple(pattern, fact);
}

bool cause_matches(const Cause *cause, const char *pattern) {
        size_t length = strcspn(pattern, ":");
        const Kind *kind = kind_find(pattern, length);

        for (; cause; cause = cause->because) {
                bool matches;

                if (!kind)
                        matches = fact_matches(cause, "name", pattern);
                else if (pattern[length] == ':')
                        matches = kind->fact && fact_matches(cause, kind->fact, pattern + length + 1);
                else
                        matches = g_str_equal(cause->kind, kind->name) || (kind->fact && fact_of(cause, kind->fact));
                if (matches)
                        return true;
        }

        return false;
}

bool cause_matches_any(const Cause *cause, const char *const *patterns) {
        if (!patterns)
                return true;

        for (; *patterns; patterns++)
                if (cause_matches(cause, *patterns))
                        return true;

        return false;
}

static char *unknown_kind(const char *pattern, size_t length, char **ret_instead) {
        g_autofree char *word = g_strndup(pattern, length), *shown = excerpt(pattern, length);
        Nearest nearest = { .word = word };

        for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++)
                nearest_offer(&nearest, kinds[i].name);

        if (ret_instead)
                *ret_instead = nearest.best ? g_strconcat(nearest.best, pattern + length, NULL) : NULL;
        if (nearest.best)
                return g_strdup_printf("'%s' is not a kind of cause; did you mean '%s'?", shown, nearest.best);
        return g_strdup_printf("'%s' is neither a kind of cause nor the name of a D-Bus error", shown);
}

char *cause_pattern_problem(const char *pattern, char **ret_instead) {
        size_t length = strcspn(pattern, ":");
        const Kind *kind = kind_find(pattern, length);
        bool is_error_name = strpbrk(pattern, ".*") &&
                             pattern[strspn(pattern, G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS "_.*")] == '\0';

        if (ret_instead)
                *ret_instead = NULL;
        if (g_str_equal(pattern, "*"))
                return g_strdup("'*' alone is every D-Bus error, and nothing else; for all causes, leave the key out");
        if (!kind && !is_error_name)
                return unknown_kind(pattern, length, ret_instead);
        if (!kind)
                return NULL;
        if (pattern[length] == ':' && !kind->fact)
                return g_strdup_printf("the kind '%s' takes no value after ':'", kind->name);
        if (pattern[length] == ':' && pattern[length + 1] == '\0')
                return g_strdup_printf("the %s to compare with is missing after ':'", kind->fact);
        if (pattern[length] == ':' && kind->is_possible && !kind->is_possible(pattern + length + 1)) {
                g_autofree char *shown = excerpt(pattern + length + 1, strlen(pattern + length + 1));

                return g_strdup_printf("'%s' is not %s", shown, kind->values);
        }
        return NULL;
}

char *cause_pattern_expression(void) {
        GString *text = g_string_new("^(");

        for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++)
                g_string_append_printf(text, "%s%s", kinds[i].name, kinds[i].fact ? "(:.+)?|" : "|");

        g_string_append(text, "[A-Za-z0-9_.*]*[.*][A-Za-z0-9_.*]*)$");
        return g_string_free(text, false);
}

/* Converts one cause of a chain, without the causes that it goes back to. */
static json_object *cause_link_to_json(const Cause *cause) {
        json_object *json = json_object_new_object();

        json_object_object_add(json, "kind", json_object_new_string(cause->kind));
        if (cause->text)
                json_object_object_add(json, "text", json_object_new_string(cause->text));
        if (cause->facts)
                json_object_object_add(json, "facts", json_object_get(cause->facts));
        if (cause->node != UINT32_MAX)
                json_object_object_add(json, "node", json_object_new_int64(cause->node));

        return json;
}

json_object *cause_to_json(const Cause *cause) {
        json_object *json = json_object_new_array();

        for (; cause; cause = cause->because)
                json_object_array_add(json, cause_link_to_json(cause));

        return json;
}

/* Accepts unknown kinds: a later version of btd may have written them. */
static Cause *cause_link_from_json(json_object *json) {
        const char *kind = g_intern_string(json_member_text(json, "kind"));
        json_object *node = json_member(json, "node", json_type_int);
        Cause *cause;

        if (!kind)
                return NULL;

        cause = cause_new(kind, json_object_get(json_member(json, "facts", json_type_object)),
                          json_member_text(json, "text"));
        if (node)
                cause->node = (uint32_t) json_object_get_int64(node);

        return cause;
}

Cause *cause_from_json(json_object *json) {
        g_autoptr(Cause) chain = NULL;

        if (!json_object_is_type(json, json_type_array))
                return NULL;

        for (size_t i = json_object_array_length(json); i > 0; i--) {
                Cause *cause = cause_link_from_json(json_object_array_get_idx(json, i - 1));

                if (!cause)
                        return NULL;

                cause->because = g_steal_pointer(&chain);
                chain = cause;
        }

        return g_steal_pointer(&chain);
}

#define BECAUSE "because"

struct CausePool {
        GPtrArray *causes;  /* referenced */
        GHashTable *places; /* Cause -> index + 1 */
};

CausePool *cause_pool_new(void) {
        CausePool *pool = g_new(CausePool, 1);

        *pool = (CausePool){
                .causes = g_ptr_array_new_with_free_func((GDestroyNotify) cause_unref),
                .places = g_hash_table_new(NULL, NULL),
        };
        return pool;
}

void cause_pool_free(CausePool *pool) {
        if (!pool)
                return;

        g_hash_table_unref(pool->places);
        g_ptr_array_unref(pool->causes);
        g_free(pool);
}

static unsigned place_of(const CausePool *pool, const Cause *cause) {
        return GPOINTER_TO_UINT(g_hash_table_lookup(pool->places, cause));
}

static void put(CausePool *pool, Cause *cause) {
        g_ptr_array_add(pool->causes, cause_ref(cause));
        g_hash_table_insert(pool->places, cause, GUINT_TO_POINTER(pool->causes->len));
}

/* A chain can be as long as the tree is deep: iterate, do not recurse. */
json_object *cause_pool_add(CausePool *pool, const Cause *cause) {
        g_autoptr(GPtrArray) chain = g_ptr_array_new();

        if (!cause)
                return NULL;

        for (const Cause *link = cause; link && place_of(pool, link) == 0; link = link->because)
                g_ptr_array_add(chain, (void *) link);
        for (unsigned i = chain->len; i > 0; i--)
                put(pool, chain->pdata[i - 1]);

        return json_object_new_int64(place_of(pool, cause) - 1);
}

json_object *cause_pool_to_json(const CausePool *pool) {
        json_object *json = json_object_new_array();

        for (unsigned i = 0; i < pool->causes->len; i++) {
                const Cause *cause = pool->causes->pdata[i];
                json_object *link = cause_link_to_json(cause);

                if (cause->because)
                        json_object_object_add(link, BECAUSE,
                                               json_object_new_int64(place_of(pool, cause->because) - 1));
                json_object_array_add(json, link);
        }

        return json;
}

static Cause *read_link(const CausePool *pool, json_object *json) {
        g_autoptr(Cause) cause = cause_link_from_json(json);
        json_object *place = NULL;

        if (!cause)
                return NULL;

        if (json_object_object_get_ex(json, BECAUSE, &place)) {
                Cause *before;

                if (!cause_pool_get(pool, place, &before) || !before)
                        return NULL;
                cause->because = cause_ref(before);
        }

        return g_steal_pointer(&cause);
}

CausePool *cause_pool_from_json(json_object *json) {
        g_autoptr(CausePool) pool = cause_pool_new();

        if (!json_object_is_type(json, json_type_array))
                return NULL;

        for (size_t i = 0; i < json_object_array_length(json); i++) {
                g_autoptr(Cause) cause = read_link(pool, json_object_array_get_idx(json, i));

                if (!cause)
                        return NULL;
                put(pool, cause);
        }

        return g_steal_pointer(&pool);
}

const GPtrArray *cause_pool_causes(const CausePool *pool) {
        return pool->causes;
}

bool cause_pool_get(const CausePool *pool, json_object *place, Cause **ret_cause) {
        int64_t i = json_object_get_int64(place);

        if (place && (!json_object_is_type(place, json_type_int) || i < 0 || i >= pool->causes->len))
                return false;

        *ret_cause = place ? pool->causes->pdata[i] : NULL;
        return true;
}
