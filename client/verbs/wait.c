/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* btctl wait and follow: wait until runs have finished, and print their results, or all of their events. Also
 * implements the waiting of other verbs, see wait.h. */

#include <string.h>

#include "basic/cleanup.h"
#include "basic/foreach.h"
#include "client/bus/follower.h"
#include "client/bus/target.h"
#include "client/bus/watch.h"
#include "client/recording/record-files.h"
#include "client/verbs/unit-status.h"
#include "client/verbs/verbs.h"
#include "client/verbs/wait.h"
#include "client/view/style.h"

typedef struct WaitedRun {
        Waiting *waiting;
        char *operand, *id, *tree, *instance;
        char *token;          /* of this run and those that follow it; NULL: wait for this run only */
        uint64_t started;     /* CLOCK_REALTIME µs; 0: not known */
        char *status, *cause; /* of the last finished run; NULL: it has not finished */
        json_object *outputs; /* NULL: none are known yet */
        bool over;            /* its result is known */
        int result;           /* ... as an exit status */
} WaitedRun;

struct Waiting {
        Client *client;
        WaitingFor what;
        Watch *watch;       /* NULL: not connected */
        Follower *follower; /* NULL: events are not printed */
        GPtrArray *runs;    /* of WaitedRun */
        bool durable;       /* the next btd recovers one of them */

        /* See waiting_start(). */
        int (*start)(Waiting *waiting, void *userdata); /* NULL: nothing is started */
        void *userdata;
        UnitStatus *unit; /* NULL: not a unit that waits */
        bool again;       /* start again when the run, which is halting, has finished */
        bool unstarted;   /* btd was not running */
};

static void waited_free(void *data) {
        WaitedRun *run = data;

        g_free(run->operand);
        g_free(run->id);
        g_free(run->tree);
        g_free(run->instance);
        g_free(run->token);
        g_free(run->status);
        g_free(run->cause);
        json_object_put(run->outputs);
        g_free(run);
}

Waiting *waiting_new(Client *client, WaitingFor what) {
        Waiting *waiting = g_new0(Waiting, 1);

        waiting->client = client;
        waiting->what = what;
        waiting->follower = what == WAITING_EVENTS ? follower_new(client, false) : NULL;
        waiting->runs = g_ptr_array_new_with_free_func(waited_free);
        return waiting;
}

void waiting_free(Waiting *waiting) {
        if (!waiting)
                return;

        watch_free(waiting->watch);
        follower_free(waiting->follower);
        unit_status_free(waiting->unit);
        g_ptr_array_unref(waiting->runs);
        g_free(waiting);
}

/* Are the results of the runs the exit status? */
static bool results_count(const Waiting *waiting) {
        return waiting->what == WAITING_RESULTS || waiting->what == WAITING_EVENTS;
}

static unsigned waiting_n_running(const Waiting *waiting) {
        unsigned n = waiting->unstarted;

        for (guint i = 0; i < waiting->runs->len; i++)
                n += !((const WaitedRun *) g_ptr_array_index(waiting->runs, i))->over;

        return n;
}

bool waiting_is_connected(const Waiting *waiting) {
        return waiting->watch;
}

static void end_if_over(Waiting *waiting) {
        if (waiting->watch && waiting_n_running(waiting) == 0)
                watch_end(waiting->watch, EXIT_SUCCESS);
}

static json_object *result_to_json(const WaitedRun *run) {
        json_object *json = json_object_new_object();
        g_autoptr(json_object) outputs =
                json_object_get(run->outputs) ?: run_info_get_outputs(run->waiting->client, run->id);

        json_object_object_add(json, "id", json_object_new_string(run->id));
        json_object_object_add(json, "tree", json_object_new_string(run->tree));
        json_object_object_add(json, "instance", json_object_new_string(run->instance));
        json_object_object_add(json, "status", json_object_new_string(run->status));
        json_object_object_add(json, "cause", json_object_new_string(run->cause));
        if (outputs)
                json_object_object_add(json, "outputs", json_object_get(outputs));
        return json;
}

