/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The name is a fact in either case, so that it can be matched. */

#include "leaves/dbus-error.h"
#include "basic/cause.h"

const char *dbus_error_kind(const sd_bus_error *error) {
        return sd_bus_error_has_name(error, SD_BUS_ERROR_DISCONNECTED) ? CAUSE_CONNECTION_LOST : CAUSE_DBUS_ERROR;
}

json_object *dbus_error_facts(const sd_bus_error *error) {
        return facts_new("name", fact_text(error->name), "message", fact_text(error->message), NULL);
}
