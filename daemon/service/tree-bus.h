/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Describes the objects /org/btd1/tree/NAME with the interface org.btd1.Tree to sd-bus. The userdata is a Published;
 * the tree is found by the path.
 */

#include "service/property.h"
#include "service/published.h"

extern const ObjectKind tree_kind;

int tree_bus_find(sd_bus *bus, const char *path, const char *interface, void *userdata, void **ret_found,
                  sd_bus_error *ret_error);
int tree_bus_enumerate(sd_bus *bus, const char *prefix, void *userdata, char ***ret_paths, sd_bus_error *ret_error);

/* "ok"; "broken": the file has errors, and the previous definition is kept; "failed": errors, and no definition. */
const char *tree_bus_state(const LibraryEntry *entry);

/* Reads instance and variables, starts the tree and replies. Also used for Manager.StartTree. */
int tree_bus_start(const Published *published, sd_bus_message *message, const char *name, const Caller *who,
                   sd_bus_error *ret_error);
/* Halts all runs of the tree and replies. */
int tree_bus_halt(const Published *published, sd_bus_message *message, const char *name, const Caller *who,
                  sd_bus_error *ret_error);

#define TITLE_SIGNATURE "{us}"
/* For an AnswerKind: appends the next node of the answer's definition if it has a title. Titles never change, so they
 * are not part of GetNodes(). Also used for Run.GetTitles. */
int tree_bus_append_title(Answer *answer, sd_bus_error *ret_error);
