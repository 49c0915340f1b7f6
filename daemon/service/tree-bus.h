/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Describes the objects /org/btd1/tree/NAME with the interface org.btd1.Tree to sd-bus. The userdata is a Published;
 * the tree is found by the path.
 */

#include "service/property.h"
#include "service/published.h"

/* A node, in the answers of GetNodes and GetNodesFrom. */
#define TREE_NODE_SIGNATURE "(uussa{sv})"

extern const ObjectKind tree_kind;

int tree_bus_find(sd_bus *bus, const char *path, const char *interface, void *userdata, void **ret_found,
                  sd_bus_error *ret_error);
int tree_bus_enumerate(sd_bus *bus, const char *prefix, void *userdata, char ***ret_paths, sd_bus_error *ret_error);

/* "ok"; "broken": the file has errors, and the previous definition is kept; "failed": errors, and no definition. */
const char *tree_bus_state(const LibraryEntry *entry);

/* Replies to a start. */
int tree_bus_reply_started(sd_bus_message *message, const RunSummary *outcome, bool begun);
/* Reads variables and options, starts the tree and replies. Also used for Manager.StartTree. */
int tree_bus_start(const Published *published, sd_bus_message *message, const char *name, const Caller *who,
                   sd_bus_error *ret_error);
/* For a caller that may start the tree: starts it if the caller may also force outcomes in it. */
int tree_bus_retry(const Published *published, sd_bus_message *message, const char *name, sd_bus_error *ret_error);
/* Reads the options, halts runs of the tree and replies. */
int tree_bus_halt(const Published *published, sd_bus_message *message, const char *name, const Caller *who,
                  sd_bus_error *ret_error);
