/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Those who follow something that they share: told when it has changed, in the order in which they came. While they are
 * told, any of them may leave, and more may come (who may be told, too).
 */

#include <glib.h>
#include <stdbool.h>

/* Part of whatever follows; zeroed but for the callback and its userdata. */
typedef struct Follower {
        void (*changed)(void *userdata);
        void *userdata;
        GList link;
} Follower;

typedef struct Audience {
        GQueue followers;
        GList *next; /* who is told next */
        bool telling;
} Audience;

void audience_join(Audience *audience, Follower *follower);
void audience_leave(Audience *audience, Follower *follower);
/* Not from within itself. */
void audience_tell(Audience *audience);
/* Nobody follows, and nobody is being told: what they shared can go. */
bool audience_is_over(const Audience *audience);
