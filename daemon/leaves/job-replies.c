/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A list: there is one place for each daemon that had something to ask for and was killed, so hardly ever a second. */

#include "leaves/job-replies.h"

typedef struct Place {
        char *name;
        int fd;
        unsigned n_lookers;
        bool kept; /* somebody has gone before he had seen what he was looking for */
} Place;

struct JobReplies {
        Connection *connection;
        GArray *places;
        bool released;
        JobRepliesDone done;
        void *userdata;
};

static void place_clear(void *data) {
        Place *place = data;

        g_free(place->name);
}

JobReplies *job_replies_new(Connection *connection, JobRepliesDone done, void *userdata) {
        JobReplies *replies = g_new(JobReplies, 1);

        *replies = (JobReplies){
                .connection = connection,
                .places = g_array_new(FALSE, FALSE, sizeof(Place)),
                .done = done,
                .userdata = userdata,
        };
        g_array_set_clear_func(replies->places, place_clear);
        return replies;
}

void job_replies_free(JobReplies *replies) {
        if (!replies)
                return;

        g_array_unref(replies->places);
        g_free(replies);
}

void job_replies_add(JobReplies *replies, const char *name, int fd) {
        const Place place = { .name = g_strdup(name), .fd = fd };

        g_array_append_val(replies->places, place);
}

static void check_done(const JobReplies *replies, const Place *place) {
        if (replies->released && place->n_lookers == 0 && !place->kept)
                replies->done(place->fd, replies->userdata);
}

void job_replies_release(JobReplies *replies) {
        replies->released = true;
        for (unsigned i = 0; i < replies->places->len; i++)
                check_done(replies, &g_array_index(replies->places, Place, i));
}

int job_replies_open(JobReplies *replies, const char *name) {
        for (unsigned i = 0; i < replies->places->len; i++) {
                Place *place = &g_array_index(replies->places, Place, i);

                if (g_str_equal(place->name, name)) {
                        place->n_lookers++;
                        return place->fd;
                }
        }

        return -1;
}

void job_replies_close(JobReplies *replies, int fd, bool noted) {
        for (unsigned i = 0; i < replies->places->len; i++) {
                Place *place = &g_array_index(replies->places, Place, i);

                if (place->fd != fd)
                        continue;

                place->n_lookers--;
                place->kept |= !noted;
                check_done(replies, place);
        }
}

Connection *job_replies_connection(const JobReplies *replies) {
        return replies->connection;
}
