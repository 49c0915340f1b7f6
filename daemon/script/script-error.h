/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Why a chunk has failed, as a text for people.
 */

#include "script/script.h"

/* From the message that is on top of the stack. */
char *script_error(const Script *script, const Blackboard *blackboard, int status);
/* For a value that JSON cannot have. */
char *script_error_value(const Script *script, const char *reason);
