/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Follows jobs. One Jobs for each connection receives the signal for all jobs that leave the queue (systemd sends it to
 * clients that have requested a job, without a subscription), and finds the job by its path. No job is requested before
 * the bus has confirmed the match rule. The signal can overtake the reply with the path of the job, so results are kept
 * while replies are outstanding.
 */

#include "leaves/unit/systemd-job.h"
#include "basic/cleanup.h"
#include "leaves/unit/systemd.h"

/* With two references for each place while another daemon takes over, and the rules that systemd has for itself. */
#define JOBS_MAX 250u
#define PLACES_MAX 100u

static const SignalPattern removed_pattern = {
        .sender = SYSTEMD_NAME,
        .path = SYSTEMD_MANAGER_PATH,
        .interface = SYSTEMD_MANAGER,
        .member = "JobRemoved",
};

typedef struct Jobs {
        Connection *connection;
        Match *removed;
        Follower systemd;
        Listener *listener;
        bool hearing;
        GQueue waiting;   /* not asked for yet */
        unsigned n_asked; /* whose reply is outstanding */
        unsigned n_queued;
        unsigned n_places;  /* that are taken */
        GQueue places;      /* waited for */
        GSource *turn;      /* of those who wait; NULL: there is no room for them */
        GHashTable *early;  /* results of jobs that were removed meanwhile, by path */
        GHashTable *queued; /* GQueue of those who wait for it, by path */
        GPtrArray *looks;   /* of Look: whether they are there yet */
        unsigned n_jobs;
} Jobs;

typedef enum JobPhase {
        JOB_WAITING,
        JOB_ASKED,
        JOB_QUEUED,
        JOB_GONE,
} JobPhase;

struct Job {
        Jobs *jobs;
        GList link;
        JobPhase phase;
        bool cancelled;
        sd_bus_message *request;
        Call *call;
        char *path;
        JobStepped stepped; /* or NULL */
        JobDone done;
        void *userdata;
};

static void jobs_unref(Jobs *jobs);

static GHashTable *all_jobs; /* Jobs by connection; NULL: there are none */

static bool jobs_have_room(const Jobs *jobs) {
        return jobs->hearing && jobs->n_asked + jobs->n_queued < JOBS_MAX;
}

static void job_ask(Job *job);

static gboolean on_turn(void *userdata) {
        Jobs *jobs = userdata;

        g_clear_pointer(&jobs->turn, g_source_unref);
        jobs->n_jobs++;
        while (jobs->waiting.length > 0 && jobs_have_room(jobs))
                job_ask(jobs->waiting.head->data);
        while (jobs->places.length > 0 && jobs->n_places < PLACES_MAX) {
                JobPlace *place = g_queue_pop_head_link(&jobs->places)->data;

                jobs->n_places++;
                place->taken = true;
                place->given(place->userdata);
        }
        jobs_unref(jobs);
        return G_SOURCE_REMOVE;
}

/* From the main loop, since room is made in the middle of other work. */
static void jobs_plan_turn(Jobs *jobs) {
        bool wanted = (jobs->waiting.length > 0 && jobs_have_room(jobs)) ||
                      (jobs->places.length > 0 && jobs->n_places < PLACES_MAX);

        if (!wanted || jobs->turn)
                return;

        jobs->turn = g_idle_source_new();
        g_source_set_priority(jobs->turn, G_PRIORITY_DEFAULT);
        g_source_set_callback(jobs->turn, on_turn, jobs, NULL);
        g_source_attach(jobs->turn, connection_context(jobs->connection));
}

static void job_enter(Job *job, JobPhase phase) {
        Jobs *jobs = job->jobs;
        GQueue *queue;

        job->phase = phase;
        switch (phase) {
        case JOB_WAITING:
                g_queue_push_tail_link(&jobs->waiting, &job->link);
                break;
        case JOB_ASKED:
                jobs->n_asked++;
                break;
        case JOB_QUEUED:
                queue = g_hash_table_lookup(jobs->queued, job->path);
                if (!queue) {
                        queue = g_queue_new();
                        g_hash_table_insert(jobs->queued, g_strdup(job->path), queue);
                }
                g_queue_push_tail_link(queue, &job->link);
                jobs->n_queued++;
                break;
        case JOB_GONE:
                break;
        }
}

static void job_leave(Job *job) {
        Jobs *jobs = job->jobs;
        GQueue *queue;

        switch (job->phase) {
        case JOB_WAITING:
                g_queue_unlink(&jobs->waiting, &job->link);
                break;
        case JOB_ASKED:
                if (--jobs->n_asked == 0)
                        g_hash_table_remove_all(jobs->early);
                break;
        case JOB_QUEUED:
                queue = g_hash_table_lookup(jobs->queued, job->path);
                g_queue_unlink(queue, &job->link);
                if (queue->length == 0)
                        g_hash_table_remove(jobs->queued, job->path);
                jobs->n_queued--;
                break;
        case JOB_GONE:
                break;
        }

        job->phase = JOB_GONE;
        jobs_plan_turn(jobs);
}

