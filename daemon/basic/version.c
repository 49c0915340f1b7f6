/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Prints what a report of a fault needs first: the version, the commit, and systemd at build and at run time. */

#include <stdio.h>
#include <systemd/sd-bus.h>

#include "basic/cleanup.h"
#include "basic/version.h"

/* How long to wait for systemd: --version must not hang on a machine that hangs. */
#define PATIENCE_USEC (2 * UINT64_C(1000000))

void version_print(const char *program, const char *version) {
        g_autoptr(sd_bus) bus = NULL;
        g_autofree char *systemd = NULL;

        if (sd_bus_open_system(&bus) >= 0) {
                (void) sd_bus_set_method_call_timeout(bus, PATIENCE_USEC);
                (void) sd_bus_get_property_string(bus, "org.freedesktop.systemd1", "/org/freedesktop/systemd1",
                                                  "org.freedesktop.systemd1.Manager", "Version", NULL, &systemd);
        }
        printf("%s %s\n", program, version);
        printf("commit %s\n", version_commit);
        printf("systemd %s at build time, %s at run time\n", BTD_SYSTEMD, systemd ?: "none");
}
