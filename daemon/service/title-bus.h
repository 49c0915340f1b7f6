/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Lists the titles of nodes, for the nodes that have one.
 */

#include "service/answers.h"

#define TITLE_SIGNATURE "{us}"

/* For an AnswerKind: appends the next node of the answer's definition if it has a title. */
int title_bus_append(Answer *answer, sd_bus_error *ret_error);
