/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Declares the inputs of a test's tree: every variable that the tree refers to, since nothing else sets them.
 */

/* "{\"unit\": \"any\"}": an object of inputs, of all that the node refers to or has as a guard. To be freed. */
char *inputs_of(const char *node);
