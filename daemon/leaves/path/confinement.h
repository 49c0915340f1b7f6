/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * What a service that is confined sees in place of what is really there: directories for temporary files of its own,
 * see PrivateTmp= in systemd.exec(5); and the buses that it cannot reach.
 */

#include <stdbool.h>

/* The reason why this process does not see the system's own file at the path, as a message; NULL: it does. Borrowed,
 * valid forever. */
const char *confinement_hides(const char *path);

/* True: this process cannot reach buses of other machines and containers; with an error message. */
bool confinement_denies_bus(const char *bus, char **ret_reason);
