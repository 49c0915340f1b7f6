/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * What variables are made of. For their own files only: the scopes are in variables.c, what expressions say in
 * variables-expressions.c, and the lists of Loop and ForEach in variables-lists.c.
 */

#include "definition/variables.h"

typedef struct Scope {
        Blackboard *blackboard; /* NULL: not needed yet */
        bool active;            /* something inside may be running */
        uint64_t seen;          /* its version when changes were asked for last */
        uint32_t element;       /* that was handed out last, of the child of a ForEach */
} Scope;

/* What a while was when its scope had that version. */
typedef struct While {
        uint64_t version;
        Verdict verdict;
} While;

struct Variables {
        const Definition *definition;
        unsigned n_scopes;
        /* NodeId -> json_object: what a Loop or ForEach hands out, the last value of an OnChange. NULL until there is
         * one. */
        GHashTable *kept;
        GHashTable *whiles; /* NodeId -> While, the same */
        GHashTable *seen;   /* NodeId -> json_object: what the expression saw that decided last, the same */
        Cause *error;       /* the last one, or NULL */
        Scope scopes[];
};

Scope *variables_get_scope(Variables *variables, unsigned index);
/* What it holds by now is no news to those inside. */
void variables_begin_scope(Scope *scope);

/* Takes what the expression has seen. */
void variables_note_seen(Variables *variables, NodeId node, json_object *values);

/* Takes the facts and the text. */
void variables_set_error(Variables *variables, const char *kind, json_object *facts, char *error);

/* Takes the value. Values do not change, so a list is as it was when it was kept. */
void variables_keep(Variables *variables, NodeId node, json_object *value);
/* Borrowed. False: nothing was kept. */
bool variables_get_kept(const Variables *variables, NodeId node, json_object **ret_value);
