/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Makes the answer of ListUsers: a record for each user who has asked btd for something. */

#include "service/users-bus.h"

#include "basic/cleanup.h"
#include "service/arguments.h"
#include "service/published.h"

/* The bytes of a record, about. */
#define RECORD_SIZE 600u

static int begin_users(Answer *answer, sd_bus_error *ret_error) {
        int r = arguments_read_options(answer->question, &(CallOption){}, ret_error);

        if (r >= 0)
                answer->data = manager_list_users(published_manager(answer->userdata));
        return r;
}

/* An entry with a dictionary of numbers: what the user uses, or the shares. */
static int append_numbers(sd_bus_message *message, const char *key, const User *user, bool shares) {
        int r = sd_bus_message_open_container(message, 'e', "sv");

        if (r >= 0)
                r = sd_bus_message_append(message, "s", key);
        if (r >= 0)
                r = sd_bus_message_open_container(message, 'v', "a{st}");
        if (r >= 0)
                r = sd_bus_message_open_container(message, 'a', "{st}");
        for (Usage use = 0; r >= 0 && use < USE_MAX_; use++) {
                uint64_t share = user_share(user, use);

                if (!shares || share != UINT64_MAX)
                        r = sd_bus_message_append(message, "{st}", use_names[use], shares ? share : user->used[use]);
        }
        for (unsigned i = 0; r >= 0 && i < 3; i++)
                r = sd_bus_message_close_container(message);
        return r;
}

static int append_user(Answer *answer, sd_bus_error *ret_error) {
        const GPtrArray *users = answer->data;
        const User *user = answer->next < users->len ? users->pdata[answer->next++] : NULL;
        int r;

        if (!user)
                return 0;

        answer->size += RECORD_SIZE;
        r = sd_bus_message_open_container(answer->reply, 'a', "{sv}");
        if (r >= 0)
                r = sd_bus_message_append(answer->reply, "{sv}{sv}", "uid", "u", user->uid, "refused", "t",
                                          user->refused);
        if (r >= 0)
                r = append_numbers(answer->reply, "used", user, false);
        if (r >= 0)
                r = append_numbers(answer->reply, "shares", user, true);
        if (r >= 0)
                r = sd_bus_message_close_container(answer->reply);
        return r < 0 ? r : 1;
}

static void end_users(Answer *answer) {
        g_ptr_array_unref(answer->data);
}

int users_bus_list(sd_bus_message *message, void *userdata, sd_bus_error *ret_error) {
        static const AnswerKind kind = {
                .array = "a{sv}", .instead = "GetMetrics", .begin = begin_users, .append = append_user, .end = end_users
        };

        return published_answer(userdata, message, &kind, ret_error);
}
