/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * /org/btd1/run/ID: org.btd1.Run. Its userdata is the Published; the run is found by the path.
 */

#include "service/published.h"

extern const sd_bus_vtable run_vtable[];

int run_bus_find(sd_bus *bus, const char *path, const char *interface, void *userdata, void **ret_found,
                 sd_bus_error *ret_error);
int run_bus_enumerate(sd_bus *bus, const char *prefix, void *userdata, char ***ret_paths, sd_bus_error *ret_error);

/* For published_authorize(): what is to be done to the run of that id. */
Deed run_bus_deed(const Published *published, Permission permission, const char *id);
/* For the methods of a run that change something. */
int run_bus_authorize(const Published *published, sd_bus_message *message, Permission permission,
                      OperationRun operation, sd_bus_error *ret_error);

/* Tells one caller of these nodes; NULL: of all. */
void run_bus_tell_nodes(sd_bus *bus, const char *destination, const Run *run, const GArray *nodes);
void run_bus_emit_finished(sd_bus *bus, const Run *run);
