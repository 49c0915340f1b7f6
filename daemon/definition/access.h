/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Describes which users besides root may do which actions on a tree and its runs, as the tree file declares it. It can
 * only narrow what polkit permits. The service checks it.
 */

typedef enum AccessVerb {
        ACCESS_START,
        ACCESS_HALT,
        ACCESS_CONTROL,
        ACCESS_SET,
        ACCESS_FORCE,
        ACCESS_MAX_,
} AccessVerb;

/* For each verb, NULL-terminated: names of users, and names of groups with a leading '@'; NULL: no restriction is
 * declared. */
typedef struct Access {
        const char *const *who[ACCESS_MAX_];
} Access;