/* Runs may follow the one that has ended, so with --json this is no result yet, but it is an event. */
static bool prints_end(const Waiting *waiting) {
        const Output *output = &waiting->client->output;

        switch (waiting->what) {
        case WAITING_RESULTS:
                return !output->quiet && !output->json;
        case WAITING_HALTS:
                return !output->quiet;
        case WAITING_EVENTS:
                return !output->quiet || output->json;
        case WAITING_QUIETLY:
                break;
        }

        return false;
}

/* The end of a run. finished 0: now. */
static void set_end(WaitedRun *run, const char *status, const char *cause, uint64_t finished) {
        const Waiting *waiting = run->waiting;
        uint64_t end = finished > 0 ? finished : (uint64_t) g_get_real_time(), duration;

        if (run->status)
                return;

        run->status = g_strdup(status);
        run->cause = g_strdup(cause);
        if ((waiting->follower && follower_finish(waiting->follower, run->id)) || !prints_end(waiting))
                return;

        duration = run->started > 0 && end > run->started ? end - run->started : 0;
        /* The start of a run that follows another one is not known exactly. */
        if (finished == 0 || run->token)
                duration = run_info_get_duration(waiting->client, run->id, duration);
        event_print_finished(&waiting->client->output, "", run->id, status,
                             waiting->what == WAITING_HALTS ? 0 : duration, cause);
}

static void begin_again(Waiting *waiting);

/* Nothing follows the run any more. */
static void set_over(WaitedRun *run) {
        Waiting *waiting = run->waiting;

        if (run->over)
                return;
        if (waiting->again) {
                begin_again(waiting);
                return;
        }

        run->over = true;
        if (results_count(waiting)) {
                run->result = report_exit_status(run->status);
                if (waiting->client->output.json && waiting->what == WAITING_RESULTS)
                        (waiting->start ? output_print_json : output_print_json_line)(result_to_json(run));
        }
        unit_status_end(waiting->unit, run->status, run->result == EXIT_SUCCESS);
        end_if_over(waiting);
}

static void set_lost(WaitedRun *run) {
        run->over = true;
        run->result = EXIT_NO_DAEMON;
        report_error("btd was restarted, but has not recovered %s; see its log", run->id);
        end_if_over(run->waiting);
}

static void follow(const Waiting *waiting, const char *id) {
        if (!waiting->follower)
                return;

        follower_add(waiting->follower, id);
        follower_catch_up(waiting->follower, id);
}

/* Waits for another run instead. */
static void set_run(WaitedRun *run, const char *id, const char *path, uint64_t started) {
        Waiting *waiting = run->waiting;

        if (waiting->follower && strcmp(run->id, id) != 0)
                (void) follower_finish(waiting->follower, run->id);
        g_free(run->id);
        run->id = g_strdup(id);
        run->started = started;
        g_clear_pointer(&run->status, g_free);
        g_clear_pointer(&run->cause, g_free);
        unit_status_set_run(waiting->unit, id, path);
        if (waiting->follower)
                follower_add(waiting->follower, id);
}

static void show_running_nodes(void *userdata) {
        const Waiting *waiting = userdata;
        const WaitedRun *run = waiting->runs->len > 0 ? g_ptr_array_index(waiting->runs, 0) : NULL;

        if (run && !run->over && !run->status)
                unit_status_show_nodes(waiting->unit);
}

/* Reads all nodes, because events have only the changed ones. */
static void get_nodes(const Waiting *waiting) {
        unit_status_miss(waiting->unit);
        if (waiting->unit)
                watch_soon(waiting->watch, show_running_nodes);
}

static void set_running(const WaitedRun *run, const char *status) {
        unit_status_set(run->waiting->unit, status);
        unit_status_check_ready(run->waiting->unit);
}

