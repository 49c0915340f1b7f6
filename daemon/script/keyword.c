/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The reserved words of Lua: no variable can have such a name in code. */

#include <glib.h>
#include <string.h>

#include "script/keyword.h"

static const char *const keywords[] = {
        "and", "break", "do",  "else", "elseif", "end",    "false",  "for",  "function", "goto",  "if",
        "in",  "local", "nil", "not",  "or",     "repeat", "return", "then", "true",     "until", "while",
};

bool keyword_is(const char *word, size_t length) {
        for (size_t i = 0; i < G_N_ELEMENTS(keywords); i++)
                if (strlen(keywords[i]) == length && memcmp(word, keywords[i], length) == 0)
                        return true;

        return false;
}
