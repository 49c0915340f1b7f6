/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Reports errors of parameters. All functions that report return -EINVAL, so that a setter can return their result. */

#include <stdbool.h>

#include "definition/params/params.h"

#define PARAM_SPAN_EXPECTED "a time span such as \"150ms\" or \"1min 30s\""

int param_report(const ParamSetter *setter, const Place *place, const char *format, ...) G_GNUC_PRINTF(3, 4);
/* Reports an error of the key at the end of the place, not of its value. */
int param_report_key(const ParamSetter *setter, const Place *place, const char *format, ...) G_GNUC_PRINTF(3, 4);
/* The same with a suggestion, instead (may be NULL); takes the text. */
int param_report_instead(const ParamSetter *setter, const Place *place, bool at_key, const char *instead, char *text);
/* Reports a value of the wrong kind. */
int param_report_kind(const ParamSetter *setter, const Place *place, const char *expected, json_object *value);
int param_report_range(const ParamSetter *setter, const Place *place, const Param *param, json_object *value);
/* Reports a number or an invalid text in place of a time span, or a span that is too long. */
int param_report_span(const ParamSetter *setter, const Place *place, bool too_long, json_object *value);
/* Is the text none of the values, or, if others are accepted, a misspelt one of them? */
bool param_is_refused(const Param *param, const char *text);
/* Reports a string that is not one of the names. */
int param_report_enum(const ParamSetter *setter, const Place *place, const Param *param, json_object *value);
/* Reports an empty list, object or JSON value that needs an element. what: "list", "object". */
int param_report_empty(const ParamSetter *setter, const Place *place, const char *what);
/* Checks the text against the format: -EINVAL after a report. Text that is likely to be a mistake is reported as a
 * warning (trap), with 0. at_key: the text is the key. */
int param_check_format(const ParamSetter *setter, const Place *place, bool at_key, const TextFormat *format,
                       const char *text);
/* The member of an object parameter that was probably meant, or NULL. */
const char *param_nearest_member(const Param *param, const char *key);
/* Reports that the object parameter has no such member. */
int param_report_unknown(const ParamSetter *setter, const Place *place, const Param *param, const char *key);

/* The variable whose value is at the place, or NULL. To be freed. */
char *param_variable_at(const ParamSetter *setter, const Place *place);

/* "\"replace\", \"fail\"". To be freed. */
char *param_names_describe(const Param *param);

/* A maximum of 0 with a larger minimum means no maximum. */
bool param_has_min(const Param *param);
bool param_has_max(const Param *param);
