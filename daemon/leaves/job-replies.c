/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Only what asks for a job is answered with the path of one. */

#include "leaves/job-replies.h"
#include "basic/log.h"
#include "bus/unread.h"

#define JOB_PREFIX "/org/freedesktop/systemd1/job/"

typedef struct JobReply {
        char *name; /* of who has asked */
        uint64_t serial;
} JobReply;

struct JobReplies {
        GArray *replies;
};

static void reply_clear(void *data) {
        JobReply *reply = data;

        g_free(reply->name);
}

JobReplies *job_replies_new(void) {
        JobReplies *replies = g_new(JobReplies, 1);

        replies->replies = g_array_new(FALSE, FALSE, sizeof(JobReply));
        g_array_set_clear_func(replies->replies, reply_clear);
        return replies;
}

void job_replies_free(JobReplies *replies) {
        if (!replies)
                return;

        g_array_unref(replies->replies);
        g_free(replies);
}

static void on_found(sd_bus_message *message, void *userdata) {
        const char *name = sd_bus_message_get_destination(message), *path;
        JobReplies *replies = userdata;
        JobReply reply = {};

        if (!name || sd_bus_message_get_reply_cookie(message, &reply.serial) < 0 ||
            sd_bus_message_has_signature(message, "o") <= 0 || sd_bus_message_read(message, "o", &path) < 0 ||
            !g_str_has_prefix(path, JOB_PREFIX))
                return;

        reply.name = g_strdup(name);
        g_array_append_val(replies->replies, reply);
}

void job_replies_look(JobReplies *replies, int fd) {
        int r = unread_look(fd, on_found, replies);

        if (r < 0)
                log_warning("cannot see what systemd has answered to the daemon before: %s", g_strerror(-r));
}

bool job_replies_have(const JobReplies *replies, const char *name, uint64_t serial) {
        for (unsigned i = 0; replies && name && i < replies->replies->len; i++) {
                const JobReply *reply = &g_array_index(replies->replies, JobReply, i);

                if (g_str_equal(reply->name, name) && reply->serial > serial)
                        return true;
        }

        return false;
}