/* Asks btd for the last run of the series. */
static void check_series(WaitedRun *run) {
        const Client *client = run->waiting->client;
        g_autoptr(sd_bus_message) reply = NULL;
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        RunOutcome outcome;
        int r;

        r = run_info_get_outcome(client, run->tree, run->instance, run->token, &error, &reply, &outcome);
        if (r < 0 && client_is_away(&error, r))
                return; /* until btd has come back */
        if (!run->status && (r < 0 || strcmp(outcome.status, "lost") == 0)) {
                set_lost(run);
                return;
        }
        if (r < 0) {
                set_over(run);
                return;
        }

        if (strcmp(outcome.id, run->id) != 0) { /* another run of the series has begun */
                const Waiting *waiting = run->waiting;

                set_run(run, outcome.id, outcome.path, (uint64_t) g_get_real_time());
                get_nodes(waiting);
                if (waiting->follower)
                        follower_catch_up(waiting->follower, run->id);
                else if (!client->output.quiet && !client->output.json)
                        event_print_started(&client->output, "", run->id);
        }
        if (outcome.finished == 0 && !outcome.restarting)
                set_running(run, outcome.status);
        /* The status is empty if btd knows no more than that another run follows. */
        if (outcome.finished > 0 && *outcome.status)
                set_end(run, outcome.status, outcome.cause, outcome.finished);
        if (outcome.restarting)
                unit_status_set(run->waiting->unit, "waiting for the restart");
        else if (outcome.finished > 0)
                set_over(run);
}

RunInfo *waiting_find_past(Client *client, const char *id) {
        g_autofree char *tree = g_strndup(id, strcspn(id, "."));
        g_autoptr(GPtrArray) past = NULL;
        guint i;

        if (run_info_list_past(client, tree, &past) != EXIT_SUCCESS)
                return NULL;

        return g_ptr_array_find(past, target_choose_run(past, id), &i) ? g_ptr_array_steal_index(past, i) : NULL;
}

/* Finds out whether a run has finished, without a signal; runs: those that btd lists. */
static void check_single(WaitedRun *run, const GPtrArray *runs) {
        const RunInfo *found = target_choose_run(runs, run->id);
        g_autoptr(RunInfo) past = NULL;

        if (found && !run_info_has_finished(found)) {
                set_running(run, found->status);
                return;
        }

        if (!found)
                found = past = waiting_find_past(run->waiting->client, run->id);
        if (!found) {
                set_lost(run);
                return;
        }

        set_end(run, found->status, found->cause, found->finished);
        set_over(run);
}

/* runs: as they are listed, NULL: not yet. */
static void check(WaitedRun *run, GPtrArray **runs) {
        if (run->token)
                check_series(run);
        else if (*runs || run_info_list(run->waiting->client, runs) == EXIT_SUCCESS)
                check_single(run, *runs);
}

static void on_run_finished(const char *id, const char *status, const char *cause, void *userdata) {
        Waiting *waiting = userdata;

        for (guint i = 0; i < waiting->runs->len; i++) {
                WaitedRun *run = g_ptr_array_index(waiting->runs, i);

                if (run->over || strcmp(run->id, id) != 0)
                        continue;
                set_end(run, status, cause, 0);
                /* Nothing follows a run that was halted. */
                if (!run->token || strcmp(status, "halted") == 0)
                        set_over(run);
                else
                        check_series(run);
        }
}

/* Only for runs that have finished, and are followed by another one. */
static void check_finished(Waiting *waiting, const char *tree) {
        for (guint i = 0; i < waiting->runs->len; i++) {
                WaitedRun *run = g_ptr_array_index(waiting->runs, i);

                if (!run->over && run->status && strcmp(run->tree, tree) == 0)
                        check_series(run);
        }
}

static void on_run_new(const char *id, const char *path, void *userdata) {
        g_autofree char *tree = g_strndup(id, strcspn(id, "."));

        check_finished(userdata, tree);
}

