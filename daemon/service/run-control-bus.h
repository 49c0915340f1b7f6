/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Implements the methods of org.btd1.Run that pause, resume and step a run, set breakpoints and force outcomes. The
 * userdata is a Published; the run is found by the path.
 */

#include "service/published.h"

int run_control_method_pause(sd_bus_message *message, void *userdata, sd_bus_error *ret_error);
int run_control_method_resume(sd_bus_message *message, void *userdata, sd_bus_error *ret_error);
int run_control_method_step(sd_bus_message *message, void *userdata, sd_bus_error *ret_error);
int run_control_method_set_breakpoint(sd_bus_message *message, void *userdata, sd_bus_error *ret_error);
int run_control_method_force(sd_bus_message *message, void *userdata, sd_bus_error *ret_error);
int run_control_method_set_variables(sd_bus_message *message, void *userdata, sd_bus_error *ret_error);
