/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * An error of D-Bus as a cause: its kind and its facts.
 */

#include <json-c/json_object.h>
#include <systemd/sd-bus.h>

/* "dbus-error", or "connection-lost" when it was not a peer who said it. */
const char *dbus_error_kind(const sd_bus_error *error);
/* Its name and message. */
json_object *dbus_error_facts(const sd_bus_error *error);
