/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The names that systemd has for the states of units, for their results and for those of jobs. All that names one of
 * them has it from here.
 */

#include <stdbool.h>

#include "engine/type.h"

/* NULL-terminated; in all versions of systemd up to UNIT_NAMES_VERSION. */
#define UNIT_NAMES_VERSION 258
extern const char *const unit_active_states[], *const unit_load_states[], *const unit_sub_states[],
                                                                                  *const unit_results[];

/* Is a unit in this state up? "systemctl is-active" says so while it reloads or refreshes, too. NULL: no. */
bool unit_state_is_up(const char *active_state);
/* These states; NULL-terminated. */
extern const char *const unit_up_states[];

/* Does systemd start the unit again by itself, because of Restart=? It has failed before. */
bool unit_sub_state_restarts(const char *sub_state);

/* Explains the result of a unit or of a job, as a clause about the unit: "it was started too often in a short time".
 * NULL: the result is not known. */
const char *unit_result_text(const char *result);
const char *job_result_text(const char *result);

/* A name of none of these tables is accepted with a warning, since a newer systemd may have it; but not one that is
 * misspelt, or that belongs to another parameter. */
extern const TextFormat active_state_format, load_state_format, sub_state_format, unit_result_format;
