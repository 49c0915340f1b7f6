/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Reports of what is wrong with a parameter. All answer -EINVAL, so that a setter can return them.
 */

#include <stdbool.h>

#include "definition/params.h"

#define PARAM_SPAN_EXPECTED "a time span such as \"150ms\" or \"1min 30s\""

int param_report(const ParamSetter *setter, const Place *place, const char *format, ...) G_GNUC_PRINTF(3, 4);
/* The value is of another kind than the one expected. */
int param_report_kind(const ParamSetter *setter, const Place *place, const char *expected, json_object *value);
int param_report_range(const ParamSetter *setter, const Place *place, const Param *param, json_object *value);
/* For a time span: a number, a text that is none, more than can be counted. */
int param_report_bare_number(const ParamSetter *setter, const Place *place, json_object *value);
int param_report_bad_span(const ParamSetter *setter, const Place *place, json_object *value);
int param_report_long_span(const ParamSetter *setter, const Place *place, json_object *value);
/* A string that is none of the names. */
int param_report_enum(const ParamSetter *setter, const Place *place, const Param *param, json_object *value);
/* The parameter is an object, and has no such member. */
int param_report_unknown(const ParamSetter *setter, const Place *place, const Param *param, const char *key);

/* The variable whose value stands at the place, or NULL. To be freed. */
char *param_variable_at(const ParamSetter *setter, const Place *place);

/* "\"replace\", \"fail\"". To be freed. */
char *param_names_describe(const Param *param);

/* A maximum of 0 below the minimum is no maximum. */
bool param_has_min(const Param *param);
bool param_has_max(const Param *param);
