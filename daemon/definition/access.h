/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Who besides root may do what with a tree and its runs, as the tree file says: it can only narrow what polkit permits.
 */

typedef enum AccessVerb {
        ACCESS_START,
        ACCESS_HALT,
        ACCESS_CONTROL,
        ACCESS_SET,
        ACCESS_FORCE,
        ACCESS_MAX_,
} AccessVerb;

/* For each verb, NULL-terminated: the names of users, and of groups behind an '@'; NULL: nothing is said. */
typedef struct Access {
        const char *const *who[ACCESS_MAX_];
} Access;
