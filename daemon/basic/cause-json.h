/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Causes as JSON, for what outlasts the process: an array of the links of the chain, from the top down to where it
 * begins.
 */

#include "basic/cause.h"

json_object *cause_to_json(const Cause *cause);
/* NULL: it is not one. */
Cause *cause_from_json(json_object *json);

/* One of the links alone, without what it goes back to. */
json_object *cause_link_to_json(const Cause *cause);
Cause *cause_link_from_json(json_object *json);
