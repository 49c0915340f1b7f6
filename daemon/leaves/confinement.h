/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * What a service that is confined sees in place of what is really there: directories for temporary files of its own,
 * see PrivateTmp= in systemd.exec(5).
 */

/* Why what is at the path is not what the system has there, for people; NULL: it is. Borrowed, for ever. */
const char *confinement_hides(const char *path);
