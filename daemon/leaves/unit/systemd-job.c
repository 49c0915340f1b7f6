/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Follows jobs. One Jobs for each connection receives the signal for all jobs that leave the queue (systemd sends it to
 * clients that have requested a job, without a subscription), and finds the job by its path. No job is requested before
 * the bus has confirmed the match rule. The signal can overtake the reply with the path of the job, so results are kept
 * while replies are outstanding.
 *
 * A request for a unit that already has such a job joins it: the boot's, the shutdown's, an administrator's. A job that
 * conflicts with the request is replaced by a new one, with another id. If others request the job later, or a job that
 * pulls it in, systemd merges theirs into it, and signals the state of the job once more, which is "waiting" still. A
 * job is cancelled only if the unit did not have it before the request, nobody has joined it since, no other leaf waits
 * for it or requests it, and nobody else needs it, see JobNeed. It is left alone otherwise, as systemctl does at
 * Ctrl-C.
 */

#include <assert.h>

#include "basic/cleanup.h"
#include "basic/foreach.h"
#include "basic/later.h"
#include "leaves/unit/systemd-job.h"
#include "leaves/unit/systemd.h"

/* With two references for each permit while another daemon takes over, and the rules that systemd has for itself. */
#define JOBS_MAX 250u
#define JOB_PREFIX "/org/freedesktop/systemd1/job/"
#define PERMITS_MAX 100u
/* All users to whom shares apply have at most this many permits together. */
#define PERMITS_OF_USERS_MAX 75u

/* The name under which a connection keeps its Jobs, while there are some. */
#define KEPT "jobs"

static const SignalPattern removed_pattern = {
        .sender = SYSTEMD_NAME,
        .path = SYSTEMD_MANAGER_PATH,
        .interface = SYSTEMD_MANAGER,
        .member = "JobRemoved",
};

static const SignalPattern changed_pattern = {
        .sender = SYSTEMD_NAME,
        .interface = "org.freedesktop.DBus.Properties",
        .member = "PropertiesChanged",
        .arg = SYSTEMD_JOB,
};

typedef struct Jobs {
        Connection *connection;
        Match *removed, *changed;
        Follower systemd;
        Listener *listener;
        bool match_ready;
        GQueue waiting;     /* not asked for yet */
        GQueue asked;       /* their replies are outstanding */
        GHashTable *slots;  /* units with a permit -> JobSlot */
        GHashTable *shares; /* User -> the number of its slots, if shares apply to it */
        unsigned n_shared;  /* all of these */
        GQueue permits;     /* waited for */
        GSource *turn;      /* of those who wait; NULL: there is no room for them */
        GHashTable *early;  /* results of jobs that were removed meanwhile, by path */
        GHashTable *queued; /* GQueue of those who wait for it, by path */
        GHashTable *others; /* by path of the job, or of the unit: how many others wait for it, see JobInterest */
        GPtrArray *checks;  /* of Check */
        unsigned n_jobs;
} Jobs;

/* The permit of all leaves that use a unit. */
typedef struct JobSlot {
        char *unit;
        User *user; /* the first one */
        unsigned n;
} JobSlot;

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
        bool cancelled, deadlocked;
        sd_bus_message *request; /* NULL: it was sent */
        const char *method;      /* of the request */
        char *unit;              /* the path of its unit; NULL: whose job it is does not matter */
        Call *before;            /* asks which job the unit has */
        uint32_t had;            /* the id of that job; 0: none */
        bool joined;             /* the request has joined that job, or may have; or others have joined it since */
        JobNeed *need;           /* of others, before it is cancelled */
        Call *call;
        bool sent; /* the request, or it may have been */
        char *path;
        JobStepped stepped; /* or NULL */
        JobDone done;
        void *userdata;
};

static void jobs_unref(Jobs *jobs);

static bool jobs_have_room(const Jobs *jobs) {
        return jobs->match_ready && jobs->asked.length + g_hash_table_size(jobs->queued) < JOBS_MAX;
}

static void job_ask(Job *job);

static bool is_bound(const User *user) {
        return user && limits_bind(user->uid);
}

/* The permits that the user has for this systemd. Each systemd counts its own: nobody wakes those who wait here when a
 * permit for another one is given back. */
static unsigned share_of(const Jobs *jobs, const User *user) {
        return GPOINTER_TO_UINT(g_hash_table_lookup(jobs->shares, user));
}

