/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Only a request for a job is answered with the path of one. What comes before the answer is taken, so that the bus
 * sends what comes next; the answer itself stays where it is, in case that this daemon is killed, too. What the bus had
 * to deliver is there when it has answered twice: it may be at work on both connections when it answers first.
 */

#include <errno.h>

#include "basic/log.h"
#include "bus/unread.h"
#include "leaves/job-search.h"
#include "leaves/systemd.h"

#define JOB_PREFIX "/org/freedesktop/systemd1/job/"

struct JobSearch {
        JobReplies *replies;
        int fd;
        uint64_t serial;
        bool found, over;
        unsigned n_answers; /* of the bus, since something was taken */
        Call *call;
        JobSearchDone done;
        void *userdata;
};

static void on_found(sd_bus_message *message, void *userdata) {
        JobSearch *search = userdata;
        const char *path;
        uint64_t serial;

        search->found |= sd_bus_message_get_reply_cookie(message, &serial) >= 0 && serial > search->serial &&
                         sd_bus_message_has_signature(message, "o") > 0 &&
                         sd_bus_message_read(message, "o", &path) >= 0 && g_str_has_prefix(path, JOB_PREFIX);
}

static void search_ask(JobSearch *search);

static void on_answered(sd_bus_message *reply, const sd_bus_error *error, void *userdata) {
        JobSearch *search = userdata;
        size_t size = 0;
        int r = unread_look(search->fd, on_found, search, &size);

        if (r < 0 && r != -ECONNRESET)
                log_warning("cannot see what systemd has answered to the daemon before: %s", g_strerror(-r));

        search->n_answers = size > 0 ? 0 : search->n_answers + 1;
        search->over = r < 0 || search->found || search->n_answers == 2;
        if (search->over) {
                search->done(search->found ? JOB_WAS_HEARD : r < 0 ? JOB_IN_DOUBT : JOB_NEVER_SENT, search->userdata);
                return;
        }

        unread_take(search->fd, size);
        search_ask(search);
}

static void search_ask(JobSearch *search) {
        call_free(search->call);
        search->call = systemd_look(job_replies_connection(search->replies), on_answered, search);
}

JobSearch *job_search_new(JobReplies *replies, const char *name, uint64_t serial, JobSearchDone done, void *userdata) {
        int fd = replies ? job_replies_open(replies, name) : -1;
        JobSearch *search;

        if (fd < 0)
                return NULL;

        search = g_new(JobSearch, 1);
        *search = (JobSearch){
                .replies = replies,
                .fd = fd,
                .serial = serial,
                .done = done,
                .userdata = userdata,
        };
        search_ask(search);
        return search;
}

void job_search_free(JobSearch *search) {
        if (!search)
                return;

        call_free(search->call);
        job_replies_close(search->replies, search->fd, search->over);
        g_free(search);
}
