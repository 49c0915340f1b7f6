/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* sd-bus makes no copies by itself, so all that a call has is taken over piece by piece. */

#include <stdbool.h>

#include "basic/cleanup.h"
#include "bus/message.h"

int message_renew(sd_bus *bus, sd_bus_message **message) {
        g_autoptr(sd_bus_message) copy = NULL;
        sd_bus_message *old = *message;
        uint64_t cookie;
        int r;

        if (sd_bus_message_get_cookie(old, &cookie) < 0)
                return 0;

        r = sd_bus_message_new_method_call(bus, &copy, sd_bus_message_get_destination(old),
                                           sd_bus_message_get_path(old), sd_bus_message_get_interface(old),
                                           sd_bus_message_get_member(old));
        if (r >= 0)
                r = sd_bus_message_set_auto_start(copy, sd_bus_message_get_auto_start(old));
        if (r >= 0)
                r = sd_bus_message_set_allow_interactive_authorization(
                        copy, sd_bus_message_get_allow_interactive_authorization(old));
        if (r >= 0)
                r = sd_bus_message_rewind(old, true);
        if (r >= 0)
                r = sd_bus_message_copy(copy, old, true);
        if (r < 0)
                return r;

        sd_bus_message_unref(old);
        *message = g_steal_pointer(&copy);
        return 0;
}
