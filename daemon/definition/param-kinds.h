/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * One setter for each kind of parameter but objects: it sets the field, or reports what is wrong and answers -EINVAL.
 */

#include "definition/params.h"

int param_set_bool(const ParamSetter *setter, const Place *place, bool *field, json_object *value);
int param_set_int(const ParamSetter *setter, const Place *place, const Param *param, int64_t *field,
                  json_object *value);
int param_set_number(const ParamSetter *setter, const Place *place, const Param *param, double *field,
                     json_object *value);
int param_set_string(const ParamSetter *setter, const Place *place, const Param *param, const char **field,
                     json_object *value);
int param_set_span(const ParamSetter *setter, const Place *place, const Param *param, uint64_t *field,
                   json_object *value);
int param_set_enum(const ParamSetter *setter, const Place *place, const Param *param, int *field, json_object *value);
int param_set_strings(const ParamSetter *setter, const Place *place, const Param *param, const char *const **field,
                      json_object *value);
int param_set_string_map(const ParamSetter *setter, const Place *place, const char *const **field, json_object *value);
int param_set_script(const ParamSetter *setter, const Place *place, const Param *param, const Script **field,
                     json_object *value);
int param_set_expressions(const ParamSetter *setter, const Place *place, const Param *param, const NamedScript **field,
                          json_object *value);

/* May the value become anything at all, when references are filled in? */
bool param_may_be_anything(const ParamSetter *setter, json_object *value);
/* The text of a string that a parameter can hold, or NULL after a report. */
const char *param_get_text(const ParamSetter *setter, const Place *place, const char *expected, json_object *value);
