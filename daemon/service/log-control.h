/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Publishes the level and the target of the log, see org.freedesktop.LogControl1(5).
 */

#include "service/published.h"

#define LOG_CONTROL_INTERFACE "org.freedesktop.LogControl1"
#define LOG_CONTROL_PATH "/org/freedesktop/LogControl1"

extern const sd_bus_vtable log_control_vtable[];

/* For each method call, before sd-bus has it: returns 0 if the call does not set a property of this interface, or else
 * what method handlers return. */
int log_control_take(const Published *published, sd_bus_message *message, sd_bus_error *ret_error);