static void share_change(Jobs *jobs, User *user, int by) {
        if (!is_bound(user))
                return;

        jobs->n_shared += (unsigned) by;
        g_hash_table_insert(jobs->shares, user, GUINT_TO_POINTER(share_of(jobs, user) + (unsigned) by));
}

static bool permit_has_room(const Jobs *jobs, const JobPermit *permit) {
        if (g_hash_table_contains(jobs->slots, permit->unit))
                return true;

        return g_hash_table_size(jobs->slots) < PERMITS_MAX &&
               (!is_bound(permit->user) || (jobs->n_shared < PERMITS_OF_USERS_MAX &&
                                            share_of(jobs, permit->user) < user_share(permit->user, USE_JOBS)));
}

/* Root comes first, then the user that has the fewest. NULL: none can have a permit. */
static JobPermit *next_permit(const Jobs *jobs) {
        JobPermit *next = NULL;

        for (const GList *link = jobs->permits.head; link; link = link->next) {
                JobPermit *permit = link->data;

                if (!permit_has_room(jobs, permit))
                        continue;
                if (!is_bound(permit->user))
                        return permit;
                if (!next || share_of(jobs, permit->user) < share_of(jobs, next->user))
                        next = permit;
        }
        return next;
}

static void permit_take(JobPermit *permit) {
        Jobs *jobs = permit->jobs;
        JobSlot *slot = g_hash_table_lookup(jobs->slots, permit->unit);

        if (!slot) {
                slot = g_new(JobSlot, 1);
                *slot = (JobSlot){ .unit = g_strdup(permit->unit), .user = permit->user };
                g_hash_table_insert(jobs->slots, slot->unit, slot);
                share_change(jobs, slot->user, 1);
                user_add(slot->user, USE_JOBS, 1);
        }
        slot->n++;
        permit->slot = slot;
}

static void ask_waiting(Jobs *jobs) {
        while (jobs->waiting.length > 0 && jobs_have_room(jobs))
                job_ask(jobs->waiting.head->data);
}

static gboolean on_turn(void *userdata) {
        Jobs *jobs = userdata;

        jobs->turn = NULL;
        jobs->n_jobs++;
        ask_waiting(jobs);
        for (JobPermit *permit; (permit = next_permit(jobs));) {
                g_queue_unlink(&jobs->permits, &permit->link);
                permit_take(permit);
                permit->granted(permit->userdata);
        }
        jobs_unref(jobs);
        return G_SOURCE_REMOVE;
}

/* Called from the main loop, because a permit can be released in the middle of other work. */
static void jobs_plan_turn(Jobs *jobs) {
        bool wanted = (jobs->waiting.length > 0 && jobs_have_room(jobs)) || next_permit(jobs);

        if (wanted && !jobs->turn)
                jobs->turn = call_later(connection_context(jobs->connection), 0, on_turn, jobs);
}

/* NULL: nobody waits for this job of systemd yet. */
static GQueue *queue_of(const Job *job) {
        Jobs *jobs = job->jobs;

        assert(jobs);
        return job->phase == JOB_WAITING ? &jobs->waiting
               : job->phase == JOB_ASKED ? &jobs->asked
                                         : g_hash_table_lookup(jobs->queued, job->path);
}

static void job_enter(Job *job, JobPhase phase) {
        GQueue *queue;

        job->phase = phase;
        queue = queue_of(job);
        if (!queue) {
                queue = g_queue_new();
                g_hash_table_insert(job->jobs->queued, g_strdup(job->path), queue);
        }
        g_queue_push_tail_link(queue, &job->link);
}

static void job_leave(Job *job) {
        Jobs *jobs = job->jobs;

        if (job->phase != JOB_GONE) {
                GQueue *queue = queue_of(job);

                g_queue_unlink(queue, &job->link);
                if (queue->length == 0 && job->phase == JOB_ASKED)
                        g_hash_table_remove_all(jobs->early);
                else if (queue->length == 0 && job->phase == JOB_QUEUED)
                        g_hash_table_remove(jobs->queued, job->path);
        }

        job->phase = JOB_GONE;
        jobs_plan_turn(jobs);
}

