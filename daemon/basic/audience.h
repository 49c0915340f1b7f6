/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Keeps the list of callbacks of a shared object, such as a watched property: each follower is called, in the order of
 * joining, when the object has changed. A callback may remove any follower and add new ones; those may be called in the
 * same round.
 */

#include <glib.h>
#include <stdbool.h>

/* Embedded in the follower's own object. Set changed and userdata, and zero the rest. */
typedef struct Follower {
        void (*changed)(void *userdata);
        void *userdata;
        GList link;
} Follower;

typedef struct Audience {
        GQueue followers;
        GList *next; /* the next follower to call */
        bool telling;
} Audience;

void audience_join(Audience *audience, Follower *follower);
void audience_leave(Audience *audience, Follower *follower);
/* Calls all followers. A callback must not call this for the same audience. */
void audience_tell(Audience *audience);
/* True: there are no followers, and audience_tell() is not running. The shared object can be freed. */
bool audience_is_unused(const Audience *audience);
