/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Declares the setters for each kind of parameter except objects. A setter sets the field, or reports an error and
 * returns -EINVAL. params.c uses them.
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
int param_set_string_map(const ParamSetter *setter, const Place *place, const Param *param, const char *const **field,
                         json_object *value);
int param_set_json(const ParamSetter *setter, const Place *place, const Param *param, json_object **field,
                   json_object *value);
int param_set_script(const ParamSetter *setter, const Place *place, const Param *param, const Script **field,
                     json_object *value);
int param_set_expressions(const ParamSetter *setter, const Place *place, const Param *param, const NamedScript **field,
                          json_object *value);

/* True if the value is one reference, so that it may get any type when references are filled in. */
bool param_may_be_anything(const ParamSetter *setter, json_object *value);
/* Checks the name of a variable, if the parameter is one: -EINVAL after a report that the name is invalid. */
int param_check_name(const ParamSetter *setter, const Place *place, bool at_key, const Param *param, const char *name);
/* The text of a string, which must contain no NUL character; NULL after a report. */
const char *param_get_text(const ParamSetter *setter, const Place *place, const char *expected, json_object *value);