static void on_restart_dropped(const char *tree, void *userdata) {
        check_finished(userdata, tree);
}

static void on_run_ready(const char *id, void *userdata) {
        const Waiting *waiting = userdata;

        for (guint i = 0; i < waiting->runs->len; i++)
                if (strcmp(((const WaitedRun *) g_ptr_array_index(waiting->runs, i))->id, id) == 0)
                        unit_status_set_ready(waiting->unit);
}

static int subscribe(const Waiting *waiting) {
        if (waiting->follower)
                return follower_subscribe(waiting->follower);
        if (waiting->unit)
                return client_call(waiting->client, NULL, BTD_PATH, BTD_MANAGER, "SubscribeEvents", NULL);

        return EXIT_SUCCESS;
}

static void on_away(void *userdata) {
        unit_status_set(((const Waiting *) userdata)->unit, "cannot reach btd; waiting for it");
}

/* Signals may have been missed. The next btd continues the runs. */
static void on_back(const char *how, void *userdata) {
        Waiting *waiting = userdata;
        g_autoptr(GPtrArray) runs = NULL;
        g_autofree char *id = NULL;
        const WaitedRun *first;

        if (waiting->unstarted) {
                begin_again(waiting);
                return;
        }

        if (waiting->start)
                id = g_strdup(((const WaitedRun *) g_ptr_array_index(waiting->runs, 0))->id);
        (void) subscribe(waiting);
        for (guint i = 0; i < waiting->runs->len; i++) {
                WaitedRun *run = g_ptr_array_index(waiting->runs, i);

                if (!run->over)
                        check(run, &runs);
        }
        if (waiting_n_running(waiting) == 0)
                return;

        first = g_ptr_array_index(waiting->runs, 0);
        if (!waiting->start && !waiting->client->output.quiet)
                report_error("%s; still waiting", how);
        /* The run of 'start' may have finished, and be in the history only. */
        if (id && !first->status) {
                get_nodes(waiting);
                if (!waiting->client->output.quiet && strcmp(first->id, id) == 0)
                        report_error("%s; %s continues", how, id);
        }
        if (waiting->follower)
                follower_catch_up_all(waiting->follower);
}

/* If nobody reads the events, 'follow' ends. 'start' does not, because its exit status is that of the run. */
static void on_events(sd_bus_message *signal, void *userdata) {
        const Waiting *waiting = userdata;

        if (waiting->follower)
                follower_handle(waiting->follower, signal);
        if (waiting->unit && sd_bus_message_rewind(signal, true) >= 0 && unit_status_take(waiting->unit, signal))
                watch_soon(waiting->watch, show_running_nodes);
        if (!waiting->start && output_is_lost())
                watch_end(waiting->watch, EXIT_SUCCESS);
}

int waiting_connect(Waiting *waiting, bool *ret_is_new) {
        WatchCallbacks callbacks = {
                .run_new = on_run_new,
                .run_finished = on_run_finished,
                .restart_dropped = on_restart_dropped,
                .away = on_away,
                .back = on_back,
        };
        bool is_new = !waiting->watch || sd_bus_is_open(waiting->client->bus) <= 0;
        int status;

        if (ret_is_new)
                *ret_is_new = is_new;
        if (!is_new)
                return EXIT_SUCCESS;

        g_clear_pointer(&waiting->watch, watch_free);
        if (waiting->client->bus && sd_bus_is_open(waiting->client->bus) <= 0)
                waiting->client->bus = sd_bus_close_unref(waiting->client->bus);
        if (waiting->unit)
                callbacks.run_ready = on_run_ready;
        if (waiting->follower || waiting->unit)
                callbacks.events = on_events;
        status = watch_new(waiting->client, &callbacks, waiting, &waiting->watch);
        return status == EXIT_SUCCESS && !waiting->start ? subscribe(waiting) : status;
}

