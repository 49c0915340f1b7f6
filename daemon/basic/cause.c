/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Makes, chains and matches causes. A pattern matches by any fact that it names, whatever the kind of the cause: if a
 * process exits with 75, the cause of its unit has both a result and an exit status, and either pattern matches it. */

#include <string.h>

#include "basic/cause.h"
#include "basic/excerpt.h"
#include "basic/nearest.h"

typedef struct Kind {
        const char *name;
        const char *fact; /* the main fact, which patterns match; or NULL */
} Kind;

static const Kind kinds[] = {
        { CAUSE_FAILED },
        { CAUSE_DBUS_ERROR, "name" },
        { CAUSE_CONNECTION_LOST },
        { CAUSE_EXIT_STATUS, "status" },
        { CAUSE_SIGNAL, "signal" },
        { CAUSE_UNIT_RESULT, "result" },
        { CAUSE_TIMEOUT },
        { CAUSE_CONDITION },
        { CAUSE_GUARD, "guard" },
        { CAUSE_EXPRESSION },
        { CAUSE_PARAMETER },
        { CAUSE_ATTEMPTS },
        { CAUSE_THRESHOLD },
        { CAUSE_ELEMENT, "element" },
        { CAUSE_FORCED },
        { CAUSE_HALTED },
        { CAUSE_LOST },
        { CAUSE_TREE },
};

Cause *cause_new(const char *kind, json_object *facts, const char *text) {
        Cause *cause = g_new(Cause, 1);

        *cause = (Cause){
                .kind = kind, .text = text ? g_utf8_make_valid(text, -1) : NULL, .facts = facts, .node = UINT32_MAX
        };
        g_ref_count_init(&cause->references);
        return cause;
}

Cause *cause_ref(Cause *cause) {
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
        cause->because = now->because ? cause_ref(now->because) : NULL;
        cause_unref(before);
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
        g_autofree char *valid = NULL;

        if (!text)
                return NULL;

        valid = g_utf8_make_valid(text, -1);
        return json_object_new_string(valid);
}

static const Kind *kind_find(const char *name, size_t length) {
        for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++)
                if (strlen(kinds[i].name) == length && memcmp(kinds[i].name, name, length) == 0)
                        return &kinds[i];

        return NULL;
}

const char *cause_kind_find(const char *name, size_t length) {
        const Kind *kind = kind_find(name, length);

        return kind ? kind->name : NULL;
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

/* Matches this cause, not the rest of its chain. */
static bool link_matches(const Cause *cause, const char *pattern) {
        size_t length = strcspn(pattern, ":");
        const Kind *kind = kind_find(pattern, length);

        if (!kind)
                return fact_matches(cause, "name", pattern);
        if (pattern[length] == ':')
                return kind->fact && fact_matches(cause, kind->fact, pattern + length + 1);

        return g_str_equal(cause->kind, kind->name) || (kind->fact && fact_of(cause, kind->fact));
}

bool cause_matches(const Cause *cause, const char *pattern) {
        for (; cause; cause = cause->because)
                if (link_matches(cause, pattern))
                        return true;

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

static bool is_error_name(const char *pattern) {
        static const char characters[] = G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS "_.*";

        return strpbrk(pattern, ".*") && pattern[strspn(pattern, characters)] == '\0';
}

char *cause_pattern_problem(const char *pattern, char **ret_instead) {
        size_t length = strcspn(pattern, ":");
        const Kind *kind = kind_find(pattern, length);

        if (!kind && !is_error_name(pattern))
                return unknown_kind(pattern, length, ret_instead);
        if (ret_instead)
                *ret_instead = NULL;
        if (!kind)
                return NULL;
        if (pattern[length] == ':' && !kind->fact)
                return g_strdup_printf("the kind '%s' has nothing to compare behind ':'", kind->name);
        if (pattern[length] == ':' && pattern[length + 1] == '\0')
                return g_strdup_printf("there is nothing behind ':' to compare the %s with", kind->fact);
        return NULL;
}

char *cause_pattern_expression(void) {
        GString *text = g_string_new("^(");

        for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++)
                g_string_append_printf(text, "%s%s", kinds[i].name, kinds[i].fact ? "(:.+)?|" : "|");

        g_string_append(text, "[A-Za-z0-9_.*]*[.*][A-Za-z0-9_.*]*)$");
        return g_string_free(text, false);
}
