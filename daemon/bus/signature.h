/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * D-Bus signatures: which are valid, and what they are made of (D-Bus specification, "Valid Signatures").
 */

#include <stdbool.h>
#include <stddef.h>

/* Why it is not a valid signature, as a text to be freed; NULL: it is one. */
char *signature_problem(const char *signature);

bool signature_is_basic(char type);
bool signature_has(const char *signature, char type);

/* The length of the first complete type, and how many there are, of a valid signature. */
size_t signature_first(const char *signature);
unsigned signature_count(const char *signature);
