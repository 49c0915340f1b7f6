/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Checks and splits D-Bus signatures (D-Bus specification, "Valid Signatures"), for values and the leaves.
 */

#include <stdbool.h>
#include <stddef.h>

/* NULL: the signature is valid; else an error message, to be freed. */
char *signature_problem(const char *signature);

bool signature_is_basic(char type);
bool signature_has(const char *signature, char type);

/* The length of the first complete type, and how many there are, of a valid signature. */
size_t signature_first(const char *signature);
unsigned signature_count(const char *signature);