static void job_finish(Job *job, const char *result, const sd_bus_error *error) {
        job_leave(job);
        g_clear_pointer(&job->call, call_free);
        g_clear_pointer(&job->need, job_need_free);
        job->done(result, error, job->userdata);
}

/* A job that ends before it can be cancelled reports its result instead. */
static void on_cancelled(sd_bus_message *reply, const sd_bus_error *error, void *userdata) {
        if (error)
                job_finish(userdata, NULL, error);
}

/* Has a leaf requested a job for the unit, and may get the one that the unit has? */
static bool is_asked_for(const Jobs *jobs, const char *unit) {
        for (const GList *link = jobs->asked.head; link; link = link->next) {
                const Job *job = link->data;

                if (!job->cancelled && g_strcmp0(job->unit, unit) == 0)
                        return true;
        }

        return false;
}

/* Do other leaves of btd wait for the job, too? Those that are recovered may wait for it. unit: its path, or NULL: no
 * other leaf uses the unit. */
static bool is_shared(const Jobs *jobs, const char *unit, const char *path) {
        GQueue *queue = g_hash_table_lookup(jobs->queued, path);

        if (unit && (is_asked_for(jobs, unit) || g_hash_table_contains(jobs->others, unit)))
                return true;

        return (queue ? queue->length : 0) + GPOINTER_TO_UINT(g_hash_table_lookup(jobs->others, path)) > 1;
}

uint32_t job_id(const char *path) {
        guint64 id = 0;

        if (path && g_str_has_prefix(path, JOB_PREFIX))
                (void) g_ascii_string_to_unsigned(path + strlen(JOB_PREFIX), 10, 0, UINT32_MAX, &id, NULL);
        return (uint32_t) id;
}

/* Is the job nobody else's? Only then it may be cancelled. */
static bool job_is_own(const Job *job) {
        return !job->joined && !is_shared(job->jobs, job->unit, job->path);
}

static void on_need(bool needed, void *userdata) {
        Job *job = userdata;
        Connection *connection = job->jobs->connection;
        g_autoptr(sd_bus_message) message = NULL;

        if (needed || !job_is_own(job)) {
                job_finish(job, "canceled", NULL);
                return;
        }

        message = systemd_message(connection, job->path, SYSTEMD_JOB, "Cancel", NULL);
        g_clear_pointer(&job->need, job_need_free);
        call_free(job->call);
        job->call = systemd_query(connection, message, on_cancelled, job);
}

static void job_send_cancel(Job *job) {
        job_need_free(job->need);
        job->need = job_need_new(job->jobs->connection, job->path, job->method, job->deadlocked, on_need, job);
}

static void on_before(sd_bus_message *reply, const sd_bus_error *error, void *userdata) {
        Job *job = userdata;

        g_clear_pointer(&job->before, call_free);
        job->joined = !reply || sd_bus_message_enter_container(reply, 'v', "(uo)") < 0 ||
                      sd_bus_message_read(reply, "(uo)", &job->had, NULL) < 0;
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
        job->joined |= job->had > 0 && job->had == job_id(path);
        job_leave(job);
        job_enter(job, JOB_QUEUED);
        if (job->stepped)
                job->stepped(JOB_CONFIRMED, job->userdata);
        if (!job->cancelled)
                return;

        if (job_is_own(job))
                job_send_cancel(job);
        else
                job_finish(job, "canceled", NULL);
}

static void on_sending(void *userdata) {
        Job *job = userdata;

        job->sent = true;
        if (job->stepped)
                job->stepped(JOB_SENDING, job->userdata);
}

static void job_ask(Job *job) {
        job_leave(job);
        job_enter(job, JOB_ASKED);
        /* Over the same connection, systemd reads this before the request. */
        job->joined = job->unit;
        if (job->unit)
                job->before = systemd_get(job->jobs->connection, job->unit, SYSTEMD_UNIT, "Job", on_before, job);
        job->call = connection_call_told(job->jobs->connection, job->request, on_sending, on_asked, job);
        g_clear_pointer(&job->request, sd_bus_message_unref);
}

static void on_match_ready(void *userdata) {
        Jobs *jobs = userdata;

        jobs->match_ready = true;
        ask_waiting(jobs);
}

