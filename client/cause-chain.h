/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Why a run is over, as btd tells it: from the run down to where it began.
 */

#include <json-c/json_object.h>

#include "client.h"

/* An array of objects: "run" or "node", "path", "name" and "type"; "status", "kind", "text" and "facts". Empty while
 * there is nothing to say. */
int cause_chain_get(Client *client, const char *run_path, json_object **ret_chain);

/* The facts of where it began, or NULL. Borrowed. */
json_object *cause_chain_facts(json_object *chain);

/* The nodes on the way down, and the facts; each line begins behind a label of that many columns. */
void cause_chain_append(const Output *output, GString *text, json_object *chain, int label_columns);
