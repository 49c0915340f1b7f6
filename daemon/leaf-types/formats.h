/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Checks the formats of texts in the parameters of leaves: D-Bus names (D-Bus specification, "Valid Names"), units
 * (systemd.unit(5)), paths and programs.
 */

#include "engine/type.h"

extern const TextFormat bus_format, bus_name_format, object_path_format, interface_format, method_format, signal_format,
        property_format, signature_format;
extern const TextFormat unit_format;
extern const TextFormat path_format, watched_path_format, program_format, environment_name_format, account_format;