static void jobs_unref(Jobs *jobs) {
        if (--jobs->n_jobs > 0)
                return;

        connection_set_data(jobs->connection, KEPT, NULL, NULL);
        match_free(jobs->removed);
        match_free(jobs->changed);
        systemd_unfollow(jobs->connection, &jobs->systemd);
        g_ptr_array_unref(jobs->checks);
        listener_free(jobs->listener);
        g_clear_pointer(&jobs->turn, g_source_destroy);
        g_hash_table_unref(jobs->early);
        g_hash_table_unref(jobs->slots);
        g_hash_table_unref(jobs->shares);
        g_hash_table_unref(jobs->queued);
        g_hash_table_unref(jobs->others);
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

        if (jobs->asked.length > 0)
                g_hash_table_insert(jobs->early, g_strdup(path), g_strdup(result));
        jobs_finish_queued(jobs, path, result, NULL);
}

/* A job that begins to run is not cancelled anyway. */
static void on_job_changed(sd_bus_message *message, void *userdata) {
        const char *path = sd_bus_message_get_path(message), *name, *state;
        Jobs *jobs = userdata;
        GQueue *queue = path ? g_hash_table_lookup(jobs->queued, path) : NULL;

        if (!queue || sd_bus_message_skip(message, "s") < 0 ||
            sd_bus_message_read(message, "a{sv}", 1, &name, "s", &state) < 0 || !g_str_equal(name, "State") ||
            !g_str_equal(state, "waiting"))
                return;

        for (const GList *link = queue->head; link; link = link->next) {
                Job *job = link->data;

                if (job->joined || is_asked_for(jobs, job->unit))
                        continue;

                job->joined = true;
                if (job->stepped)
                        job->stepped(JOB_CONFIRMED, job->userdata);
        }
}

/* Pending calls have already failed by themselves. Queued jobs can end without a signal. */
static void on_lost(Connection *connection, void *userdata) {
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        g_auto(GStrv) paths = NULL;
        Jobs *jobs = userdata;

        jobs->match_ready = false;
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

/* A query whether a job is still in the queue. */
typedef struct Check {
        Jobs *jobs;
        char *path;
        Call *call;
} Check;

static void check_free(void *data) {
        Check *check = data;

        call_free(check->call);
        g_free(check->path);
        g_free(check);
}

static void on_checked(sd_bus_message *reply, const sd_bus_error *error, void *userdata) {
        static const sd_bus_error unknown = SD_BUS_ERROR_MAKE_CONST(
                SD_BUS_ERROR_DISCONNECTED, "systemd was re-executed meanwhile, so the result of the job is not known");
        Check *check = userdata;
        Jobs *jobs = check->jobs;
        g_autofree char *path = g_strdup(check->path);

        g_ptr_array_remove(jobs->checks, check);
        if (error && sd_bus_error_has_names(error, SD_BUS_ERROR_UNKNOWN_OBJECT, SD_BUS_ERROR_UNKNOWN_INTERFACE,
                                            SD_BUS_ERROR_UNKNOWN_METHOD))
                jobs_finish_queued(jobs, path, NULL, &unknown);
}

/* A job that ended before its signal could be received is no longer in the queue. */
static void on_systemd_back(void *userdata) {
        Jobs *jobs = userdata;

        g_ptr_array_set_size(jobs->checks, 0);
        TABLE_PAIRS(GQueue, it, jobs->queued) {
                Check *check = g_new(Check, 1);

                *check = (Check){ .jobs = jobs, .path = g_strdup(it.key) };
                g_ptr_array_add(jobs->checks, check);
                check->call = systemd_get(jobs->connection, it.key, SYSTEMD_JOB, "State", on_checked, check);
        }
}

static Jobs *jobs_ref(Connection *connection) {
        static const ListenerCallbacks callbacks = { .lost = on_lost };
        Jobs *jobs = connection_data(connection, KEPT);

        if (!jobs) {
                jobs = g_new0(Jobs, 1);
                jobs->connection = connection;
                jobs->early = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
                jobs->slots = g_hash_table_new(g_str_hash, g_str_equal);
                jobs->shares = g_hash_table_new(NULL, NULL);
                jobs->queued = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify) g_queue_free);
                jobs->others = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
                jobs->checks = g_ptr_array_new_with_free_func(check_free);
                /* When the bus has confirmed the second rule, it has the first one. */
                jobs->changed = connection_match(connection, &changed_pattern, on_job_changed, NULL, jobs);
                jobs->removed = connection_match(connection, &removed_pattern, on_removed, on_match_ready, jobs);
                jobs->systemd = (Follower){ .changed = on_systemd_back, .userdata = jobs };
                systemd_follow(connection, &jobs->systemd);
                jobs->listener = connection_listen(connection, &callbacks, jobs);
                connection_set_data(connection, KEPT, jobs, NULL);
        }

        jobs->n_jobs++;
        return jobs;
}

