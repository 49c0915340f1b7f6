/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The help texts, made from the tables of verbs and options. These return exit statuses.
 */

#include "verbs.h"

int help_print(void);
int help_print_verb(const Verb *verb);
int help_print_version(void);
