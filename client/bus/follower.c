/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Reads the events of runs from signals and from answers of GetEvents, and prints each once. */

#include "client/bus/follower.h"

#include <json-c/linkhash.h>
#include <stdio.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/dbus-value.h"
#include "client/view/style.h"

/* An answer with fewer events is complete, see org.btd1(5). What happens after it comes as a signal. */
#define ANSWER_LEAST 1000u
/* btd ends the subscription of a program that has not read for 30 s, and cannot tell it. */
#define PAUSE_MAX_USEC (10 * G_USEC_PER_SEC)

typedef struct Followed {
        uint64_t last;   /* the number of the last printed event */
        bool known;      /* last is known; else the next event is the first one */
        bool finished;   /* the result of the run is printed */
        bool complained; /* that events cannot be read was reported */
} Followed;

struct Follower {
        Client *client;
        bool all, named;
        FollowerObserver observer; /* NULL: print the events */
        void *userdata;
        GHashTable *runs; /* id -> Followed */
        int64_t read;     /* when it last read a signal or subscribed: CLOCK_MONOTONIC µs */
};

Follower *follower_new(Client *client, bool all) {
        Follower *follower = g_new(Follower, 1);

        *follower = (Follower){
                .client = client,
                .all = all,
                .runs = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free),
        };
        return follower;
}

void follower_free(Follower *follower) {
        if (!follower)
                return;

        g_hash_table_unref(follower->runs);
        g_free(follower);
}

int follower_subscribe(Follower *follower) {
        follower->read = g_get_monotonic_time();
        return client_call(follower->client, NULL, BTD_PATH, BTD_MANAGER, "SubscribeEvents", NULL);
}

void follower_set_named(Follower *follower) {
        follower->named = true;
}

static Followed *add(Follower *follower, const char *run, bool known) {
        Followed *followed = g_hash_table_lookup(follower->runs, run);

        if (followed)
                return followed;

        followed = g_new0(Followed, 1);
        followed->known = known;
        g_hash_table_insert(follower->runs, g_strdup(run), followed);
        return followed;
}

void follower_add(Follower *follower, const char *run) {
        add(follower, run, true);
}

void follower_add_after(Follower *follower, const char *run, uint64_t number) {
        add(follower, run, true)->last = number;
}

void follower_observe(Follower *follower, FollowerObserver observer, void *userdata) {
        follower->observer = observer;
        follower->userdata = userdata;
}

void follower_add_from_now(Follower *follower, const RunInfo *run) {
        Followed *followed = add(follower, run->id, false);

        followed->known = client_try_get(follower->client, run->path, "LastEvent", 't', &followed->last) >= 0;
}

/* An event as btd sends it. */
typedef struct EventInfo {
        RunEvent event;
        uint64_t time;      /* CLOCK_REALTIME µs */
        char *path;         /* NULL: of the run */
        json_object *longs; /* variables with a long value: the beginning of its JSON text; or NULL */
} EventInfo;