Job *job_new(Connection *connection, sd_bus_message *request, const char *unit, JobStepped stepped, JobDone done,
             void *userdata) {
        Job *job = g_new0(Job, 1);

        job->jobs = jobs_ref(connection);
        job->link.data = job;
        job->request = sd_bus_message_ref(request);
        job->method = g_intern_string(sd_bus_message_get_member(request));
        job->unit = g_strdup(unit);
        job->stepped = stepped;
        job->done = done;
        job->userdata = userdata;
        job_enter(job, JOB_WAITING);
        if (job->jobs->waiting.length == 1 && jobs_have_room(job->jobs))
                job_ask(job);

        return job;
}

/* If others wait that could have one, their turn is planned, and they come first. */
bool job_permit_acquire(JobPermit *permit, Connection *connection, const char *unit, User *user,
                        void (*granted)(void *userdata), void *userdata) {
        *permit = (JobPermit){
                .jobs = jobs_ref(connection),
                .unit = g_strdup(unit),
                .user = user,
                .granted = granted,
                .userdata = userdata,
        };
        permit->link.data = permit;
        if (permit_has_room(permit->jobs, permit) && (permit->jobs->permits.length == 0 || !permit->jobs->turn)) {
                permit_take(permit);
                return true;
        }

        g_queue_push_tail_link(&permit->jobs->permits, &permit->link);
        return false;
}

void job_permit_adopt(JobPermit *permit, Connection *connection, const char *unit, User *user) {
        *permit = (JobPermit){ .jobs = jobs_ref(connection), .unit = g_strdup(unit), .user = user };
        permit_take(permit);
}

void job_permit_release(JobPermit *permit) {
        Jobs *jobs = g_steal_pointer(&permit->jobs);
        JobSlot *slot = permit->slot;

        if (!jobs)
                return;

        if (!slot) {
                g_queue_unlink(&jobs->permits, &permit->link);
        } else if (--slot->n == 0) {
                g_hash_table_remove(jobs->slots, slot->unit);
                share_change(jobs, slot->user, -1);
                user_subtract(slot->user, USE_JOBS, 1);
                g_free(slot->unit);
                g_free(slot);
        }
        g_clear_pointer(&permit->unit, g_free);
        jobs_plan_turn(jobs);
        jobs_unref(jobs);
}

const char *job_path(const Job *job) {
        return job->path;
}

bool job_cancel(Job *job, bool deadlocked) {
        job->cancelled = true;
        job->deadlocked = deadlocked;

        if (job->phase == JOB_ASKED && job->sent)
                return false;
        if (job->phase != JOB_QUEUED || !job_is_own(job)) {
                job_leave(job);
                g_clear_pointer(&job->call, call_free);
                return true;
        }

        job_send_cancel(job);
        return false;
}

void job_free(Job *job) {
        if (!job)
                return;

        job_leave(job);
        call_free(job->before);
        job_need_free(job->need);
        call_free(job->call);
        sd_bus_message_unref(job->request);
        g_free(job->unit);
        g_free(job->path);
        jobs_unref(job->jobs);
        g_free(job);
}

bool job_was_joined(const Job *job) {
        return job->joined;
}

static void count_other(Jobs *jobs, const char *path, int change) {
        unsigned n = GPOINTER_TO_UINT(g_hash_table_lookup(jobs->others, path)) + (unsigned) change;

        if (n > 0)
                g_hash_table_insert(jobs->others, g_strdup(path), GUINT_TO_POINTER(n));
        else
                g_hash_table_remove(jobs->others, path);
}

void job_interest_take(JobInterest *interest, Connection *connection, const char *unit, const char *path) {
        Jobs *jobs;

        if (interest->jobs && g_strcmp0(interest->path, path) == 0)
                return;

        jobs = jobs_ref(connection);
        count_other(jobs, path ?: unit, 1);
        job_interest_drop(interest);
        *interest = (JobInterest){ .jobs = jobs, .unit = g_strdup(unit), .path = g_strdup(path) };
}

