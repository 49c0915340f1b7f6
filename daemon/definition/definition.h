/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * A tree file, loaded: JSON text in, a validated and immutable tree out, or every error of the text at once. What it
 * uses of other trees and files is part of it. Shared by all runs of the tree, so it is counted.
 */

#include <json-c/json_object.h>

#include "definition/access.h"
#include "definition/declarations.h"
#include "definition/diagnostics.h"
#include "definition/restart.h"
#include "definition/scope.h"
#include "definition/sources.h"
#include "engine/machine.h"

typedef struct Definition Definition;

/* tables: NULL-terminated, of NULL-terminated tables of node types. sources: how other files are found, NULL: there are
 * none. Errors and warnings go to diagnostics. -EINVAL: there were errors. */
int definition_load_text(const char *text, size_t length, const NodeType *const *const *tables,
                         const DefinitionSources *sources, Diagnostics *diagnostics, Definition **ret_definition);
/* Reads the file, too. Other errors: what open and read say, as a diagnostic too. */
int definition_load_file(const char *path, const NodeType *const *const *tables, const DefinitionSources *sources,
                         Diagnostics *diagnostics, Definition **ret_definition);

Definition *definition_ref(Definition *definition);
void definition_unref(Definition *definition);

/* NULL: the file has no root, only trees for others to include. Nothing below holds for such a one but its files. */
const Tree *definition_tree(const Definition *definition);
const char *definition_description(const Definition *definition); /* NULL when none */
bool definition_autostart(const Definition *definition);
const RestartPolicy *definition_restart(const Definition *definition);
OnStop definition_on_stop(const Definition *definition);
const Access *definition_access(const Definition *definition);
const char *definition_hash(const Definition *definition); /* SHA-256, in hex, of the text and of all that it uses */
const char *definition_text(const Definition *definition); /* as it was loaded */
/* The initial variables, an object; borrowed. */
json_object *definition_blackboard(const Definition *definition);

/* The files that it is made of: its own and those that it uses. */
size_t definition_n_files(const Definition *definition);
const char *definition_file(const Definition *definition, size_t i); /* path; 0 is its own */
const char *definition_file_text(const Definition *definition, size_t i);
const char *definition_file_hash(const Definition *definition, size_t i); /* SHA-256 of its text, in hex */

/* See scope.h. */
unsigned definition_n_scopes(const Definition *definition);
/* The scope of what the node itself says: its parameters, guards and hooks. */
unsigned definition_scope(const Definition *definition, NodeId node);
const ScopeInfo *definition_scope_info(const Definition *definition, unsigned scope);

/* Can a run be started with these variables (an object, or NULL)? -EINVAL, or -ENXIO when an input is missing,
 * with a text for people. */
int definition_check_start(const Definition *definition, json_object *variables, char **ret_error);
/* Can a run be given these while it runs? The same. */
int definition_check_set(const Definition *definition, json_object *variables, char **ret_error);

/* NULL: none of the kind. */
const Script *definition_guard(const Definition *definition, NodeId node, Guard guard);
const Script *definition_hook(const Definition *definition, NodeId node, Hook hook);
/* The name of the lock that the node holds while it runs, or NULL. */
const char *definition_lock(const Definition *definition, NodeId node);
/* How long the halt of the leaf may take, in microseconds; SPAN_INFINITY: no limit. */
uint64_t definition_halt_timeout(const Definition *definition, NodeId node);

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

/* A parameter with references, as it was written; NULL: it has none. Borrowed. */
json_object *definition_template(const Definition *definition, NodeId node, const Param *param);

struct Blackboard;
struct Secrets;
/* References to secrets stay as they are. */
int definition_params(const Definition *definition, NodeId node, const struct Blackboard *blackboard,
                      Params *ret_params, char **ret_error);
/* The same with the secrets put in; none of them is in the text of an error. */
int definition_params_revealed(const Definition *definition, NodeId node, const struct Blackboard *blackboard,
                               struct Secrets *secrets, Params *ret_params, char **ret_error);
void params_clear(Params *params);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Definition, definition_unref)
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Params, params_clear)
