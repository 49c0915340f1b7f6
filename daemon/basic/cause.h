/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * A cause says why a node or run failed, was skipped or was halted. It has a kind for programs, a text for people, and
 * facts. If a node failed because of its child, its cause refers to the cause of the child, so that a chain leads from
 * any node to the origin.
 *
 * Causes are reference-counted. Once shared, a cause changes only by cause_renew(), with an entry in the run record.
 */

#include <glib.h>
#include <json-c/json_object.h>
#include <stdbool.h>
#include <stdint.h>

/* The kinds. Use "failed" if no other kind applies. */
#define CAUSE_FAILED "failed"
#define CAUSE_CHILD "child" /* passed on from a child */
#define CAUSE_DBUS_ERROR "dbus-error"
#define CAUSE_CONNECTION_LOST "connection-lost"
#define CAUSE_EXIT_STATUS "exit-status"
#define CAUSE_SIGNAL "signal"
#define CAUSE_UNIT_RESULT "unit-result"
#define CAUSE_TIMEOUT "timeout"
#define CAUSE_CONDITION "condition"
#define CAUSE_GUARD "guard"
#define CAUSE_EXPRESSION "expression"
#define CAUSE_PARAMETER "parameter"
#define CAUSE_ATTEMPTS "attempts"
#define CAUSE_THRESHOLD "threshold"
#define CAUSE_ELEMENT "element" /* an element of a ForEach failed */
#define CAUSE_ALL_FAILED                                                                                               \
        "all-failed"            /* of several children of a Fallback, or elements of a ForEach; the text names them    \
                                 */
#define CAUSE_ALLOWED "allowed" /* the failure of a node that may fail */
#define CAUSE_FORCED "forced"
#define CAUSE_HALTED "halted"
#define CAUSE_LOST "lost" /* btd was restarted, so the outcome of the action is unknown */
#define CAUSE_TREE "tree" /* the tree itself is wrong */

typedef struct Cause Cause;

struct Cause {
        const char *kind;   /* one of the constants above */
        char *text;         /* NULL only for CAUSE_CHILD */
        json_object *facts; /* an object, or NULL */
        uint32_t node;      /* NodeId of the node that failed; UINT32_MAX: the run itself */
        Cause *because;     /* the cause that led to this one; NULL: this is the origin */
        grefcount references;
};

/* Longer texts are cut: a path or an argument that a message quotes can have megabytes. */
#define CAUSE_TEXT_MAX 4096u

/* Takes the facts (may be NULL). The cause belongs to the run until its node is set. */
Cause *cause_new(const char *kind, json_object *facts, const char *text);
/* NULL is accepted. */
Cause *cause_ref(Cause *cause);
void cause_unref(Cause *cause); /* NULL: does nothing */

/* Replaces the contents of a cause by those of another one, in place: a condition was false, and is now false for a
 * different reason. Everybody who holds the cause sees the new reason. */
void cause_renew(Cause *cause, const Cause *now);

/* Do they say the same, without what is below them? NULL: there is none. */
bool cause_is_same(const Cause *a, const Cause *b);

/* The last cause of the chain. */
const Cause *cause_origin(const Cause *cause);

/* A JSON object from pairs of a name (char *) and a value (json_object *), terminated by a NULL name. Takes the values.
 * Pairs with a NULL value are left out. */
json_object *facts_new(const char *name, ...) G_GNUC_NULL_TERMINATED;
/* A JSON string of the text, made valid UTF-8, and cut after CAUSE_TEXT_MAX bytes. NULL for NULL. */
json_object *fact_text(const char *text);
/* Takes an object of values, such as the variables that an expression has read. Long ones are replaced by their
 * beginnings, as texts: a large value would be copied into the run record and each status. */
json_object *fact_values(json_object *values);

/*
 * Patterns match causes. A pattern is a kind ("timeout"), a kind with its main fact ("exit-status:75",
 * "signal:SIGSEGV", "unit-result:oom-kill", "guard:while"), or a D-Bus error name. Facts and error names can contain
 * "*", which matches any text.
 */

/* A cause that the pattern matches, with the kind and fact from the pattern. The pattern must not contain "*". pattern
 * NULL: CAUSE_FAILED. text NULL: the pattern is the text. */
Cause *cause_of_pattern(const char *pattern, const char *text);

/* Does any cause of the chain match? False for NULL. */
bool cause_matches(const Cause *cause, const char *pattern);
/* The same for a NULL-terminated array of patterns. NULL matches everything. */
bool cause_matches_any(const Cause *cause, const char *const *patterns);

/* Returns an error message for an invalid pattern, or NULL if the pattern is valid. ret_instead (may be NULL) gets the
 * pattern that was probably meant, or NULL. The caller frees both. */
char *cause_pattern_problem(const char *pattern, char **ret_instead);
/* A regular expression that matches exactly the valid patterns. The caller frees it. */
char *cause_pattern_expression(void);

/*
 * As JSON, for run records and history: an array of the causes in the chain, from the node down to the origin.
 */
json_object *cause_to_json(const Cause *cause);
/* NULL: the JSON is not a cause. */
Cause *cause_from_json(json_object *json);

/*
 * A pool writes causes that share parts of their chains as one JSON array, and reads them again. Snapshots use it. Each
 * cause is written once, after the cause that it goes back to, and is identified by its index in the array. Shared
 * causes are shared again after reading.
 */
typedef struct CausePool CausePool;

CausePool *cause_pool_new(void);
void cause_pool_free(CausePool *pool);

/* Returns the index of the cause, and adds the cause first if necessary. Borrowed, valid as long as the pool. JSON null
 * for NULL. */
json_object *cause_pool_add(CausePool *pool, const Cause *cause);
/* A new reference. */
json_object *cause_pool_to_json(const CausePool *pool);

/* NULL: the JSON is not a pool. */
CausePool *cause_pool_from_json(json_object *json);
/* All causes, borrowed. The reader of an untrusted file must validate them. */
const GPtrArray *cause_pool_causes(const CausePool *pool);
/* The cause is borrowed, and NULL for JSON null. False: there is no such index. */
bool cause_pool_get(const CausePool *pool, json_object *place, Cause **ret_cause);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Cause, cause_unref)
G_DEFINE_AUTOPTR_CLEANUP_FUNC(CausePool, cause_pool_free)