bool job_interest_is_shared(const JobInterest *interest) {
        return is_shared(interest->jobs, interest->unit, interest->path);
}

void job_interest_drop(JobInterest *interest) {
        Jobs *jobs = g_steal_pointer(&interest->jobs);
        g_autofree char *unit = g_steal_pointer(&interest->unit), *path = g_steal_pointer(&interest->path);

        if (!jobs)
                return;

        count_other(jobs, path ?: unit, -1);
        jobs_unref(jobs);
}

/*
 * Searches the order of jobs, with one query at a time: the nearest jobs first, each job once. So the result is a
 * shortest path.
 */
#define NOBODY UINT_MAX

/* A job, and which of those that were found before waits for it. */
typedef struct Step {
        uint32_t id;
        char *unit;
        unsigned waiting;
} Step;

struct JobOrder {
        Leaf *leaf;
        Connection *connection;
        const char *type; /* of the first job */
        JobOrderFound found;
        GArray *steps; /* of Step, in the order in which they were found */
        unsigned next; /* whose jobs before it are asked for */
        Call *call;
};

static void on_step_dropped(void *step) {
        g_free(((Step *) step)->unit);
}

static void add(JobOrder *order, uint32_t id, const char *unit, unsigned waiting) {
        Step step = { .id = id, .unit = g_strdup(unit), .waiting = waiting };

        g_array_append_val(order->steps, step);
}

/* A restart is a stop until the unit is down; then systemd turns it into a start. */
static bool is_awaited(const JobOrder *order, const char *unit, const char *type) {
        bool starts = g_str_equal(type, "start"), stops = g_str_equal(type, "stop") || g_str_equal(type, "restart");

        return (starts && leaf_is_awaited_by(order->leaf, unit, false)) ||
               (stops && leaf_is_awaited_by(order->leaf, unit, true));
}

static void ask_next(JobOrder *order);

/* No job waits for a job that has ended meanwhile. */
static void on_answered(sd_bus_message *reply, const sd_bus_error *error, void *userdata) {
        JobOrder *order = userdata;
        unsigned found = NOBODY;
        const char *unit, *type;
        uint32_t id;
        bool any = reply && sd_bus_message_enter_container(reply, SD_BUS_TYPE_ARRAY, "(usssoo)") >= 0;

        while (any && found == NOBODY &&
               sd_bus_message_read(reply, "(usssoo)", &id, &unit, &type, NULL, NULL, NULL) > 0) {
                bool known = false;

                for (unsigned i = 0; i < order->steps->len; i++)
                        known |= g_array_index(order->steps, Step, i).id == id;
                if (known)
                        continue;
                add(order, id, unit, order->next);
                if (is_awaited(order, unit, type))
                        found = order->steps->len - 1;
        }

        g_clear_pointer(&order->call, call_free);
        if (found == NOBODY && order->next == 0 &&
            is_awaited(order, g_array_index(order->steps, Step, 0).unit, order->type))
                found = 0;
        if (found != NOBODY) {
                /* "the job for app.service waits for net.service, which waits for btd-run@boot.service, which waits for
                 * this run": the names of the units from the leaf's own to the one that waits for the run. */
                g_autoptr(GPtrArray) units = g_ptr_array_new();
                g_autoptr(GString) text = g_string_new("the job for ");

                for (unsigned i = found; i != NOBODY; i = g_array_index(order->steps, Step, i).waiting)
                        g_ptr_array_insert(units, 0, g_array_index(order->steps, Step, i).unit);
                for (unsigned i = 0; i < units->len; i++)
                        g_string_append_printf(text, "%s%s",
                                               i == 0   ? ""
                                               : i == 1 ? " waits for "
                                                        : ", which waits for ",
                                               (const char *) units->pdata[i]);
                g_string_append_printf(text, "%s this run, so it would never end",
                                       units->len > 1 ? ", which waits for" : " waits for");

                order->found(cause_new(CAUSE_UNIT_RESULT,
                                       facts_new("unit", fact_text(units->pdata[0]), "result", fact_text("deadlock"),
                                                 "waits_for", fact_text(units->pdata[units->len - 1]), NULL),
                                       text->str),
                             order->leaf);
                return;
        }

        order->next++;
        ask_next(order);
}

