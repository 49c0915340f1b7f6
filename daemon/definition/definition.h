/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Loads a tree file: converts JSON text to a validated and immutable tree, or reports all errors of the text at once. A
 * definition includes the other trees and files that it uses. It is reference-counted, since all runs of the tree share
 * it. The runtime, btctl and the tests use it.
 */

#include <json-c/json_object.h>

#include "basic/crc32.h"
#include "definition/declarations.h"
#include "definition/diagnostics.h"
#include "definition/header.h"
#include "definition/sources.h"
#include "engine/machine.h"

typedef struct Definition Definition;

/* tables: a NULL-terminated list of NULL-terminated tables of node types. sources: finds and reads other files; NULL:
 * there are none. Errors and warnings are added to diagnostics. -EINVAL: errors were found. */
int definition_load_text(const char *text, size_t length, const NodeType *const *const *tables,
                         const DefinitionSources *sources, Diagnostics *diagnostics, Definition **ret_definition);
/* The same, but reads the text from the file. Other errors: those of open() and read(), also added to diagnostics. */
int definition_load_file(const char *path, const NodeType *const *const *tables, const DefinitionSources *sources,
                         Diagnostics *diagnostics, Definition **ret_definition);

Definition *definition_ref(Definition *definition);
void definition_unref(Definition *definition);

/* NULL: the file has no root, only trees for other files. The functions below need a root, except those for files. */
const Tree *definition_tree(const Definition *definition);
/* The keys at the top of its file. */
const Header *definition_header(const Definition *definition);
/* As systemctl(1) says it of unit files: "enabled", "disabled", "static" (btd cannot start it without inputs), or "bad"
 * if the definition is NULL. It may have no root. */
const char *definition_file_state(const Definition *definition);
/* Empty if the file has none. */
const Access *definition_access(const Definition *definition);
/* SHA-256, in hex, of the text and of all files that it uses. The first call computes it, which takes milliseconds for
 * large files: a thread that loads a definition for the main loop calls this before it hands the definition over. */
const char *definition_hash(const Definition *definition);
const char *definition_text(const Definition *definition); /* as it was loaded */
/* The limits with which it was loaded. They apply to its runs, too. */
const Limits *definition_limits(const Definition *definition);
/* The initial variables, an object; borrowed. */
json_object *definition_blackboard(const Definition *definition);

/* The number of its files: its own and those that it uses. */
size_t definition_n_files(const Definition *definition);
const char *definition_file(const Definition *definition, size_t i); /* path; 0 is its own */
/* A drop-in: the path of the file that it changes; NULL: it is none. */
const char *definition_file_extends(const Definition *definition, size_t i);
const char *definition_file_text(const Definition *definition, size_t i);
const char *definition_file_hash(const Definition *definition, size_t i); /* SHA-256 of its text, in hex */
/* All its files as JSON: [{path, text, found}, ...], and "extends" of a drop-in; to be freed. */
SummedText *definition_write_files(const Definition *definition);
/* Writing this JSON takes milliseconds for large files. If it is not ready, a thread writes it, and
 * definition_give_files() stores it (takes json) until the next definition_take_files(). It is not kept otherwise,
 * because it is as long as the files. */
bool definition_files_are_ready(const Definition *definition);
void definition_give_files(Definition *definition, SummedText *json);
/* The stored JSON, or a new one; to be freed. */
SummedText *definition_take_files(Definition *definition);

/* The number of scopes, see declarations.h. */
unsigned definition_n_scopes(const Definition *definition);
/* The scope of the node's own parameters, guards and hooks. */
unsigned definition_scope(const Definition *definition, NodeId node);
const ScopeInfo *definition_scope_info(const Definition *definition, unsigned scope);

/* Checks whether a run can be started with these variables (an object, or NULL). -EINVAL, or -ENXIO if an input is
 * missing; with an error message. */
int definition_check_start(const Definition *definition, json_object *variables, char **ret_error);
/* Checks whether these variables can be set in a running run. -EINVAL with an error message. */
int definition_check_set(const Definition *definition, json_object *variables, char **ret_error);

/* Which variables the tree gets: it reads them, and does not set them itself. OwnVariable, combined. */
unsigned definition_own_variables(const Definition *definition);

/* NULL: the node has none of this kind. */
const Script *definition_guard(const Definition *definition, NodeId node, Guard guard);
const Script *definition_hook(const Definition *definition, NodeId node, Hook hook);
/* The name of the lock that the node holds while it runs, or NULL. */
const char *definition_lock(const Definition *definition, NodeId node);
/* The time limit for the halt of the leaf, in microseconds; SPAN_INFINITY: no limit. */
uint64_t definition_halt_timeout(const Definition *definition, NodeId node);
/* How long the condition must have this value before it counts, in microseconds. */
uint64_t definition_hold(const Definition *definition, NodeId node, bool value);
/* True if the times of the node continue while the machine is suspended. NODE_NONE: true if those of any node do. */
bool definition_uses_boottime(const Definition *definition, NodeId node);
/* True if the success of the node makes the run ready. */
bool definition_makes_ready(const Definition *definition, NodeId node);

/*
 * The parameters of a node, with references filled in from the blackboard. If there are none, the struct of the tree is
 * borrowed. -EINVAL with an error message: 'unit: expected a string, but {name} is 5'.
 *
 * In the tree itself, and so for a type's check(), a parameter with references has the value of a parameter that is not
 * given.
 */
typedef struct Params {
        const void *values;
        void *owned; /* freed by params_clear(); or NULL */
} Params;

/* A parameter with references, as it was written; NULL: it has none. Borrowed. */
json_object *definition_template(const Definition *definition, NodeId node, const Param *param);

/* The parameter that the type's table marks as its title, as text. References are shown as written. To be freed; NULL:
 * none. */
char *definition_title(const Definition *definition, NodeId node);

struct Blackboard;
struct Secrets;
/* References to secrets stay as they are. */
int definition_params(const Definition *definition, NodeId node, const struct Blackboard *blackboard,
                      Params *ret_params, char **ret_error);
/* The same, but also fills in secrets; error messages contain none of them. noted: the variables that
 * definition_note_variables() returned earlier; NULL: use those of the blackboard. */
int definition_params_revealed(const Definition *definition, NodeId node, const struct Blackboard *blackboard,
                               json_object *noted, struct Secrets *secrets, Params *ret_params, char **ret_error);
/* The current values of the variables to which the node's parameters refer: {name: value}, a new reference. NULL: there
 * are no references. */
json_object *definition_note_variables(const Definition *definition, NodeId node, const struct Blackboard *blackboard);
/* Have these variables still the values that definition_note_variables() returned? */
bool definition_is_as_noted(const Definition *definition, NodeId node, const struct Blackboard *blackboard,
                            json_object *noted);
/* The names of these variables; to be freed. NULL: there are no references. */
char **definition_references(const Definition *definition, NodeId node);
void params_clear(Params *params);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Definition, definition_unref)
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Params, params_clear)
