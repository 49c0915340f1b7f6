/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Warns of words for a shell where there is none. For Param.trap. */

#include <json-c/json.h>

#include "definition/params/params.h"

void shell_words_in_argv(const ParamSetter *setter, const Place *place, json_object *argv);
void shell_words_in_stdin(const ParamSetter *setter, const Place *place, json_object *text);
void shell_words_in_env(const ParamSetter *setter, const Place *place, json_object *env);