static void ask_next(JobOrder *order) {
        if (order->next < order->steps->len)
                order->call = systemd_ask(order->connection, on_answered, order, "GetJobBefore", "u",
                                          g_array_index(order->steps, Step, order->next).id);
}

JobOrder *job_order_new(Leaf *leaf, Connection *connection, const char *job, const char *unit, const char *type,
                        JobOrderFound found) {
        JobOrder *order = g_new(JobOrder, 1);
        uint32_t id = job_id(job);

        *order = (JobOrder){
                .leaf = leaf,
                .connection = connection,
                .type = type,
                .found = found,
                .steps = g_array_new(FALSE, FALSE, sizeof(Step)),
        };
        g_array_set_clear_func(order->steps, on_step_dropped);
        if (id != 0) {
                add(order, id, unit, NOBODY);
                ask_next(order);
        }

        return order;
}

void job_order_free(JobOrder *order) {
        if (!order)
                return;

        call_free(order->call);
        g_array_unref(order->steps);
        g_free(order);
}

/* Asks, in this order, for the state of the system, the jobs that are ordered after the job, its state, and its type.
 */
struct JobNeed {
        Connection *connection;
        char *path;
        const char *method;
        Call *call;
        bool deadlocked;
        JobNeedKnown known;
        void *userdata;
};

static void on_type(sd_bus_message *reply, const sd_bus_error *error, void *userdata) {
        JobNeed *need = userdata;
        const char *type = "", *plain = g_str_equal(need->method, "ReloadUnit") ? "reload" : "start";

        if (reply)
                (void) sd_bus_message_read(reply, "v", "s", &type);
        /* A restart is a start when it has stopped the unit. */
        need->known(!g_str_equal(type, plain) &&
                            !(g_str_equal(need->method, "RestartUnit") && g_str_equal(type, "restart")),
                    need->userdata);
}

/* A job that runs ends by itself, unless it is deadlocked, and cancelling it stops nothing that it has begun: a restart
 * would be left half done. */
static void on_state(sd_bus_message *reply, const sd_bus_error *error, void *userdata) {
        JobNeed *need = userdata;
        const char *state;

        if (!reply || sd_bus_message_read(reply, "v", "s", &state) < 0 ||
            (!need->deadlocked && g_str_equal(state, "running"))) {
                need->known(true, need->userdata);
                return;
        }

        call_free(need->call);
        need->call = systemd_get(need->connection, need->path, SYSTEMD_JOB, "JobType", on_type, need);
}

static void on_followers(sd_bus_message *reply, const sd_bus_error *error, void *userdata) {
        JobNeed *need = userdata;

        if (!reply || sd_bus_message_enter_container(reply, SD_BUS_TYPE_ARRAY, "(usssoo)") < 0 ||
            sd_bus_message_at_end(reply, false) <= 0) {
                need->known(true, need->userdata);
                return;
        }

        call_free(need->call);
        need->call = systemd_get(need->connection, need->path, SYSTEMD_JOB, "State", on_state, need);
}

/* All jobs are those of the shutdown then, or have given way to them. */
static void on_system_state(sd_bus_message *reply, const sd_bus_error *error, void *userdata) {
        JobNeed *need = userdata;
        const char *state;

        if (!reply || sd_bus_message_read(reply, "v", "s", &state) < 0 || g_str_equal(state, "stopping")) {
                need->known(true, need->userdata);
                return;
        }

        call_free(need->call);
        need->call = systemd_ask(need->connection, on_followers, need, "GetJobAfter", "u", job_id(need->path));
}

JobNeed *job_need_new(Connection *connection, const char *path, const char *method, bool deadlocked, JobNeedKnown known,
                      void *userdata) {
        JobNeed *need = g_new(JobNeed, 1);

        *need = (JobNeed){
                .connection = connection,
                .path = g_strdup(path),
                .method = method,
                .deadlocked = deadlocked,
                .known = known,
                .userdata = userdata,
        };
        need->call =
                systemd_get(connection, SYSTEMD_MANAGER_PATH, SYSTEMD_MANAGER, "SystemState", on_system_state, need);
        return need;
}

void job_need_free(JobNeed *need) {
        if (!need)
                return;

        call_free(need->call);
        g_free(need->path);
        g_free(need);
}
