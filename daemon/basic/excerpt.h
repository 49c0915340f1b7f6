/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * What messages quote of texts from anywhere: short, on one line, without control characters.
 */

#include <stddef.h>

/* "..." stands for what is left out at the end, U+FFFD for what is no character of UTF-8. To be freed. */
char *excerpt(const char *text, size_t length);
