/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * What a condition asks of a JSON value, as parameters say it: what it equals, or is one of, perhaps only a part of it.
 */

#include <json-c/json_object.h>
#include <stdbool.h>

/* NULL: not given. With none of equals and one_of: any value but false, 0, null and the empty ones. */
typedef struct Claim {
        json_object *field; /* where in the value: an array of keys, and of indices from 0 */
        json_object *equals, *one_of;
} Claim;

/* What no value could fulfil, as a text to be freed, or NULL. */
char *claim_problem(const Claim *claim);

/* name: of the value, for people; the text says why not ("Powered is false, not true"), and is to be freed. */
bool claim_find_field(const Claim *claim, const char *name, json_object *value, json_object **ret_field,
                      char **ret_text);
bool claim_holds(const Claim *claim, const char *name, json_object *field, char **ret_text);

/* What is asked for, as one value: for programs. A new reference. */
json_object *claim_wanted(const Claim *claim);
