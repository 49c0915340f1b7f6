/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Converts a chain of causes to JSON and back, for run records and history. The JSON is an array of the causes in the
 * chain, from the node down to the origin.
 */

#include "basic/cause.h"

json_object *cause_to_json(const Cause *cause);
/* NULL: the JSON is not a cause. */
Cause *cause_from_json(json_object *json);

/* Converts one cause of a chain, without the causes that it goes back to. */
json_object *cause_link_to_json(const Cause *cause);
Cause *cause_link_from_json(json_object *json);
