/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Calls the followers of a shared object. The next follower is kept in the audience, so that audience_leave() can
 * advance it. */

#include <assert.h>

#include "basic/audience.h"

void audience_join(Audience *audience, Follower *follower) {
        follower->link = (GList){ .data = follower };
        g_queue_push_tail_link(&audience->followers, &follower->link);
}

void audience_leave(Audience *audience, Follower *follower) {
        if (audience->next == &follower->link)
                audience->next = follower->link.next;
        g_queue_unlink(&audience->followers, &follower->link);
}

void audience_tell(Audience *audience) {
        assert(!audience->telling);

        audience->telling = true;
        audience->next = audience->followers.head;
        while (audience->next) {
                Follower *follower = audience->next->data;

                audience->next = audience->next->next;
                follower->changed(follower->userdata);
        }
        audience->telling = false;
}

bool audience_is_unused(const Audience *audience) {
        return audience->followers.length == 0 && !audience->telling;
}
