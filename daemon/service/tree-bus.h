/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * /org/btd1/tree/NAME: org.btd1.Tree. Its userdata is the Published; the tree is found by the path.
 */

#include "service/published.h"

extern const sd_bus_vtable tree_vtable[];

int tree_bus_find(sd_bus *bus, const char *path, const char *interface, void *userdata, void **ret_found,
                  sd_bus_error *ret_error);
int tree_bus_enumerate(sd_bus *bus, const char *prefix, void *userdata, char ***ret_paths, sd_bus_error *ret_error);

/* "ok", "broken": the file has errors and an older definition is kept, "failed": errors and no definition. */
const char *tree_bus_state(const LibraryEntry *entry);

/* Reads instance and variables, starts the tree and replies; the same for Manager.StartTree. */
int tree_bus_start(const Published *published, sd_bus_message *message, const char *name, const Caller *who,
                   sd_bus_error *ret_error);
/* Halts all its runs and replies. */
int tree_bus_halt(const Published *published, sd_bus_message *message, const char *name, const Caller *who,
                  sd_bus_error *ret_error);