/* Starts the run. With --attach, that can safely be repeated: so this waits for a btd that is restarting. */
static int begin(Waiting *waiting) {
        bool patient = options_has(&waiting->client->options, OPTION_ATTACH);
        int status;

        waiting->again = waiting->unstarted = false;
        if (patient)
                watch_wait_for_restart(waiting->watch, true, false);

        status = subscribe(waiting);
        if (status == EXIT_SUCCESS)
                status = waiting->start(waiting, waiting->userdata);
        if (status != EXIT_NO_DAEMON || !patient)
                return status;

        waiting->unstarted = true;
        unit_status_set_run(waiting->unit, NULL, NULL);
        watch_daemon_away(waiting->watch);
        return EXIT_SUCCESS;
}

static void begin_again(Waiting *waiting) {
        int status = begin(waiting);

        if (status != EXIT_SUCCESS)
                watch_end(waiting->watch, status);
}

static WaitedRun *add(Waiting *waiting, const char *operand, const char *id) {
        WaitedRun *run = g_new0(WaitedRun, 1);

        run->waiting = waiting;
        run->operand = g_strdup(operand);
        run->id = g_strdup(id);
        run->tree = g_strndup(id, strcspn(id, "."));
        g_ptr_array_add(waiting->runs, run);
        return run;
}

void waiting_add(Waiting *waiting, const char *operand, const RunInfo *info, const char *token) {
        WaitedRun *run = add(waiting, operand, info->id);
        g_autofree char *path = NULL;
        int durable = false;

        run->instance = g_strdup(info->instance);
        run->token = g_strdup(token);
        run->started = info->started;
        /* A run that is not durable ends with btd. */
        if (!waiting->durable && sd_bus_path_encode(BTD_PATH "/run", info->id, &path) >= 0 &&
            client_try_get(waiting->client, path, "Durable", 'b', &durable) >= 0)
                waiting->durable = durable;
        follow(waiting, info->id);
        if (run_info_has_finished(info)) /* ... and another one follows */
                set_end(run, info->status, info->cause, info->finished);
}

void waiting_add_id(Waiting *waiting, const char *operand, const char *id) {
        WaitedRun *run = add(waiting, operand, id);

        run->instance = g_strdup("");
        waiting->durable = true;
        follow(waiting, id);
}

void waiting_add_started(Waiting *waiting, const RunInfo *info, const char *token, bool is_new, bool again) {
        WaitedRun *run =
                waiting->runs->len > 0 ? g_ptr_array_index(waiting->runs, 0) : add(waiting, info->id, info->id);
        g_autoptr(GPtrArray) runs = NULL;
        int durable = false;

        set_run(run, info->id, info->path, info->started);
        g_free(run->instance);
        run->instance = g_strdup(info->instance);
        g_free(run->token);
        run->token = g_strdup(token);
        waiting->again = again;

        /* A run that is not durable ends with btd. */
        if (client_try_get(waiting->client, info->path, "Durable", 'b', &durable) >= 0)
                watch_wait_for_restart(waiting->watch, durable,
                                       durable && options_has(&waiting->client->options, OPTION_ATTACH));
        unit_status_set(waiting->unit, "running");
        if (is_new)
                return;

        /* The run may already have finished. */
        get_nodes(waiting);
        if (waiting->follower)
                follower_catch_up(waiting->follower, run->id);
        check(run, &runs);
}

/* Adds a run that has finished, with its result. */
static void waiting_add_finished(Waiting *waiting, const RunInfo *info) {
        WaitedRun *run = add(waiting, info->id, info->id);

        run->instance = g_strdup(info->instance);
        run->started = info->started;
        run->outputs = json_object_get(info->outputs);
        follow(waiting, info->id);
        set_end(run, info->status, info->cause, info->finished);
        set_over(run);
}

