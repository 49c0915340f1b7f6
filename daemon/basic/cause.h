/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Why something failed, was skipped or halted: a kind for programs, a text for people, and the facts. What a node hands
 * on from one of its children goes on with the child's own cause, so that from any node a chain leads down to
 * where it began.
 *
 * A cause is counted; it does not change any more once somebody else has it.
 */

#include <glib.h>
#include <json-c/json_object.h>
#include <stdbool.h>
#include <stdint.h>

/* The kinds; "failed" is what has no other. */
#define CAUSE_FAILED "failed"
#define CAUSE_CHILD "child" /* handed on */
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
#define CAUSE_ELEMENT "element" /* of a list: for it the child of a ForEach has failed */
#define CAUSE_FORCED "forced"
#define CAUSE_HALTED "halted"
#define CAUSE_LOST "lost" /* the daemon was restarted, so what became of it is not known */
#define CAUSE_TREE "tree" /* the tree itself is wrong */

typedef struct Cause Cause;

struct Cause {
        const char *kind;   /* one of the above */
        char *text;         /* NULL only where it is handed on */
        json_object *facts; /* an object, or NULL */
        uint32_t node;      /* the NodeId of whose reason this is; UINT32_MAX: of the run */
        Cause *because;     /* what it goes back to, or NULL: it begins here */
        grefcount references;
};

/* Takes the facts, NULL: none. Of the run, until its node is set. */
Cause *cause_new(const char *kind, json_object *facts, const char *text);
Cause *cause_ref(Cause *cause);
void cause_unref(Cause *cause); /* NULL is fine */

/* What has been false all the while is false for another reason now: whoever knows the cause sees that. */
void cause_renew(Cause *cause, const Cause *now);

/* Where the chain begins. */
const Cause *cause_origin(const Cause *cause);

/* An object of names and values, ended by a name that is NULL: takes the values, and leaves out those that are NULL. */
json_object *facts_new(const char *name, ...) G_GNUC_NULL_TERMINATED;
/* NULL for NULL, and valid in any case. */
json_object *fact_text(const char *text);

/*
 * Patterns: a kind ("timeout"), a kind and what it is mostly about ("exit-status:75", "signal:SIGSEGV",
 * "unit-result:oom-kill", "guard:while"), or a D-Bus error name, each but the kind with "*" for anything.
 */

/* One that the pattern matches, which has to be without "*": of its kind, with its fact. NULL: CAUSE_FAILED. text NULL:
 * the pattern. */
Cause *cause_of_pattern(const char *pattern, const char *text);

/* Is it so anywhere in the chain? false for NULL. */
bool cause_matches(const Cause *cause, const char *pattern);
/* Of NULL-terminated patterns; NULL are all there can be. */
bool cause_matches_any(const Cause *cause, const char *const *patterns);

/* The kind of that name as the constants have it, or NULL. */
const char *cause_kind_find(const char *name, size_t length);
/* What is wrong with a pattern, for people; NULL: nothing. To be freed. */
char *cause_pattern_problem(const char *pattern);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Cause, cause_unref)