static void event_info_clear(EventInfo *info) {
        run_event_clear(&info->event);
        g_clear_pointer(&info->path, g_free);
        g_clear_pointer(&info->longs, json_object_put);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(EventInfo, event_info_clear)

static json_object *object_of(json_object *event, const char *key) {
        json_object *value = NULL;

        json_object_object_get_ex(event, key, &value);
        return value;
}

static const char *text_of(json_object *event, const char *key) {
        return json_object_get_string(object_of(event, key));
}

static uint64_t number_of(json_object *event, const char *key) {
        return json_object_get_uint64(object_of(event, key));
}

/* The title of an event of a node is its path, so the run is in the stamp. */
static void print(const Follower *follower, const char *run, const EventInfo *info) {
        const Output *output = &follower->client->output;
        g_autofree char *stamp = NULL, *full = NULL;
        g_autoptr(GString) line = g_string_new(NULL);

        if (follower->observer) {
                follower->observer(run, info->path, info->time, &info->event, follower->userdata);
                return;
        }
        if (output->json) {
                json_object *json = event_to_json(run, info->path, info->time, &info->event);

                if (info->longs)
                        json_object_object_add(json, "long_variables", json_object_get(info->longs));
                output_print_json_line(json);
                return;
        }

        /* As text, the beginning of a long value is printed as it is, without quotes around it. */
        if (info->longs && info->event.values) {
                json_object_object_foreach(info->longs, name, value) {
                        json_object *shortened = json_object_new_string("");

                        json_object_set_serializer(shortened, json_object_userdata_to_json_string,
                                                   g_strdup(json_object_get_string(value)), json_object_free_userdata);
                        json_object_object_add(info->event.values, name, shortened);
                }
        }

        if (follower->all) {
                g_autoptr(GDateTime) utc = g_date_time_new_from_unix_utc((gint64) (info->time / G_USEC_PER_SEC)),
                                     local = g_date_time_to_local(utc);
                g_autofree char *seconds = g_date_time_format(local, "%H:%M:%S");

                stamp = g_strdup_printf("%s.%03u", seconds, (unsigned) (info->time % G_USEC_PER_SEC / 1000));
        } else {
                stamp = event_stamp(info->event.time);
        }
        full = (follower->all || follower->named) && info->path ? g_strdup_printf("%s %s", stamp, run)
                                                                : g_strdup(stamp);
        event_append(output, line, full, run, info->path, &info->event);
        output_print_line(output, line);
}

/* Events come in order. */
static void take(Follower *follower, const char *run, Followed *followed, json_object *event) {
        const char *word = text_of(event, "status"), *path = text_of(event, "path");
        g_auto(EventInfo) info = {
                .event = {
                        .number = number_of(event, "number"),
                        .time = number_of(event, "offset"),
                        .node = path ? (NodeId) number_of(event, "node") : NODE_NONE,
                        .what = g_intern_string(text_of(event, "event") ?: "?"),
                        .status = STATUS_IDLE,
                        .duration = number_of(event, "duration"),
                        .waited = number_of(event, "waited"),
                        .label = g_strdup(text_of(event, "label")),
                        .text = g_strdup(text_of(event, "text")),
                        .values = json_object_get(object_of(event, "variables")),
                },
                .time = number_of(event, "time"),
                .path = g_strdup(path),
                .longs = json_object_get(object_of(event, "long_variables")),
        };

        for (Status status = STATUS_RUNNING; word && status < STATUS_MAX_; status++)
                if (strcmp(status_to_string(status), word) == 0)
                        info.event.status = status;

        if (info.event.number <= followed->last)
                return;

        followed->last = info.event.number;
        followed->finished = !info.path && info.event.status != STATUS_IDLE;
        print(follower, run, &info);
}

/* Returns the events behind the last printed one; NULL: btd is away, or they cannot be read. missed: there are some. */
static json_object *get_events(const Follower *follower, const char *run, Followed *followed, bool missed) {
        g_autoptr(sd_bus_message) reply = NULL;
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        g_autofree char *why = NULL;
        json_object *events;
        int r;

        r = client_try(follower->client, &error, &reply, "GetEvents", "st", run, followed->last);
        if (r < 0 && client_is_away(&error, r))
                return NULL;
        if (r < 0 && !missed)
                return NULL;

        if (r >= 0)
                r = value_read_variable(reply, NULL, &events, &why);
        if (r >= 0)
                return events;

        if (!followed->complained && (follower->observer || !follower->client->output.quiet))
                report_error("some events of %s are missing here: %s", run, why ?: error.message ?: g_strerror(-r));
        followed->complained = true;
        return NULL;
}

static void catch_up(Follower *follower, const char *run, Followed *followed, bool missed) {
        size_t n;

        do {
                g_autoptr(json_object) events = get_events(follower, run, followed, missed);

                n = events ? json_object_array_length(events) : 0;
                for (size_t i = 0; i < n; i++)
                        take(follower, run, followed, json_object_array_get_idx(events, i));
        } while (n >= ANSWER_LEAST);

        fflush(stdout);
}

void follower_catch_up(Follower *follower, const char *run) {
        Followed *followed = g_hash_table_lookup(follower->runs, run);

        if (followed && followed->known && !followed->finished)
                catch_up(follower, run, followed, !follower->all);
}

void follower_catch_up_all(Follower *follower) {
        GHashTableIter iter;
        void *run;

        g_hash_table_iter_init(&iter, follower->runs);
        while (g_hash_table_iter_next(&iter, &run, NULL))
                follower_catch_up(follower, run);
}

/* last: all events up to this number are there. A run that was there before all runs are followed may lack its first
 * events. */
static void handle(Follower *follower, const char *run, Followed *followed, json_object *events, uint64_t last) {
        size_t n = json_object_array_length(events);
        bool from_start = !follower->all || followed->last > 0;
        uint64_t first = n > 0 ? number_of(json_object_array_get_idx(events, 0), "number") : last + 1;

        if (!followed->known)
                followed->last = first - 1;
        followed->known = true;

        for (size_t i = 0; i < n; i++) {
                json_object *event = json_object_array_get_idx(events, i);

                if (number_of(event, "number") > followed->last + 1 && !follower->observer)
                        catch_up(follower, run, followed, from_start);
                take(follower, run, followed, event);
        }
        if (follower->observer)
                return;
        if (last > followed->last)
                catch_up(follower, run, followed, from_start);

        followed->last = MAX(followed->last, last);
        fflush(stdout);
}

void follower_handle(Follower *follower, sd_bus_message *signal) {
        g_autoptr(json_object) events = NULL;
        g_autofree char *run = NULL, *error = NULL;
        Followed *followed;
        int64_t now = g_get_monotonic_time(), pause = now - follower->read;
        uint64_t last;

        /* After a long pause, for example because nobody read the output, the subscription may have ended. A
         * subscription that has not ended stays as it is. */
        follower->read = now;
        if (pause > PAUSE_MAX_USEC && client_try(follower->client, NULL, NULL, "SubscribeEvents", "") >= 0 &&
            !follower->observer)
                follower_catch_up_all(follower);

        if (sd_bus_path_decode(sd_bus_message_get_path(signal), BTD_PATH "/run", &run) <= 0)
                return;
        followed = follower->all ? add(follower, run, false) : g_hash_table_lookup(follower->runs, run);
        if (followed && sd_bus_message_read(signal, "t", &last) >= 0 &&
            value_read_variable(signal, NULL, &events, &error) >= 0)
                handle(follower, run, followed, events, last);
}

bool follower_finish(Follower *follower, const char *run) {
        const Followed *followed = g_hash_table_lookup(follower->runs, run);
        bool finished;

        follower_catch_up(follower, run);
        finished = followed && followed->finished;
        if (follower->all)
                g_hash_table_remove(follower->runs, run);
        return finished;
}