/* Waiting has ended before the run. An operand may have several runs. */
static void report_stopped(const Waiting *waiting) {
        const char *last = NULL;

        /* In a unit, ExecStop= halts the run. */
        if (waiting->unstarted || waiting->unit)
                return;

        for (guint i = 0; i < waiting->runs->len; i++) {
                const WaitedRun *run = g_ptr_array_index(waiting->runs, i);

                if (run->over || (!results_count(waiting) && g_strcmp0(last, run->operand) == 0))
                        continue;
                if (waiting->start)
                        report_error("stopped waiting; %s continues: see 'btctl status %s', or halt it with "
                                     "'btctl halt %s'",
                                     run->id, run->id, run->id);
                else if (results_count(waiting))
                        report_error("stopped waiting; %s continues", run->id);
                else
                        report_error("stopped waiting; '%s' is still halting", run->operand);
                last = run->operand;
        }
}

int waiting_wait(Waiting *waiting) {
        int status;

        if (waiting_n_running(waiting) > 0 && (waiting->start || !output_is_lost())) {
                if (!waiting->start)
                        watch_wait_for_restart(waiting->watch, waiting->durable, false);
                status = watch_wait(waiting->watch);
                if (status > EXIT_SIGNAL)
                        report_stopped(waiting);
                if (status != EXIT_SUCCESS)
                        return status;
        }

        for (guint i = 0; i < waiting->runs->len; i++) {
                const WaitedRun *run = g_ptr_array_index(waiting->runs, i);

                if (run->result != EXIT_SUCCESS)
                        return run->result;
        }

        return EXIT_SUCCESS;
}

int waiting_start(Client *client, WaitingFor what, int (*start)(Waiting *waiting, void *userdata), void *userdata) {
        g_autoptr(Waiting) waiting = waiting_new(client, what);
        int status;

        waiting->start = start;
        waiting->userdata = userdata;
        if (options_has(&client->options, OPTION_ATTACH) && g_getenv("NOTIFY_SOCKET"))
                waiting->unit = unit_status_new(client);

        status = waiting_connect(waiting, NULL);
        if (status == EXIT_SUCCESS)
                status = begin(waiting);
        return status == EXIT_SUCCESS ? waiting_wait(waiting) : status;
}

static int add_operand_run(Waiting *waiting, const char *operand, const GPtrArray *runs) {
        const RunInfo *run = target_choose_run(runs, operand);
        g_autoptr(RunInfo) past = NULL;

        if (!run)
                run = past = waiting_find_past(waiting->client, operand);
        if (!run)
                return target_report_no_run(waiting->client, operand);

        if (run_info_has_finished(run))
                waiting_add_finished(waiting, run);
        else
                waiting_add(waiting, operand, run, NULL);
        return EXIT_SUCCESS;
}

/* Returns the newest run of each instance. In the list, it is the last one of the instance. */
static GPtrArray *newest_runs(const GPtrArray *runs, const char *operand) {
        g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
        GPtrArray *newest = g_ptr_array_new();

        for (guint i = runs->len; i > 0; i--) {
                RunInfo *run = g_ptr_array_index(runs, i - 1);

                if (target_names(operand, run) && g_hash_table_add(seen, run->instance))
                        g_ptr_array_insert(newest, 0, run);
        }

        return newest;
}

/* A tree that has not run, or whose runs are in the history only. */
static int add_past(Waiting *waiting, const char *operand) {
        g_autofree char *tree = NULL, *instance = NULL;
        g_autoptr(GPtrArray) past = NULL;
        const RunInfo *newest = NULL;
        int status;

        target_split(operand, &tree, &instance);
        status = run_info_list_past(waiting->client, tree, &past);
        if (status != EXIT_SUCCESS)
                return status;

        for (guint i = 0; i < past->len; i++) {
                const RunInfo *run = g_ptr_array_index(past, i);

                if (target_names(operand, run) && (!newest || run->started > newest->started))
                        newest = run;
        }
        if (newest) {
                waiting_add_finished(waiting, newest);
                return EXIT_SUCCESS;
        }

        status = client_call(waiting->client, NULL, BTD_PATH, BTD_MANAGER, "GetTree", "s", tree);
        return status != EXIT_SUCCESS ? status : report_error("'%s' has not run yet", operand);
}

