/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Reads the files that are named on the command line, without btd: tree files, with all types of nodes, and others.
 */

#include "client/bus/client.h"
#include "definition/definition.h"

/* The engine's types and the leaves', as btd itself has them. NULL-terminated, for definition_load_file(). */
extern const NodeType *const *const node_type_tables[];

/* In the order of the tables; free the array only. */
GPtrArray *node_types_list(void);

/* As definition_load_file(); other tree files are searched beside this one, and then where btd does. */
int tree_load(const Client *client, const char *file, Diagnostics *diagnostics, Definition **ret_definition);

/* The same, but with this text instead of that of the file. */
int tree_load_text(const Client *client, const char *file, const char *text, Diagnostics *diagnostics,
                   Definition **ret_definition);

/* Is the file a drop-in, by its name and that of its directory? */
bool dropin_is(const char *file);
/* The tree file that it changes: beside its directory, or where btd searches. To be freed; NULL: there is none. */
char *dropin_tree(const Client *client, const char *file);

typedef void (*DropinChange)(const char *key, json_object *from, json_object *to, void *userdata);

/* Loads this tree file as it is with the drop-in, which must fit; see DefinitionSources. */
int dropin_load(const Client *client, const char *file, const char *tree, DropinChange on_change, void *userdata,
                Diagnostics *diagnostics, Definition **ret_definition);

/* Prints the errors and warnings of a load. */
void report_diagnostics(const Diagnostics *diagnostics);

/* The whole file, ended by a NUL; to be freed. A negative errno. */
int file_read(const char *path, char **ret_text, size_t *ret_length);
