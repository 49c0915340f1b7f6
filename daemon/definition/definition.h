/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * A tree file, loaded: JSON text in, a validated and immutable tree out, or every error of the text at once.
 * Shared by all runs of the tree, so it is counted.
 */

#include <json-c/json_object.h>

#include "definition/diagnostics.h"
#include "engine/machine.h"

typedef struct Definition Definition;

/* tables: NULL-terminated, of NULL-terminated tables of node types. Errors and warnings go to diagnostics. -EINVAL:
 * there were errors. */
int definition_load_text(const char *text, size_t length, const NodeType *const *const *tables,
                         Diagnostics *diagnostics, Definition **ret_definition);
/* Reads the file, too. Other errors: what open and read say, as a diagnostic too. */
int definition_load_file(const char *path, const NodeType *const *const *tables, Diagnostics *diagnostics,
                         Definition **ret_definition);

Definition *definition_ref(Definition *definition);
void definition_unref(Definition *definition);

const Tree *definition_tree(const Definition *definition);
const char *definition_description(const Definition *definition); /* NULL when none */
bool definition_autostart(const Definition *definition);
const char *definition_hash(const Definition *definition); /* SHA-256 of the text, in hex */
const char *definition_text(const Definition *definition); /* as it was loaded */
/* The initial variables, an object; borrowed. */
json_object *definition_blackboard(const Definition *definition);

/* The variable that is a guard of the node, or NULL. */
const char *definition_guard(const Definition *definition, NodeId node, Guard guard);

/*
 * The parameters of a node, with references filled in from the blackboard. Where there are none, the shared struct
 * of the tree is borrowed. -EINVAL with a text for people: 'unit: expected a string, but {name} is 5'.
 *
 * In the tree itself, and so for a type's check(), a parameter with references reads as if it had not been given.
 */
typedef struct Params {
        const void *values;
        void *owned; /* what params_clear() frees, or NULL */
} Params;

struct Blackboard;
int definition_params(const Definition *definition, NodeId node, const struct Blackboard *blackboard,
                      Params *ret_params, char **ret_error);
void params_clear(Params *params);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Definition, definition_unref)
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Params, params_clear)
