/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Defines the members of Variables. Private to variables*.c: scopes are in variables.c, expressions in
 * variables-expressions.c, and the lists of Loop and ForEach in variables-lists.c.
 */

#include "run/variables.h"

typedef struct Scope {
        Blackboard *blackboard; /* NULL: not needed yet */
        uint64_t seen;          /* the version at the last check for changes */
        uint32_t element;       /* the last one that this copy of a ForEach's child got */
        bool active;            /* nodes inside may be running */
} Scope;

/* The verdict of a while for a version of its scope. */
typedef struct While {
        uint64_t version;
        Verdict verdict;
} While;

struct Variables {
        const Definition *definition;
        unsigned n_scopes;
        /* NodeId -> json_object: the list of a Loop or ForEach, the last value of an OnChange. NULL until one is
         * set. */
        GHashTable *kept;
        GHashTable *whiles; /* NodeId -> While, the same */
        GHashTable *seen;   /* NodeId -> json_object: values read by the last deciding expression, the same */
        Cause *error;       /* the last one, or NULL */
        Scope scopes[];
};

Scope *variables_get_scope(Variables *variables, unsigned index);
/* Marks the scope as active; its current content does not count as a change. */
void variables_begin_scope(Scope *scope);

/* Takes the values that the expression has read. */
void variables_note_seen(Variables *variables, NodeId node, json_object *values);

/* Takes the facts and the text. */
void variables_set_error(Variables *variables, const char *kind, json_object *facts, char *error);

/* Takes the value. Values are immutable, so a list stays as it was. */
void variables_keep(Variables *variables, NodeId node, json_object *value);
/* Borrowed. False: no value is kept. */
bool variables_get_kept(const Variables *variables, NodeId node, json_object **ret_value);