static void job_finish(Job *job, const char *result, const sd_bus_error *error) {
        job_leave(job);
        g_clear_pointer(&job->call, call_free);
        job->done(result, error, job->userdata);
}

/* A job that ends before it can be cancelled reports its result instead. */
static void on_cancelled(sd_bus_message *reply, const sd_bus_error *error, void *userdata) {
        if (error)
                job_finish(userdata, NULL, error);
}

static void job_send_cancel(Job *job) {
        Connection *connection = job->jobs->connection;
        g_autoptr(sd_bus_message) message = systemd_message(connection, job->path, SYSTEMD_JOB, "Cancel", NULL);

        g_clear_pointer(&job->call, call_free);
        job->call = systemd_query(connection, message, on_cancelled, job);
}

static bool job_is_shared(const Job *job) {
        return ((GQueue *) g_hash_table_lookup(job->jobs->queued, job->path))->length > 1;
}

static void job_step(const Job *job, JobStep step) {
        if (job->stepped)
                job->stepped(step, job->userdata);
}

static void on_asked(sd_bus_message *reply, const sd_bus_error *error, void *userdata) {
        g_autofree char *early = NULL;
        Job *job = userdata;
        const char *path;

        if (error) {
                job_finish(job, NULL, error);
                return;
        }

        if (sd_bus_message_read(reply, "o", &path) < 0) {
                static const sd_bus_error nonsense = SD_BUS_ERROR_MAKE_CONST(
                        SD_BUS_ERROR_INVALID_SIGNATURE, "the reply of the service manager is invalid");

                job_finish(job, NULL, &nonsense);
                return;
        }

        early = g_strdup(g_hash_table_lookup(job->jobs->early, path));
        if (early) {
                job_finish(job, early, NULL);
                return;
        }

        job->path = g_strdup(path);
        job_leave(job);
        job_enter(job, JOB_QUEUED);
        job_step(job, JOB_HEARD);
        if (!job->cancelled)
                return;

        if (job_is_shared(job))
                job_finish(job, "canceled", NULL);
        else
                job_send_cancel(job);
}

static void on_sending(void *userdata) {
        job_step(userdata, JOB_SENDING);
}

static void job_ask(Job *job) {
        job_leave(job);
        job_enter(job, JOB_ASKED);
        job->call = connection_call_told(job->jobs->connection, job->request, on_sending, on_asked, job);
        g_clear_pointer(&job->request, sd_bus_message_unref);
}

static void on_hearing(void *userdata) {
        Jobs *jobs = userdata;

        jobs->hearing = true;
        while (jobs->waiting.length > 0 && jobs_have_room(jobs))
                job_ask(jobs->waiting.head->data);
}

static void jobs_unref(Jobs *jobs) {
        if (--jobs->n_jobs > 0)
                return;

        g_hash_table_remove(all_jobs, jobs->connection);
        if (g_hash_table_size(all_jobs) == 0)
                g_clear_pointer(&all_jobs, g_hash_table_unref);

        match_free(jobs->removed);
        systemd_unfollow(jobs->connection, &jobs->systemd);
        g_ptr_array_unref(jobs->looks);
        listener_free(jobs->listener);
        if (jobs->turn) {
                g_source_destroy(jobs->turn);
                g_source_unref(jobs->turn);
        }
        g_hash_table_unref(jobs->early);
        g_hash_table_unref(jobs->queued);
        g_free(jobs);
}

/* Callbacks may free themselves and each other, so each job is looked up again. */
static void jobs_finish_queued(Jobs *jobs, const char *path, const char *result, const sd_bus_error *error) {
        GQueue *queue;

        jobs->n_jobs++;
        while ((queue = g_hash_table_lookup(jobs->queued, path)))
                job_finish(queue->head->data, result, error);
        jobs_unref(jobs);
}

static void on_removed(sd_bus_message *message, void *userdata) {
        const char *path, *result;
        Jobs *jobs = userdata;

        if (sd_bus_message_read(message, "uoss", NULL, &path, NULL, &result) < 0)
                return;

        if (jobs->n_asked > 0)
                g_hash_table_insert(jobs->early, g_strdup(path), g_strdup(result));
        jobs_finish_queued(jobs, path, result, NULL);
}

/* Pending calls have already failed by themselves. Queued jobs can end without a signal. */
static void on_lost(Connection *connection, void *userdata) {
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        g_auto(GStrv) paths = NULL;
        Jobs *jobs = userdata;

        jobs->hearing = false;
        sd_bus_error_setf(&error, SD_BUS_ERROR_DISCONNECTED,
                          "the connection to the bus '%s' was lost before the job had ended",
                          connection_name(connection));

        paths = (char **) g_hash_table_get_keys_as_array(jobs->queued, NULL);
        for (size_t i = 0; paths[i]; i++)
                paths[i] = g_strdup(paths[i]);

        jobs->n_jobs++;
        for (size_t i = 0; paths[i]; i++)
                jobs_finish_queued(jobs, paths[i], NULL, &error);
        jobs_unref(jobs);
}

