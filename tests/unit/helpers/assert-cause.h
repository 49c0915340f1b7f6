/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Checks what programs get about a failure: its kind, and the facts as JSON ("null": none).
 */

#include "basic/cause.h"

static inline void assert_cause(const Cause *cause, const char *kind, const char *facts) {
        g_assert_nonnull(cause);
        g_assert_cmpstr(cause->kind, ==, kind);
        g_assert_cmpstr(
                json_object_to_json_string_ext(cause->facts, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE),
                ==, facts);
}
