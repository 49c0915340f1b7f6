/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The keywords of Lua, which cannot be the names of variables in an expression. A btd without Lua refuses them, too: a
 * tree file is correct for both or for none.
 */

#include <stdbool.h>
#include <stddef.h>

bool keyword_is(const char *word, size_t length);