/* Whether a job is there yet. */
typedef struct Look {
        Jobs *jobs;
        char *path;
        Call *call;
} Look;

static void look_free(void *data) {
        Look *look = data;

        call_free(look->call);
        g_free(look->path);
        g_free(look);
}

static void on_looked(sd_bus_message *reply, const sd_bus_error *error, void *userdata) {
        static const sd_bus_error unheard = SD_BUS_ERROR_MAKE_CONST(
                SD_BUS_ERROR_DISCONNECTED, "systemd was re-executed meanwhile, so the result of the job is not known");
        Look *look = userdata;
        Jobs *jobs = look->jobs;
        g_autofree char *path = g_strdup(look->path);

        g_ptr_array_remove(jobs->looks, look);
        if (error && sd_bus_error_has_names(error, SD_BUS_ERROR_UNKNOWN_OBJECT, SD_BUS_ERROR_UNKNOWN_INTERFACE,
                                            SD_BUS_ERROR_UNKNOWN_METHOD))
                jobs_finish_queued(jobs, path, NULL, &unheard);
}

/* A job that ended before its signal could be received is no longer in the queue. */
static void on_systemd_back(void *userdata) {
        Jobs *jobs = userdata;
        GHashTableIter iter;
        void *path;

        g_ptr_array_set_size(jobs->looks, 0);
        g_hash_table_iter_init(&iter, jobs->queued);
        while (g_hash_table_iter_next(&iter, &path, NULL)) {
                Look *look = g_new(Look, 1);

                *look = (Look){ .jobs = jobs, .path = g_strdup(path) };
                g_ptr_array_add(jobs->looks, look);
                look->call = systemd_get(jobs->connection, path, SYSTEMD_JOB, "State", on_looked, look);
        }
}

static void queue_free(void *queue) {
        g_queue_free(queue);
}

static Jobs *jobs_ref(Connection *connection) {
        static const ListenerCallbacks callbacks = { .lost = on_lost };
        Jobs *jobs;

        if (!all_jobs)
                all_jobs = g_hash_table_new(NULL, NULL);

        jobs = g_hash_table_lookup(all_jobs, connection);
        if (!jobs) {
                jobs = g_new0(Jobs, 1);
                jobs->connection = connection;
                jobs->early = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
                jobs->queued = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, queue_free);
                jobs->looks = g_ptr_array_new_with_free_func(look_free);
                jobs->removed = connection_match(connection, &removed_pattern, on_removed, on_hearing, jobs);
                jobs->systemd = (Follower){ .changed = on_systemd_back, .userdata = jobs };
                systemd_follow(connection, &jobs->systemd);
                jobs->listener = connection_listen(connection, &callbacks, jobs);
                g_hash_table_insert(all_jobs, connection, jobs);
        }

        jobs->n_jobs++;
        return jobs;
}

Job *job_new(Connection *connection, sd_bus_message *request, JobStepped stepped, JobDone done, void *userdata) {
        Job *job = g_new0(Job, 1);

        job->jobs = jobs_ref(connection);
        job->link.data = job;
        job->request = sd_bus_message_ref(request);
        job->stepped = stepped;
        job->done = done;
        job->userdata = userdata;
        job_enter(job, JOB_WAITING);
        if (job->jobs->waiting.length == 1 && jobs_have_room(job->jobs))
                job_ask(job);

        return job;
}

static void place_ask(JobPlace *place, Connection *connection, bool taken) {
        place->jobs = jobs_ref(connection);
        place->link.data = place;
        place->taken = taken;
        if (taken)
                place->jobs->n_places++;
        else
                g_queue_push_tail_link(&place->jobs->places, &place->link);
}

bool job_place_take(JobPlace *place, Connection *connection, void (*given)(void *userdata), void *userdata) {
        Jobs *jobs = jobs_ref(connection);

        place->given = given;
        place->userdata = userdata;
        place_ask(place, connection, jobs->places.length == 0 && jobs->n_places < PLACES_MAX);
        jobs_unref(jobs);
        return place->taken;
}

void job_place_keep(JobPlace *place, Connection *connection) {
        place_ask(place, connection, true);
}

void job_place_leave(JobPlace *place) {
        Jobs *jobs = g_steal_pointer(&place->jobs);

        if (!jobs)
                return;

        if (place->taken)
                jobs->n_places--;
        else
                g_queue_unlink(&jobs->places, &place->link);
        jobs_plan_turn(jobs);
        jobs_unref(jobs);
}

bool job_was_queued(const Job *job) {
        return job->path;
}

const char *job_path(const Job *job) {
        return job->path;
}

bool job_cancel(Job *job) {
        job->cancelled = true;

        if (job->phase == JOB_ASKED)
                return false;
        if (job->phase != JOB_QUEUED || job_is_shared(job)) {
                job_leave(job);
                return true;
        }

        job_send_cancel(job);
        return false;
}

void job_free(Job *job) {
        if (!job)
                return;

        job_leave(job);
        call_free(job->call);
        sd_bus_message_unref(job->request);
        g_free(job->path);
        jobs_unref(job->jobs);
        g_free(job);
}
