/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Trees of tests whose variables come from the test itself.
 */

/* "{\"unit\": \"any\"}": an object of inputs, of all that the node refers to or has as a guard. To be freed. */
char *inputs_of(const char *node);