/* Adds all instances that are running or are restarted; or else the run that was started last. */
static int add_operand_tree(Waiting *waiting, const char *operand, const GPtrArray *runs) {
        bool once = options_has(&waiting->client->options, OPTION_ONCE);
        g_autoptr(GPtrArray) newest = newest_runs(runs, operand);
        bool any = false;

        if (newest->len == 0)
                return add_past(waiting, operand);

        for (guint i = 0; i < newest->len; i++) {
                const RunInfo *run = g_ptr_array_index(newest, i);
                g_autoptr(sd_bus_message) reply = NULL;
                g_autofree char *token = NULL;
                RunOutcome outcome = {};
                int status;

                status = once ? EXIT_SUCCESS : client_get_string(waiting->client, run->path, BTD_RUN, "Token", &token);
                if (status != EXIT_SUCCESS)
                        return status;

                /* Another run of the series may follow one that has finished. */
                if (run_info_has_finished(run) && (!token ||
                                                   run_info_get_outcome(waiting->client, run->tree, run->instance,
                                                                        token, NULL, &reply, &outcome) < 0 ||
                                                   !outcome.restarting))
                        continue;
                waiting_add(waiting, operand, run, token);
                any = true;
        }
        if (!any)
                waiting_add_finished(waiting, g_ptr_array_index(newest, newest->len - 1));

        return EXIT_SUCCESS;
}

/* An operand that is wrong does not keep the others from being waited for. */
static int wait_for(Client *client, char **operands, WaitingFor what) {
        g_autoptr(Waiting) waiting = waiting_new(client, what);
        g_autoptr(RecordFiles) files = NULL;
        g_autoptr(GPtrArray) runs = NULL, newest = NULL;
        int status = EXIT_SUCCESS, result = EXIT_SUCCESS;
        unsigned n_followed = 0;

        if (what == WAITING_RESULTS)
                status = record_files_find(client, &files);
        /* Without btd, only what has finished can be waited for. */
        for (char **operand = operands; files && *operand; operand++) {
                g_autofree char *tree = g_strndup(*operand, strcspn(*operand, ".@"));
                g_autoptr(GPtrArray) finished = record_files_list(files, tree, true),
                                     unfinished = record_files_list(files, tree, false);
                const RunInfo *run = target_choose_run(finished, *operand);

                if (run && !target_choose_run(unfinished, *operand))
                        waiting_add_finished(waiting, run);
                else
                        result = client_no_daemon(client);
        }
        if (files)
                return result != EXIT_SUCCESS ? result : waiting_wait(waiting);

        if (status == EXIT_SUCCESS)
                status = waiting_connect(waiting, NULL);
        if (status == EXIT_SUCCESS)
                status = run_info_list(client, &runs);
        if (status != EXIT_SUCCESS)
                return status;

        /* Several runs of one tree can be followed, too. */
        newest = newest_runs(runs, operands[0]);
        PTRS_FOREACH(const RunInfo, run, newest)
                n_followed += !run_info_has_finished(run) || *run->restart;
        if (waiting->follower && (operands[1] || n_followed > 1))
                follower_set_named(waiting->follower);
        for (char **operand = operands; *operand; operand++) {
                status = target_is_run_id(*operand) ? add_operand_run(waiting, *operand, runs)
                                                    : add_operand_tree(waiting, *operand, runs);
                if (result == EXIT_SUCCESS)
                        result = status;
        }

        status = waiting_wait(waiting);
        return status > EXIT_SIGNAL || result == EXIT_SUCCESS ? status : result;
}

int verb_wait(Client *client, char **operands) {
        return wait_for(client, operands, WAITING_RESULTS);
}

int verb_follow(Client *client, char **operands) {
        return wait_for(client, operands, WAITING_EVENTS);
}
