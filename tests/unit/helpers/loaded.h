/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Loads definitions from one text, "t", with the types of example-types.h.
 */

#include "definition/definition.h"
#include "example-types.h"

/* One that is good, without a warning. */
Definition *loaded_good(const char *text);
/* expected: all messages, one a line. */
void loaded_assert_bad(const char *text, size_t length, const char *expected);
/* All messages, one a line; "" when there are none. */
char *loaded_messages(const Diagnostics *diagnostics);
